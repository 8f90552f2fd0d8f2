/**
 * Sessions whose wake has died: a worker finds them at once, whatever else they have planned, and brings them to rest.
 */
import { afterEach, describe, expect, it } from 'vitest';
import { RuntimeError } from '../../../src/machines/errors.ts';
import { MAX_FAILURES_IN_A_ROW } from '../../../src/machines/session/limits.ts';
import type { WakeOptions } from '../../../src/actors/wake/wake-ports.ts';
import { HookedStore } from '../../support/hooked-store.ts';
import { MortalStore } from '../../support/mortal-store.ts';
import type { Death } from '../../support/mortal-store.ts';
import { openTurnSetup } from '../../support/turn-setup.ts';
import type { Said, TurnSetup } from '../../support/turn-setup.ts';
import { noteTools } from '../../support/turn-tools.ts';

const WEEK_MS = 7 * 24 * 3_600_000;
/** The append that begins the wake is stored, and nothing after it. */
const ONCE_BEGUN: Death = { at: 1, stored: true };

let setup: TurnSetup;
let store: HookedStore;
let id: string;
afterEach(() => setup[Symbol.asyncDispose]());

async function open(steps: readonly Said[], frontmatter: Parameters<TurnSetup['agent']>[2] = {}): Promise<void> {
  store = new HookedStore();
  setup = await openTurnSetup({
    store,
    tools: [noteTools().tool('launch', { permissionPolicy: 'always_ask' }), noteTools().tool('check')],
  });
  await setup.agent('worker', steps, frontmatter);
  id = await setup.start('worker');
}

/** Wakes the session in a process that is killed over it. */
async function dieOver(death: Death, options: WakeOptions = {}): Promise<void> {
  const mortal = new MortalStore(store, death);
  const code = await setup
    .open({ store: mortal })
    .wake(id, options)
    .then(
      ({ outcome }) => outcome,
      (error: unknown) => (RuntimeError.is(error) ? error.code : 'killed'),
    );
  expect(mortal.isDead, `the process lived: ${code}`).toBe(true);
  setup.open();
}

/**
 * A call waits for permission, which is void in a week. The wake that asked for it has died, and so has the one that
 * took over.
 */
async function blockAndDieTwice(): Promise<void> {
  await open([{ calls: [{ name: 'launch' }] }, { text: 'Launched.' }], { tools: ['launch'] });
  const mortal = new MortalStore(store);
  store.before('wake.ended', async () => {
    await mortal.kill();
    throw new Error('the process was killed');
  });
  await setup
    .open({ store: mortal })
    .wake(id)
    .catch(() => undefined);
  expect(await setup.open().sessions.get(id)).toMatchObject({
    status: 'running',
    pendingActions: [{ toolName: 'launch' }],
  });
  await dieOver(ONCE_BEGUN);
  expect(await setup.state(id)).toMatchObject({ status: 'running', pendingActions: [{ toolName: 'launch' }] });
}

describe('a session that waits for permission, and two of whose wakes have died', () => {
  it('does not say that it runs until the permission is void: a worker finds it now', async () => {
    await blockAndDieTwice();
    expect(await setup.due()).toEqual([id]);
    await setup.settle();
    expect(await setup.state(id)).toMatchObject({
      status: 'idle',
      stopReason: 'requires_action',
      openWake: undefined,
      pendingActions: [{ toolName: 'launch' }],
    });
  });

  it('is interrupted at once', async () => {
    await blockAndDieTwice();
    await setup.runtime.sessions.interrupt(id);
    await setup.settle();
    expect(await setup.state(id)).toMatchObject({
      status: 'idle',
      openWake: undefined,
      pendingActions: [],
      openToolCalls: [],
    });
  });

  it('is due for nothing but the end of that permission afterwards', async () => {
    await blockAndDieTwice();
    await setup.settle();
    const hints = (await store.activations.due({ nowMs: setup.clock.now() + WEEK_MS, limit: 10 })).due.flatMap(
      ({ activations }) => activations,
    );
    expect(hints.map(({ dueAtMs }) => dueAtMs)).toEqual([setup.clock.now() + WEEK_MS]);
  });
});

describe('a turn that somebody goes on with', () => {
  /** Rests at a limit in the middle of its turn, with a wake planned for in an hour. */
  const steps: readonly Said[] = [
    {
      payloads: [
        {
          type: 'directive',
          directive: { outcome: 'sleep', summary: 's', queuedWakes: [{ reason: 'later', delaySeconds: 3_600 }] },
        },
      ],
    },
    { calls: [{ name: 'check' }] },
    { text: 'Checked.' },
  ];

  it('is not left until the next wake that it had planned, when the process of that wake dies', async () => {
    await open(steps, { tools: ['check'], budget: { maxModelStepsPerWake: 1 } });
    await setup.runtime.wake(id);
    await setup.runtime.sessions.send(id, { type: 'user.message', text: 'Check' });
    expect(await setup.runtime.wake(id)).toMatchObject({ outcome: 'budget_reached' });
    expect(await setup.due()).toEqual([]);
    await dieOver(ONCE_BEGUN);
    expect(await setup.due()).toEqual([id]);
    await setup.settle();
    expect((await setup.dataOf(id, 'agent.message')).map(({ text }) => text)).toEqual(['Checked.']);
    expect(await setup.state(id)).toMatchObject({ openWake: undefined, queuedWakes: [{ reason: 'later' }] });
  });
});

describe('what a wake begins for', () => {
  const planned: Said = {
    payloads: [
      {
        type: 'directive',
        directive: { outcome: 'sleep', summary: 's', queuedWakes: [{ reason: 'later', delaySeconds: 30 }] },
      },
    ],
  };

  it('may be taken back in the moment before it begins: the wake does not begin, and cannot be lost', async () => {
    await open([planned]);
    await setup.runtime.wake(id);
    await setup.clock.advance(30_000);
    const other = setup.open();
    store.before('wake.started', () => other.sessions.interrupt(id));
    const mortal = new MortalStore(store, ONCE_BEGUN);
    const outcome = await setup
      .open({ store: mortal })
      .wake(id, { isAutonomous: true })
      .catch((error: unknown) => error);
    await mortal.kill();
    setup.open();
    await setup.settle();
    expect(await setup.state(id)).toMatchObject({ status: 'idle', openWake: undefined, queuedWakes: [] });
    expect(outcome).toMatchObject({ outcome: 'nothing_to_do' });
  });

  it('may be joined by more in that moment, which the wake that begins reads too', async () => {
    await open([{ text: 'Both read.' }]);
    const other = setup.open();
    store.before('wake.started', () => other.sessions.send(id, { type: 'user.message', text: 'And this' }));
    expect(await setup.open().wake(id)).toMatchObject({ outcome: 'sleep', summary: 'Both read.' });
    expect(setup.asked.map(({ read }) => ['Go', 'And this'].map((text) => read.includes(text)))).toEqual([
      [true, true],
    ]);
    expect(await setup.due()).toEqual([]);
  });

  it('may be joined by more again and again: the wake begins all the same', async () => {
    await open([{ text: 'All read.' }]);
    const other = setup.open();
    for (let count = 0; count < 50; count += 1)
      store.before('wake.started', () => other.sessions.send(id, { type: 'user.message', text: 'More' }));
    expect(await setup.open().wake(id)).toMatchObject({ outcome: 'sleep', summary: 'All read.', epoch: 1 });
    expect(await setup.state(id)).toMatchObject({ messages: 51, pending: [], openWake: undefined });
  });

  it('may be done by another wake in that moment: this one leaves the session to it', async () => {
    await open([{ text: 'Done.' }]);
    const right = await store.acquireWakeRight(id, { epoch: 0, isOpen: false });
    await right.release();
    const slow = setup.open();
    // Who does not see the right of another, as on a file system that does not share its locks.
    const blind = setup.open({
      store: new Proxy(store, {
        get: (target, name) =>
          name === 'acquireWakeRight'
            ? async () => ({ epoch: 1, lost: new AbortController().signal, release: async () => undefined })
            : bound(target, name),
      }),
    });
    store.before('wake.started', () => blind.wake(id));
    expect(await slow.wake(id).catch((error: unknown) => error)).toMatchObject({ code: 'WAKE_CONFLICT' });
    expect((await setup.dataOf(id, 'wake.started')).length).toBe(1);
    expect(await setup.state(id)).toMatchObject({ status: 'idle', openWake: undefined });
  });
});

function bound(target: HookedStore, name: string | symbol): unknown {
  const value: unknown = Reflect.get(target, name, target);
  return typeof value === 'function' ? (value as (...given: unknown[]) => unknown).bind(target) : value;
}

describe('a session whose wakes fail or die, and whose last one died', () => {
  it('is parked, and says of the last one alone that it was lost', async () => {
    await open([{ text: 'Never read.' }]);
    for (let death = 1; death <= MAX_FAILURES_IN_A_ROW; death += 1) await dieOver(ONCE_BEGUN);
    expect(await setup.open().wake(id)).toMatchObject({ outcome: 'parked' });
    expect(await setup.dataOf(id, 'session.parked')).toMatchObject([
      {
        code: 'failures',
        reason: expect.stringMatching(
          /^5 wakes in a row failed or were lost; the last one was lost: its process died/,
        ) as unknown,
      },
    ]);
  });
});

describe('a wake that died after a step was completed', () => {
  it('ends with the steps that it completed', async () => {
    await open([{ calls: [{ name: 'check' }] }, { text: 'Seen.' }], { tools: ['check'] });
    const mortal = new MortalStore(store);
    store.before('agent.tool_started', async () => {
      await mortal.kill();
      throw new Error('the process was killed');
    });
    await setup
      .open({ store: mortal })
      .wake(id)
      .catch(() => undefined);
    expect(mortal.isDead).toBe(true);
    expect(await setup.open().wake(id)).toMatchObject({ outcome: 'sleep', modelSteps: 1 });
    expect(await setup.dataOf(id, 'wake.ended')).toMatchObject([
      { outcome: 'lost', modelSteps: 1 },
      { outcome: 'sleep', modelSteps: 1 },
    ]);
  });
});
