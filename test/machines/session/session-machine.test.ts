import { describe, expect, it } from 'vitest';
import {
  nextConfiguration,
  sessionLifecycle,
  sessionMachine,
  statusOf,
} from '../../../src/machines/session/session-machine.ts';
import type { SessionChartEventType } from '../../../src/machines/session/session-machine.ts';
import { pathsOverEveryTransition } from '../../support/graph-paths.ts';

const IDLE = { status: 'idle', stopReason: 'idle' } as const;
const REQUIRES_ACTION = { status: 'idle', stopReason: 'requires_action' } as const;
const RUNNING = { status: 'running' } as const;
const RESCHEDULING = { status: 'rescheduling', stopReason: 'rescheduling' } as const;
const TERMINATED = { status: 'terminated', stopReason: 'terminated' } as const;

const TABLE = [
  [IDLE, 'WAKE', RUNNING],
  [IDLE, 'TERMINATE', TERMINATED],
  [REQUIRES_ACTION, 'WAKE', RUNNING],
  [REQUIRES_ACTION, 'RESOLVE', IDLE],
  [REQUIRES_ACTION, 'TERMINATE', TERMINATED],
  [RUNNING, 'WAKE', RUNNING],
  [RUNNING, 'REST', IDLE],
  [RUNNING, 'REQUIRE_ACTION', REQUIRES_ACTION],
  [RUNNING, 'RESCHEDULE', RESCHEDULING],
  [RUNNING, 'TERMINATE', TERMINATED],
  [RESCHEDULING, 'WAKE', RUNNING],
  [RESCHEDULING, 'REST', IDLE],
  [RESCHEDULING, 'TERMINATE', TERMINATED],
] as const;

const EVENTS: readonly SessionChartEventType[] = [
  'WAKE',
  'REST',
  'REQUIRE_ACTION',
  'RESOLVE',
  'RESCHEDULE',
  'TERMINATE',
];

describe('the chart of a session', () => {
  it.each(TABLE)('goes from %j on %s to %j', (from, event, to) => {
    const next = nextConfiguration(from, event);
    expect(next === undefined ? undefined : statusOf(next)).toEqual({ stopReason: undefined, ...to });
  });

  it('allows nothing else', () => {
    const allowed = new Set(TABLE.map(([from, event]) => JSON.stringify([from, event])));
    const others = [IDLE, REQUIRES_ACTION, RUNNING, RESCHEDULING, TERMINATED].flatMap((from) =>
      EVENTS.filter((event) => !allowed.has(JSON.stringify([from, event]))).map((event) => ({
        from,
        event,
        to: nextConfiguration(from, event),
      })),
    );
    expect(others.filter(({ to }) => to !== undefined)).toEqual([]);
    expect(others).toHaveLength(5 * EVENTS.length - TABLE.length);
  });

  it('reaches every transition from its start', () => {
    expect(pathsOverEveryTransition(sessionMachine, EVENTS)).toHaveLength(TABLE.length);
    expect(sessionLifecycle.snapshots).toHaveLength(5);
  });
});
