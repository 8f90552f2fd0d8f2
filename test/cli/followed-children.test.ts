/** Sessions that answer calls of others are told along with them, in an order that makes sense. */
import { afterEach, describe, expect, it } from 'vitest';
import { FollowedChildren } from '../../src/cli/wake/followed-children.ts';
import { followedWake } from '../../src/cli/wake/followed-wake.ts';
import type { SessionEvent } from '../../src/machines/session/session-event.ts';
import { until } from '../support/session-setup.ts';
import { openTurnSetup } from '../support/turn-setup.ts';
import type { Model, Said, TurnSetup } from '../support/turn-setup.ts';
import { noteTools } from '../support/turn-tools.ts';

let setup: TurnSetup;
afterEach(() => setup[Symbol.asyncDispose]());

interface Told {
  readonly sessionId: string;
  readonly type: SessionEvent['type'];
  readonly seq: number;
}

async function openSetup(): Promise<void> {
  const tools = noteTools();
  setup = await openTurnSetup({
    tools: [tools.tool('launch', { permissionPolicy: 'always_ask' }), tools.tool('check')],
  });
}

const asks = (name: string): Said => ({ calls: [{ name, input: { message: 'Do it.' } }] });
const agent = (id: string, model: Model | readonly Said[], ...helpers: readonly string[]): Promise<void> =>
  setup.agent(id, model, { tools: [...helpers.map((helper) => ({ agent: helper })), 'launch', 'check'] });

/** A wake, and everything that is told of it, in order. */
async function toldOf(sessionId: string): Promise<readonly Told[]> {
  const told: Told[] = [];
  const tell = async (event: SessionEvent): Promise<void> =>
    void told.push({ sessionId: event.sessionId, type: event.type, seq: event.seq });
  await followedWake({
    runtime: setup.runtime,
    sessionId,
    signal: new AbortController().signal,
    onEvent: tell,
    onChildEvent: tell,
  });
  return told;
}

const seqsOf = (told: readonly Told[], sessionId: string): number[] =>
  told.filter((each) => each.sessionId === sessionId).map(({ seq }) => seq);
const indexOf = (told: readonly Told[], sessionId: string, type: Told['type']): number =>
  told.findIndex((each) => each.sessionId === sessionId && each.type === type);
const upTo = (count: number): number[] => Array.from({ length: count }, (_, index) => index + 1);

describe('children that answer calls', () => {
  it('are told from their beginning to their end, each event once, before what came of the call', async () => {
    await openSetup();
    await agent('helper', [{ calls: [{ name: 'check' }] }, { text: 'I checked.' }]);
    await agent('lead', [asks('helper'), { text: 'Done.' }], 'helper');
    const parent = await setup.start('lead');
    const told = await toldOf(parent);
    const [child = ''] = await setup.children(parent);
    expect(seqsOf(told, child)).toEqual(upTo((await setup.log(child)).length));
    expect(indexOf(told, parent, 'agent.subflow_started')).toBeLessThan(indexOf(told, child, 'session.created'));
    expect(indexOf(told, child, 'wake.ended')).toBeLessThan(indexOf(told, parent, 'agent.tool_result'));
  });

  it('are told down to those that work for them in turn', async () => {
    await openSetup();
    await agent('last', [{ text: 'Deep.' }]);
    await agent('helper', [asks('last'), { text: 'Passed on.' }], 'last');
    await agent('lead', [asks('helper'), { text: 'Done.' }], 'helper');
    const parent = await setup.start('lead');
    const told = await toldOf(parent);
    const [child = ''] = await setup.children(parent);
    const [grandchild = ''] = await setup.children(child);
    for (const id of [child, grandchild]) expect(seqsOf(told, id)).toEqual(upTo((await setup.log(id)).length));
    expect(indexOf(told, grandchild, 'wake.ended')).toBeLessThan(indexOf(told, child, 'agent.tool_result'));
    expect(indexOf(told, child, 'wake.ended')).toBeLessThan(indexOf(told, parent, 'agent.tool_result'));
  });

  it('that an earlier wake began with are told from where they are now', async () => {
    await openSetup();
    await agent('helper', [{ calls: [{ name: 'launch' }] }, { text: 'Launched.' }]);
    await agent('lead', [asks('helper'), { text: 'Done.' }], 'helper');
    const parent = await setup.start('lead');
    await setup.runtime.wake(parent);
    const [child = ''] = await setup.children(parent);
    await setup.confirm(child);
    const { head } = await setup.state(child);
    const told = await toldOf(parent);
    const all = (await setup.log(child)).length;
    expect(all).toBeGreaterThan(head);
    expect(seqsOf(told, child)).toEqual(upTo(all).slice(head));
    expect(indexOf(told, child, 'wake.ended')).toBeLessThan(indexOf(told, parent, 'agent.tool_result'));
  });
});

describe('following children', () => {
  const started = (childSessionId: string): SessionEvent => ({
    id: 'e',
    seq: 1,
    sessionId: 'p',
    at: '2026-01-01T00:00:00.000Z',
    v: 1,
    type: 'agent.subflow_started',
    data: { callId: 'c1', childSessionId, agentId: 'helper', message: 'Go.' },
  });

  it('ends though one that is said to come is never made', async () => {
    await openSetup();
    const told: SessionEvent[] = [];
    const children = new FollowedChildren({
      sessions: setup.runtime.sessions,
      onEvent: async (event) => void told.push(event),
    });
    children.heard(started('0192f0c1-2345-7abc-8def-0123456789ab'));
    children.heard(started('0192f0c1-2345-7abc-8def-0123456789ab'));
    await children.endedBy('another call');
    await children.endedBy('c1');
    await children.end();
    expect(told).toEqual([]);
  });

  it('tells what somebody was too slow to hear before it ended', async () => {
    await openSetup();
    await agent('helper', [{ text: 'Quick.' }]);
    const child = await setup.start('helper');
    const told: number[] = [];
    let release: (() => void) | undefined;
    const children = new FollowedChildren({
      sessions: setup.runtime.sessions,
      onEvent: async ({ seq }) => {
        if (told.length === 0) await new Promise<void>((resolve) => (release = resolve));
        told.push(seq);
      },
    });
    children.heard(started(child));
    await until(() => release !== undefined);
    await setup.runtime.wake(child);
    const ended = children.endedBy('c1');
    release?.();
    await ended;
    await children.end();
    expect(told).toEqual(upTo((await setup.log(child)).length));
  });

  it('ends though whoever listens fails', async () => {
    await openSetup();
    await agent('helper', [{ text: 'Quick.' }]);
    const child = await setup.start('helper');
    let isTold = false;
    const onEvent = async (): Promise<void> => {
      isTold = true;
      throw new Error('the output is gone');
    };
    const children = new FollowedChildren({ sessions: setup.runtime.sessions, onEvent });
    children.heard(started(child));
    await until(() => isTold);
    await expect(children.end()).rejects.toThrow('the output is gone');
  });
});
