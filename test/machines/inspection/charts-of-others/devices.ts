/** Charts as others write them: devices. */
import { assign, cancel, createMachine, fromCallback, log, not, raise, setup } from 'xstate';

export const trafficLight = createMachine({
  id: 'trafficLight',
  initial: 'green',
  states: {
    green: { after: { 3000: 'yellow' } },
    yellow: { after: { 1000: 'red' } },
    red: {
      initial: 'walk',
      states: {
        walk: { on: { COUNTDOWN: 'wait' } },
        wait: { on: { COUNTDOWN_END: 'stop' } },
        stop: {},
        blinking: {},
      },
      after: { 4000: 'green' },
    },
  },
  on: { POWER_OUTAGE: '.red.blinking', POWER_RESTORED: '.red' },
});

export const stopwatch = setup({
  types: { context: {} as { elapsed: number } },
  actors: {
    ticks: fromCallback(({ sendBack }) => {
      const interval = setInterval(() => sendBack({ type: 'TICK' }), 10);
      return () => clearInterval(interval);
    }),
  },
}).createMachine({
  id: 'stopwatch',
  context: { elapsed: 0 },
  initial: 'stopped',
  states: {
    stopped: { on: { start: 'running' } },
    running: {
      invoke: { src: 'ticks' },
      on: { TICK: { actions: assign({ elapsed: ({ context }) => context.elapsed + 1 }) }, stop: 'stopped' },
    },
  },
  on: { reset: { target: '.stopped', actions: assign({ elapsed: 0 }) } },
});

export const vendingMachine = setup({
  types: {
    context: {} as { credit: number; stock: Record<string, number>; choice: string | null },
    events: {} as { type: 'COIN'; value: number } | { type: 'SELECT'; item: string } | { type: 'REFUND' | 'TAKEN' },
  },
  guards: {
    canBuy: ({ context }, { item, price }: { item: string; price: number }) =>
      context.credit >= price && (context.stock[item] ?? 0) > 0,
    isEmpty: ({ context }) => Object.values(context.stock).every((left) => left === 0),
  },
  delays: { dispensing: ({ context }) => (context.choice === 'hot' ? 4000 : 1000) },
}).createMachine({
  id: 'vendingMachine',
  context: { credit: 0, stock: { water: 2, hot: 1 }, choice: null },
  initial: 'idle',
  states: {
    idle: {
      always: { guard: 'isEmpty', target: 'soldOut' },
      on: {
        COIN: { actions: assign({ credit: ({ context, event }) => context.credit + event.value }) },
        SELECT: {
          guard: { type: 'canBuy', params: ({ event }) => ({ item: event.item, price: 2 }) },
          target: 'dispensing',
          actions: assign({ choice: ({ event }) => event.item }),
        },
        REFUND: { actions: assign({ credit: 0 }) },
      },
    },
    dispensing: {
      entry: assign(({ context }) => ({
        credit: context.credit - 2,
        stock: { ...context.stock, [context.choice ?? '']: (context.stock[context.choice ?? ''] ?? 1) - 1 },
      })),
      after: { dispensing: 'served' },
    },
    served: { on: { TAKEN: { target: 'idle', actions: assign({ choice: null }) } } },
    soldOut: {},
  },
});

export const thermostat = setup({
  types: {
    context: {} as { temperature: number; wanted: number },
    events: {} as { type: 'READING'; value: number } | { type: 'SET'; value: number } | { type: 'POWER' },
  },
  guards: {
    isCold: ({ context }) => context.temperature < context.wanted - 1,
    isHot: ({ context }) => context.temperature > context.wanted + 1,
  },
}).createMachine({
  id: 'thermostat',
  context: { temperature: 20, wanted: 20 },
  initial: 'off',
  states: {
    off: { on: { POWER: 'on' } },
    on: {
      initial: 'idle',
      states: {
        idle: {
          always: [
            { guard: 'isCold', target: 'heating' },
            { guard: 'isHot', target: 'cooling' },
          ],
        },
        heating: { tags: ['working'], always: { guard: not('isCold'), target: 'idle' } },
        cooling: { tags: ['working'], always: { guard: not('isHot'), target: 'idle' } },
      },
      on: {
        POWER: 'off',
        READING: { actions: assign({ temperature: ({ event }) => event.value }) },
        SET: { actions: assign({ wanted: ({ event }) => event.value }) },
      },
    },
  },
});

export const elevator = setup({
  types: {
    context: {} as { floor: number; queue: readonly number[] },
    events: {} as { type: 'CALL'; floor: number } | { type: 'ARRIVED' | 'OBSTACLE' },
  },
  guards: {
    isAbove: ({ context }) => (context.queue[0] ?? context.floor) > context.floor,
    isBelow: ({ context }) => (context.queue[0] ?? context.floor) < context.floor,
    isHere: ({ context }) => context.queue[0] === context.floor,
  },
  actions: {
    enqueue: assign({ queue: ({ context, event }) => [...context.queue, event.type === 'CALL' ? event.floor : 0] }),
    arrive: assign({ floor: ({ context }) => context.queue[0] ?? context.floor }),
    dequeue: assign({ queue: ({ context }) => context.queue.slice(1) }),
  },
}).createMachine({
  id: 'elevator',
  context: { floor: 0, queue: [] },
  type: 'parallel',
  states: {
    calls: { on: { CALL: { actions: 'enqueue' } } },
    cabin: {
      initial: 'idle',
      states: {
        idle: {
          always: [
            { guard: 'isHere', target: 'open' },
            { guard: 'isAbove', target: 'moving.up' },
            { guard: 'isBelow', target: 'moving.down' },
          ],
        },
        moving: {
          initial: 'up',
          states: { up: {}, down: {} },
          on: { ARRIVED: { target: 'open', actions: 'arrive' } },
        },
        open: {
          entry: 'dequeue',
          after: { 3000: 'idle' },
          on: { OBSTACLE: { target: 'open', reenter: true } },
        },
      },
    },
  },
});

/** A timer by a delayed event, which is taken back. */
export const screensaver = createMachine({
  id: 'screensaver',
  initial: 'awake',
  states: {
    awake: {
      entry: raise({ type: 'IDLE' }, { delay: 60000, id: 'idle' }),
      exit: cancel('idle'),
      on: { ACTIVITY: { target: 'awake', reenter: true }, IDLE: 'asleep' },
    },
    asleep: { on: { ACTIVITY: 'awake' } },
  },
});

/** It only listens, and writes down whatever comes. */
export const keyListener = createMachine({
  id: 'keyListener',
  initial: 'listening',
  states: {
    listening: {
      invoke: { src: fromCallback(() => () => undefined) },
      on: { KEY: { actions: log('key') } },
    },
  },
  on: { '*': { actions: log('something') } },
});

/** With no number in it, it would be turned on and off for ever. */
export const kettle = setup({
  types: { context: {} as { degrees: number }, events: {} as { type: 'READING'; degrees: number } },
  guards: { isHot: ({ context }) => context.degrees >= 100, isCold: ({ context }) => context.degrees < 100 },
}).createMachine({
  id: 'kettle',
  context: { degrees: 100 },
  initial: 'off',
  on: { READING: { actions: assign({ degrees: ({ event }) => event.degrees }) } },
  states: {
    off: { always: { guard: not('isHot'), target: 'heating' } },
    heating: { always: { guard: not('isCold'), target: 'off' } },
  },
});
