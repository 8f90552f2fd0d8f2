/**
 * One run of an agent over its candidates, until one of them has answered or nothing more is worth trying.
 *
 *   selecting ──(one may be tried)──▶ attempting ──(answered, given up)──▶ settled
 *    ▲  ▲   │ └─(none, and no time)────────│─┼──│────────────────────────────▲
 *    │  │   └─(all rest, but not for long)─│─┼──│──▶ backing_off             │
 *    │  └──────────────────────────────────┘ │  └────▶   │  │               │
 *    │             falling_back ◀────────────┘           │  └─(stopped)─────┤
 *    └──────────────────┴────────────────────────────────┘                  │
 *                                      attempting ──▶ compacting ─(stopped)─┘
 *                                          ▲──────────────┘
 *
 * selecting:     Reads how the candidates stand and picks the first that may be tried; why, and why not those before
 *                it, is told.
 * attempting:    One backend runs; what it streams is passed on.
 * falling_back:  The attempt has failed and is told; the next profile of the model, or the next model, is up.
 * backing_off:   Waits for a while before the same candidate, or whichever has recovered, is tried again.
 * compacting:    What the model has to read is made smaller, once; it is known before that something can be left out.
 * settled:       The result is known; it never becomes another one.
 *
 * STOP is taken in every state: the work in hand is cut short and the run settles as aborted.
 * What the states do is named here and filled in by src/actors/run.
 */
import { assign, setup } from 'xstate';
import type { ChartNotes } from '../inspection/chart-notes.ts';
import { madeIn, slotsOf } from '../slot.ts';
import type { ProviderMessage } from '../turn/provider-message.ts';
import type { Candidate } from './candidate.ts';
import type { RunAttempt, RunDecision } from './run-attempt.ts';
import type { RunUsage } from './run-output.ts';

export interface RunInput {
  readonly runId: string;
}

/** What a run has come to so far: the parts hand it on. */
export interface RunCourse<Result = unknown> {
  readonly attempts: readonly RunAttempt[];
  /** Keys of the candidates that this run does not try again. */
  readonly spent: readonly string[];
  /** Waits so far, and their sum in milliseconds. */
  readonly backOffs: number;
  readonly waitedMs: number;
  /** The provider and model that was first in the order, as text. */
  readonly firstModel?: string | undefined;
  /** Why the backend's session is not to be gone on with. */
  readonly anew?: string | undefined;
  /** The messages with less to read, once they were asked for: without any where nothing can be left out. */
  readonly smaller?: { readonly messages?: readonly ProviderMessage[] | undefined } | undefined;
  readonly hasCompacted: boolean;
  readonly modelSteps: number;
  readonly usage?: RunUsage | undefined;
  /** Of the newest attempt, or why none could be made. */
  readonly last?: Result | undefined;
}

export const RUN_BEGINNING: RunCourse<never> = {
  attempts: [],
  spent: [],
  backOffs: 0,
  waitedMs: 0,
  hasCompacted: false,
  modelSteps: 0,
};

/** The candidate that is up, and why, as one sentence. */
export interface RunChoice {
  readonly candidate: Candidate;
  readonly because: string;
}

/** What each part of the work answers: which way to go, and what the next part takes. */
export type SelectAnswer<Result = unknown> = { readonly course: RunCourse<Result> } & (
  | { readonly next: 'chosen'; readonly choice: RunChoice }
  | { readonly next: 'wait'; readonly waitMs: number }
  | { readonly next: 'none'; readonly choice?: RunChoice; readonly defect?: RunOutput['defect'] }
);
export interface AttemptAnswer<Result = unknown> {
  readonly next: 'answered' | RunDecision;
  readonly course: RunCourse<Result>;
  /** For `back_off`. */
  readonly waitMs?: number | undefined;
  /** What broke after the backend had answered. */
  readonly defect?: RunOutput['defect'];
}

/** What each part of the work takes. */
export interface PartInput<Result = unknown> extends RunInput {
  readonly course: RunCourse<Result>;
}
export type AttemptInput<Result = unknown> = PartInput<Result> & { readonly choice: RunChoice };
export type WaitInput<Result = unknown> = PartInput<Result> & { readonly waitMs: number };

export interface RunOutput<Result = unknown> extends RunEnd<Result> {
  readonly outcome: 'completed' | 'failed' | 'cancelled';
}

/** What it has come to. */
export interface RunEnd<Result = unknown> {
  readonly course: RunCourse<Result>;
  readonly choice?: RunChoice | undefined;
  /** What broke first, apart from what the backends broke. */
  readonly defect?: { readonly error: unknown } | undefined;
}

interface RunContext<Result> extends RunInput, RunEnd<Result> {
  /** The first reason that a caller gave. */
  readonly stopReason?: string | undefined;
  readonly waitMs: number;
  /** By the newest attempt. */
  readonly isAnswered: boolean;
}

export interface RunStopEvent {
  readonly type: 'STOP';
  readonly reason: string;
}

const slot = slotsOf<RunInput>('run');
const made = madeIn('run');

const stopWins: ChartNotes = {
  waives: { 'overlapping-transitions': 'A stop counts more than what the work in hand still came to.' },
};

/** A part that breaks is a defect: the run settles with it. */
const toSettled = {
  target: '#run.settled',
  actions: { type: 'noteDefect', params: ({ event }: { readonly event: { readonly error: unknown } }) => event.error },
} as const;

/** What a part answers is noted wherever that leads. */
function noting<Type extends string, Answer>(type: Type): AnswerNoted<Type, Answer> {
  return { type, params: ({ event }) => event.output };
}

interface AnswerNoted<Type, Answer> {
  readonly type: Type;
  readonly params: (done: { readonly event: { readonly output: Answer } }) => Answer;
}

/** The chart for actors whose backends answer with one kind of result. */
// oxlint-disable-next-line max-lines-per-function, typescript/explicit-module-boundary-types -- A chart is data; only its type parameter makes this a function, and its type is XState's to infer.
export const runMachineFor = <Result>() => {
  const selected = noting<'noteSelected', SelectAnswer<Result>>('noteSelected');
  const attempted = noting<'noteAttempted', AttemptAnswer<Result>>('noteAttempted');
  const wentOn = noting<'noteCourse', RunCourse<Result>>('noteCourse');
  return setup({
    types: {
      context: {} as RunContext<Result>,
      input: {} as RunInput,
      events: {} as RunStopEvent,
      output: {} as RunOutput<Result>,
    },
    actors: {
      select: slot<SelectAnswer<Result>, PartInput<Result>>('select'),
      attempt: slot<AttemptAnswer<Result>, AttemptInput<Result>>('attempt'),
      moveOn: slot<RunCourse<Result>, PartInput<Result>>('moveOn'),
      wait: slot<RunCourse<Result>, WaitInput<Result>>('wait'),
      compact: slot<RunCourse<Result>, PartInput<Result>>('compact'),
    },
    guards: {
      isChosen: (_, answer: SelectAnswer) => answer.next === 'chosen',
      mustWait: (_, answer: SelectAnswer) => answer.next === 'wait',
      movesOn: (_, answer: AttemptAnswer) => answer.next === 'fall_back' || answer.next === 'rotate_profile',
      backsOff: (_, answer: AttemptAnswer) => answer.next === 'back_off',
      compacts: (_, answer: AttemptAnswer) => answer.next === 'compact',
      isStopped: ({ context }) => context.stopReason !== undefined,
    },
    actions: {
      noteStop: assign(({ context }, reason: string) => ({ stopReason: context.stopReason ?? reason })),
      noteCourse: assign((_, course: RunCourse<Result>) => ({ course })),
      noteSelected: assign(({ context }, answer: SelectAnswer<Result>) => ({
        course: answer.course,
        choice: ('choice' in answer ? answer.choice : undefined) ?? context.choice,
        defect: context.defect ?? ('defect' in answer ? answer.defect : undefined),
        waitMs: answer.next === 'wait' ? answer.waitMs : 0,
      })),
      noteAttempted: assign(({ context }, { next, course, waitMs = 0, defect }: AttemptAnswer<Result>) => ({
        course,
        isAnswered: next === 'answered',
        waitMs,
        defect: context.defect ?? defect,
      })),
      noteDefect: assign(({ context }, error: unknown) => ({ defect: context.defect ?? { error } })),
      /** Filled by the actor: cuts the work in hand short. */
      interrupt: (_, _reason: string) => undefined,
    },
  }).createMachine({
    id: 'run',
    description:
      'One run of an agent over its candidates, until one of them has answered or nothing more is worth trying.',
    context: ({ input }) => ({ runId: input.runId, course: RUN_BEGINNING, waitMs: 0, isAnswered: false }),
    initial: 'selecting',
    output: ({ context: { course, choice, defect, isAnswered, stopReason } }) => ({
      course,
      choice,
      defect,
      outcome:
        isAnswered && defect === undefined
          ? 'completed'
          : defect === undefined && stopReason !== undefined
            ? 'cancelled'
            : 'failed',
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
      selecting: {
        description:
          'Reads how the candidates stand and picks the first that may be tried; why, and why not those before it, is told.',
        meta: stopWins,
        invoke: {
          src: 'select',
          input: ({ context: { runId, course } }) => ({ runId, course }),
          onDone: [
            {
              guard: 'isStopped',
              target: 'settled',
              actions: selected,
            },
            {
              guard: { type: 'isChosen', params: ({ event }) => event.output },
              target: 'attempting',
              actions: selected,
            },
            {
              guard: { type: 'mustWait', params: ({ event }) => event.output },
              target: 'backing_off',
              actions: selected,
            },
            { target: 'settled', actions: selected },
          ],
          onError: toSettled,
        },
      },
      attempting: {
        description: 'One backend runs; what it streams is passed on.',
        invoke: {
          src: 'attempt',
          input: ({ context: { runId, course, choice } }) => ({
            runId,
            course,
            choice: made(choice, 'a chosen candidate'),
          }),
          onDone: [
            {
              guard: { type: 'movesOn', params: ({ event }) => event.output },
              target: 'falling_back',
              actions: attempted,
            },
            {
              guard: { type: 'backsOff', params: ({ event }) => event.output },
              target: 'backing_off',
              actions: attempted,
            },
            {
              guard: { type: 'compacts', params: ({ event }) => event.output },
              target: 'compacting',
              actions: attempted,
            },
            { target: 'settled', actions: attempted },
          ],
          onError: toSettled,
        },
      },
      falling_back: {
        description: 'The attempt has failed and is told; the next profile of the model, or the next model, is up.',
        invoke: {
          src: 'moveOn',
          input: ({ context: { runId, course } }) => ({ runId, course }),
          onDone: [
            {
              guard: 'isStopped',
              target: 'settled',
              actions: wentOn,
            },
            { target: 'selecting', actions: wentOn },
          ],
          onError: toSettled,
        },
      },
      backing_off: {
        description: 'Waits for a while before the same candidate, or whichever has recovered, is tried again.',
        invoke: {
          src: 'wait',
          input: ({ context: { runId, course, waitMs } }) => ({ runId, course, waitMs }),
          onDone: [
            {
              guard: 'isStopped',
              target: 'settled',
              actions: wentOn,
            },
            { target: 'selecting', actions: wentOn },
          ],
          onError: toSettled,
        },
      },
      compacting: {
        description:
          'What the model has to read is made smaller, once; it is known before that something can be left out.',
        invoke: {
          src: 'compact',
          input: ({ context: { runId, course } }) => ({ runId, course }),
          onDone: [
            {
              guard: 'isStopped',
              target: 'settled',
              actions: wentOn,
            },
            { target: 'attempting', actions: wentOn },
          ],
          onError: toSettled,
        },
      },
      settled: { description: 'The result is known; it never becomes another one.', type: 'final' },
    },
  });
};

/** For checking: the chart whatever its results are. */
export const runMachine = runMachineFor<unknown>();
