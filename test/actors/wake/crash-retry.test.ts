/** What becomes of calls whose process dies: at every single change of the log, before and after it is stored. */
import { afterEach, describe, expect, it } from 'vitest';
import { MemoryEventStore } from '../../../src/adapters/memory/memory-event-store.ts';
import type { Runtime } from '../../../src/runtime.ts';
import { MAX_TOOL_CALL_ATTEMPTS } from '../../../src/machines/session/limits.ts';
import { HookedStore } from '../../support/hooked-store.ts';
import { MortalStore } from '../../support/mortal-store.ts';
import type { Death } from '../../support/mortal-store.ts';
import { until } from '../../support/session-setup.ts';
import { openTurnSetup } from '../../support/turn-setup.ts';
import type { Said, TurnSetup, TurnSetupOptions } from '../../support/turn-setup.ts';
import { noteTools } from '../../support/turn-tools.ts';

let setup: TurnSetup;
afterEach(() => setup[Symbol.asyncDispose]());

const NOBODY_LEFT = 'killed';

/** Wakes whatever is due in a process that dies as it is told; resolves with what it had changed by then. */
async function liveAndDie(death: Death | undefined, sessionId: string): Promise<MortalStore> {
  const mortal = new MortalStore(setup.store, death);
  const process: Runtime = setup.open({ store: mortal });
  await process.wake(sessionId).catch(() => NOBODY_LEFT);
  if (!mortal.isDead) await mortal.kill();
  return mortal;
}

interface Scene {
  readonly parent: string;
  readonly ran: string[];
}

/** A parent whose helper checks once and answers; both write what they did into `ran`. */
async function openFamily(): Promise<Scene> {
  const { tool, ran } = noteTools();
  setup = await openTurnSetup({
    store: new MemoryEventStore(),
    tools: [tool('check'), tool('peek', { idempotent: true })],
  });
  await setup.agent('helper', [{ calls: [{ name: 'check' }] }, { text: 'I checked.' }], { tools: ['check'] });
  await setup.agent(
    'lead',
    [{ calls: [{ name: 'helper', input: { message: 'Check.' } }, { name: 'peek' }] }, { text: 'All done.' }],
    { tools: [{ agent: 'helper' }, 'peek'] },
  );
  return { parent: await setup.start('lead'), ran };
}

async function changesOfFamily(): Promise<readonly string[]> {
  const { parent } = await openFamily();
  const { changes } = await liveAndDie(undefined, parent);
  await setup[Symbol.asyncDispose]();
  return changes;
}

async function expectOneFamily(where: string, { parent, ran }: Scene): Promise<void> {
  const results = await setup.dataOf(parent, 'agent.tool_result');
  const outcomeOf = (wanted: string): string[] =>
    results.filter(({ name }) => name === wanted).map(({ outcome }) => outcome);
  const children = await setup.children(parent);
  // A call that was only asked for has had no effect and is cancelled; one that the log says was given to a child is
  // answered by it.
  expect([where, outcomeOf('helper')]).toEqual([where, [children.length === 0 ? 'cancelled' : 'completed']]);
  expect([where, (await setup.runtime.sessions.list()).length]).toEqual([where, 1 + children.length]);
  for (const child of children) {
    expect([where, await setup.dataOf(child, 'user.message')]).toMatchObject([where, [{ text: 'Check.' }]]);
    expect([where, await setup.dataOf(parent, 'session.child_idle')]).toMatchObject([
      where,
      [{ childSessionId: child }],
    ]);
  }
  expect([where, (await setup.dataOf(parent, 'agent.message')).map(({ text }) => text), await setup.due()]).toEqual([
    where,
    ['All done.'],
    [],
  ]);
  // Not idempotent: at most once. Idempotent: as often as it takes, if it ever began.
  expect([where, ran.filter((name) => name === 'check').length <= 1]).toEqual([where, true]);
  expect([where, outcomeOf('peek')]).toEqual([where, [ran.includes('peek') ? 'completed' : 'cancelled']]);
}

describe('a process that dies while a child is made, told, run and heard', () => {
  it.each([true, false])(
    'at any change (stored: %s) leaves one child that is told once, whose answer comes once',
    async (stored) => {
      const changes = await changesOfFamily();
      expect(changes.length).toBeGreaterThan(15);
      for (let at = 1; at <= changes.length; at += 1) {
        const { parent, ran } = await openFamily();
        await liveAndDie({ at, stored }, parent);
        const next = setup.open();
        await next.wake(parent).catch(() => undefined);
        for (let turn = 0; turn < 4; turn += 1) {
          await setup.settle();
          await setup.clock.advance(60_000);
        }
        await expectOneFamily(`death at ${at} (${changes[at - 1] ?? ''})`, { parent, ran });
        await setup[Symbol.asyncDispose]();
      }
      await openFamily();
    },
  );
});

describe('a call that its process did not live to finish', () => {
  let ran: string[];
  let id: string;

  async function open(
    idempotent: boolean,
    steps: readonly Said[] = [{ calls: [{ name: 'touch' }] }, { text: 'Done.' }],
    options: TurnSetupOptions = {},
  ): Promise<void> {
    const tools = noteTools();
    ran = tools.ran;
    setup = await openTurnSetup({
      store: new HookedStore(),
      tools: [
        tools.tool('touch', { idempotent }),
        tools.tool('launch', { permissionPolicy: 'always_ask', idempotent }),
      ],
      ...options,
    });
    await setup.agent('worker', steps);
    id = await setup.start('worker');
  }

  /** The next process dies after the tool has run and before its result is stored. */
  async function dieInTheTool(): Promise<void> {
    const changes = new MortalStore(setup.store);
    const append = changes.append.bind(changes);
    changes.append = async (sessionId, events, options) => {
      if (events.some(({ type }) => type === 'agent.tool_result')) await changes.kill();
      return append(sessionId, events, options);
    };
    await setup
      .open({ store: changes })
      .wake(id)
      .catch(() => undefined);
    setup.open();
  }

  it('is run again where its tool says that this does no harm, and the model hears of one result', async () => {
    await open(true);
    await dieInTheTool();
    expect(await setup.runtime.wake(id)).toMatchObject({ outcome: 'sleep', summary: 'Done.' });
    expect(ran).toEqual(['touch', 'touch']);
    expect(await setup.dataOf(id, 'agent.tool_requeued')).toMatchObject([{ attempt: 2 }]);
    expect((await setup.dataOf(id, 'agent.tool_started')).map(({ attempt }) => attempt)).toEqual([undefined, 2]);
    expect(await setup.results(id)).toMatchObject([{ outcome: 'completed' }]);
  });

  it(`is begun ${MAX_TOOL_CALL_ATTEMPTS} times at most; then it is unknown`, async () => {
    await open(true);
    for (let attempt = 1; attempt <= MAX_TOOL_CALL_ATTEMPTS; attempt += 1) await dieInTheTool();
    expect(await setup.runtime.wake(id)).toMatchObject({ outcome: 'sleep' });
    expect(ran).toHaveLength(MAX_TOOL_CALL_ATTEMPTS);
    expect(await setup.results(id)).toMatchObject([{ outcome: 'unknown' }]);
    expect(await setup.dataOf(id, 'agent.tool_requeued')).toHaveLength(MAX_TOOL_CALL_ATTEMPTS - 1);
  });

  it('is unknown and never run again where its tool says nothing about that', async () => {
    await open(false);
    await dieInTheTool();
    expect(await setup.runtime.wake(id)).toMatchObject({ outcome: 'sleep' });
    expect([ran, await setup.results(id)]).toMatchObject([['touch'], [{ outcome: 'unknown' }]]);
    expect(setup.asked.at(-1)?.read).toContain('unknown');
  });

  it('asks again before it is run again: what it was allowed is spent', async () => {
    await open(true, [{ calls: [{ name: 'launch' }] }, { text: 'Done.' }]);
    await setup.runtime.wake(id);
    await setup.confirm(id);
    await dieInTheTool();
    expect(await setup.runtime.wake(id)).toMatchObject({ outcome: 'requires_action' });
    expect(ran).toEqual(['launch']);
    await setup.confirm(id);
    expect(await setup.runtime.wake(id)).toMatchObject({ outcome: 'sleep', summary: 'Done.' });
    expect(ran).toEqual(['launch', 'launch']);
  });

  it('is not run again when somebody cut the session short before its process died', async () => {
    await open(true);
    const hooked = setup.store as HookedStore;
    const mortal = new MortalStore(setup.store);
    const dying = setup.open({ store: mortal });
    const other = setup.open();
    hooked.before('agent.tool_result', async () => {
      await other.sessions.interrupt(id);
      await mortal.kill();
      throw new Error('the process was killed');
    });
    await dying.wake(id).catch(() => undefined);
    await setup.settle();
    expect(ran).toEqual(['touch']);
    expect(await setup.results(id)).toMatchObject([{ outcome: 'unknown' }]);
    expect(await setup.due()).toEqual([]);
  });

  it('leaves the calls of its step that had not begun without effect, and those with a result as they are', async () => {
    await open(false, [
      { calls: [{ name: 'touch', input: { n: 1 } }, { name: 'nothing_there' }, { name: 'launch' }] },
      { text: 'Done.' },
    ]);
    await dieInTheTool();
    const outcome = await setup.runtime.wake(id);
    const results = await setup.dataOf(id, 'agent.tool_result');
    expect(new Set(results.map(({ callId }) => callId)).size).toBe(results.length);
    expect(['requires_action', 'sleep']).toContain(outcome.outcome);
    expect(ran.length).toBeLessThanOrEqual(1);
  });
});

describe('two processes', () => {
  it('that are told of the same session run each call once, whichever wakes it', async () => {
    const { tool, ran } = noteTools();
    setup = await openTurnSetup({ store: new MemoryEventStore(), tools: [tool('check')] });
    await setup.agent('worker', [{ calls: [{ name: 'check' }, { name: 'check' }] }, { text: 'Done.' }]);
    const id = await setup.start('worker');
    const [one, two] = [setup.open(), setup.open()];
    await Promise.allSettled([one.wake(id), two.wake(id), one.trigger(id), two.trigger(id)]);
    await until(async () => (await setup.state(id)).status === 'idle');
    expect(ran).toEqual(['check', 'check']);
    expect(await setup.results(id)).toHaveLength(2);
  });
});
