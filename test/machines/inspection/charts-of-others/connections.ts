/** Charts as others write them: what stays open for a while. */
import { assign, createMachine, fromCallback, fromObservable, fromPromise, setup, stopChild } from 'xstate';

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
