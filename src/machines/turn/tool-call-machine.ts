/**
 * The life of one tool call inside a wake.
 *
 *   requested ──RUN──▶ executing { working ──CANCEL──▶ stopping } ──done──▶ completed | failed | cancelled
 *       └─────CANCEL─────▶ cancelled
 *
 * requested:           the call is in the log, its input is not checked yet, and nothing of it runs.
 * executing.working:   the tool works.
 * executing.stopping:  the wake stops and its signal has told the tool; the call ends when nothing of it runs any more, or when the
 *                      tool has not stopped in time.
 * completed:           the tool gave a result, of whatever content.
 * failed:              the call was bad, or the tool threw; the model is told.
 * cancelled:           the wake stopped before the call ended. It is never run again.
 */
import { assign, fromPromise, setup } from 'xstate';
import { RuntimeError, messageOf } from '../errors.ts';

export interface ToolCallInput {
  readonly callId: string;
  readonly name: string;
  readonly input: unknown;
}

/** How a call ended, with what the model reads about it. */
export interface ToolCallResult {
  readonly outcome: 'completed' | 'failed' | 'cancelled';
  readonly output: unknown;
}

interface ToolCallContext extends ToolCallInput {
  readonly result?: ToolCallResult | undefined;
}

export type ToolCallEvent = { readonly type: 'RUN' } | { readonly type: 'CANCEL'; readonly reason: string };

const execute = fromPromise<ToolCallResult, ToolCallInput>(() => {
  throw new RuntimeError('SLOT_EMPTY', 'the tool call chart has no executor', { category: 'crash', hint: 'Provide the actor "execute".' });
});

export const toolCallMachine = setup({
  types: {
    context: {} as ToolCallContext,
    input: {} as ToolCallInput,
    events: {} as ToolCallEvent,
    output: {} as ToolCallResult,
  },
  actors: { execute },
  guards: {
    isCompleted: (_, result: ToolCallResult) => result.outcome === 'completed',
    isCancelled: (_, result: ToolCallResult) => result.outcome === 'cancelled',
  },
  actions: {
    keepResult: assign((_, result: ToolCallResult) => ({ result })),
  },
}).createMachine({
  id: 'toolCall',
  context: ({ input }) => input,
  initial: 'requested',
  output: ({ context }) => context.result ?? { outcome: 'failed', output: 'The call ended without a result.' },
  states: {
    requested: {
      on: {
        RUN: 'executing',
        CANCEL: { target: 'cancelled', actions: { type: 'keepResult', params: ({ event }) => ({ outcome: 'cancelled', output: event.reason }) } },
      },
    },
    executing: {
      initial: 'working',
      states: { working: { on: { CANCEL: 'stopping' } }, stopping: {} },
      invoke: {
        src: 'execute',
        input: ({ context }) => context,
        onDone: [
          {
            guard: { type: 'isCompleted', params: ({ event }) => event.output },
            target: 'completed',
            actions: { type: 'keepResult', params: ({ event }) => event.output },
          },
          {
            guard: { type: 'isCancelled', params: ({ event }) => event.output },
            target: 'cancelled',
            actions: { type: 'keepResult', params: ({ event }) => event.output },
          },
          { target: 'failed', actions: { type: 'keepResult', params: ({ event }) => event.output } },
        ],
        onError: {
          target: 'failed',
          actions: { type: 'keepResult', params: ({ event }) => ({ outcome: 'failed', output: messageOf(event.error) }) },
        },
      },
    },
    completed: { type: 'final' },
    failed: { type: 'final' },
    cancelled: { type: 'final' },
  },
});
