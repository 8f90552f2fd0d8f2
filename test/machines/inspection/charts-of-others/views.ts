/** Charts as others write them: what a page shows and how it answers to its visitor. */
import { assign, createMachine, setup, stateIn } from 'xstate';

export const toggle = createMachine({
  id: 'toggle',
  types: {} as { context: { count: number } },
  context: { count: 0 },
  initial: 'inactive',
  states: {
    inactive: { on: { toggle: { target: 'active', actions: assign({ count: ({ context }) => context.count + 1 }) } } },
    active: { on: { toggle: 'inactive' } },
  },
});

/** One state, of which only the context changes. */
export const counter = createMachine({
  id: 'counter',
  types: {} as { context: { count: number }; events: { type: 'inc' } | { type: 'set'; value: number } },
  context: { count: 0 },
  on: {
    inc: { actions: assign({ count: ({ context }) => context.count + 1 }) },
    set: { actions: assign({ count: ({ event }) => event.value }) },
  },
});

export const modal = setup({
  types: { context: {} as { text: string }, events: {} as { type: 'OPEN'; text: string } | { type: 'CLOSE' } },
}).createMachine({
  id: 'modal',
  context: { text: '' },
  initial: 'closed',
  states: {
    closed: { on: { OPEN: { target: 'open', actions: assign({ text: ({ event }) => event.text.trim() }) } } },
    open: {
      initial: 'entering',
      on: { CLOSE: '.leaving' },
      states: {
        entering: { after: { 200: 'shown' } },
        shown: { tags: 'visible' },
        leaving: { after: { 200: '#modal.closed' } },
      },
    },
  },
});

/** Guards that a sample of nothing does not satisfy. */
export const pagination = setup({
  types: {
    context: {} as { page: number; total: number },
    events: {} as { type: 'NEXT' } | { type: 'PREVIOUS' } | { type: 'GO'; page: number },
  },
  guards: {
    hasNext: ({ context }) => context.page < context.total,
    hasPrevious: ({ context }) => context.page > 1,
    isPage: ({ context }, page: number) => page >= 1 && page <= context.total,
  },
}).createMachine({
  id: 'pagination',
  context: { page: 1, total: 3 },
  on: {
    NEXT: { guard: 'hasNext', actions: assign({ page: ({ context }) => context.page + 1 }) },
    PREVIOUS: { guard: 'hasPrevious', actions: assign({ page: ({ context }) => context.page - 1 }) },
    GO: {
      guard: { type: 'isPage', params: ({ event }) => event.page },
      actions: assign({ page: ({ event }) => event.page }),
    },
  },
});

interface Pointer {
  readonly clientX: number;
  readonly clientY: number;
}

export const dragAndDrop = createMachine({
  id: 'dragAndDrop',
  types: {} as {
    context: { x: number; y: number; px: number; py: number };
    events: { type: 'mousedown' | 'mousemove'; pointer: Pointer } | { type: 'mouseup' | 'keyup.escape' };
  },
  context: { x: 0, y: 0, px: 0, py: 0 },
  initial: 'idle',
  states: {
    idle: {
      on: {
        mousedown: {
          target: 'dragging',
          actions: assign({ px: ({ event }) => event.pointer.clientX, py: ({ event }) => event.pointer.clientY }),
        },
      },
    },
    dragging: {
      on: {
        mousemove: {
          actions: assign({
            x: ({ context, event }) => event.pointer.clientX - context.px,
            y: ({ context, event }) => event.pointer.clientY - context.py,
          }),
        },
        mouseup: 'idle',
        'keyup.escape': { target: 'idle', actions: assign({ x: 0, y: 0 }) },
      },
    },
  },
});

export const mouseWildcards = createMachine({
  id: 'mouseWildcards',
  initial: 'idle',
  states: {
    idle: { on: { 'mouse.*': 'tracking', 'key.down': 'typing' } },
    tracking: { on: { 'mouse.leave': 'idle', 'mouse.*': {} } },
    typing: { on: { 'key.up': 'idle', '*': { actions: () => undefined } } },
  },
});

export const paymentMethod = createMachine({
  id: 'paymentMethod',
  initial: 'method',
  states: {
    method: {
      initial: 'cash',
      states: {
        cash: { on: { SWITCH_CHECK: 'check' } },
        check: { on: { SWITCH_CASH: 'cash' } },
        hist: { type: 'history' },
      },
      on: { NEXT: 'review' },
    },
    review: { on: { PREVIOUS: 'method.hist' } },
  },
});

/** What is only got to by what is remembered. */
export const videoWithAds = createMachine({
  id: 'videoWithAds',
  initial: 'content',
  states: {
    content: {
      initial: 'playing',
      states: {
        playing: { on: { PAUSE: 'paused', FULLSCREEN: { actions: 'goFull' } } },
        paused: { on: { PLAY: 'playing' } },
        before: { type: 'history', history: 'deep', target: 'paused' },
      },
      on: { AD: 'advert' },
    },
    advert: { on: { SKIP: 'content.before' }, after: { 5000: 'content.before' } },
  },
}).provide({ actions: { goFull: () => undefined } });

export const wordProcessor = createMachine({
  id: 'wordProcessor',
  type: 'parallel',
  states: {
    bold: {
      initial: 'off',
      states: { on: { on: { TOGGLE_BOLD: 'off' } }, off: { on: { TOGGLE_BOLD: 'on' } } },
    },
    list: {
      initial: 'none',
      states: {
        none: { on: { BULLETS: 'bullets', NUMBERS: 'numbers' } },
        bullets: { on: { NONE: 'none', NUMBERS: 'numbers' } },
        numbers: { on: { NONE: 'none', BULLETS: 'bullets' } },
      },
    },
  },
  on: { RESET: [{ target: ['.bold.off', '.list.none'] }] },
});

export const featureFlag = createMachine({
  id: 'featureFlag',
  type: 'parallel',
  states: {
    flag: { initial: 'off', states: { off: { on: { ENABLE: 'on' } }, on: { on: { DISABLE: 'off' } } } },
    banner: {
      initial: 'hidden',
      states: {
        hidden: { on: { SHOW: { guard: stateIn({ flag: 'on' }), target: 'shown' } } },
        shown: { always: { guard: stateIn({ flag: 'off' }), target: 'hidden' }, on: { DISMISS: 'hidden' } },
      },
    },
  },
});

export const todoItem = setup({
  types: {
    context: {} as { id: string; title: string; before: string },
    input: {} as { id: string; title: string },
    events: {} as
      | { type: 'EDIT' | 'BLUR' | 'CANCEL' | 'DELETE' | 'TOGGLE_COMPLETE' }
      | { type: 'CHANGE'; value: string },
  },
}).createMachine({
  id: 'todoItem',
  context: ({ input }) => ({ id: input.id, title: input.title, before: input.title }),
  initial: 'reading',
  on: { DELETE: '.deleted' },
  states: {
    reading: {
      initial: 'pending',
      states: {
        pending: { on: { TOGGLE_COMPLETE: 'completed' } },
        completed: { on: { TOGGLE_COMPLETE: 'pending' } },
        hist: { type: 'history' },
      },
      on: { EDIT: 'editing' },
    },
    editing: {
      entry: assign({ before: ({ context }) => context.title }),
      on: {
        CHANGE: { actions: assign({ title: ({ event }) => event.value }) },
        BLUR: [{ guard: ({ context }) => context.title.trim().length > 0, target: 'reading.hist' }, 'deleted'],
        CANCEL: { target: 'reading', actions: assign({ title: ({ context }) => context.before }) },
      },
    },
    deleted: { type: 'final' },
  },
});

export const wizard = setup({
  types: {
    context: {} as { name: string; email: string; error: string | undefined },
    events: {} as { type: 'NEXT' | 'BACK' | 'SUBMIT' } | { type: 'UPDATE'; field: 'name' | 'email'; value: string },
  },
  guards: { hasName: ({ context }) => context.name !== '', hasEmail: ({ context }) => context.email.includes('@') },
  actions: { complain: assign({ error: 'Fill in what is missing' }), forgive: assign({ error: undefined }) },
}).createMachine({
  id: 'wizard',
  context: { name: '', email: '', error: undefined },
  initial: 'name',
  on: { UPDATE: { actions: assign(({ context, event }) => ({ ...context, [event.field]: event.value })) } },
  states: {
    name: { on: { NEXT: [{ guard: 'hasName', target: 'email', actions: 'forgive' }, { actions: 'complain' }] } },
    email: {
      on: { BACK: 'name', NEXT: [{ guard: 'hasEmail', target: 'review' }, { actions: 'complain' }] },
    },
    review: { on: { BACK: 'email', SUBMIT: 'thanks' } },
    thanks: {},
  },
});

/** What it shows is kept as tags and meta. */
export const signInView = createMachine({
  id: 'signInView',
  initial: 'loading',
  states: {
    loading: { tags: ['busy'], meta: { component: 'Spinner' }, on: { LOADED: 'form' } },
    form: { meta: { component: 'SignInForm', title: 'Sign in' }, on: { SUBMIT: 'sending' } },
    sending: { tags: ['busy', 'locked'], meta: { component: 'SignInForm' }, on: { OK: 'home', FAIL: 'form' } },
    home: { tags: 'signed-in', meta: { component: 'Home' } },
  },
});

/** An event of the machine itself that starts the state again. */
export const quiz = createMachine({
  id: 'quiz',
  types: {} as { context: { right: number }; events: { type: 'ANSWER'; isRight: boolean } | { type: 'RESTART' } },
  context: { right: 0 },
  initial: 'question',
  on: { RESTART: { target: '.question', reenter: true, actions: assign({ right: 0 }) } },
  states: {
    question: {
      after: { 10000: 'timeIsUp' },
      on: {
        ANSWER: [
          {
            guard: ({ event }) => event.isRight,
            target: 'question',
            reenter: true,
            actions: assign({ right: ({ context }) => context.right + 1 }),
          },
          { target: 'wrong' },
        ],
      },
    },
    timeIsUp: {},
    wrong: {},
  },
});
