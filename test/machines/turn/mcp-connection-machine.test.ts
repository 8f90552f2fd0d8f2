import { describe, expect, it } from 'vitest';
import { mcpConnectionLifecycle, mcpConnectionMachine } from '../../../src/machines/turn/mcp-connection-machine.ts';
import type {
  McpConnectionEventType,
  McpConnectionSnapshot,
} from '../../../src/machines/turn/mcp-connection-machine.ts';
import { pathsOverEveryTransition } from '../../support/graph-paths.ts';

const RESTING = JSON.stringify({ disconnected: 'resting' });
const COOLING = JSON.stringify({ disconnected: 'cooling' });
const [CONNECTING, RECONNECTING, READY, CLOSED] = ['connecting', 'reconnecting', 'ready', 'closed'].map((state) =>
  JSON.stringify(state),
) as [string, string, string, string];

const TABLE: readonly (readonly [string, McpConnectionEventType, string])[] = [
  [RESTING, 'CONNECT', CONNECTING],
  [RESTING, 'BACK_OFF', RECONNECTING],
  [RESTING, 'EXHAUST', COOLING],
  [COOLING, 'COOLED', RESTING],
  [CONNECTING, 'CONNECTED', READY],
  [CONNECTING, 'BACK_OFF', RECONNECTING],
  [CONNECTING, 'GIVE_UP', RESTING],
  [CONNECTING, 'EXHAUST', COOLING],
  [RECONNECTING, 'CONNECT', CONNECTING],
  [READY, 'LOSE', RESTING],
  [READY, 'REST', RESTING],
  ...[RESTING, COOLING, CONNECTING, RECONNECTING, READY].map((state) => [state, 'CLOSE', CLOSED] as const),
];

const EVENTS: readonly McpConnectionEventType[] = [
  'CONNECT',
  'BACK_OFF',
  'CONNECTED',
  'GIVE_UP',
  'EXHAUST',
  'COOLED',
  'LOSE',
  'REST',
  'CLOSE',
];

function after(events: readonly string[]): McpConnectionSnapshot | undefined {
  return events.reduce<McpConnectionSnapshot | undefined>(
    (snapshot, event) => (snapshot === undefined ? undefined : mcpConnectionLifecycle.next(snapshot, event)),
    mcpConnectionLifecycle.initial,
  );
}

describe('the chart of a connection to an MCP server', () => {
  const paths = pathsOverEveryTransition(mcpConnectionMachine, EVENTS);

  it('has exactly the transitions of its table, each of which is reached from the start', () => {
    const walked = paths.map(({ events, last }) => [
      JSON.stringify(last.from),
      last.event,
      JSON.stringify(after(events)?.value),
    ]);
    expect(walked.map(String).toSorted()).toEqual(TABLE.map(String).toSorted());
  });

  it('can be closed in every state, and takes nothing after that', () => {
    const open = mcpConnectionLifecycle.snapshots.filter(({ status }) => status === 'active');
    expect(open).toHaveLength(5);
    expect(open.every((state) => mcpConnectionLifecycle.next(state, 'CLOSE')?.value === 'closed')).toBe(true);
    const closed = after(['CLOSE']);
    expect(EVENTS.filter((type) => closed?.can({ type }))).toEqual([]);
  });

  it('is ready only after an attempt, and never while it cools down', () => {
    expect(paths.filter(({ last }) => last.event === 'CONNECTED').map(({ last }) => last.from)).toEqual(['connecting']);
    expect(after(['EXHAUST', 'CONNECT'])).toBeUndefined();
    expect(after(['EXHAUST', 'COOLED', 'CONNECT', 'CONNECTED'])?.value).toBe('ready');
  });
});
