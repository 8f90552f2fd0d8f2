/**
 * Budgets: what bounds a wake and a session, what is set aside before a step, and how one goes on after a bound was
 * reached.
 */
import { afterEach, describe, expect, it } from 'vitest';
import type { AgentFrontmatter } from '../../../src/machines/agent/agent-definition.ts';
import {
  DEFAULT_MAX_IDENTICAL_CALLS,
  DEFAULT_MAX_STEPS_WITHOUT_PROGRESS,
  MAX_OPEN_SUBFLOWS,
} from '../../../src/machines/session/limits.ts';
import { MemoryEventStore } from '../../../src/adapters/memory/memory-event-store.ts';
import { MortalStore } from '../../support/mortal-store.ts';
import { openTurnSetup } from '../../support/turn-setup.ts';
import type { Model, Said, TurnSetup, TurnSetupOptions } from '../../support/turn-setup.ts';
import { noteTools } from '../../support/turn-tools.ts';

let setup: TurnSetup;
let ran: string[];
let id: string;
afterEach(() => setup[Symbol.asyncDispose]());

type Budget = NonNullable<AgentFrontmatter['budget']>;

/** One token is a dollar. */
const DOLLARS = { worker: { input: 1_000_000, output: 1_000_000 }, helper: { input: 1_000_000, output: 1_000_000 } };

async function open(model: Model | readonly Said[], budget: Budget, options: TurnSetupOptions = {}): Promise<void> {
  const tools = noteTools();
  ran = tools.ran;
  let ticks = 0;
  setup = await openTurnSetup({
    store: new MemoryEventStore(),
    tools: [tools.tool('check'), tools.tool('clock', { run: async () => (ticks += 1) })],
    ...options,
  });
  await setup.agent('worker', model, { budget, tools: ['check', 'clock'] });
  id = await setup.start('worker');
}

const check = (usage: Said['usage'] = {}, input: object = {}): Said => ({ calls: [{ name: 'check', input }], usage });
const budgetOf = async (): Promise<unknown> => (await setup.dataOf(id, 'wake.ended')).at(-1)?.budget;

/** Checks something new each time, at this cost. */
const endless =
  (usage: Said['usage']): Model =>
  ({ modelStepsTaken }) =>
    check(usage, { n: modelStepsTaken });

describe('a wake stops at its budget of', () => {
  it.each<[string, Budget, Model, TurnSetupOptions, number]>([
    ['steps', { maxModelStepsPerWake: 3 }, endless({}), {}, 3],
    ['tokens', { maxTokensPerWake: 10_000 }, endless({ inputTokens: 3_000, outputTokens: 1_500 }), {}, 3],
    [
      'tokens of the session',
      { maxTokensPerSession: 10_000 },
      endless({ inputTokens: 3_000, outputTokens: 1_500 }),
      {},
      3,
    ],
    [
      'money, by what the provider says',
      { maxCostPerWake: 1 },
      endless({ cost: 0.4 }),
      { prices: { worker: { input: 0, output: 0 } } },
      3,
    ],
    [
      "money of the session, by a price of one's own",
      { maxCostPerSession: 100_000 },
      endless({ inputTokens: 30_000, outputTokens: 10_000 }),
      { prices: DOLLARS },
      3,
    ],
    ['identical calls', { maxIdenticalCalls: 2 }, () => check(), {}, 3],
    [
      'steps without progress',
      { maxStepsWithoutProgress: 2, maxIdenticalCalls: 50 },
      ({ modelStepsTaken }) => check({}, { n: modelStepsTaken % 2 }),
      {},
      4,
    ],
  ])('%s, says which, and another wake goes on', async (_what, budget, model, options, steps) => {
    await open(model, budget, options);
    expect(await setup.runtime.wake(id)).toMatchObject({
      outcome: 'budget_reached',
      status: 'idle',
      stopReason: 'idle',
    });
    const [name] = Object.keys(budget);
    expect(await budgetOf()).toMatchObject({ name });
    expect(ran).toHaveLength(steps);
    expect(await setup.due()).toEqual([]);
    expect((await setup.state(id)).openToolCalls).toEqual([]);
    const ofSession = name?.endsWith('PerSession') === true;
    const again = await setup.runtime.wake(id);
    expect(again.outcome).toBe('budget_reached');
    expect(ran.length > steps).toBe(!ofSession);
  });

  it('money where nobody knows the price: nothing runs, and it says why', async () => {
    await open(endless({}), { maxCostPerWake: 5 });
    expect(await setup.runtime.wake(id)).toMatchObject({ outcome: 'budget_reached', modelSteps: 0 });
    expect(await budgetOf()).toMatchObject({
      name: 'maxCostPerWake',
      because: expect.stringContaining('price of the model is not known'),
    });
    expect(setup.asked).toEqual([]);
    expect((await setup.state(id)).pending).toHaveLength(1);
  });

  it("a price of one's own lets it run", async () => {
    await open(
      [{ text: 'Cheap.', usage: { inputTokens: 10, outputTokens: 10 } }],
      { maxCostPerWake: 5 },
      { prices: { 'model/*': { input: 1, output: 1 } } },
    );
    expect(await setup.runtime.wake(id)).toMatchObject({ outcome: 'sleep', summary: 'Cheap.' });
    expect((await setup.state(id)).used).toEqual({ tokens: 20, cost: 0.000_02 });
  });

  it('nothing, as long as what it does is new', async () => {
    await open(
      ({ modelStepsTaken }) => (modelStepsTaken < 30 ? { calls: [{ name: 'clock' }] } : { text: 'Late.' }),
      {},
    );
    expect(await setup.runtime.wake(id)).toMatchObject({ outcome: 'sleep', summary: 'Late.' });
  });

  it('identical calls and steps without progress, by default too', async () => {
    await open(() => check(), {});
    expect(await setup.runtime.wake(id)).toMatchObject({ outcome: 'budget_reached' });
    expect(ran.length).toBeLessThanOrEqual(DEFAULT_MAX_IDENTICAL_CALLS + 1);
    await setup[Symbol.asyncDispose]();
    await open(({ modelStepsTaken }) => check({}, { n: modelStepsTaken % 3 }), {});
    expect(await setup.runtime.wake(id)).toMatchObject({ outcome: 'budget_reached' });
    expect(ran.length).toBeLessThanOrEqual(DEFAULT_MAX_STEPS_WITHOUT_PROGRESS + 3);
  });

  it('identical calls is heard of and taken up anew by whoever writes', async () => {
    await open(() => check(), { maxIdenticalCalls: 1 });
    await setup.runtime.wake(id);
    const before = ran.length;
    await setup.runtime.sessions.send(id, { type: 'user.message', text: 'Try once more.' });
    expect(await setup.runtime.wake(id)).toMatchObject({ outcome: 'budget_reached' });
    expect(ran.length).toBeGreaterThan(before);
  });
});

describe('before a step', () => {
  it('what it may use is set aside, and what it is to write is bounded by what is left', async () => {
    const bounds: (number | undefined)[] = [];
    await open(
      ({ budget }) => {
        bounds.push(budget?.maxOutputTokens);
        return bounds.length === 1
          ? check({ inputTokens: 500, outputTokens: 500 })
          : { text: 'Done.', usage: { inputTokens: 1, outputTokens: 1 } };
      },
      { maxTokensPerWake: 5_000 },
    );
    await setup.runtime.wake(id);
    const spans = await setup.dataOf(id, 'span.started');
    for (const [index, { reserved, contextTokens = 0 }] of spans.entries()) {
      expect(reserved?.tokens).toBe(contextTokens + (bounds[index] ?? 0));
      expect(reserved?.tokens).toBeLessThanOrEqual(5_000 - index * 1_000);
    }
    expect(bounds).toHaveLength(2);
  });

  it('a budget of money bounds what it is to write as well', async () => {
    const bounds: (number | undefined)[] = [];
    await open(
      ({ budget }) => {
        bounds.push(budget?.maxOutputTokens);
        return { text: 'Done.', usage: { inputTokens: 1, outputTokens: 1 } };
      },
      { maxCostPerWake: 3_000 },
      { prices: DOLLARS },
    );
    await setup.runtime.wake(id);
    const [span] = await setup.dataOf(id, 'span.started');
    expect(bounds[0]).toBe(3_000 - (span?.contextTokens ?? 0));
    expect(span?.reserved?.cost).toBe(3_000);
  });

  it('a budget of money is told to whoever can be held to it, as much as is left', async () => {
    const bounds: (number | undefined)[] = [];
    await open(
      ({ budget }) => {
        bounds.push(budget?.maxCost);
        return bounds.length === 1
          ? check({ inputTokens: 500, outputTokens: 500 })
          : { text: 'Done.', usage: { inputTokens: 1, outputTokens: 1 } };
      },
      { maxCostPerWake: 9_000 },
      { prices: DOLLARS },
    );
    await setup.runtime.wake(id);
    expect(bounds).toEqual([9_000, 8_000]);
  });

  it('nothing is set aside where nothing bounds it', async () => {
    await open([{ text: 'Free.' }], {});
    await setup.runtime.wake(id);
    expect((await setup.dataOf(id, 'span.started'))[0]).not.toHaveProperty('reserved');
  });

  it('nothing is asked of the model when what it reads alone would be too much', async () => {
    await open([{ text: 'x' }], { maxTokensPerSession: 5 });
    expect(await setup.runtime.wake(id)).toMatchObject({ outcome: 'budget_reached', modelSteps: 0 });
    expect(setup.asked).toEqual([]);
  });
});

describe('what a step used', () => {
  it('is added up over wakes, with its cost', async () => {
    await open(
      [
        { text: 'a', usage: { inputTokens: 100, outputTokens: 50 } },
        { text: 'b', usage: { inputTokens: 10, outputTokens: 5, cost: 2 } },
      ],
      {},
      { prices: DOLLARS },
    );
    await setup.runtime.wake(id);
    await setup.runtime.sessions.send(id, { type: 'user.message', text: 'More' });
    await setup.runtime.wake(id);
    expect((await setup.state(id)).used).toEqual({ tokens: 165, cost: 152 });
    expect((await setup.dataOf(id, 'span.completed')).map(({ usage }) => usage?.cost)).toEqual([150, 2]);
  });

  it('counts as all that was set aside when its process died over it', async () => {
    await open([{ text: 'x' }], { maxTokensPerSession: 50_000 });
    const mortal = new MortalStore(setup.store);
    await setup.agent('worker', async () => {
      await mortal.kill();
      return { text: 'nobody hears this' };
    });
    await setup
      .open({ store: mortal })
      .wake(id)
      .catch(() => undefined);
    const reserved = (await setup.dataOf(id, 'span.started'))[0]?.reserved?.tokens ?? 0;
    expect(reserved).toBeGreaterThan(8_000);
    await setup.agent('worker', () => ({ text: 'again', usage: { inputTokens: 7, outputTokens: 1 } }));
    setup.open();
    await setup.runtime.wake(id);
    expect((await setup.state(id)).used.tokens).toBe(reserved + 8);
  });

  it('a process that dies over every step comes to the end of its budget, and no further', async () => {
    await open([{ text: 'x' }], { maxTokensPerSession: 20_000 });
    for (let death = 0; death < 6; death += 1) {
      const mortal = new MortalStore(setup.store);
      await setup.agent('worker', async () => {
        await mortal.kill();
        return { text: 'x' };
      });
      await setup
        .open({ store: mortal })
        .wake(id)
        .catch(() => undefined);
      // Somebody takes care of it each time.
      await setup.open().sessions.send(id, { type: 'user.message', text: 'Go on' });
    }
    expect(setup.asked.length).toBeLessThanOrEqual(3);
  });
});

describe('the budget of a child', () => {
  const ask = (count: number): Said => ({
    calls: Array.from({ length: count }, () => ({ name: 'helper', input: { message: 'Work.' } })),
    usage: { inputTokens: 100, outputTokens: 100 },
  });

  async function openFamily(
    steps: readonly Said[] | Model,
    budget: Budget,
    helper: Model | readonly Said[],
    options: TurnSetupOptions = {},
  ): Promise<void> {
    await open([], {}, options);
    await setup.agent('helper', helper, { tools: ['check', 'ask_human'] });
    await setup.agent('lead', steps, { budget, tools: [{ agent: 'helper' }] });
    id = await setup.start('lead');
  }

  it('is a share of what its parent has left, and children of one step cannot use up more than that together', async () => {
    await openFamily(
      [ask(MAX_OPEN_SUBFLOWS), { text: 'Done.' }],
      { maxTokensPerSession: 10_000 },
      endless({ inputTokens: 200, outputTokens: 100 }),
    );
    await setup.runtime.wake(id);
    const allowances = (await setup.dataOf(id, 'agent.subflow_started')).map(
      ({ allowance }) => allowance?.tokens ?? Infinity,
    );
    expect(allowances).toHaveLength(MAX_OPEN_SUBFLOWS);
    expect(allowances.reduce((sum, each) => sum + each, 0)).toBeLessThanOrEqual(10_000 - 200);
    for (const child of await setup.children(id))
      expect((await setup.state(child)).allowance).toEqual({ tokens: allowances[0] });
  });

  it('that is used up in one step leaves less for the next, in the same wake too', async () => {
    let wanted = 0;
    await openFamily(() => (wanted++ < 20 ? ask(1) : { text: 'Done.' }), { maxTokensPerWake: 10_000 }, [
      { text: 'ok', usage: { inputTokens: 900, outputTokens: 10 } },
    ]);
    await setup.runtime.wake(id);
    const allowances = (await setup.dataOf(id, 'agent.subflow_started')).map(
      ({ allowance }) => allowance?.tokens ?? Infinity,
    );
    expect((await setup.state(id)).used.tokens).toBeLessThanOrEqual(10_000);
    expect(allowances).toEqual(allowances.toSorted((one, other) => other - one));
    expect(await budgetOf()).toMatchObject({ name: 'maxTokensPerWake' });
  });

  it('leaves out what children that still work were promised', async () => {
    await openFamily([], {}, [{ calls: [{ name: 'ask_human', input: { question: 'Which?' } }] }]);
    await setup.agent('asking', [ask(2), { text: 'Done.' }], {
      budget: { maxTokensPerSession: 8_200 },
      tools: [{ agent: 'helper' }],
      permission: { mode: 'preapproved', ask: ['helper'] },
    });
    id = await setup.start('asking');
    await setup.runtime.wake(id);
    for (let count = 0; count < 2; count += 1) {
      await setup.confirm(id, { toolName: 'helper' });
      await setup.runtime.wake(id);
    }
    const [first, second] = (await setup.dataOf(id, 'agent.subflow_started')).map(({ allowance }) => allowance?.tokens);
    expect(first).toBeGreaterThan(0);
    expect(second).toBe(first);
  });

  it('ends the child when it is reached, and the parent hears what it had by then', async () => {
    await openFamily(
      [ask(1), { text: 'Done.' }],
      { maxTokensPerSession: 40_000 },
      endless({ inputTokens: 1_000, outputTokens: 500 }),
    );
    await setup.runtime.wake(id);
    const [child = ''] = await setup.children(id);
    expect((await setup.dataOf(child, 'wake.ended'))[0]?.budget).toMatchObject({ name: 'maxTokensPerSession' });
    expect((await setup.results(id))[0]?.output).toMatchObject({ summary: expect.stringContaining('budget') });
  });

  it('is added to what its parent used, whatever came of it', async () => {
    await openFamily([ask(2), { text: 'Done.', usage: { inputTokens: 10, outputTokens: 0 } }], {}, [
      { text: 'ok', usage: { inputTokens: 40, outputTokens: 2, cost: 0.5 } },
    ]);
    await setup.runtime.wake(id);
    expect((await setup.state(id)).used).toEqual({ tokens: 200 + 84 + 10, cost: 1 });
  });

  it('of money is given on as well, and a child whose price is not known does nothing', async () => {
    await openFamily([ask(1), { text: 'Done.' }], { maxCostPerSession: 1_000_000 }, [{ text: 'ok' }], {
      prices: { lead: { input: 1, output: 1 } },
    });
    await setup.runtime.wake(id);
    expect((await setup.dataOf(id, 'agent.subflow_started'))[0]?.allowance?.cost).toBeGreaterThan(0);
    expect(setup.asked.filter(({ agent }) => agent === 'helper')).toEqual([]);
    expect((await setup.results(id))[0]?.output).toMatchObject({ summary: expect.stringContaining('price') });
  });

  it('is none where its parent has none', async () => {
    await openFamily([ask(1), { text: 'Done.' }], {}, [{ text: 'ok' }]);
    await setup.runtime.wake(id);
    expect((await setup.dataOf(id, 'agent.subflow_started'))[0]).not.toHaveProperty('allowance');
  });
});
