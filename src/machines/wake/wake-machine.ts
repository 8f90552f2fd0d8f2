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
 * claiming:          Asks for the right to wake the session; with it, writes `wake.started` and closes what a dead wake
 *                    left open.
 * folding:           Reads what was appended since, also by others, and decides what comes next.
 * assembling:        Makes the bounded context for the model from the log, and finds the backend.
 * running:           The model or its tools are at work.
 * running.stepping:  One model call; its span is open in the log.
 * running.calling:   Tool calls run that are in the log as asked for; those that need a person's consent ask for it and
 *                    stay open.
 * committing:        Appends how the wake ended, if nothing was appended since the fold; else folds again.
 * failing:           Something broke that is not the model's fault; tries to record it.
 * releasing:         Gives the right back, whatever happened.
 * ended:             The log says how the wake ended, or nothing needed doing.
 * failed:            The log could not be written, or the right was not given; the caller gets the error.
 *
 * STOP asks for an early end and is taken in every state: the work in hand is cut short and the loop ends at the next
 * fold. What the states do is named here and filled in by src/actors/wake. What one makes and another takes is in the
 * context, and nowhere else: the assembled step for stepping, the calls it asked for for calling, the decided end with
 * its place in the log for committing, and the course of the wake so far (its steps, its last words, its failure) for
 * all of them.
 */
import { assign, setup } from 'xstate';
import type { Allowance } from '../session/event-parts.ts';
import { madeIn, slotsOf } from '../slot.ts';
import type { ToolCallInput } from '../turn/tool-call-machine.ts';
import type { WakeCourse, WakeEnd } from './wake-decision.ts';

export interface WakeInput {
  readonly sessionId: string;
  readonly wakeId: string;
}

/** What a model is to be asked. The chart hands it on from the part that makes it to the one that takes it. */
export interface WakeStep {
  /** What it may use up at most. */
  readonly need: Allowance;
}

export interface DecidedEnd {
  readonly end: WakeEnd;
  /** Where the log ended when that was decided. */
  readonly head: number;
}

/** How the log says that the wake ended. */
export interface RecordedEnd {
  readonly end: WakeEnd;
  readonly summary: string;
}

interface WakeContext<Step extends WakeStep> extends WakeInput {
  /** The first reason that a caller gave. */
  readonly stopReason?: string | undefined;
  readonly course: WakeCourse;
  /** The one assembled last. */
  readonly step?: Step | undefined;
  /** Those that the newest step asked for. */
  readonly calls: readonly ToolCallInput[];
  readonly decided?: DecidedEnd | undefined;
  readonly recorded?: RecordedEnd | undefined;
  /** What became of a session for which no wake began. */
  readonly unbegun?: UnbegunAs | undefined;
  /** The first error, as long as the log does not tell about it. */
  readonly failure?: { readonly error: unknown } | undefined;
}

export interface WakeStopEvent {
  readonly type: 'STOP';
  readonly reason: string;
}

type UnbegunAs = 'parked' | 'unparked';

/** What each part of the work answers: which way to go, and what the next part takes. */
export type ClaimAnswer =
  | { readonly next: 'claimed'; readonly mustSpeak: boolean }
  | { readonly next: 'nothing_to_do'; readonly as?: UnbegunAs | undefined };
export type FoldAnswer =
  | { readonly next: 'step' | 'call_tools' }
  | { readonly next: 'end'; readonly decided: DecidedEnd };
export interface StepAnswer {
  readonly next: 'call_tools' | 'fold';
  readonly course: WakeCourse;
  readonly calls: readonly ToolCallInput[];
}
export type CommitAnswer = { readonly next: 'committed'; readonly recorded: RecordedEnd } | { readonly next: 'moved' };

/** What each part of the work takes. */
export type FoldInput = WakeInput & { readonly course: WakeCourse };
export type StepInput<Step> = WakeInput & { readonly course: WakeCourse; readonly step: Step };
export type CallsInput<Step> = WakeInput & {
  readonly calls: readonly ToolCallInput[];
  readonly step: Step | undefined;
};
export type CommitInput = WakeInput & { readonly course: WakeCourse; readonly decided: DecidedEnd };
export type FailureInput = WakeInput & { readonly course: WakeCourse; readonly error: unknown };
export type ReleaseInput<Step> = WakeInput & { readonly end: WakeEnd | undefined; readonly step: Step | undefined };

export interface WakeOutput {
  /** Whether the log tells how it went; if not, `error` does. */
  readonly isRecorded: boolean;
  readonly error?: unknown;
  /** The same word as in the log; `completed`, where there was nothing to do. */
  readonly outcome: WakeEnd['outcome'] | 'completed';
  readonly recorded?: RecordedEnd | undefined;
  readonly unbegun?: UnbegunAs | undefined;
  readonly modelSteps: number;
}

const BEGINNING: WakeCourse = { modelSteps: 0, mustSpeak: false, hasDriven: false, nextStep: {} };

const slot = slotsOf<WakeInput>('wake');
const made = madeIn('wake');

/** Where every broken part of the work leads. */
const toFailing = {
  target: '#wake.failing',
  actions: { type: 'noteFailure', params: ({ event }: { readonly event: { readonly error: unknown } }) => event.error },
} as const;

/** The chart for actors that assemble steps of one kind. */
// oxlint-disable-next-line max-lines-per-function, typescript/explicit-module-boundary-types -- A chart is data; only its type parameter makes this a function, and its type is XState's to infer.
export const wakeMachineFor = <Step extends WakeStep>() =>
  setup({
    types: {
      context: {} as WakeContext<Step>,
      input: {} as WakeInput,
      events: {} as WakeStopEvent,
      output: {} as WakeOutput,
    },
    actors: {
      claim: slot<ClaimAnswer>('claim'),
      fold: slot<FoldAnswer, FoldInput>('fold'),
      assemble: slot<Step>('assemble'),
      step: slot<StepAnswer, StepInput<Step>>('step'),
      callTools: slot<void, CallsInput<Step>>('callTools'),
      commit: slot<CommitAnswer, CommitInput>('commit'),
      recordFailure: slot<RecordedEnd, FailureInput>('recordFailure'),
      release: slot<void, ReleaseInput<Step>>('release'),
    },
    guards: {
      isClaimed: (_, answer: ClaimAnswer) => answer.next === 'claimed',
      needsStep: (_, answer: FoldAnswer) => answer.next === 'step',
      needsTools: (_, answer: FoldAnswer) => answer.next === 'call_tools',
      asksForTools: (_, answer: StepAnswer) => answer.next === 'call_tools',
      isCommitted: (_, answer: CommitAnswer) => answer.next === 'committed',
      hasFailed: ({ context }) => context.failure !== undefined,
    },
    actions: {
      noteStop: assign(({ context }, reason: string) => ({ stopReason: context.stopReason ?? reason })),
      noteClaim: assign(({ context }, answer: ClaimAnswer) =>
        answer.next === 'claimed'
          ? { course: { ...context.course, mustSpeak: answer.mustSpeak } }
          : { unbegun: answer.as },
      ),
      noteEnd: assign((_, answer: FoldAnswer) => ({ decided: answer.next === 'end' ? answer.decided : undefined })),
      noteStep: assign(({ context }, step: Step) => ({ step, course: { ...context.course, nextStep: step.need } })),
      noteTaken: assign((_, { course, calls }: StepAnswer) => ({ course, calls })),
      noteDriven: assign(({ context }) => ({ course: { ...context.course, hasDriven: true } })),
      noteCommitted: assign((_, answer: CommitAnswer) =>
        answer.next === 'committed' ? { recorded: answer.recorded } : {},
      ),
      noteFailure: assign(({ context }, error: unknown) => ({ failure: context.failure ?? { error } })),
      noteRecorded: assign((_, recorded: RecordedEnd) => ({ recorded, failure: undefined })),
      /** Filled by the actor: cuts the work in hand short. */
      interrupt: (_, _reason: string) => undefined,
    },
  }).createMachine({
    id: 'wake',
    description: 'One wake: one bounded run of the harness over a session.',
    context: ({ input }) => ({ sessionId: input.sessionId, wakeId: input.wakeId, course: BEGINNING, calls: [] }),
    initial: 'claiming',
    output: ({ context: { failure, recorded, unbegun, course } }) => ({
      isRecorded: failure === undefined,
      ...failure,
      outcome: failure === undefined ? (recorded?.end.outcome ?? 'completed') : 'failed',
      recorded,
      unbegun,
      modelSteps: course.modelSteps,
    }),
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
        description:
          'Asks for the right to wake the session; with it, writes `wake.started` and closes what a dead wake left open.',
        invoke: {
          src: 'claim',
          input: ({ context }) => context,
          onDone: [
            {
              guard: { type: 'isClaimed', params: ({ event }) => event.output },
              target: 'folding',
              actions: { type: 'noteClaim', params: ({ event }) => event.output },
            },
            { target: 'releasing', actions: { type: 'noteClaim', params: ({ event }) => event.output } },
          ],
          onError: { ...toFailing, target: 'releasing' },
        },
      },
      folding: {
        description: 'Reads what was appended since, also by others, and decides what comes next.',
        invoke: {
          src: 'fold',
          input: ({ context: { sessionId, wakeId, course } }) => ({ sessionId, wakeId, course }),
          onDone: [
            { guard: { type: 'needsStep', params: ({ event }) => event.output }, target: 'assembling' },
            { guard: { type: 'needsTools', params: ({ event }) => event.output }, target: '#wake.running.calling' },
            { target: 'committing', actions: { type: 'noteEnd', params: ({ event }) => event.output } },
          ],
          onError: toFailing,
        },
      },
      assembling: {
        description: 'Makes the bounded context for the model from the log, and finds the backend.',
        invoke: {
          src: 'assemble',
          input: ({ context }) => context,
          onDone: { target: 'running', actions: { type: 'noteStep', params: ({ event }) => event.output } },
          onError: toFailing,
        },
      },
      running: {
        description: 'The model or its tools are at work.',
        initial: 'stepping',
        states: {
          stepping: {
            description: 'One model call; its span is open in the log.',
            invoke: {
              src: 'step',
              input: ({ context: { sessionId, wakeId, course, step } }) => ({
                sessionId,
                wakeId,
                course,
                step: made(step, 'an assembled step'),
              }),
              onDone: [
                {
                  guard: { type: 'asksForTools', params: ({ event }) => event.output },
                  target: 'calling',
                  actions: { type: 'noteTaken', params: ({ event }) => event.output },
                },
                { target: '#wake.folding', actions: { type: 'noteTaken', params: ({ event }) => event.output } },
              ],
              onError: toFailing,
            },
          },
          calling: {
            description:
              "Tool calls run that are in the log as asked for; those that need a person's consent ask for it and stay open.",
            invoke: {
              src: 'callTools',
              input: ({ context: { sessionId, wakeId, calls, step } }) => ({ sessionId, wakeId, calls, step }),
              onDone: { target: '#wake.folding', actions: 'noteDriven' },
              onError: toFailing,
            },
          },
        },
      },
      committing: {
        description: 'Appends how the wake ended, if nothing was appended since the fold; else folds again.',
        invoke: {
          src: 'commit',
          input: ({ context: { sessionId, wakeId, course, decided } }) => ({
            sessionId,
            wakeId,
            course,
            decided: made(decided, 'a decided end'),
          }),
          onDone: [
            {
              guard: { type: 'isCommitted', params: ({ event }) => event.output },
              target: 'releasing',
              actions: { type: 'noteCommitted', params: ({ event }) => event.output },
            },
            { target: 'folding' },
          ],
          onError: toFailing,
        },
      },
      failing: {
        description: "Something broke that is not the model's fault; tries to record it.",
        invoke: {
          src: 'recordFailure',
          input: ({ context: { sessionId, wakeId, course, failure } }) => ({
            sessionId,
            wakeId,
            course,
            error: failure?.error,
          }),
          onDone: { target: 'releasing', actions: { type: 'noteRecorded', params: ({ event }) => event.output } },
          onError: 'releasing',
        },
      },
      releasing: {
        description: 'Gives the right back, whatever happened.',
        invoke: {
          src: 'release',
          input: ({ context: { sessionId, wakeId, recorded, decided, step } }) => ({
            sessionId,
            wakeId,
            end: recorded?.end ?? decided?.end,
            step,
          }),
          onDone: [{ guard: 'hasFailed', target: 'failed' }, { target: 'ended' }],
          onError: [{ guard: 'hasFailed', target: 'failed' }, { target: 'ended' }],
        },
      },
      ended: { description: 'The log says how the wake ended, or nothing needed doing.', type: 'final' },
      failed: {
        description: 'The log could not be written, or the right was not given; the caller gets the error.',
        type: 'final',
      },
    },
  });

export const wakeMachine = wakeMachineFor<WakeStep>();
