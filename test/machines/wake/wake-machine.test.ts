import { createActor, fromPromise, toPromise } from 'xstate';
import { describe, expect, it } from 'vitest';
import { RuntimeError } from '../../../src/machines/errors.ts';
import { wakeAnswers } from '../../../src/machines/wake/wake-answers.ts';
import { wakeMachine } from '../../../src/machines/wake/wake-machine.ts';
import type { ClaimAnswer, ReleaseInput, WakeInput, WakeStep } from '../../../src/machines/wake/wake-machine.ts';

type Part = 'claim' | 'fold' | 'assemble' | 'step' | 'callTools' | 'commit' | 'recordFailure' | 'release';
type Answers = Partial<Record<Part, readonly (string | Error)[]>>;

/** What a part answers that goes the way that a name says; the one thing that it can answer where no name is given. */
function answerOf(part: Part, next: string | undefined): unknown {
  const known: readonly object[] = part in wakeAnswers ? wakeAnswers[part as keyof typeof wakeAnswers] : [];
  return next === undefined ? known[0] : known.find((each) => 'next' in each && each.next === next);
}

/** Runs the chart with parts that answer what the table says, each time the next thing, and tells where it has been. */
async function run(
  answers: Answers,
): Promise<{ readonly states: string[]; readonly isRecorded: boolean; readonly final: unknown }> {
  const counts = new Map<Part, number>();
  const answer = <Output, Input extends WakeInput>(part: Part): ReturnType<typeof fromPromise<Output, Input>> =>
    fromPromise<Output, Input>(async () => {
      const count = counts.get(part) ?? 0;
      counts.set(part, count + 1);
      const given = answers[part]?.[count] ?? answers[part]?.at(-1);
      if (given instanceof Error) throw given;
      return answerOf(part, given) as Output;
    });
  const machine = wakeMachine.provide({
    actors: {
      claim: answer('claim'),
      fold: answer('fold'),
      assemble: answer('assemble'),
      step: answer('step'),
      callTools: answer('callTools'),
      commit: answer('commit'),
      recordFailure: answer('recordFailure'),
      release: answer('release'),
    },
  });
  const actor = createActor(machine, { input: { sessionId: 's', wakeId: 'w' } });
  const states: string[] = [];
  actor.subscribe((snapshot) => {
    const { value } = snapshot;
    const name = typeof value === 'string' ? value : value.running;
    if (states.at(-1) !== name) states.push(name);
  });
  actor.start();
  const { isRecorded } = await toPromise(actor);
  return { states, isRecorded, final: actor.getSnapshot().value };
}

const broken = new Error('broken');
const CLAIMED = { claim: ['claimed'] } as const;

describe('a wake', () => {
  it.each<[string, Answers, string[], boolean]>([
    ['with nothing to do', { claim: ['nothing_to_do'] }, ['claiming', 'releasing', 'ended'], true],
    ['that is not given the right', { claim: [broken] }, ['claiming', 'releasing', 'failed'], false],
    [
      'of one step',
      { ...CLAIMED, fold: ['step', 'end'], step: ['fold'], commit: ['committed'] },
      ['claiming', 'folding', 'assembling', 'stepping', 'folding', 'committing', 'releasing', 'ended'],
      true,
    ],
    [
      'that calls tools',
      { ...CLAIMED, fold: ['step', 'step', 'end'], step: ['call_tools', 'fold'], commit: ['committed'] },
      [
        'claiming',
        'folding',
        'assembling',
        'stepping',
        'calling',
        'folding',
        'assembling',
        'stepping',
        'folding',
        'committing',
        'releasing',
        'ended',
      ],
      true,
    ],
    [
      'that a message reaches while it commits',
      { ...CLAIMED, fold: ['end', 'step', 'end'], step: ['fold'], commit: ['moved', 'committed'] },
      [
        'claiming',
        'folding',
        'committing',
        'folding',
        'assembling',
        'stepping',
        'folding',
        'committing',
        'releasing',
        'ended',
      ],
      true,
    ],
    [
      'whose fold breaks',
      { ...CLAIMED, fold: [broken] },
      ['claiming', 'folding', 'failing', 'releasing', 'ended'],
      true,
    ],
    [
      'whose agent cannot be read',
      { ...CLAIMED, fold: ['step'], assemble: [broken] },
      ['claiming', 'folding', 'assembling', 'failing', 'releasing', 'ended'],
      true,
    ],
    [
      'whose step cannot be stored',
      { ...CLAIMED, fold: ['step'], step: [broken] },
      ['claiming', 'folding', 'assembling', 'stepping', 'failing', 'releasing', 'ended'],
      true,
    ],
    [
      'whose tools break',
      { ...CLAIMED, fold: ['step'], step: ['call_tools'], callTools: [broken] },
      ['claiming', 'folding', 'assembling', 'stepping', 'calling', 'failing', 'releasing', 'ended'],
      true,
    ],
    [
      'that cannot commit',
      { ...CLAIMED, fold: ['end'], commit: [broken] },
      ['claiming', 'folding', 'committing', 'failing', 'releasing', 'ended'],
      true,
    ],
    [
      'whose failure cannot be stored',
      { ...CLAIMED, fold: [broken], recordFailure: [broken] },
      ['claiming', 'folding', 'failing', 'releasing', 'failed'],
      false,
    ],
    [
      'that cannot give the right back',
      { ...CLAIMED, fold: ['end'], commit: ['committed'], release: [broken] },
      ['claiming', 'folding', 'committing', 'releasing', 'ended'],
      true,
    ],
    ['that can do nothing at all', { claim: [broken], release: [broken] }, ['claiming', 'releasing', 'failed'], false],
  ])('%s ends, and always by way of the release', async (_name, answers, states, isRecorded) => {
    expect(await run(answers)).toEqual({ states, isRecorded, final: states.at(-1) });
    expect(states.at(-2)).toBe('releasing');
  });

  it('keeps the first reason it was stopped for, and stays where it is', () => {
    const never = fromPromise<ClaimAnswer, WakeInput>(() => new Promise(() => undefined));
    const heard: string[] = [];
    const machine = wakeMachine.provide({
      actors: { claim: never },
      actions: { interrupt: (_, reason: string) => heard.push(reason) },
    });
    const actor = createActor(machine, { input: { sessionId: 's', wakeId: 'w' } }).start();
    actor.send({ type: 'STOP', reason: 'first' });
    actor.send({ type: 'STOP', reason: 'second' });
    expect(actor.getSnapshot()).toMatchObject({ value: 'claiming', context: { stopReason: 'first' } });
    expect(heard).toEqual(['first', 'second']);
    actor.stop();
  });

  it('names the part that nobody filled in', async () => {
    const errors: unknown[] = [];
    const machine = wakeMachine.provide({
      actors: { release: fromPromise<void, ReleaseInput<WakeStep>>(async () => undefined) },
      actions: { noteFailure: (_, error: unknown) => void errors.push(error) },
    });
    const actor = createActor(machine, { input: { sessionId: 's', wakeId: 'w' } }).start();
    await toPromise(actor);
    expect(RuntimeError.is(errors[0]) && errors[0].message).toBe('the wake chart has no actor for "claim"');
  });
});
