/** Charts as others write them: games. */
import { assign, createMachine, emit, enqueueActions, log, setup } from 'xstate';

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
