/** Charts as others write them: what is asked of servers, and what comes of it. */
import { assertEvent, assign, createMachine, fromPromise, setup } from 'xstate';

interface User {
  readonly name: string;
}

export const fetchWithRetry = setup({
  types: { context: {} as { user: User | null; error: unknown; retries: number }, input: {} as { id: string } },
  actors: { fetchUser: fromPromise<User, { id: string }>(({ input }) => Promise.resolve({ name: input.id })) },
  guards: { canRetry: ({ context }) => context.retries < 3 },
}).createMachine({
  id: 'fetchWithRetry',
  context: { user: null, error: null, retries: 0 },
  initial: 'idle',
  states: {
    idle: { on: { FETCH: 'loading' } },
    loading: {
      invoke: {
        id: 'fetchUser',
        src: 'fetchUser',
        input: { id: '42' },
        onDone: { target: 'success', actions: assign({ user: ({ event }) => event.output }) },
        onError: { target: 'failure', actions: assign({ error: ({ event }) => event.error }) },
      },
      on: { CANCEL: 'idle' },
    },
    success: {},
    failure: {
      after: {
        1000: {
          guard: 'canRetry',
          target: 'loading',
          actions: assign({ retries: ({ context }) => context.retries + 1 }),
        },
      },
      on: { RETRY: 'loading' },
    },
  },
});

const titlesIn = (posts: readonly { readonly title: string }[]): readonly string[] => posts.map(({ title }) => title);

/** What the promise answers is read at once. */
export const postList = createMachine({
  id: 'postList',
  types: {} as { context: { titles: readonly string[] } },
  context: { titles: [] },
  initial: 'loading',
  states: {
    loading: {
      invoke: {
        src: fromPromise(() => Promise.resolve([{ title: 'a' }])),
        onDone: [
          { guard: ({ event }) => event.output.length === 0, target: 'empty' },
          { target: 'list', actions: assign({ titles: ({ event }) => titlesIn(event.output) }) },
        ],
        onError: 'broken',
      },
    },
    empty: { on: { REFRESH: 'loading' } },
    list: { on: { REFRESH: 'loading' } },
    broken: { on: { RETRY: 'loading' } },
  },
});

export const debounce = createMachine({
  id: 'debounce',
  types: {} as { context: { query: string }; events: { type: 'CHANGE'; query: string } },
  context: { query: '' },
  initial: 'idle',
  on: { CHANGE: { target: '.waiting', reenter: true, actions: assign({ query: ({ event }) => event.query }) } },
  states: {
    idle: {},
    waiting: { after: { 300: 'searching' } },
    searching: {
      invoke: {
        src: fromPromise<string, string>(({ input }) => Promise.resolve(input)),
        input: ({ context }) => context.query,
        onDone: 'idle',
        onError: 'idle',
      },
    },
  },
});

export const login = setup({
  types: {
    context: {} as { token: string | undefined; message: string | undefined },
    events: {} as { type: 'SUBMIT'; email: string; password: string } | { type: 'LOGOUT' },
  },
  actors: {
    signIn: fromPromise<{ token: string }, { email: string }>(({ input }) => Promise.resolve({ token: input.email })),
  },
  actions: { redirect: () => undefined },
}).createMachine({
  id: 'login',
  context: { token: undefined, message: undefined },
  initial: 'signedOut',
  states: {
    signedOut: { on: { SUBMIT: 'signingIn' } },
    signingIn: {
      invoke: {
        src: 'signIn',
        input: ({ event }) => {
          assertEvent(event, 'SUBMIT');
          return { email: event.email };
        },
        onDone: { target: 'signedIn', actions: [assign({ token: ({ event }) => event.output.token }), 'redirect'] },
        onError: { target: 'signedOut', actions: assign({ message: ({ event }) => (event.error as Error).message }) },
      },
    },
    signedIn: { on: { LOGOUT: { target: 'signedOut', actions: assign({ token: undefined }) } } },
  },
});

/** What goes wrong is undone, the last step first. */
export const paymentSaga = setup({
  types: { context: {} as { steps: readonly string[] } },
  actors: {
    reserve: fromPromise(() => Promise.resolve('r')),
    charge: fromPromise(() => Promise.resolve('c')),
    ship: fromPromise(() => Promise.resolve('s')),
    refund: fromPromise(() => Promise.resolve()),
    release: fromPromise(() => Promise.resolve()),
  },
  actions: {
    noteStep: assign({ steps: ({ context }, step: string) => [...context.steps, step] }),
    alertPeople: () => undefined,
  },
}).createMachine({
  id: 'paymentSaga',
  context: { steps: [] },
  initial: 'reserving',
  states: {
    reserving: {
      invoke: {
        src: 'reserve',
        onDone: { target: 'charging', actions: { type: 'noteStep', params: 'reserved' } },
        onError: 'failed',
      },
    },
    charging: { invoke: { src: 'charge', onDone: 'shipping', onError: 'compensating.releasing' } },
    shipping: { invoke: { src: 'ship', onDone: 'completed', onError: 'compensating' } },
    compensating: {
      initial: 'refunding',
      states: {
        refunding: { invoke: { src: 'refund', onDone: 'releasing', onError: '#paymentSaga.stuck' } },
        releasing: { invoke: { src: 'release', onDone: 'undone', onError: '#paymentSaga.stuck' } },
        undone: { type: 'final' },
      },
      onDone: 'failed',
    },
    stuck: { entry: 'alertPeople', on: { RESOLVED: 'failed' } },
    completed: { type: 'final' },
    failed: { type: 'final' },
  },
});

export const asyncValidation = setup({
  types: {
    context: {} as { name: string; isTaken: boolean | undefined },
    events: {} as { type: 'INPUT'; value: string } | { type: 'BLUR' | 'SUBMIT' },
  },
  actors: { check: fromPromise<boolean, string>(({ input }) => Promise.resolve(input.length > 3)) },
  guards: { isShort: ({ context }) => context.name.length < 3 },
}).createMachine({
  id: 'asyncValidation',
  context: { name: '', isTaken: undefined },
  type: 'parallel',
  states: {
    focus: { initial: 'pristine', states: { pristine: { on: { BLUR: 'touched' } }, touched: {} } },
    validity: {
      initial: 'unknown',
      on: { INPUT: { target: '.unknown', reenter: true, actions: assign({ name: ({ event }) => event.value }) } },
      states: {
        unknown: { after: { 250: [{ guard: 'isShort', target: 'invalid' }, { target: 'checking' }] } },
        checking: {
          invoke: {
            src: 'check',
            input: ({ context }) => context.name,
            onDone: [{ guard: ({ event }) => event.output, target: 'valid' }, { target: 'invalid' }],
            onError: 'unknown',
          },
        },
        valid: { tags: 'ok', on: { SUBMIT: { actions: () => undefined } } },
        invalid: {},
      },
    },
  },
});

/** Implementations are given when it is used, and here are none. */
export const profilePage = createMachine({
  id: 'profilePage',
  initial: 'loading',
  states: {
    loading: { invoke: { src: 'loadProfile', onDone: { target: 'shown', actions: 'keepProfile' }, onError: 'failed' } },
    shown: { on: { SAVE: { guard: 'hasChanged', target: 'saving' } } },
    saving: { invoke: { src: 'saveProfile', onDone: 'shown', onError: 'failed' } },
    failed: { on: { RETRY: 'loading' } },
  },
});

/** The same with all of them. */
export const providedPage = profilePage.provide({
  actors: { loadProfile: fromPromise(() => Promise.resolve({})), saveProfile: fromPromise(() => Promise.resolve({})) },
  actions: { keepProfile: () => undefined },
  guards: { hasChanged: () => true },
});

/** Half of it: what is missing is said. */
export const halfProvided = profilePage.provide({
  actors: { loadProfile: fromPromise(() => Promise.resolve({})), saveProfile: fromPromise(() => Promise.resolve({})) },
});
