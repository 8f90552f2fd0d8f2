/** A chart of an order, and what lives by it without knowing it: well, or with a mistake. */
import { assign, fromPromise, setup } from 'xstate';
import type { Clock } from '../../src/actors/clock/clock.ts';
import type { ChartAdapter, ChartWorld } from '../../src/testing/chart-adapter.ts';

type OrderEvent =
  | { readonly type: 'ADD'; readonly count: number }
  | { readonly type: 'PAY' }
  | { readonly type: 'CANCEL' };

export const orderMachine = setup({
  types: { context: {} as { readonly items: number }, events: {} as OrderEvent },
  actors: { charge: fromPromise(async () => ({ receipt: '' })) },
  actions: {
    count: assign({ items: ({ context, event }) => context.items + (event.type === 'ADD' ? event.count : 0) }),
  },
  guards: { hasItems: ({ context }) => context.items > 0 },
}).createMachine({
  id: 'order',
  context: { items: 0 },
  initial: 'open',
  states: {
    open: { on: { ADD: { actions: 'count' }, PAY: { guard: 'hasItems', target: 'paying' }, CANCEL: 'cancelled' } },
    paying: { invoke: { id: 'charge', src: 'charge', onDone: 'paid', onError: 'open' }, after: { 30_000: 'open' } },
    paid: { after: { 86_400_000: 'closed' }, on: { CANCEL: 'cancelled' } },
    closed: { type: 'final' },
    cancelled: { type: 'final' },
  },
});

export const order = {
  machine: orderMachine,
  samples: { ADD: [{ type: 'ADD', count: 1 }] },
  outputs: { charge: [{ receipt: 'r1' }] },
};

export const MISTAKES = [
  'cancelled when it was to be paid',
  'an event is lost',
  'a timer does not fire',
  'a timer fires too early',
  'a timer is not armed again after a crash',
  'state is lost at a crash',
  'a call is not made again after a crash',
  'an answer that comes too late is taken',
  'an event that comes again counts twice',
  'a call that fails is forgotten',
  'a guard is not asked',
] as const;

export type Mistake = (typeof MISTAKES)[number];

interface Stored {
  state: string;
  items: number;
  givesUpAt: number;
  closesAt: number;
  deliveries: string[];
}

export class Shop {
  readonly order: Stored;
  readonly #world: ChartWorld;
  readonly #mistake: Mistake | undefined;
  #attempt = 0;

  constructor(world: ChartWorld, mistake?: Mistake, stored?: Stored) {
    this.#world = world;
    this.#mistake = mistake;
    this.order = stored ?? { state: 'open', items: 0, givesUpAt: 0, closesAt: 0, deliveries: [] };
    if (this.order.state === 'paying' && mistake !== 'a call is not made again after a crash') void this.#charge();
    if (this.order.state === 'paid' && mistake !== 'a timer is not armed again after a crash') this.#closeLater();
  }

  get #clock(): Clock {
    return this.#world.clock;
  }

  add({ count }: { readonly count: number }, delivery: string): void {
    if (this.#mistake !== 'an event that comes again counts twice' && this.order.deliveries.includes(delivery)) return;
    this.order.deliveries.push(delivery);
    if (this.order.state === 'open') this.order.items += count;
  }

  cancel(): void {
    if (this.#mistake === 'an event is lost' && this.order.state === 'paid') return;
    if (['open', 'paid'].includes(this.order.state)) this.order.state = 'cancelled';
  }

  async pay(): Promise<void> {
    if (this.order.state !== 'open') throw new Error('the order is not open');
    if (this.order.items === 0 && this.#mistake !== 'a guard is not asked') throw new Error('there is nothing to pay');
    this.order.state = 'paying';
    this.order.givesUpAt = this.#clock.now() + (this.#mistake === 'a timer fires too early' ? 29_000 : 30_000);
    await this.#charge();
  }

  async #charge(): Promise<void> {
    const attempt = (this.#attempt += 1);
    const isMine = (): boolean =>
      this.order.state === 'paying' &&
      (this.#attempt === attempt || this.#mistake === 'an answer that comes too late is taken');
    if (this.#mistake !== 'a timer does not fire')
      this.#clock.setTimeout(() => {
        if (isMine()) this.order.state = 'open';
      }, this.order.givesUpAt - this.#clock.now());
    try {
      await this.#world.call<{ readonly receipt: string }>('charge');
      if (!isMine()) return;
      this.order.state = this.#mistake === 'cancelled when it was to be paid' ? 'cancelled' : 'paid';
      this.order.closesAt = this.#clock.now() + 86_400_000;
      this.#closeLater();
    } catch {
      if (isMine() && this.#mistake !== 'a call that fails is forgotten') this.order.state = 'open';
    }
  }

  #closeLater(): void {
    this.#clock.setTimeout(() => {
      if (this.order.state === 'paid') this.order.state = 'closed';
    }, this.order.closesAt - this.#clock.now());
  }
}

/** Items are told only where the chart has an open order. */
export function shopAdapter(mistake?: Mistake): ChartAdapter<Shop, typeof orderMachine> {
  return {
    start: (world) => new Shop(world, mistake),
    events: {
      ADD: (shop, event, delivery) => shop.add(event, delivery),
      PAY: (shop) => shop.pay(),
      CANCEL: (shop) => shop.cancel(),
    },
    read: ({ order: { state, items } }) => ({ state, items }),
    expected: ({ value, context }) => ({ state: value, items: context.items }),
    restart: (crashed, world) =>
      new Shop(world, mistake, mistake === 'state is lost at a crash' ? undefined : structuredClone(crashed.order)),
    repeats: ['ADD'],
  };
}
