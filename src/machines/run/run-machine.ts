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
import { slotsOf } from '../slot.ts';
import type { RunDecision } from './run-attempt.ts';

export interface RunInput {
  readonly runId: string;
}

interface RunContext extends RunInput {
  /** The first reason that a caller gave. */
  readonly stopReason?: string | undefined;
}

export interface RunStopEvent {
  readonly type: 'STOP';
  readonly reason: string;
}

/** What each part of the work answers: which way to go. */
export type SelectAnswer = 'chosen' | 'wait' | 'none';
export type AttemptAnswer = 'answered' | RunDecision;

const slot = slotsOf<RunInput>('run');

const stopWins: ChartNotes = {
  waives: { 'overlapping-transitions': 'A stop counts more than what the work in hand still came to.' },
};

/** A part that breaks is a defect: the run settles with it. */
const toSettled = { target: '#run.settled', actions: 'noteDefect' } as const;

export const runMachine = setup({
  types: {
    context: {} as RunContext,
    input: {} as RunInput,
    events: {} as RunStopEvent,
  },
  actors: {
    select: slot<SelectAnswer>('select'),
    attempt: slot<AttemptAnswer>('attempt'),
    moveOn: slot<void>('moveOn'),
    wait: slot<void>('wait'),
    compact: slot<void>('compact'),
  },
  guards: {
    isChosen: (_, answer: SelectAnswer) => answer === 'chosen',
    mustWait: (_, answer: SelectAnswer) => answer === 'wait',
    movesOn: (_, answer: AttemptAnswer) => answer === 'fall_back' || answer === 'rotate_profile',
    backsOff: (_, answer: AttemptAnswer) => answer === 'back_off',
    compacts: (_, answer: AttemptAnswer) => answer === 'compact',
    isStopped: ({ context }) => context.stopReason !== undefined,
  },
  actions: {
    noteStop: assign(({ context }, reason: string) => ({ stopReason: context.stopReason ?? reason })),
    /** Filled by the actor: keeps the error, for the result. */
    noteDefect: () => undefined,
    /** Filled by the actor: cuts the work in hand short. */
    interrupt: (_, _reason: string) => undefined,
  },
}).createMachine({
  id: 'run',
  description:
    'One run of an agent over its candidates, until one of them has answered or nothing more is worth trying.',
  context: ({ input }) => ({ runId: input.runId }),
  initial: 'selecting',
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
        input: ({ context }) => context,
        onDone: [
          { guard: 'isStopped', target: 'settled' },
          { guard: { type: 'isChosen', params: ({ event }) => event.output }, target: 'attempting' },
          { guard: { type: 'mustWait', params: ({ event }) => event.output }, target: 'backing_off' },
          { target: 'settled' },
        ],
        onError: toSettled,
      },
    },
    attempting: {
      description: 'One backend runs; what it streams is passed on.',
      invoke: {
        src: 'attempt',
        input: ({ context }) => context,
        onDone: [
          { guard: { type: 'movesOn', params: ({ event }) => event.output }, target: 'falling_back' },
          { guard: { type: 'backsOff', params: ({ event }) => event.output }, target: 'backing_off' },
          { guard: { type: 'compacts', params: ({ event }) => event.output }, target: 'compacting' },
          { target: 'settled' },
        ],
        onError: toSettled,
      },
    },
    falling_back: {
      description: 'The attempt has failed and is told; the next profile of the model, or the next model, is up.',
      invoke: {
        src: 'moveOn',
        input: ({ context }) => context,
        onDone: [{ guard: 'isStopped', target: 'settled' }, { target: 'selecting' }],
        onError: toSettled,
      },
    },
    backing_off: {
      description: 'Waits for a while before the same candidate, or whichever has recovered, is tried again.',
      invoke: {
        src: 'wait',
        input: ({ context }) => context,
        onDone: [{ guard: 'isStopped', target: 'settled' }, { target: 'selecting' }],
        onError: toSettled,
      },
    },
    compacting: {
      description:
        'What the model has to read is made smaller, once; it is known before that something can be left out.',
      invoke: {
        src: 'compact',
        input: ({ context }) => context,
        onDone: [{ guard: 'isStopped', target: 'settled' }, { target: 'attempting' }],
        onError: toSettled,
      },
    },
    settled: { description: 'The result is known; it never becomes another one.', type: 'final' },
  },
});
