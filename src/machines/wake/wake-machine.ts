/**
 * One wake: one bounded run of the harness over a session.
 *
 *   claiming ──▶ folding ──▶ assembling ──▶ running { stepping ──▶ calling }
 *      │          ▲  ▲  │ └─(calls are ready)──────┼──────────▶│
 *      │          │  └──┼──────────────────────────┴───────────┘
 *      │          │     └─(nothing left)─▶ committing ──▶ releasing ──▶ ended | failed
 *      │          └──(the log moved)───────────┘               ▲
 *      └─(nothing to do, refused)──────────────────────────────┤
 *        any error ──▶ failing ────────────────────────────────┘
 *
 * claiming:           asks for the right to wake the session; with it, writes `wake.started` and closes what a dead wake left open.
 * folding:            reads what was appended since, also by others, and decides what comes next.
 * assembling:         makes the bounded context for the model from the log, and finds the backend.
 * running.stepping:   one model call; its span is open in the log.
 * running.calling:    tool calls run that are in the log as asked for; those that need somebody's consent ask for it and stay open.
 * committing:         appends how the wake ended, if nothing was appended since the fold; else folds again.
 * failing:            something broke that is not the model's fault; tries to record it.
 * releasing:          gives the right back, whatever happened.
 * ended:              the log says how the wake ended, or nothing needed doing.
 * failed:             the log could not be written, or the right was not given; the caller gets the error.
 *
 * STOP asks for an early end and is taken in every state: the work in hand is cut short and the loop ends at the next fold.
 * What the states do is named here and filled in by src/actors/wake.
 */
import { assign, fromPromise, setup } from 'xstate';
import { RuntimeError } from '../errors.ts';

export interface WakeInput {
  readonly sessionId: string;
  readonly wakeId: string;
}

interface WakeContext extends WakeInput {
  /** The first reason somebody gave. */
  readonly stopReason?: string | undefined;
  /** An error that the log does not tell about. */
  readonly hasFailed: boolean;
}

export interface WakeStopEvent {
  readonly type: 'STOP';
  readonly reason: string;
}

/** What each part of the work answers: which way to go. */
export type ClaimAnswer = 'claimed' | 'nothing_to_do';
export type FoldAnswer = 'step' | 'call_tools' | 'end';
export type StepAnswer = 'call_tools' | 'fold';
export type CommitAnswer = 'committed' | 'moved';

function slot<Output>(name: string): ReturnType<typeof fromPromise<Output, WakeInput>> {
  return fromPromise<Output, WakeInput>(() => {
    throw new RuntimeError('SLOT_EMPTY', `the wake chart has no actor for "${name}"`, { category: 'crash', hint: `Provide the actor "${name}".` });
  });
}

/** Where every broken part of the work leads. */
const toFailing = { target: '#wake.failing', actions: 'noteFailure' } as const;

export const wakeMachine = setup({
  types: {
    context: {} as WakeContext,
    input: {} as WakeInput,
    events: {} as WakeStopEvent,
    output: {} as { readonly isRecorded: boolean },
  },
  actors: {
    claim: slot<ClaimAnswer>('claim'),
    fold: slot<FoldAnswer>('fold'),
    assemble: slot<void>('assemble'),
    step: slot<StepAnswer>('step'),
    callTools: slot<void>('callTools'),
    commit: slot<CommitAnswer>('commit'),
    recordFailure: slot<void>('recordFailure'),
    release: slot<void>('release'),
  },
  guards: {
    isClaimed: (_, answer: ClaimAnswer) => answer === 'claimed',
    needsStep: (_, answer: FoldAnswer) => answer === 'step',
    needsTools: (_, answer: FoldAnswer) => answer === 'call_tools',
    asksForTools: (_, answer: StepAnswer) => answer === 'call_tools',
    isCommitted: (_, answer: CommitAnswer) => answer === 'committed',
    hasFailed: ({ context }) => context.hasFailed,
  },
  actions: {
    noteStop: assign(({ context }, reason: string) => ({ stopReason: context.stopReason ?? reason })),
    noteFailure: assign({ hasFailed: true }),
    noteRecorded: assign({ hasFailed: false }),
    /** Filled by the actor: cuts the work in hand short. */
    interrupt: (_, _reason: string) => undefined,
  },
}).createMachine({
  id: 'wake',
  description: 'One wake: one bounded run of the harness over a session.',
  context: ({ input }) => ({ sessionId: input.sessionId, wakeId: input.wakeId, hasFailed: false }),
  initial: 'claiming',
  output: ({ context }) => ({ isRecorded: !context.hasFailed }),
  on: {
    STOP: {
      actions: [
        { type: 'noteStop', params: ({ event }) => event.reason },
        { type: 'interrupt', params: ({ event }) => event.reason },
      ],
    },
  },
  states: {
    claiming: {
      description: 'Asks for the right to wake the session; with it, writes `wake.started` and closes what a dead wake left open.',
      invoke: {
        src: 'claim',
        input: ({ context }) => context,
        onDone: [{ guard: { type: 'isClaimed', params: ({ event }) => event.output }, target: 'folding' }, { target: 'releasing' }],
        onError: { target: 'releasing', actions: 'noteFailure' },
      },
    },
    folding: {
      description: 'Reads what was appended since, also by others, and decides what comes next.',
      invoke: {
        src: 'fold',
        input: ({ context }) => context,
        onDone: [
          { guard: { type: 'needsStep', params: ({ event }) => event.output }, target: 'assembling' },
          { guard: { type: 'needsTools', params: ({ event }) => event.output }, target: '#wake.running.calling' },
          { target: 'committing' },
        ],
        onError: toFailing,
      },
    },
    assembling: {
      description: 'Makes the bounded context for the model from the log, and finds the backend.',
      invoke: { src: 'assemble', input: ({ context }) => context, onDone: 'running', onError: toFailing },
    },
    running: {
      description: 'The model or its tools are at work.',
      initial: 'stepping',
      states: {
        stepping: {
          description: 'One model call; its span is open in the log.',
          invoke: {
            src: 'step',
            input: ({ context }) => context,
            onDone: [{ guard: { type: 'asksForTools', params: ({ event }) => event.output }, target: 'calling' }, { target: '#wake.folding' }],
            onError: toFailing,
          },
        },
        calling: {
          description: "Tool calls run that are in the log as asked for; those that need somebody's consent ask for it and stay open.",
          invoke: { src: 'callTools', input: ({ context }) => context, onDone: '#wake.folding', onError: toFailing },
        },
      },
    },
    committing: {
      description: 'Appends how the wake ended, if nothing was appended since the fold.',
      invoke: {
        src: 'commit',
        input: ({ context }) => context,
        onDone: [{ guard: { type: 'isCommitted', params: ({ event }) => event.output }, target: 'releasing' }, { target: 'folding' }],
        onError: toFailing,
      },
    },
    failing: {
      description: "Something broke that is not the model's fault; tries to record it.",
      invoke: {
        src: 'recordFailure',
        input: ({ context }) => context,
        onDone: { target: 'releasing', actions: 'noteRecorded' },
        onError: 'releasing',
      },
    },
    releasing: {
      description: 'Gives the right back, whatever happened.',
      invoke: {
        src: 'release',
        input: ({ context }) => context,
        onDone: [{ guard: 'hasFailed', target: 'failed' }, { target: 'ended' }],
        onError: [{ guard: 'hasFailed', target: 'failed' }, { target: 'ended' }],
      },
    },
    ended: { description: 'The log says how the wake ended, or nothing needed doing.', type: 'final' },
    failed: { description: 'The log could not be written, or the right was not given; the caller gets the error.', type: 'final' },
  },
});
