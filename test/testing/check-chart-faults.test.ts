/** Faults of the real thing, of its adapter and of the chart itself: each is told as what it is. */
import { fromPromise, setup } from 'xstate';
import { describe, expect, it } from 'vitest';
import { checkChart } from '../../src/testing.ts';
import type { ChartStep, ChartWorld } from '../../src/testing.ts';

const send = (type: string): ChartStep => ({ kind: 'event', event: { type } });

const disagreement = (...words: readonly string[]): Error =>
  expect.objectContaining({
    code: 'CHART_DISAGREES',
    message: expect.stringMatching(new RegExp(words.join('[^]*'))) as string,
  }) as Error;

const bill = setup({ actors: { charge: fromPromise(async () => '') } }).createMachine({
  id: 'bill',
  initial: 'open',
  states: {
    open: { on: { PAY: 'paying' } },
    paying: { invoke: { id: 'charge', src: 'charge', onDone: 'paid' }, on: { CANCEL: 'cancelled' } },
    paid: {},
    cancelled: {},
  },
});

/** Its calls end when it is cancelled: what waits for one is told. */
class Bill {
  state = 'open';
  readonly #world: ChartWorld;
  #giveUp = (): void => undefined;

  constructor(world: ChartWorld) {
    this.#world = world;
  }

  async pay(): Promise<void> {
    if (this.state !== 'open') return;
    this.state = 'paying';
    const cancelled = new Promise<never>((_, reject) => {
      this.#giveUp = () => reject(new Error('cancelled by the user'));
    });
    await Promise.race([this.#world.call('charge'), cancelled]);
    this.state = 'paid';
  }

  cancel(): void {
    if (this.state !== 'paying') return;
    this.state = 'cancelled';
    this.#giveUp();
  }
}

const billAdapter = {
  start: (world: ChartWorld) => new Bill(world),
  events: { PAY: (real: Bill) => real.pay(), CANCEL: (real: Bill) => real.cancel() },
  read: ({ state }: Bill) => state,
};

describe('a check', () => {
  it('takes what an earlier event ends with for no refusal of a later one', async () => {
    const { cover } = await checkChart(bill, billAdapter, { seed: 1 });
    expect(cover.coverage.transitions.missing).toEqual([]);
  });

  it('tells a crash of the chart by what the work of a call has answered', async () => {
    const machine = setup({
      types: {
        events: {} as { readonly type: 'xstate.done.actor.load'; readonly output: { readonly rows: number[] } },
      },
      actors: { load: fromPromise(async () => ({ rows: [1] })) },
    }).createMachine({
      id: 'load',
      initial: 'loading',
      states: {
        loading: {
          invoke: {
            id: 'load',
            src: 'load',
            onDone: { guard: ({ event }) => event.output.rows.length > 0, target: 'there' },
          },
        },
        there: {},
      },
    });
    const adapter = {
      start: (world: ChartWorld) => {
        const real = { state: 'loading' };
        void world.call('load', () => ({})).then(() => undefined);
        return real;
      },
      events: {},
      read: ({ state }: { readonly state: string }) => state,
    };
    const chart = { machine, outputs: { load: [{ rows: [1] }] } };
    await expect(checkChart(chart, adapter, { runs: 1 })).rejects.toThrow(
      disagreement('at which the chart throws', '1\\. done\\(load\\)', 'only it:'),
    );
  });

  it('tells after which steps a timer, late work or the end throws', async () => {
    const throwing = (): never => {
      throw new Error('out of order');
    };
    const timed = {
      ...billAdapter,
      start: (world: ChartWorld) => {
        world.clock.setTimeout(throwing, 1_000);
        return new Bill(world);
      },
    };
    await expect(checkChart(bill, timed, { seed: 2 })).rejects.toThrow(
      disagreement('a timer of the real thing throws: out of order', 'pass', 'seed: 2'),
    );
    class LateBill extends Bill {}
    const late = {
      ...billAdapter,
      start: ({ call, ...world }: ChartWorld) => new LateBill({ ...world, call: (name) => call(name, throwing) }),
    };
    const steps: readonly ChartStep[] = [send('PAY'), send('CANCEL'), { kind: 'late', call: 'charge' }];
    await expect(checkChart(bill, late, { steps })).rejects.toThrow(
      disagreement('throws: out of order', '3\\. done\\(charge\\), too late'),
    );
    await expect(checkChart(bill, { ...billAdapter, stop: throwing }, { steps: [send('PAY')] })).rejects.toThrow(
      disagreement('throws: out of order', '1\\. PAY'),
    );
    await expect(checkChart(bill, { ...billAdapter, expected: throwing }, { steps: [] })).rejects.toThrow(
      disagreement('throws: out of order', '0\\. start'),
    );
  });

  it('tells the first fault where stopping fails too', async () => {
    const adapter = {
      ...billAdapter,
      read: () => 'nowhere',
      stop: () => {
        throw new Error('cannot be stopped');
      },
    };
    await expect(checkChart(bill, adapter, { steps: [] })).rejects.toThrow(
      disagreement('the state', 'received: "nowhere"'),
    );
  });

  it('tells a rejection that the real thing does not handle', async () => {
    const careless = {
      ...billAdapter,
      events: {
        ...billAdapter.events,
        CANCEL: (real: Bill) => {
          if (real.state === 'paying') void Promise.reject(new Error('mail was not sent'));
          real.cancel();
        },
      },
    };
    const others = process.listeners('unhandledRejection');
    process.removeAllListeners('unhandledRejection');
    try {
      await expect(checkChart(bill, careless, { seed: 3 })).rejects.toThrow(
        disagreement('does not handle: mail was not sent', '2\\. CANCEL'),
      );
      expect(process.listenerCount('unhandledRejection')).toBe(0);
    } finally {
      for (const listener of others) process.on('unhandledRejection', listener);
    }
  });
});
