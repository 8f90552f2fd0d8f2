/**
 * Agents that work for agents, when one of them is cut short, stopped or copied: nothing is left that runs, asks or is
 * due for nobody.
 */
import { afterEach, describe, expect, it } from 'vitest';
import { HookedStore } from '../../support/hooked-store.ts';
import { MortalStore } from '../../support/mortal-store.ts';
import { until } from '../../support/session-setup.ts';
import { openTurnSetup } from '../../support/turn-setup.ts';
import type { Model, Said, TurnSetup } from '../../support/turn-setup.ts';
import { noteTools } from '../../support/turn-tools.ts';

let setup: TurnSetup;
let store: HookedStore;
let ran: string[];
afterEach(() => setup[Symbol.asyncDispose]());

const tools = ['launch', 'check', 'ask_human'] as const;
const launch: Said = { calls: [{ name: 'launch' }] };

/** A parent that asks one helper, which says these things. */
async function openPair(helper: Model | readonly Said[]): Promise<string> {
  const notes = noteTools();
  store = new HookedStore();
  ran = notes.ran;
  setup = await openTurnSetup({
    store,
    tools: [notes.tool('launch', { permissionPolicy: 'always_ask' }), notes.tool('check')],
  });
  await setup.agent('helper', helper, { tools: [...tools] });
  await setup.agent(
    'lead',
    [{ calls: [{ name: 'helper', input: { message: 'Do it, helper.' } }] }, { text: 'All done.' }],
    { tools: [{ agent: 'helper' }, ...tools] },
  );
  return setup.start('lead');
}

async function childOf(parent: string): Promise<string> {
  const [child] = await setup.children(parent);
  if (child === undefined) throw new Error('it has no child');
  return child;
}

describe('a parent that is cut short', () => {
  type Cut = 'interrupt' | 'terminate' | 'delete';
  const cut = (how: Cut, id: string): Promise<unknown> => setup.runtime.sessions[how](id);

  it.each<Cut>(['interrupt', 'terminate', 'delete'])(
    'by %s while its child waits takes the child with it: nothing of it is due or asks any more',
    async (how) => {
      const parent = await openPair([launch, { text: 'Launched.' }]);
      await setup.runtime.wake(parent);
      const child = await childOf(parent);
      await cut(how, parent);
      expect(await setup.state(child)).toMatchObject({ pendingActions: [], openToolCalls: [], pending: [] });
      await setup.settle();
      expect(await setup.due()).toEqual([]);
      expect(ran).toEqual([]);
      if (how === 'interrupt') expect(await setup.results(parent)).toMatchObject([{ outcome: 'cancelled' }]);
      expect(setup.asked).toHaveLength(2);
    },
  );

  it.each<Cut>(['interrupt', 'terminate'])('by %s while its child runs stops the child in its step', async (how) => {
    let isAsked = false;
    const parent = await openPair(async ({ abortSignal }) => {
      isAsked = true;
      await until(() => abortSignal?.aborted === true);
      return { error: { kind: 'aborted', message: 'stopped' } };
    });
    const waking = setup.runtime.wake(parent);
    await until(() => isAsked);
    await cut(how, parent);
    expect(await waking).toMatchObject({ outcome: how === 'interrupt' ? 'interrupted' : 'terminated' });
    await setup.settle();
    expect(await setup.due()).toEqual([]);
    expect(setup.asked.map(({ agent }) => agent)).toEqual(['lead', 'helper']);
    expect((await setup.state(await childOf(parent))).openWake).toBeUndefined();
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
    await setup.runtime.wake(parent);
    await setup.settle();
    await setup.clock.advance(3_600_000);
    await setup.settle();
    expect(await setup.due()).toEqual([]);
    // A model that is asked in the very moment in which its step is cut short is not asked again.
    expect(setup.asked.filter(({ agent }) => agent === 'helper').length).toBeLessThanOrEqual(
      type === 'span.started' ? 1 : 0,
    );
    const [child] = await setup.children(parent);
    const listed = (await setup.runtime.sessions.list()).map(({ sessionId }) => sessionId);
    if (child !== undefined && listed.includes(child))
      expect(await setup.state(child)).toMatchObject({ openToolCalls: [], queuedWakes: [] });
    const results = await setup.results(parent);
    if (how === 'interrupt') expect(results).toMatchObject([{ outcome: 'cancelled' }]);
    expect((await setup.state(parent)).openToolCalls.filter(() => how === 'interrupt')).toEqual([]);
  });

  it.each<Cut>(['interrupt', 'terminate'])(
    'by %s in another process, of which its store tells it nothing, makes no child',
    async (how) => {
      const parent = await openPair([{ text: 'for nobody' }]);
      const other = setup.runtime;
      const deaf = new MortalStore(store);
      deaf.watch = () => () => undefined;
      setup.open({ store: deaf });
      store.before('agent.subflow_started', () => other.sessions[how](parent));
      await setup.runtime.wake(parent);
      expect(await other.sessions.list()).toHaveLength(1);
      expect(setup.asked.map(({ agent }) => agent)).toEqual(['lead']);
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
    const first = setup.runtime;
    const waking = first.wake(parent);
    await until(() => isAsked);
    await Promise.all([waking, stopWakes(first)]);
    setup.open();
    expect(await setup.results(parent)).toEqual([]);
    await setup.settle();
    expect(await setup.state(parent)).toMatchObject({ summary: 'All done.' });
    expect(await setup.results(parent)).toMatchObject([{ outcome: 'completed', output: { output: 'at last' } }]);
    expect(await setup.children(parent)).toHaveLength(1);
  });
});

/** Stops the wakes of a runtime as its shutdown does, and leaves the store open for the next one. */
async function stopWakes(runtime: TurnSetup['runtime']): Promise<void> {
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
    await setup.runtime.wake(parent);
    await setup.runtime.sessions[how](await childOf(parent));
    await setup.settle();
    expect(await setup.state(parent)).toMatchObject({ stopReason: 'idle', summary: 'All done.' });
    expect(await setup.results(parent)).toMatchObject([{ outcome }]);
    expect(await setup.children(parent)).toHaveLength(1);
    expect(await setup.runtime.sessions.list()).toHaveLength(how === 'delete' ? 1 : 2);
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
    const waking = setup.runtime.wake(parent);
    await until(() => isAsked);
    await setup.runtime.sessions[how](await childOf(parent));
    await waking;
    await setup.settle();
    expect(await setup.state(parent)).toMatchObject({ stopReason: 'idle', summary: 'All done.' });
    expect(await setup.results(parent)).toMatchObject([
      { outcome, output: { summary: expect.stringMatching(/interrupted|terminated/) } },
    ]);
    expect(await setup.due()).toEqual([]);
  });

  it('while it is to be tried again answers its parent too', async () => {
    const parent = await openPair(() => ({ error: { kind: 'auth', message: 'no key' } }));
    await setup.runtime.wake(parent);
    const child = await childOf(parent);
    expect((await setup.state(child)).lastWake?.retryAt).toBeDefined();
    await setup.runtime.sessions.terminate(child);
    await setup.settle();
    expect(await setup.results(parent)).toMatchObject([{ outcome: 'failed' }]);
  });

  it('that is parked after its failures has failed', async () => {
    const parent = await openPair(() => ({ error: { kind: 'auth', message: 'no key' } }));
    await setup.runtime.wake(parent);
    for (let turn = 0; turn < 6; turn += 1) {
      await setup.clock.advance(3_600_000);
      await setup.settle();
    }
    expect(await setup.results(parent)).toMatchObject([
      { outcome: 'failed', output: { summary: expect.stringContaining('wakes in a row failed') } },
    ]);
  });
});

async function linesOf(sessionId: string): Promise<string[]> {
  const lines: string[] = [];
  for await (const line of setup.runtime.sessions.export(sessionId)) lines.push(line);
  return lines;
}

describe('a copy of a session whose child works', () => {
  it('has no part in the child: its call is closed as cancelled, and nothing of it is due', async () => {
    const parent = await openPair([launch, { text: 'Launched.' }]);
    await setup.runtime.wake(parent);
    const fork = (await setup.runtime.sessions.fork(parent)).sessionId;
    expect(await setup.results(fork)).toMatchObject([{ outcome: 'cancelled' }]);
    expect(await setup.state(fork)).toMatchObject({
      openToolCalls: [],
      pendingActions: [],
      children: [],
      stopReason: 'idle',
    });
    expect(await setup.due()).toEqual([]);
    await setup.confirm(await childOf(parent));
    await setup.settle();
    expect(await setup.results(fork)).toHaveLength(1);
    expect(await setup.results(parent)).toMatchObject([{ outcome: 'completed' }]);
    await setup.runtime.sessions.send(fork, { type: 'user.message', text: 'And you?' });
    expect(await setup.runtime.wake(fork)).toMatchObject({ outcome: 'sleep' });
    expect(await setup.runtime.sessions.list()).toHaveLength(3);
  });

  it('has no part in an answer of it that was not acted upon either', async () => {
    const parent = await openPair([launch, { text: 'Launched.' }]);
    await setup.runtime.wake(parent);
    const child = await childOf(parent);
    await setup.confirm(child);
    await setup.runtime.wake(child);
    expect((await setup.state(parent)).openToolCalls).toMatchObject([{ phase: 'answered' }]);
    const fork = (await setup.runtime.sessions.fork(parent)).sessionId;
    expect(await setup.results(fork)).toMatchObject([{ outcome: 'cancelled' }]);
    expect(await setup.state(fork)).toMatchObject({ openToolCalls: [], pending: [] });
  });

  it('that is brought back from an export with its child goes on with it', async () => {
    const parent = await openPair([launch, { text: 'Launched.' }]);
    await setup.runtime.wake(parent);
    const child = await childOf(parent);
    const lines = new Map<string, string[]>();
    for (const each of [parent, child]) lines.set(each, await linesOf(each));
    for (const each of [parent, child]) await setup.runtime.sessions.delete(each);
    setup.open();
    for (const each of [parent, child]) await setup.runtime.sessions.import(lines.get(each) ?? []);
    expect(await setup.due()).toEqual([]);
    // What the log says was asked elsewhere is asked here again before anything runs.
    await setup.confirm(child);
    await setup.settle();
    expect(ran).toEqual([]);
    await setup.confirm(child);
    await setup.settle();
    expect(await setup.state(parent)).toMatchObject({ summary: 'All done.' });
    expect([ran, await setup.results(parent), await setup.children(parent)]).toMatchObject([
      ['launch'],
      [{ outcome: 'completed' }],
      [child],
    ]);
  });

  it('of a child stands for itself: it has no parent and tells nobody', async () => {
    const parent = await openPair([launch, { text: 'Launched.' }]);
    await setup.runtime.wake(parent);
    const fork = (await setup.runtime.sessions.fork(await childOf(parent))).sessionId;
    expect(await setup.state(fork)).toMatchObject({ parent: undefined, pendingActions: [] });
    await setup.runtime.sessions.send(fork, { type: 'user.message', text: 'On your own.' });
    await setup.runtime.wake(fork);
    expect(await setup.dataOf(parent, 'session.child_idle')).toHaveLength(1);
  });
});
