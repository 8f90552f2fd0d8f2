/** Charts as others write them: devices and games. */
import { assign, cancel, createMachine, emit, enqueueActions, fromCallback, log, not, raise, setup } from 'xstate';

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

type Cell = 'x' | 'o' | null;
const LINES = [
  [0, 1, 2],
  [3, 4, 5],
  [6, 7, 8],
  [0, 4, 8],
] as const;

export const ticTacToe = setup({
  types: {
    context: {} as { board: readonly Cell[]; moves: number; player: 'x' | 'o'; winner: Cell },
    events: {} as { type: 'PLAY'; value: number } | { type: 'RESET' },
  },
  guards: {
    checkWin: ({ context: { board } }) =>
      LINES.some(([a, b, c]) => board[a] !== null && board[a] === board[b] && board[b] === board[c]),
    checkDraw: ({ context }) => context.moves === 9,
    isValidMove: ({ context, event }) => event.type === 'PLAY' && context.board[event.value] === null,
  },
  actions: {
    updateBoard: assign({
      board: ({ context, event }) =>
        event.type === 'PLAY' ? context.board.with(event.value, context.player) : context.board,
      moves: ({ context }) => context.moves + 1,
      player: ({ context }) => (context.player === 'x' ? 'o' : 'x'),
    }),
    setWinner: assign({ winner: ({ context }) => (context.player === 'x' ? 'o' : 'x') }),
    resetGame: assign({ board: Array<Cell>(9).fill(null), moves: 0, player: 'x', winner: null }),
  },
}).createMachine({
  id: 'ticTacToe',
  context: { board: Array<Cell>(9).fill(null), moves: 0, player: 'x', winner: null },
  initial: 'playing',
  states: {
    playing: {
      always: [
        { target: 'gameOver.winner', guard: 'checkWin' },
        { target: 'gameOver.draw', guard: 'checkDraw' },
      ],
      on: { PLAY: { target: 'playing', guard: 'isValidMove', actions: 'updateBoard' } },
    },
    gameOver: {
      initial: 'winner',
      states: { winner: { tags: 'winner', entry: 'setWinner' }, draw: { tags: 'draw' } },
      on: { RESET: { target: 'playing', actions: 'resetGame' } },
    },
  },
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

/** Frames go on until nothing is left of the ship. */
export const gameLoop = setup({
  types: { context: {} as { lives: number; score: number }, emitted: {} as { type: 'boom' } },
  actions: { hit: assign({ lives: ({ context }) => context.lives - 1 }), boom: emit({ type: 'boom' }) },
  guards: { isDead: ({ context }) => context.lives <= 0 },
}).createMachine({
  id: 'gameLoop',
  context: { lives: 3, score: 0 },
  initial: 'menu',
  states: {
    menu: { on: { START: 'game' } },
    game: {
      initial: 'frame',
      states: {
        frame: { entry: assign({ score: ({ context }) => context.score + 1 }), after: { 16: 'next' } },
        next: { always: [{ guard: 'isDead', target: 'over' }, { target: 'frame' }] },
        paused: { on: { RESUME: 'frame' } },
        over: { type: 'final' },
      },
      on: { HIT: { actions: ['hit', 'boom'] }, PAUSE: '.paused' },
      onDone: 'score',
    },
    score: { on: { AGAIN: 'menu' } },
  },
});

/** Everything is enqueued, and nothing stands in the chart itself. */
export const lootBox = setup({
  types: {
    context: {} as { points: number; items: readonly string[] },
    events: {} as { type: 'OPEN_BOX'; items: readonly string[] } | { type: 'CLOSE_BOX' },
  },
}).createMachine({
  id: 'lootBox',
  context: { points: 0, items: [] },
  initial: 'closed',
  states: {
    closed: {
      on: {
        OPEN_BOX: {
          target: 'opened',
          actions: enqueueActions(({ context, event, enqueue, check }) => {
            enqueue.assign({ items: [...context.items, ...event.items] });
            if (check(() => event.items.length > 2)) enqueue.raise({ type: 'CLOSE_BOX' });
            enqueue(log('opened'));
          }),
        },
      },
    },
    opened: { on: { CLOSE_BOX: { target: 'closed', actions: assign({ points: 1 }) } } },
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

/** Water jugs: what is wished for is a guard, and the end has no way back. */
export const dieHard = createMachine({
  id: 'dieHard',
  types: {} as { context: { three: number; five: number } },
  context: { three: 0, five: 0 },
  initial: 'pouring',
  states: {
    pouring: {
      always: { guard: ({ context }) => context.five === 4, target: 'success' },
      on: {
        FILL_3: { actions: assign({ three: 3 }) },
        FILL_5: { actions: assign({ five: 5 }) },
        EMPTY_3: { guard: ({ context }) => context.three > 0, actions: assign({ three: 0 }) },
        EMPTY_5: { guard: ({ context }) => context.five > 0, actions: assign({ five: 0 }) },
        POUR_3_TO_5: {
          guard: ({ context }) => context.five < 5 && context.three > 0,
          actions: assign(({ context: { three, five } }) => {
            const poured = Math.min(5 - five, three);
            return { three: three - poured, five: five + poured };
          }),
        },
        POUR_5_TO_3: {
          guard: ({ context }) => context.three < 3 && context.five > 0,
          actions: assign(({ context: { three, five } }) => {
            const poured = Math.min(3 - three, five);
            return { three: three + poured, five: five - poured };
          }),
        },
      },
    },
    success: { type: 'final' },
  },
});

/** Pieces that fly and burn: a rocket whose end is of two kinds. */
export const countdown = setup({
  types: { context: {} as { seconds: number }, input: {} as { seconds: number }, output: {} as { landed: boolean } },
  guards: { isZero: ({ context }) => context.seconds === 0 },
  actions: { tick: assign({ seconds: ({ context }) => context.seconds - 1 }) },
  delays: { second: 1000 },
}).createMachine({
  id: 'countdown',
  context: ({ input }) => ({ seconds: input.seconds }),
  initial: 'counting',
  states: {
    counting: {
      always: { guard: 'isZero', target: 'flying' },
      after: { second: { target: 'counting', reenter: true, actions: 'tick' } },
      on: { ABORT: 'aborted' },
    },
    flying: { on: { LAND: 'landed' } },
    landed: { type: 'final' },
    aborted: { type: 'final' },
  },
  output: ({ context }) => ({ landed: context.seconds === 0 }),
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
