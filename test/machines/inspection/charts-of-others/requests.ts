/** Charts as others write them: what is asked of servers, and what comes of it. */
import {
  assertEvent,
  assign,
  createMachine,
  fromCallback,
  fromObservable,
  fromPromise,
  setup,
  stopChild,
} from 'xstate';

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

export const fileUpload = setup({
  types: {
    context: {} as { file: File | undefined; progress: number },
    events: {} as
      | { type: 'CHOOSE'; file: File }
      | { type: 'PROGRESS'; percent: number }
      | { type: 'UPLOADED' | 'FAILED' | 'CANCEL' | 'RETRY' },
  },
  actors: {
    upload: fromCallback<{ type: 'PAUSE' }, { file: File | undefined }>(({ sendBack, receive }) => {
      const timer = setInterval(() => sendBack({ type: 'PROGRESS', percent: 10 }), 100);
      receive(() => clearInterval(timer));
      return () => clearInterval(timer);
    }),
  },
}).createMachine({
  id: 'fileUpload',
  context: { file: undefined, progress: 0 },
  initial: 'idle',
  states: {
    idle: { on: { CHOOSE: { target: 'uploading', actions: assign({ file: ({ event }) => event.file }) } } },
    uploading: {
      entry: assign({ progress: 0 }),
      invoke: { id: 'upload', src: 'upload', input: ({ context }) => ({ file: context.file }) },
      on: {
        PROGRESS: { actions: assign({ progress: ({ event }) => event.percent }) },
        UPLOADED: 'done',
        FAILED: 'failed',
        CANCEL: 'idle',
      },
    },
    failed: { on: { RETRY: 'uploading', CANCEL: 'idle' } },
    done: { type: 'final' },
  },
});

export const webSocket = setup({
  types: { context: {} as { attempts: number; url: string }, input: {} as { url: string } },
  actors: { socket: fromCallback<{ type: 'SEND' }, { url: string }>(() => () => undefined) },
  delays: { backoff: ({ context }) => Math.min(1000 * 2 ** context.attempts, 30000) },
  guards: { tooOften: ({ context }) => context.attempts > 5 },
}).createMachine({
  id: 'webSocket',
  context: ({ input }) => ({ attempts: 0, url: new URL(input.url).href }),
  initial: 'connecting',
  states: {
    connecting: {
      invoke: { src: 'socket', input: ({ context }) => ({ url: context.url }) },
      on: { OPENED: 'connected', CLOSED: 'reconnecting' },
      after: { 10000: 'reconnecting' },
    },
    connected: { entry: assign({ attempts: 0 }), on: { CLOSED: 'reconnecting', DISCONNECT: 'disconnected' } },
    reconnecting: {
      entry: assign({ attempts: ({ context }) => context.attempts + 1 }),
      always: { guard: 'tooOften', target: 'disconnected' },
      after: { backoff: 'connecting' },
    },
    disconnected: { on: { CONNECT: { target: 'connecting', actions: assign({ attempts: 0 }) } } },
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

const ticks = { subscribe: () => ({ unsubscribe: () => undefined }) };

export const clock = createMachine({
  id: 'clock',
  types: {} as { context: { now: number } },
  context: { now: 0 },
  initial: 'ticking',
  states: {
    ticking: {
      invoke: {
        id: 'ticks',
        src: fromObservable(() => ticks),
        onSnapshot: { actions: assign({ now: ({ event }) => Number(event.snapshot.context) }) },
      },
      on: { STOP: { target: 'stopped', actions: stopChild('ticks') } },
    },
    stopped: { on: { START: 'ticking' } },
  },
});

/** A session that asks for a new token before the old one is over. */
export const tokenRefresh = setup({
  types: { context: {} as { lifetime: number } },
  actors: { refresh: fromPromise(() => Promise.resolve({ expiresIn: 60 })) },
  delays: { beforeEnd: ({ context }) => context.lifetime * 900 },
}).createMachine({
  id: 'tokenRefresh',
  context: { lifetime: 60 },
  initial: 'valid',
  states: {
    valid: { after: { beforeEnd: 'refreshing' } },
    refreshing: {
      invoke: {
        src: 'refresh',
        onDone: { target: 'valid', actions: assign({ lifetime: ({ event }) => event.output.expiresIn }) },
        onError: 'expired',
      },
    },
    expired: { type: 'final' },
  },
});
