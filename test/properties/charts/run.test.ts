/**
 * The life of a run over its candidates: the real one, with real health of candidates on a simulated clock, whose parts
 * begin when they are told to and do their work or break.
 */
import { afterAll, afterEach, beforeAll, expect } from 'vitest';
import { createActor, fromPromise } from 'xstate';
import { createSimulatedClock } from '../../../src/actors/clock/simulated-clock.ts';
import type { AgentRunResult } from '../../../src/actors/run/agent-runtime.ts';
import { RunWork } from '../../../src/actors/run/run-work.ts';
import { MemoryCandidateHealthStore } from '../../../src/adapters/memory/memory-candidate-health-store.ts';
import type { RunFailureKind } from '../../../src/machines/run/run-failure.ts';
import { RUN_BEGINNING, runMachine } from '../../../src/machines/run/run-machine.ts';
import { START_MS, runStage } from '../../actors/run/run-stage.ts';
import type { RunStage } from '../../actors/run/run-stage.ts';
import type { ChartModel } from '../../support/chart-model.ts';
import type { RealSubject } from '../../support/chart-model-subject.ts';
import { describeModel } from '../../support/chart-model-suite.ts';
import { PartGates } from '../../support/part-gates.ts';
import { NextLife, watchInterpreted } from '../../support/chart-model-watch.ts';

const PARTS = ['select', 'attempt', 'moveOn', 'wait', 'compact'] as const;
type Part = (typeof PARTS)[number];

const PART_OF: Readonly<Record<string, Part>> = {
  selecting: 'select',
  attempting: 'attempt',
  falling_back: 'moveOn',
  backing_off: 'wait',
  compacting: 'compact',
};

const MINUTE_MS = 60_000;
const MODELS = [
  { provider: 'one', model: 'm' },
  { provider: 'other', model: 'm' },
];

interface Facts {
  /** Candidates that are not out of the run. */
  left: number;
  /** How long everybody rests before anything is tried. */
  rests: 'not' | 'briefly' | 'long';
  hasCompacted: boolean;
  /** Whether there is something that can be left out, as far as the run has not asked yet. */
  hasLess: boolean;
  hasAsked: boolean;
  backOffs: number;
  isStopped: boolean;
  hasAnswered: boolean;
}

const watch = watchInterpreted(runMachine);
const parent = createActor(
  fromPromise(() => new Promise(() => undefined)),
  { inspect: watch.inspect },
).start();
const gates = new PartGates(RunWork.prototype, PARTS);
beforeAll(() => gates.put());
afterEach(() => expect(gates.isIdle).toBe(true));
afterAll(() => {
  gates.remove();
  parent.stop();
});

class Real extends NextLife implements RealSubject {
  readonly #clock = createSimulatedClock({ now: START_MS });
  readonly #candidateHealth = new MemoryCandidateHealthStore({ clock: this.#clock });
  readonly #abort = new AbortController();
  readonly #stage: RunStage;
  #says: RunFailureKind | 'answer' = 'answer';
  #hasLess = true;
  result: AgentRunResult | undefined;

  constructor() {
    super(watch);
    const act = (): AgentRunResult =>
      this.#says === 'answer'
        ? { payloads: [{ type: 'text', text: 'Said.' }] }
        : { payloads: [], meta: { error: { kind: this.#says, message: 'no' } } };
    this.#stage = runStage({
      acts: { one: [act], other: [act] },
      clock: this.#clock,
      candidateHealth: this.#candidateHealth,
    });
  }

  async open(): Promise<this> {
    const compact = async (): Promise<readonly never[] | undefined> => (this.#hasLess ? [] : undefined);
    const run = this.#stage.start(MODELS, {
      parent,
      compact,
      signal: this.#abort.signal,
      limits: { maxAttempts: 1_000, maxBackOffs: 1_000, maxWaitMs: MINUTE_MS },
    });
    void run.result.then((result) => {
      this.result = result;
      gates.leave();
    });
    await gates.arrived();
    return this;
  }

  async rest(kind: RunFailureKind): Promise<void> {
    for (const { provider, model } of MODELS)
      await this.#candidateHealth.report({ provider, model }, { kind: 'failed', failure: { kind, message: 'no' } });
  }

  begin = (): Promise<void> => gates.begin();
  break = (): Promise<void> => gates.break();

  async attempt(says: RunFailureKind | 'answer'): Promise<void> {
    this.#says = says;
    await gates.begin();
  }

  async wait(): Promise<void> {
    const over = gates.begin();
    await this.#clock.advance(MINUTE_MS);
    await over;
  }

  /** Nothing can be left out of what is to be read. */
  haveNoLess(): void {
    this.#hasLess = false;
  }

  stop(): void {
    this.#abort.abort('enough');
  }

  async close(): Promise<void> {
    this.stop();
    while (this.result === undefined) await gates.begin();
    gates.reset();
    expect(this.#clock.pendingTimers).toBe(0);
  }
}

type Model = ChartModel<Facts>;

const isSelecting = (model: Model): boolean => model.is('selecting');

/** What a part answers that leads there: the chart goes by nothing else of it. */
const toward = (next: string): unknown => ({
  next,
  course: RUN_BEGINNING,
  choice: { candidate: { provider: 'one', model: 'm' }, because: 'It is the first.' },
});

function attempt(model: Model, answer: string): void {
  const { facts } = model;
  // What is cut short before it has begun gives up, whatever its backend would have said.
  if (facts.isStopped && answer !== 'answered')
    return model.tell({ event: 'done(attempt)', output: toward('give_up') });
  facts.hasAnswered = answer === 'answered';
  model.tell({ event: 'done(attempt)', output: toward(answer) });
}

const elsewhere = ({ facts }: Model): string => (facts.left > 1 ? 'fall_back' : 'give_up');
const isAttempting = (model: Model): boolean => model.is('attempting');

describeModel<Facts, Real>(
  'a run',
  {
    chart: runMachine,
    input: { runId: 'run_1' },
    facts: () => ({
      left: MODELS.length,
      rests: 'not',
      hasCompacted: false,
      hasLess: true,
      hasAsked: false,
      backOffs: 0,
      isStopped: false,
      hasAnswered: false,
    }),
    open: () => new Real().open(),
    agree: (real, model) => {
      if (model.isOver) expect(real.result?.meta?.error === undefined).toBe(model.facts.hasAnswered);
      else expect(real.result).toBeUndefined();
    },
    commands: {
      'everybody rests for a minute': {
        isPossible: (model) => isSelecting(model) && model.taken.length === 0 && model.facts.rests === 'not',
        tells: ({ facts }) => {
          facts.rests = 'briefly';
        },
        act: (real) => real.rest('rate_limit'),
      },
      'everybody rests for hours': {
        isPossible: (model) => isSelecting(model) && model.taken.length === 0 && model.facts.rests === 'not',
        tells: ({ facts }) => {
          facts.rests = 'long';
        },
        act: (real) => real.rest('billing'),
      },
      'somebody is picked, if there is anybody': {
        isPossible: isSelecting,
        tells: (model) =>
          model.tell({
            event: 'done(select)',
            output: toward({ not: 'chosen', briefly: 'wait', long: 'none' }[model.facts.rests]),
          }),
        act: (real) => real.begin(),
      },
      'it answers': {
        isPossible: isAttempting,
        tells: (model) => attempt(model, 'answered'),
        act: (real) => real.attempt('answer'),
      },
      'it fails in a way that nobody knows': {
        isPossible: isAttempting,
        tells: (model) => attempt(model, elsewhere(model)),
        act: (real) => real.attempt('unknown'),
      },
      'it does not take the request': {
        isPossible: isAttempting,
        tells: (model) => attempt(model, elsewhere(model)),
        act: (real) => real.attempt('format'),
      },
      'it does not want to': {
        isPossible: isAttempting,
        tells: (model) => attempt(model, 'give_up'),
        act: (real) => real.attempt('refusal'),
      },
      'somebody holds what it needs': {
        isPossible: (model) => isAttempting(model) && model.facts.backOffs < 3,
        tells: (model) => {
          model.facts.backOffs += 1;
          // One wait of a minute was all there is.
          attempt(
            model,
            model.taken.some((id) => id === 'selecting|done(select)|2') || model.facts.backOffs > 3
              ? 'give_up'
              : 'back_off',
          );
        },
        act: (real) => real.attempt('coordination'),
      },
      'it is too much to read': {
        isPossible: isAttempting,
        tells: (model) => {
          model.facts.hasAsked = true;
          attempt(model, model.facts.hasCompacted || !model.facts.hasLess ? elsewhere(model) : 'compact');
        },
        act: (real) => real.attempt('context_overflow'),
      },
      'nothing can be left out': {
        isPossible: ({ isOver, facts }) => !isOver && !facts.hasAsked && facts.hasLess,
        tells: ({ facts }) => {
          facts.hasLess = false;
        },
        act: async (real) => real.haveNoLess(),
      },
      'it is out of the run': {
        isPossible: (model) => model.is('falling_back'),
        tells: (model) => {
          model.facts.left -= 1;
          model.tell({ event: 'done(moveOn)', output: RUN_BEGINNING });
        },
        act: (real) => real.begin(),
      },
      'the wait is over': {
        isPossible: (model) => model.is('backing_off'),
        tells: (model) => {
          model.facts.rests = 'not';
          model.tell({ event: 'done(wait)', output: RUN_BEGINNING });
        },
        act: (real) => real.wait(),
      },
      'there is less to read': {
        isPossible: (model) => model.is('compacting'),
        tells: (model) => {
          model.facts.hasCompacted = true;
          model.tell({ event: 'done(compact)', output: RUN_BEGINNING });
        },
        act: (real) => real.begin(),
      },
      'the part breaks': {
        isPossible: (model) => !model.isOver,
        tells: (model) => {
          const [, part] = Object.entries(PART_OF).find(([state]) => model.is(state)) ?? [];
          model.tell({ event: `error(${part})`, error: new Error('it breaks') });
        },
        act: (real) => real.break(),
      },
      'somebody stops it': {
        isPossible: (model) => !model.isOver && !model.facts.isStopped,
        tells: (model) => {
          model.facts.isStopped = true;
          model.tell({ event: 'STOP', reason: 'enough' });
        },
        act: (real) => real.stop(),
      },
    },
  },
  { runs: 20 },
);
