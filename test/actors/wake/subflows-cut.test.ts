/**
 * Agents that work for agents, when one of them is cut short, stopped or copied: nothing is left that runs, asks or is
 * due for nobody.
 */
import { afterEach, describe, expect, it } from 'vitest';
import { HookedStore } from '../../support/hooked-store.ts';
import { MortalStore } from '../../support/mortal-store.ts';
import { until } from '../../support/session-house.ts';
import { openTurnHouse } from '../../support/turn-house.ts';
import type { Model, Said, TurnHouse } from '../../support/turn-house.ts';
import { noteTools } from '../../support/turn-tools.ts';

let house: TurnHouse;
let store: HookedStore;
let ran: string[];
afterEach(() => house[Symbol.asyncDispose]());

const tools = ['launch', 'check', 'ask_human'] as const;
const launch: Said = { calls: [{ name: 'launch' }] };

/** A parent that asks one helper, which says these things. */
async function openPair(helper: Model | readonly Said[]): Promise<string> {
  const notes = noteTools();
  store = new HookedStore();
  ran = notes.ran;
  house = await openTurnHouse({
    store,
    tools: [notes.tool('launch', { permissionPolicy: 'always_ask' }), notes.tool('check')],
  });
  await house.agent('helper', helper, { tools: [...tools] });
  await house.agent(
    'lead',
    [{ calls: [{ name: 'helper', input: { message: 'Do it, helper.' } }] }, { text: 'All done.' }],
    { tools: [{ agent: 'helper' }, ...tools] },
  );
  return house.start('lead');
}

async function childOf(parent: string): Promise<string> {
  const [child] = await house.children(parent);
  if (child === undefined) throw new Error('it has no child');
  return child;
}

describe('a parent that is cut short', () => {
  type Cut = 'interrupt' | 'terminate' | 'delete';
  const cut = (how: Cut, id: string): Promise<unknown> => house.runtime.sessions[how](id);

  it.each<Cut>(['interrupt', 'terminate', 'delete'])(
    'by %s while its child waits takes the child with it: nothing of it is due or asks any more',
    async (how) => {
      const parent = await openPair([launch, { text: 'Launched.' }]);
      await house.runtime.wake(parent);
      const child = await childOf(parent);
      await cut(how, parent);
      expect(await house.state(child)).toMatchObject({ pendingActions: [], openToolCalls: [], pending: [] });
      await house.settle();
      expect(await house.due()).toEqual([]);
      expect(ran).toEqual([]);
      if (how === 'interrupt') expect(await house.results(parent)).toMatchObject([{ outcome: 'cancelled' }]);
      expect(house.asked).toHaveLength(2);
    },
  );

  it.each<Cut>(['interrupt', 'terminate'])('by %s while its child runs stops the child in its step', async (how) => {
    let isAsked = false;
    const parent = await openPair(async ({ abortSignal }) => {
      isAsked = true;
      await until(() => abortSignal?.aborted === true);
      return { error: { kind: 'aborted', message: 'stopped' } };
    });
    const waking = house.runtime.wake(parent);
    await until(() => isAsked);
    await cut(how, parent);
    expect(await waking).toMatchObject({ outcome: how === 'interrupt' ? 'interrupted' : 'terminated' });
    await house.settle();
    expect(await house.due()).toEqual([]);
    expect(house.asked.map(({ agent }) => agent)).toEqual(['lead', 'helper']);
    expect((await house.state(await childOf(parent))).openWake).toBeUndefined();
  });

  it.each<[Cut, 'agent.subflow_started' | 'user.message' | 'wake.started' | 'span.started']>([
    ['interrupt', 'agent.subflow_started'],
    ['terminate', 'agent.subflow_started'],
    ['interrupt', 'user.message'],
    ['terminate', 'user.message'],
    ['interrupt', 'wake.started'],
    ['terminate', 'wake.started'],
    ['interrupt', 'span.started'],
    ['terminate', 'span.started'],
  ])('by %s just before %s leaves no child that goes on by itself', async (how, type) => {
    const parent = await openPair([{ text: 'for nobody' }]);
    // The parent's own wake and step come first.
    if (type === 'wake.started' || type === 'span.started')
      store.before(type, async () => store.before(type, () => cut(how, parent)));
    else store.before(type, () => cut(how, parent));
    await house.runtime.wake(parent);
    await house.settle();
    await house.clock.advance(3_600_000);
    await house.settle();
    expect(await house.due()).toEqual([]);
    // A model that is asked in the very moment in which its step is cut short is not asked again.
    expect(house.asked.filter(({ agent }) => agent === 'helper').length).toBeLessThanOrEqual(
      type === 'span.started' ? 1 : 0,
    );
    const [child] = await house.children(parent);
    const listed = (await house.runtime.sessions.list()).map(({ sessionId }) => sessionId);
    if (child !== undefined && listed.includes(child))
      expect(await house.state(child)).toMatchObject({ openToolCalls: [], queuedWakes: [] });
    const results = await house.results(parent);
    if (how === 'interrupt') expect(results).toMatchObject([{ outcome: 'cancelled' }]);
    expect((await house.state(parent)).openToolCalls.filter(() => how === 'interrupt')).toEqual([]);
  });

  it.each<Cut>(['interrupt', 'terminate'])(
    'by %s in another process, of which its store tells it nothing, makes no child',
    async (how) => {
      const parent = await openPair([{ text: 'for nobody' }]);
      const other = house.runtime;
      const deaf = new MortalStore(store);
      deaf.watch = () => () => undefined;
      house.open({ store: deaf });
      store.before('agent.subflow_started', () => other.sessions[how](parent));
      await house.runtime.wake(parent);
      expect(await other.sessions.list()).toHaveLength(1);
      expect(house.asked.map(({ agent }) => agent)).toEqual(['lead']);
    },
  );

  it('goes on with nothing when its process stops and starts again: its child does, and it hears of it', async () => {
    let tries = 0;
    let isAsked = false;
    const parent = await openPair(async ({ abortSignal }) => {
      tries += 1;
      if (tries > 1) return { text: 'at last' };
      isAsked = true;
      await until(() => abortSignal?.aborted === true);
      return { error: { kind: 'aborted', message: 'stopped' } };
    });
    const first = house.runtime;
    const waking = first.wake(parent);
    await until(() => isAsked);
    await Promise.all([waking, stopWakes(first)]);
    house.open();
    expect(await house.results(parent)).toEqual([]);
    await house.settle();
    expect(await house.state(parent)).toMatchObject({ summary: 'All done.' });
    expect(await house.results(parent)).toMatchObject([{ outcome: 'completed', output: { output: 'at last' } }]);
    expect(await house.children(parent)).toHaveLength(1);
  });
});

/** Stops the wakes of a runtime as its shutdown does, and leaves the store open for the next one. */
async function stopWakes(runtime: TurnHouse['runtime']): Promise<void> {
  const close = store.close.bind(store);
  store.close = async () => undefined;
  await runtime.shutdown('the machine is switched off');
  store.close = close;
}

describe('a child that somebody else cuts short', () => {
  it.each<['interrupt' | 'terminate' | 'delete', string]>([
    ['interrupt', 'failed'],
    ['terminate', 'failed'],
    ['delete', 'failed'],
  ])('by %s while it waits answers its parent: %s', async (how, outcome) => {
    const parent = await openPair([launch, { text: 'x' }]);
    await house.runtime.wake(parent);
    await house.runtime.sessions[how](await childOf(parent));
    await house.settle();
    expect(await house.state(parent)).toMatchObject({ stopReason: 'idle', summary: 'All done.' });
    expect(await house.results(parent)).toMatchObject([{ outcome }]);
    expect(await house.children(parent)).toHaveLength(1);
    expect(await house.runtime.sessions.list()).toHaveLength(how === 'delete' ? 1 : 2);
    expect(ran).toEqual([]);
  });

  it.each<['interrupt' | 'terminate', string]>([
    ['interrupt', 'failed'],
    ['terminate', 'failed'],
  ])('by %s while it runs answers its parent, which goes on: %s', async (how, outcome) => {
    let isAsked = false;
    const parent = await openPair(async ({ abortSignal }) => {
      isAsked = true;
      await until(() => abortSignal?.aborted === true);
      return { error: { kind: 'aborted', message: 'stopped' } };
    });
    const waking = house.runtime.wake(parent);
    await until(() => isAsked);
    await house.runtime.sessions[how](await childOf(parent));
    await waking;
    await house.settle();
    expect(await house.state(parent)).toMatchObject({ stopReason: 'idle', summary: 'All done.' });
    expect(await house.results(parent)).toMatchObject([
      { outcome, output: { summary: expect.stringMatching(/interrupted|terminated/) } },
    ]);
    expect(await house.due()).toEqual([]);
  });

  it('while it is to be tried again answers its parent too', async () => {
    const parent = await openPair(() => ({ error: { kind: 'auth', message: 'no key' } }));
    await house.runtime.wake(parent);
    const child = await childOf(parent);
    expect((await house.state(child)).lastWake?.retryAt).toBeDefined();
    await house.runtime.sessions.terminate(child);
    await house.settle();
    expect(await house.results(parent)).toMatchObject([{ outcome: 'failed' }]);
  });

  it('that is parked after its failures has failed', async () => {
    const parent = await openPair(() => ({ error: { kind: 'auth', message: 'no key' } }));
    await house.runtime.wake(parent);
    for (let turn = 0; turn < 6; turn += 1) {
      await house.clock.advance(3_600_000);
      await house.settle();
    }
    expect(await house.results(parent)).toMatchObject([
      { outcome: 'failed', output: { summary: expect.stringContaining('wakes in a row failed') } },
    ]);
  });
});

async function linesOf(sessionId: string): Promise<string[]> {
  const lines: string[] = [];
  for await (const line of house.runtime.sessions.export(sessionId)) lines.push(line);
  return lines;
}

describe('a copy of a session whose child works', () => {
  it('has no part in the child: its call is closed as cancelled, and nothing of it is due', async () => {
    const parent = await openPair([launch, { text: 'Launched.' }]);
    await house.runtime.wake(parent);
    const fork = (await house.runtime.sessions.fork(parent)).sessionId;
    expect(await house.results(fork)).toMatchObject([{ outcome: 'cancelled' }]);
    expect(await house.state(fork)).toMatchObject({
      openToolCalls: [],
      pendingActions: [],
      children: [],
      stopReason: 'idle',
    });
    expect(await house.due()).toEqual([]);
    await house.confirm(await childOf(parent));
    await house.settle();
    expect(await house.results(fork)).toHaveLength(1);
    expect(await house.results(parent)).toMatchObject([{ outcome: 'completed' }]);
    await house.runtime.sessions.send(fork, { type: 'user.message', text: 'And you?' });
    expect(await house.runtime.wake(fork)).toMatchObject({ outcome: 'sleep' });
    expect(await house.runtime.sessions.list()).toHaveLength(3);
  });

  it('has no part in an answer of it that was not acted upon either', async () => {
    const parent = await openPair([launch, { text: 'Launched.' }]);
    await house.runtime.wake(parent);
    const child = await childOf(parent);
    await house.confirm(child);
    await house.runtime.wake(child);
    expect((await house.state(parent)).openToolCalls).toMatchObject([{ phase: 'answered' }]);
    const fork = (await house.runtime.sessions.fork(parent)).sessionId;
    expect(await house.results(fork)).toMatchObject([{ outcome: 'cancelled' }]);
    expect(await house.state(fork)).toMatchObject({ openToolCalls: [], pending: [] });
  });

  it('that is brought back from an export with its child goes on with it', async () => {
    const parent = await openPair([launch, { text: 'Launched.' }]);
    await house.runtime.wake(parent);
    const child = await childOf(parent);
    const lines = new Map<string, string[]>();
    for (const each of [parent, child]) lines.set(each, await linesOf(each));
    for (const each of [parent, child]) await house.runtime.sessions.delete(each);
    house.open();
    for (const each of [parent, child]) await house.runtime.sessions.import(lines.get(each) ?? []);
    expect(await house.due()).toEqual([]);
    // What the log says was asked elsewhere is asked here again before anything runs.
    await house.confirm(child);
    await house.settle();
    expect(ran).toEqual([]);
    await house.confirm(child);
    await house.settle();
    expect(await house.state(parent)).toMatchObject({ summary: 'All done.' });
    expect([ran, await house.results(parent), await house.children(parent)]).toMatchObject([
      ['launch'],
      [{ outcome: 'completed' }],
      [child],
    ]);
  });

  it('of a child stands for itself: it has no parent and tells nobody', async () => {
    const parent = await openPair([launch, { text: 'Launched.' }]);
    await house.runtime.wake(parent);
    const fork = (await house.runtime.sessions.fork(await childOf(parent))).sessionId;
    expect(await house.state(fork)).toMatchObject({ parent: undefined, pendingActions: [] });
    await house.runtime.sessions.send(fork, { type: 'user.message', text: 'On your own.' });
    await house.runtime.wake(fork);
    expect(await house.dataOf(parent, 'session.child_idle')).toHaveLength(1);
  });
});
