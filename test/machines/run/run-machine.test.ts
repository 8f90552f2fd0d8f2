/**
 * The chart of a run over its candidates: which way each answer leads, what a stop does in every state, and what a part
 * that breaks does.
 */
import fc from 'fast-check';
import { createActor, fromPromise, toPromise } from 'xstate';
import { describe, expect, it } from 'vitest';
import { RUN_BEGINNING, runMachine } from '../../../src/machines/run/run-machine.ts';
import type {
  AttemptAnswer,
  AttemptInput,
  PartInput,
  RunCourse,
  SelectAnswer,
  WaitInput,
} from '../../../src/machines/run/run-machine.ts';

const PARTS = ['select', 'attempt', 'moveOn', 'wait', 'compact'] as const;
type Part = (typeof PARTS)[number];

/** The part that works in a state, and where each of its answers leads. */
const TABLE = {
  selecting: { part: 'select', ways: { chosen: 'attempting', wait: 'backing_off', none: 'settled' } },
  attempting: {
    part: 'attempt',
    ways: {
      answered: 'settled',
      give_up: 'settled',
      fall_back: 'falling_back',
      rotate_profile: 'falling_back',
      back_off: 'backing_off',
      compact: 'compacting',
    },
  },
  falling_back: { part: 'moveOn', ways: { done: 'selecting' } },
  backing_off: { part: 'wait', ways: { done: 'selecting' } },
  compacting: { part: 'compact', ways: { done: 'attempting' } },
} as const satisfies Record<string, { readonly part: Part; readonly ways: Readonly<Record<string, string>> }>;

type Working = keyof typeof TABLE;
const STATES = Object.keys(TABLE) as Working[];
const ROWS = STATES.flatMap((state) =>
  Object.entries(TABLE[state].ways).map(([answer, next]) => [state, answer, next] as const),
);

/** The answers that lead from the start into the state, shortest first. */
const WAYS: Record<Working, readonly string[]> = {
  selecting: [],
  attempting: ['chosen'],
  falling_back: ['chosen', 'fall_back'],
  backing_off: ['wait'],
  compacting: ['chosen', 'compact'],
};

interface Ride {
  readonly states: string[];
  readonly defects: unknown[];
  readonly interrupts: string[];
  answer(answer: string | Error): Promise<void>;
  stop(reason: string): void;
  readonly ended: Promise<unknown>;
  readonly isOver: () => boolean;
}

/** A part that has one way only answers with what the run has come to. */
function answerOf(next: string): unknown {
  if (next === 'done') return RUN_BEGINNING;
  return { next, course: RUN_BEGINNING, choice: CHOICE, waitMs: 0 };
}

const CHOICE = { candidate: { provider: 'script', model: 'm' }, because: 'It is the first.' };

/** Runs the chart with parts whose answers the test gives, one after the other. */
function ride(): Ride {
  let settle: { readonly resolve: (value: never) => void; readonly reject: (error: unknown) => void } | undefined;
  const defects: unknown[] = [];
  const interrupts: string[] = [];
  const part = <Output, Input = PartInput>() =>
    fromPromise<Output, Input>(() => new Promise<Output>((resolve, reject) => (settle = { resolve, reject })));
  const logic = runMachine.provide({
    actors: {
      select: part(),
      attempt: part<AttemptAnswer, AttemptInput>(),
      moveOn: part(),
      wait: part<RunCourse, WaitInput>(),
      compact: part(),
    },
    actions: { interrupt: (_, reason) => void interrupts.push(reason) },
  });
  const actor = createActor(logic, { input: { runId: 'run_1' } });
  const states: string[] = [];
  actor.subscribe(({ value, context: { defect } }) => {
    if (states.at(-1) !== value) states.push(value);
    if (defect !== undefined && !defects.includes(defect.error)) defects.push(defect.error);
  });
  const ended = toPromise(actor);
  actor.start();
  return {
    states,
    defects,
    interrupts,
    ended,
    isOver: () => actor.getSnapshot().status !== 'active',
    async answer(answer) {
      const waiting = settle;
      if (answer instanceof Error) waiting?.reject(answer);
      else waiting?.resolve(answerOf(answer) as never);
      await new Promise((resolve) => setImmediate(resolve));
    },
    stop: (reason) => actor.send({ type: 'STOP', reason }),
  };
}

async function arrive(state: Working): Promise<Ride> {
  const made = ride();
  for (const answer of WAYS[state]) await made.answer(answer);
  expect(made.states.at(-1)).toBe(state);
  return made;
}

describe('the chart of a run', () => {
  it.each(ROWS)('in %s goes on %s to %s', async (state, answer, next) => {
    const made = await arrive(state);
    await made.answer(answer);
    expect([made.states.at(-1), made.isOver(), made.defects]).toEqual([next, next === 'settled', []]);
  });

  it('has no state besides, and each is reached from the start', () => {
    expect(Object.keys(runMachine.states).toSorted()).toEqual([...STATES, 'settled'].toSorted());
    expect(new Set(ROWS.map(([, , next]) => next))).toEqual(new Set([...STATES, 'settled']));
  });

  it.each(STATES)(
    'in %s is stopped: the work in hand is cut short, the first reason stays, and whatever it answers then settles the run within one part more',
    async (state) => {
      for (const answer of Object.keys(TABLE[state].ways)) {
        const made = await arrive(state);
        made.stop('enough');
        made.stop('really');
        expect([made.states.at(-1), made.interrupts]).toEqual([state, ['enough', 'really']]);
        await made.answer(answer);
        // A decision that was made is carried out as far as the part that is cut short at once.
        if (!made.isOver()) await made.answer('done');
        expect([answer, made.isOver(), made.states.at(-1)]).toEqual([answer, true, 'settled']);
        expect(made.states.filter((each) => each === 'attempting').length).toBeLessThanOrEqual(1);
      }
    },
  );

  it.each(STATES)('in %s settles with the defect of a part that breaks, stopped or not', async (state) => {
    for (const isStopped of [false, true]) {
      const made = await arrive(state);
      const defect = new Error('broken');
      if (isStopped) made.stop('enough');
      await made.answer(defect);
      await made.ended;
      expect([made.states.at(-1), made.defects]).toEqual(['settled', [defect]]);
    }
  });

  it.each(PARTS)('says which part it has no actor for: %s', async (missing) => {
    const answers = <Answer, Input = PartInput>(next: string) =>
      fromPromise<Answer, Input>(async () => answerOf(next) as Answer);
    const all = {
      select: answers<SelectAnswer>(missing === 'wait' ? 'wait' : 'chosen'),
      attempt: answers<AttemptAnswer, AttemptInput>(
        missing === 'compact' ? 'compact' : missing === 'moveOn' ? 'fall_back' : 'answered',
      ),
      moveOn: answers<RunCourse>('done'),
      wait: answers<RunCourse, WaitInput>('done'),
      compact: answers<RunCourse>('done'),
    };
    const { [missing]: _, ...actors } = all;
    const actor = createActor(runMachine.provide({ actors }), { input: { runId: 'run_1' } });
    const ended = toPromise(actor);
    actor.start();
    const { defect } = await ended;
    const defects = [defect?.error];
    expect(defects).toMatchObject([{ code: 'SLOT_EMPTY', message: expect.stringContaining(`"${missing}"`) as string }]);
  });

  it('follows its table over any answers, and never leaves the end', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(fc.nat(5), { maxLength: 30 }), fc.option(fc.nat(30)), async (choices, stopAt) => {
        const made = ride();
        let state = 'selecting' as Working | 'settled';
        let isStopped = false;
        for (const [index, choice] of choices.entries()) {
          if (state === 'settled') break;
          if (index === stopAt) {
            made.stop('enough');
            isStopped = true;
          }
          const ways: readonly (readonly [string, string])[] = Object.entries(TABLE[state].ways);
          const [answer, next] = ways[choice % ways.length] ?? ['', 'settled'];
          await made.answer(answer);
          state = isStopped && state !== 'attempting' ? 'settled' : (next as Working | 'settled');
          expect(made.states.at(-1)).toBe(state);
        }
        expect(made.isOver()).toBe(state === 'settled');
      }),
      { numRuns: 60 },
    );
  });
});
