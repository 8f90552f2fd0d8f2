/**
 * The frame of the suites of all charts: what it finds, shown with a small chart and things that live by it well, or
 * with a defect. And that every chart has its suite.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { createActor, setup } from 'xstate';
import type { StateValue } from 'xstate';
import { describe, expect, it } from 'vitest';
import { compileLifecycle } from '../../../src/machines/lifecycle.ts';
import { charts } from '../../../src/machines/inspection/chart-catalog.ts';
import { Disagreement, coverOf, follow, waysOf } from '../../support/chart-model-subject.ts';
import type { ModelSubject, RealSubject } from '../../support/chart-model-subject.ts';
import { watchChart, watchInterpreted } from '../../support/chart-model-watch.ts';
import { modelRuns } from '../../support/model-runs.ts';

const doorMachine = setup({
  types: { events: {} as { readonly type: 'OPEN' | 'CLOSE' | 'LOCK' | 'BREAK' } },
}).createMachine({
  id: 'door',
  initial: 'closed',
  states: {
    closed: { on: { OPEN: 'open', LOCK: 'locked' } },
    open: { on: { CLOSE: 'closed', OPEN: 'open', LOCK: undefined } },
    locked: { on: { BREAK: 'broken' } },
    broken: { type: 'final' },
  },
});
const door = compileLifecycle<StateValue, { readonly type: string }>(doorMachine);

type Defect = 'deaf' | 'hasty' | 'forgetful' | 'locks itself' | 'says that it can';

/** A door, with an actor of its own. */
class Door implements RealSubject {
  readonly #watch = watchChart(door);
  readonly #actor = createActor(door).start();
  readonly #defect: Defect | undefined;

  constructor(defect?: Defect) {
    this.#defect = defect;
  }

  send(type: string): void {
    if (this.#defect === 'deaf' && type === 'CLOSE') return;
    this.#actor.send({ type });
    if (this.#defect === 'hasty' && type === 'OPEN') this.#actor.send({ type });
    if (this.#defect === 'locks itself' && type === 'CLOSE') this.#actor.send({ type: 'LOCK' });
  }

  state = (): StateValue => (this.#defect === 'forgetful' ? 'closed' : this.#actor.getSnapshot().value);
  taken = (): readonly string[] => this.#watch.lives[0]?.taken ?? [];
  can = (event: string): boolean =>
    this.#defect === 'says that it can' ? true : this.#actor.getSnapshot().can({ type: event });
  close = (): void => this.#watch.end();
}

const subjectWith = (defect?: Defect): ModelSubject<object, Door> => ({
  chart: door,
  facts: () => ({}),
  open: () => new Door(defect),
  never: { 'locked|BREAK|0': 'nobody here is strong enough for that' },
  commands: Object.fromEntries(
    ['OPEN', 'CLOSE', 'LOCK'].map((type) => [
      type,
      { tells: (model) => model.tell(type), act: (real) => real.send(type) },
    ]),
  ),
});

describe('the frame of the suites', () => {
  it('follows one that lives by its chart, ignored and forbidden events included', async () => {
    await expect(
      follow(subjectWith(), ['CLOSE', 'OPEN', 'LOCK', 'OPEN', 'CLOSE', 'LOCK', 'OPEN']),
    ).resolves.toBeUndefined();
  });

  it.each<[Defect, string, readonly string[]]>([
    ['deaf', 'the state', ['OPEN', 'CLOSE']],
    ['hasty', 'the transitions that were taken', ['OPEN']],
    ['forgetful', 'the state', ['OPEN']],
    ['locks itself', 'the state', ['OPEN', 'CLOSE']],
    ['says that it can', 'whether', []],
  ])('finds one that is %s by %s', async (defect, what, plan) => {
    const following = follow(subjectWith(defect), plan);
    await expect(following).rejects.toThrow(Disagreement);
    await expect(following).rejects.toThrow(what);
  });

  it('says what was done before they disagreed', async () => {
    await expect(follow(subjectWith('deaf'), ['OPEN', 'OPEN', 'CLOSE', 'LOCK'])).rejects.toThrow(
      '["OPEN","OPEN","CLOSE"]',
    );
  });

  it('finds a way to each transition that can be brought about, and takes them all with few plans', () => {
    const subject = subjectWith();
    const ways = waysOf(subject);
    expect([...ways.to.keys()].toSorted()).toEqual(['closed|LOCK|0', 'closed|OPEN|0', 'open|CLOSE|0', 'open|OPEN|0']);
    expect([...ways.moving.keys()].toSorted()).toEqual(['CLOSE', 'LOCK', 'OPEN']);
    expect(coverOf(subject, ways).length).toBeLessThan(4);
  });

  it('leaves a compiled chart as it was, and says which event no chart knows', () => {
    const before = { ...door };
    const watch = watchChart(door);
    expect(door.transition).not.toBe(before.transition);
    watch.end();
    expect({ ...door }).toEqual(before);
    const unknown: ModelSubject<object, Door> = {
      ...subjectWith(),
      commands: { KNOCK: { tells: (model) => model.tell('KNOCK'), act: () => undefined } },
    };
    expect(() => waysOf(unknown)).toThrow('no event KNOCK');
  });

  it('sees a chart that is interpreted as it sees a compiled one', () => {
    const [compiled, interpreted] = [watchChart(door), watchInterpreted(doorMachine)];
    const actors = [createActor(door).start(), createActor(doorMachine, { inspect: interpreted.inspect }).start()];
    for (const type of ['OPEN', 'LOCK', 'OPEN', 'CLOSE', 'BREAK', 'LOCK'])
      for (const actor of actors) actor.send({ type } as never);
    compiled.end();
    expect(interpreted.lives.map(({ taken, value }) => [taken, value])).toEqual(
      compiled.lives.map(({ taken, value }) => [taken, value]),
    );
    expect(compiled.lives[0]?.taken).toEqual(['closed|OPEN|0', 'open|OPEN|0', 'open|CLOSE|0', 'closed|LOCK|0']);
  });
});

describe('the number of runs', () => {
  it.each([
    [{}, { numRuns: 20 }],
    [{ MODEL_RUNS: '500' }, { numRuns: 300 }],
    [
      { MODEL_RUNS: '5', FAST_CHECK_SEED: '-7', FAST_CHECK_PATH: '4:1' },
      { numRuns: 5, seed: -7, path: '4:1' },
    ],
  ])('with %j is %j', (environment, expected) => {
    expect(modelRuns(20, { atMost: 300, environment })).toEqual(expected);
  });

  it('is not guessed from what is no number, and a path needs its seed', () => {
    expect(() => modelRuns(1, { environment: { MODEL_RUNS: 'many' } })).toThrow('MODEL_RUNS');
    expect(() => modelRuns(1, { environment: { FAST_CHECK_PATH: '0' } })).toThrow('FAST_CHECK_SEED');
  });
});

/** Charts whose models have more to say than the frame can, with the real manager or runner each. */
const OWN_MODELS: Readonly<Record<string, string>> = {
  task: '../task-model.test.ts',
  subagent: '../subagent-model.test.ts',
  worktree: '../worktree-model.test.ts',
};
/** Where a chart has another id than its module has a name. */
const NAMES: Readonly<Record<string, string>> = { taskSupervisor: 'supervisor', sessionWorker: 'worker' };

describe('every chart of ours', () => {
  const here = fileURLToPath(new URL('.', import.meta.url));
  const sourceOf = (name: string): string => readFileSync(join(here, name), 'utf8');
  const suites = readdirSync(here).filter((name) => name.endsWith('.ts') && name !== 'chart-model.test.ts');
  // A suite names its chart by what the module of the chart exports.
  const modelled = suites.flatMap((name) => /\bchart: (\w+?)(?:Lifecycle|Machine)\b/.exec(sourceOf(name))?.[1] ?? []);

  it.each(charts.map(({ machine }) => machine.id))('%s has a suite with the real thing', (id) => {
    const own = OWN_MODELS[id];
    expect(own === undefined ? modelled.includes(NAMES[id] ?? id) : sourceOf(own).includes(`${id}Lifecycle`)).toBe(
      true,
    );
  });
});
