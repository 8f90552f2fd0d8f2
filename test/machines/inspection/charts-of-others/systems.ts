/** Charts as others write them: actors that have others, regions, and parts that come to an end. */
import {
  and,
  assign,
  cancel,
  createMachine,
  forwardTo,
  fromPromise,
  fromTransition,
  sendParent,
  sendTo,
  setup,
} from 'xstate';
import type { ActorRefFrom } from 'xstate';

export const mediaPlayer = createMachine({
  id: 'mediaPlayer',
  type: 'parallel',
  states: {
    playback: {
      initial: 'stopped',
      states: {
        stopped: { on: { PLAY: 'playing' } },
        playing: {
          initial: 'buffering',
          states: { buffering: { on: { READY: 'smooth' } }, smooth: { on: { STALLED: 'buffering' } } },
          on: { PAUSE: 'paused', END: 'stopped' },
        },
        paused: { on: { PLAY: 'playing', STOP: 'stopped' } },
      },
    },
    volume: {
      initial: 'normal',
      states: { normal: { on: { MUTE: 'muted' } }, muted: { on: { UNMUTE: 'normal' } } },
    },
    window: {
      initial: 'small',
      states: {
        small: { on: { FULL: 'full' } },
        full: { on: { 'key.escape': 'small' }, after: { 3000: { actions: 'hideControls' } } },
      },
    },
  },
}).provide({ actions: { hideControls: () => undefined } });

const selectable = createMachine({
  id: 'selectable',
  initial: 'unselected',
  states: {
    unselected: { on: { SELECT: { target: 'selected', actions: sendParent({ type: 'ITEM_SELECTED' }) } } },
    selected: { on: { SELECT: 'unselected' } },
  },
});

export const multiSelect = setup({
  types: {
    context: {} as { items: readonly ActorRefFrom<typeof selectable>[] },
    events: {} as { type: 'ADD'; id: string } | { type: 'ALL' | 'ITEM_SELECTED' | 'CLEAR' },
  },
  actors: { selectable },
}).createMachine({
  id: 'multiSelect',
  context: { items: [] },
  initial: 'none',
  on: {
    ADD: {
      actions: assign({
        items: ({ context, event, spawn }) => [...context.items, spawn('selectable', { id: `item-${event.id}` })],
      }),
    },
  },
  states: {
    none: { on: { ITEM_SELECTED: 'some', ALL: { target: 'some', actions: ({ context }) => context.items.length } } },
    some: { on: { CLEAR: { target: 'none', actions: assign({ items: [] }) }, ITEM_SELECTED: {} } },
  },
});

export const pingPong = setup({
  actors: {
    pong: createMachine({
      initial: 'waiting',
      states: {
        waiting: { on: { PING: 'answering' } },
        answering: { after: { 1000: { target: 'waiting', actions: sendParent({ type: 'PONG' }) } } },
      },
    }),
  },
}).createMachine({
  id: 'pingPong',
  initial: 'active',
  invoke: { id: 'pong', src: 'pong' },
  states: {
    active: {
      entry: sendTo('pong', { type: 'PING' }),
      on: { PONG: { target: 'waiting', actions: forwardTo('pong') } },
    },
    waiting: { after: { 1000: 'active' } },
  },
});

export const checkout = createMachine({
  id: 'checkout',
  initial: 'shipping',
  states: {
    shipping: {
      initial: 'address',
      states: {
        address: { on: { NEXT: 'speed' } },
        speed: { on: { NEXT: 'done', BACK: 'address' } },
        done: { type: 'final' },
      },
      onDone: 'payment',
    },
    payment: {
      type: 'parallel',
      states: {
        card: { initial: 'open', states: { open: { on: { CARD: 'given' } }, given: { type: 'final' } } },
        terms: { initial: 'open', states: { open: { on: { AGREE: 'agreed' } }, agreed: { type: 'final' } } },
      },
      onDone: 'confirmed',
      on: { BACK: 'shipping' },
    },
    confirmed: { type: 'final' },
  },
});

interface Score {
  readonly total: number;
}

const scoring = setup({
  types: { context: {} as Score, input: {} as { start: number }, output: {} as Score },
}).createMachine({
  id: 'scoring',
  context: ({ input }) => ({ total: input.start }),
  initial: 'open',
  states: {
    open: {
      on: { POINT: { actions: assign({ total: ({ context }) => context.total + 1 }) }, STOP: 'closed' },
    },
    closed: { type: 'final', output: ({ context }) => context },
  },
  output: ({ event }) => event.output as Score,
});

/** A part of another machine, whose output is read. */
export const tournament = setup({
  types: { context: {} as { totals: readonly number[] } },
  actors: { scoring },
}).createMachine({
  id: 'tournament',
  context: { totals: [] },
  initial: 'round',
  states: {
    round: {
      invoke: {
        id: 'scoring',
        src: 'scoring',
        input: { start: 0 },
        onDone: {
          target: 'pause',
          actions: assign({ totals: ({ context, event }) => [...context.totals, event.output.total] }),
        },
      },
      on: { POINT: { actions: forwardTo('scoring') }, STOP: { actions: sendTo('scoring', { type: 'STOP' }) } },
    },
    pause: {
      always: { guard: ({ context }) => context.totals.length >= 3, target: 'over' },
      on: { NEXT: 'round' },
    },
    over: { type: 'final' },
  },
  output: ({ context }) => Math.max(...context.totals),
});

export const scored = scoring;

/** A warning that comes later, unless it is taken back. */
export const idleWarning = setup({
  types: { events: {} as { type: 'ACTIVITY' | 'WARN' | 'LOGOUT' } },
  actions: {
    later: sendTo(({ self }) => self, { type: 'WARN' }, { id: 'warn', delay: 30000 }),
    takeBack: cancel('warn'),
  },
}).createMachine({
  id: 'idleWarning',
  initial: 'active',
  states: {
    active: {
      entry: 'later',
      exit: 'takeBack',
      on: { ACTIVITY: { target: 'active', reenter: true }, WARN: 'warned' },
    },
    warned: { on: { ACTIVITY: 'active', LOGOUT: 'out' }, after: { 5000: 'out' } },
    out: { type: 'final' },
  },
});

export const cartTotal = setup({
  types: { context: {} as { total: number }, events: {} as { type: 'ITEM'; price: number } | { type: 'PAY' } },
  actors: {
    sum: fromTransition((total: number, event: { type: 'ADD'; price: number }) => total + event.price, 0),
    pay: fromPromise(() => Promise.resolve(true)),
  },
  guards: { hasItems: ({ context }) => context.total > 0, isCheap: ({ context }) => context.total < 1000 },
}).createMachine({
  id: 'cartTotal',
  context: { total: 0 },
  initial: 'shopping',
  invoke: { id: 'sum', src: 'sum', onSnapshot: { actions: assign({ total: ({ event }) => event.snapshot.context }) } },
  states: {
    shopping: {
      on: {
        ITEM: { actions: sendTo('sum', ({ event }) => ({ type: 'ADD', price: event.price })) },
        PAY: { guard: and(['hasItems', 'isCheap']), target: 'paying' },
      },
    },
    paying: { invoke: { src: 'pay', onDone: 'paid', onError: 'shopping' } },
    paid: {},
  },
});

/** A region that stays, and one that comes to its end and takes nothing more. */
export const onboarding = createMachine({
  id: 'onboarding',
  type: 'parallel',
  states: {
    tour: {
      initial: 'welcome',
      states: {
        welcome: { on: { NEXT: 'tips', SKIP: 'finished' } },
        tips: { on: { NEXT: 'finished', SKIP: 'finished' } },
        finished: { type: 'final' },
      },
    },
    help: { initial: 'hidden', states: { hidden: { on: { HELP: 'shown' } }, shown: { on: { HELP: 'hidden' } } } },
  },
});

/** Steps of an order that is over in more than one way, with a part that loops. */
export const delivery = createMachine({
  id: 'delivery',
  initial: 'ordered',
  states: {
    ordered: { on: { PACKED: 'shipped', CANCEL: 'cancelled' } },
    shipped: { on: { DELIVERED: 'delivered', LOST: 'ordered', RETURN: 'returned' } },
    delivered: { on: { RETURN: 'returned' }, after: { 1209600000: 'closed' } },
    returned: { on: { REFUND: 'closed' } },
    cancelled: { type: 'final' },
    closed: { type: 'final' },
  },
});
