/** What a check of a real thing against its chart finds, and what it lets pass. */
import { assign, fromPromise, setup } from 'xstate';
import { describe, expect, it } from 'vitest';
import { RuntimeError } from '../../src/machines/errors.ts';
import { checkChart } from '../../src/testing.ts';
import type { ChartStep, ChartWorld } from '../../src/testing.ts';
import { MISTAKES, Shop, order, shopAdapter } from './order-shop.ts';

/** The error that a check ends with. */
async function disagreementOf(checking: Promise<unknown>): Promise<RuntimeError> {
  const error: unknown = await checking.then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
  if (!RuntimeError.is(error)) throw new Error('expected a disagreement', { cause: error });
  return error;
}

describe('a check of a real thing against its chart', () => {
  it('passes a thousand runs of one that does what the chart says, and takes every transition', async () => {
    const { runs, cover } = await checkChart(order, shopAdapter(), { runs: 1_000 });
    expect(runs).toBeGreaterThanOrEqual(1_000);
    cover.assert();
    expect(cover.coverage.states.missing).toEqual([]);
  });

  it.each(MISTAKES)('finds in 300 runs that %s, and tells it in few steps', async (mistake) => {
    for (const seed of [1, 2, 3]) {
      const error = await disagreementOf(checkChart(order, shopAdapter(mistake), { runs: 300, seed }));
      expect(error.code).toBe('CHART_DISAGREES');
      const { steps } = error.details as { readonly steps: readonly unknown[] };
      expect(steps.length).toBeLessThanOrEqual(6);
    }
  });

  it('says what was expected and what came after which steps, and how to see it again', async () => {
    const adapter = shopAdapter('state is lost at a crash');
    const error = await disagreementOf(checkChart(order, adapter, { seed: 5, runs: 300 }));
    const { steps, seed, path } = error.details as {
      readonly steps: readonly ChartStep[];
      readonly seed: number;
      readonly path: string;
    };
    expect(seed).toBe(5);
    expect(error.message).toMatch(/crash and restart +chart .*, real thing /);
    expect(error.message).toContain('expected: ');
    expect(error.message).toContain('received: ');
    expect(error.message).toContain(`{ seed: 5, path: '${path}' }`);
    expect(error.message).toContain(JSON.stringify(steps));
    for (const again of [{ seed, path }, { steps: JSON.parse(JSON.stringify(steps)) as readonly ChartStep[] }]) {
      const second = await disagreementOf(checkChart(order, adapter, again));
      expect((second.details as { readonly steps: unknown }).steps).toEqual(steps);
    }
    await checkChart(order, shopAdapter(), { steps });
  });

  it('lets an event be refused where the chart takes none, and nowhere else', async () => {
    const { restart: _, ...adapter } = shopAdapter();
    await checkChart(order, adapter, { steps: [{ kind: 'event', event: { type: 'PAY' } }] });
    const refusing = {
      ...adapter,
      events: {
        ...adapter.events,
        CANCEL: () => {
          throw new Error('closed on Sundays');
        },
      },
    };
    const error = await disagreementOf(
      checkChart(order, refusing, { steps: [{ kind: 'event', event: { type: 'CANCEL' } }] }),
    );
    expect(error.message).toContain('closed on Sundays');
  });

  it('tells what the adapter throws, and stops what it has started', async () => {
    let open = 0;
    const broken = {
      ...shopAdapter(),
      start: (world: ChartWorld) => {
        open += 1;
        return new Shop(world);
      },
      stop: () => {
        open -= 1;
      },
      read: () => {
        throw new Error('no such table');
      },
    };
    const error = await disagreementOf(checkChart(order, broken, { runs: 3 }));
    expect(error.message).toContain('no such table');
    expect(open).toBe(0);
  });

  it('does the work of a call also where its answer is lost, and tells the chart what came', async () => {
    const charged: unknown[] = [];
    const machine = setup({
      types: { context: {} as { readonly answer: unknown } },
      actors: { pay: fromPromise(async (): Promise<unknown> => 0) },
      actions: { keep: assign({ answer: (_, { output }: { readonly output: unknown }) => output }) },
    }).createMachine({
      id: 'payment',
      context: { answer: undefined },
      initial: 'asking',
      states: {
        asking: {
          invoke: {
            id: 'pay',
            src: 'pay',
            onDone: { target: 'paid', actions: { type: 'keep', params: ({ event }) => ({ output: event.output }) } },
            onError: 'failed',
          },
        },
        paid: {},
        failed: {},
      },
    });
    class Payment {
      state = 'asking';
      answer: unknown;
      constructor(world: ChartWorld) {
        void world
          .call('pay', (planned) => {
            charged.push(planned);
            return `paid ${String(planned)}`;
          })
          .then(
            (answer) => Object.assign(this, { state: 'paid', answer }),
            () => (this.state = 'failed'),
          );
      }
    }
    const adapter = {
      start: (world: ChartWorld) => new Payment(world),
      events: {},
      read: ({ state, answer }: Payment) => ({ state, answer }),
      expected: ({ value, context }: { readonly value: unknown; readonly context: { readonly answer: unknown } }) => ({
        state: value,
        answer: context.answer,
      }),
    };
    const chart = { machine, outputs: { pay: [7] } };
    await checkChart(chart, adapter, { steps: [{ kind: 'done', call: 'pay', output: 7 }] });
    await checkChart(chart, adapter, { steps: [{ kind: 'lost', call: 'pay' }] });
    await checkChart(chart, adapter, { steps: [{ kind: 'error', call: 'pay' }] });
    expect(charged).toEqual([7, 7]);
  });

  it.each([
    [{ path: '1:2' }, 'no'],
    [{ seed: 1, path: 'zz' }, '"zz" leads to no run'],
    [{ seed: Number.NaN }, 'seed'],
    [{ runs: -1 }, 'runs'],
    [{ maxSteps: 1.5 }, 'maxSteps'],
  ])('refuses the options %j', async (options, word) => {
    const error = await disagreementOf(checkChart(order, shopAdapter(), options));
    expect(error.code).toBe('CHART_CHECK_INVALID');
    expect(error.message).toContain(word);
  });

  it('refuses an event that the chart does not have, and says which there are', async () => {
    const adapter = { ...shopAdapter(), events: { CANSEL: () => undefined } } as never;
    const error = await disagreementOf(checkChart(order, adapter));
    expect(error.message).toContain('it has ADD, PAY, CANCEL');
  });

  it.each([
    [undefined, 'there is no adapter'],
    [{}, 'has no events'],
    [{ events: {} }, 'no function for start, read'],
    [{ ...shopAdapter(), read: 'state' }, 'no function for read'],
    [{ ...shopAdapter(), events: { PAY: true } }, 'no function for PAY'],
    [{ ...shopAdapter(), repeats: 'ADD' }, 'repeats'],
  ])('refuses the adapter %j', async (adapter, words) => {
    const error = await disagreementOf(checkChart(order, adapter as never));
    expect(error.code).toBe('CHART_CHECK_INVALID');
    expect(error.message).toContain(words);
  });
});
