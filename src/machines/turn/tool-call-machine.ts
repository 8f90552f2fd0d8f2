/**
 * The life of one tool call.
 *
 *   requested ──ASK_PERMISSION──▶ awaiting_permission ──RUN──▶ executing { working ──CANCEL──▶ stopping } ──done──▶ completed | failed | cancelled
 *       │ │ └───ASK_INPUT───────▶ awaiting_input ──ANSWER──▶ completed | failed
 *       │ └─────RUN─────────────────────────────────────────▶ executing ──LOSE──▶ unknown
 *       └───────DENY──▶ denied ◀──DENY── awaiting_permission ──ASK_INPUT──▶ awaiting_input    (CANCEL, before anything runs ──▶ cancelled)
 *
 * requested:            The call is in the log, and nothing of it runs.
 * awaiting_permission:  A person has to allow exactly this call; nothing of it runs, and its process may end: the log
 *                       remembers.
 * awaiting_input:       The call is a question, a tool that a client runs, or another agent; its result comes from
 *                       there.
 * executing:            The log says that it has started, and its tool may take effect; or it is bad, and nothing of it
 *                       runs.
 * executing.working:    The tool works.
 * executing.stopping:   The wake stops and its signal has told the tool; the call ends when nothing of it runs any
 *                       more, or when the tool has not stopped in time.
 * completed:            The tool gave a result, of whatever content.
 * failed:               The call was bad, or the tool threw; the model is told.
 * denied:               A person, a rule or the lack of a person to ask said no; nothing of it has run.
 * cancelled:            It was stopped before its end, and is never run again.
 * unknown:              Its process died while it ran: what it did is not known.
 */
import { assign, setup } from 'xstate';
import { messageOf } from '../errors.ts';
import type { ChartNotes } from '../inspection/chart-notes.ts';
import { slotsOf } from '../slot.ts';

export interface ToolCallInput {
  readonly callId: string;
  readonly name: string;
  readonly input: unknown;
}

/** How a call ended, with what the model reads about it. */
export interface ToolCallResult {
  readonly outcome: 'completed' | 'failed' | 'denied' | 'cancelled' | 'unknown';
  readonly output: unknown;
  /** The whole output, where `output` is a part of it. */
  readonly kept?: { readonly path: string; readonly characters: number } | undefined;
}

interface ToolCallContext extends ToolCallInput {
  readonly result?: ToolCallResult | undefined;
}

export type ToolCallEvent =
  | { readonly type: 'ASK_PERMISSION' }
  | { readonly type: 'ASK_INPUT' }
  /** Everything that it needs is there. */
  | { readonly type: 'RUN' }
  | { readonly type: 'ANSWER'; readonly outcome: 'completed' | 'failed'; readonly output: unknown }
  | { readonly type: 'DENY'; readonly reason: string }
  | { readonly type: 'CANCEL'; readonly reason: string }
  | { readonly type: 'LOSE'; readonly reason: string };

const execute = slotsOf<ToolCallInput>('tool call')<ToolCallResult>('execute');

const machine = setup({
  types: {
    context: {} as ToolCallContext,
    input: {} as ToolCallInput,
    events: {} as ToolCallEvent,
    output: {} as ToolCallResult,
  },
  actors: { execute },
  guards: {
    isCompleted: (_, outcome: ToolCallResult['outcome']) => outcome === 'completed',
    isCancelled: (_, outcome: ToolCallResult['outcome']) => outcome === 'cancelled',
  },
  actions: {
    keepResult: assign((_, result: ToolCallResult) => ({ result })),
  },
});

const cancel = machine.createStateConfig({
  on: {
    CANCEL: {
      target: '#toolCall.cancelled',
      actions: { type: 'keepResult', params: ({ event }) => ({ outcome: 'cancelled', output: event.reason }) },
    },
  },
}).on;

const deny = machine.createStateConfig({
  on: {
    DENY: {
      target: '#toolCall.denied',
      actions: { type: 'keepResult', params: ({ event }) => ({ outcome: 'denied', output: event.reason }) },
    },
  },
}).on;

export const toolCallMachine = machine.createMachine({
  id: 'toolCall',
  description: 'The life of one tool call.',
  context: ({ input }) => input,
  initial: 'requested',
  output: ({ context }) => context.result ?? { outcome: 'failed', output: 'The call ended without a result.' },
  states: {
    requested: {
      description: 'The call is in the log, and nothing of it runs.',
      on: { ...cancel, ...deny, RUN: 'executing', ASK_PERMISSION: 'awaiting_permission', ASK_INPUT: 'awaiting_input' },
    },
    awaiting_permission: {
      description:
        'A person has to allow exactly this call; nothing of it runs, and its process may end: the log remembers.',
      meta: {
        waives: {
          'ignored-command': { ASK_PERMISSION: 'A call that is asked about anew begins its life in the chart anew.' },
        },
      } satisfies ChartNotes,
      on: { ...cancel, ...deny, RUN: 'executing', ASK_INPUT: 'awaiting_input' },
    },
    awaiting_input: {
      description: 'The call is a question, a tool that a client runs, or another agent; its result comes from there.',
      meta: {
        waives: {
          'ignored-command': {
            ASK_PERMISSION: 'The planner of the call has decided that before it waits for its result.',
            ASK_INPUT: 'It waits already, and is planned again only when its answer has come.',
            RUN: 'There is nothing to run here: the result comes from outside.',
            DENY: 'It was allowed, or needed no person to allow it, before it was asked for; a caller that wants its end cancels it.',
          },
        },
      } satisfies ChartNotes,
      on: {
        ...cancel,
        ANSWER: [
          {
            guard: { type: 'isCompleted', params: ({ event }) => event.outcome },
            target: 'completed',
            actions: { type: 'keepResult', params: ({ event: { outcome, output } }) => ({ outcome, output }) },
          },
          {
            target: 'failed',
            actions: { type: 'keepResult', params: ({ event: { outcome, output } }) => ({ outcome, output }) },
          },
        ],
      },
    },
    executing: {
      description:
        'The log says that it has started, and its tool may take effect; or it is bad, and nothing of it runs.',
      meta: {
        waives: {
          'ignored-command': {
            ASK_PERMISSION: 'Everything was decided before it began.',
            ASK_INPUT: 'Everything was decided before it began.',
            RUN: 'It runs already; the runner of the calls says so once for each.',
            DENY: 'What has begun may have taken effect, and cannot be denied any more; it can be cancelled.',
          },
        },
      } satisfies ChartNotes,
      initial: 'working',
      states: {
        working: { description: 'The tool works.', on: { CANCEL: 'stopping' } },
        stopping: {
          description:
            'The wake stops and its signal has told the tool; the call ends when nothing of it runs any more, or when the tool has not stopped in time.',
          meta: { waives: { 'ignored-command': { CANCEL: 'It is being stopped already.' } } } satisfies ChartNotes,
        },
      },
      on: {
        LOSE: {
          target: 'unknown',
          actions: { type: 'keepResult', params: ({ event }) => ({ outcome: 'unknown', output: event.reason }) },
        },
      },
      invoke: {
        src: 'execute',
        input: ({ context }) => context,
        onDone: [
          {
            guard: { type: 'isCompleted', params: ({ event }) => event.output.outcome },
            target: 'completed',
            actions: { type: 'keepResult', params: ({ event }) => event.output },
          },
          {
            guard: { type: 'isCancelled', params: ({ event }) => event.output.outcome },
            target: 'cancelled',
            actions: { type: 'keepResult', params: ({ event }) => event.output },
          },
          { target: 'failed', actions: { type: 'keepResult', params: ({ event }) => event.output } },
        ],
        onError: {
          target: 'failed',
          actions: {
            type: 'keepResult',
            params: ({ event }) => ({ outcome: 'failed', output: messageOf(event.error) }),
          },
        },
      },
    },
    completed: { description: 'The tool gave a result, of whatever content.', type: 'final' },
    failed: { description: 'The call was bad, or the tool threw; the model is told.', type: 'final' },
    denied: {
      description: 'A person, a rule or the lack of a person to ask said no; nothing of it has run.',
      type: 'final',
    },
    cancelled: { description: 'It was stopped before its end, and is never run again.', type: 'final' },
    unknown: { description: 'Its process died while it ran: what it did is not known.', type: 'final' },
  },
});
