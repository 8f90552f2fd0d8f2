/**
 * The chart of a job as the model, the real manager with work that does what it is told as the system under test. After
 * every command both agree: the status of every job, the configuration of its actor, who runs, and what is on record.
 */
import fc from 'fast-check';
import type { AnyActorRef, InspectionEvent, StateValue } from 'xstate';
import { afterEach, describe, expect, it } from 'vitest';
import { createSimulatedClock } from '../../src/actors/clock/simulated-clock.ts';
import { SubagentManager } from '../../src/actors/subagent/subagent-manager.ts';
import { subagentLifecycle, subagentMachine } from '../../src/machines/subagent/subagent-machine.ts';
import { settled } from '../support/manual-runner.ts';
import { modelRuns } from '../support/model-runs.ts';
import { pathsOverEveryTransition } from '../support/graph-paths.ts';
import {
  createMemoryLog,
  createMemoryRecords,
  createScriptedRunner,
  jobRequest,
} from '../support/scripted-subagents.ts';
import type { MemoryLog, MemoryRecords, ScriptedRunner, ScriptedWork } from '../support/scripted-subagents.ts';

type Chart = typeof subagentLifecycle.initial;

interface ModelJob {
  readonly id: string;
  readonly parent: ModelJob | undefined;
  readonly sessionId: string;
  readonly isSlowToStart: boolean;
  readonly isSlowToStop: boolean;
  /** Undefined while it waits for its turn, and for one that never got it. */
  chart: Chart | undefined;
  status: string;
  /** Nothing is let in below it. */
  isClosed: boolean;
}

/** What the chart and the rules of the tree say, with no promise, actor or timer in it. */
class Model {
  readonly jobs = new Map<string, ModelJob>();
  readonly maxConcurrent: number;
  nextId = 1;
  isShutDown = false;

  constructor(maxConcurrent: number) {
    this.maxConcurrent = maxConcurrent;
  }

  below(job: ModelJob): ModelJob[] {
    const isBelow = (each: ModelJob): boolean =>
      each.parent !== undefined && (each.parent === job || isBelow(each.parent));
    return [...this.jobs.values()].filter((each) => isLiving(each) && isBelow(each));
  }

  move(job: ModelJob, type: string): void {
    const next = job.chart === undefined ? undefined : subagentLifecycle.next(job.chart, type);
    if (next === undefined) return;
    job.chart = next;
    if (next.topLevel === 'settling') {
      job.isClosed = true;
      for (const each of this.below(job)) this.cancel(each);
    }
  }

  /** Asks one job to end. */
  cancel(job: ModelJob): void {
    if (!isLiving(job)) return;
    job.isClosed = true;
    if (job.status === 'queued') job.status = 'cancelled';
    this.move(job, 'STOP');
    if (job.chart?.matches({ running: 'stopping' }) === true && !job.isSlowToStop) this.move(job, 'WORK_GONE');
  }

  cancelTree(job: ModelJob): void {
    for (const each of [...this.below(job), job]) this.cancel(each);
  }

  start(job: ModelJob): void {
    job.status = 'running';
    job.chart = subagentLifecycle.initial;
    if (!job.isSlowToStart) this.move(job, 'PREPARED');
  }

  /** What follows by itself. */
  settle(): void {
    for (let hasMoved = true; hasMoved;) {
      hasMoved = false;
      for (const job of this.jobs.values()) {
        if (job.chart?.topLevel === 'settling' && this.below(job).length === 0) {
          this.move(job, 'SETTLED');
          job.status = job.chart.topLevel;
          hasMoved = true;
        }
      }
      const running = [...this.jobs.values()].filter(({ status }) => status === 'running').length;
      const waiting = [...this.jobs.values()].find(({ status }) => status === 'queued');
      if (waiting !== undefined && running < this.maxConcurrent && !this.isShutDown) {
        this.start(waiting);
        hasMoved = true;
      }
    }
  }
}

const isLiving = ({ status }: ModelJob): boolean => status === 'queued' || status === 'running';

interface Real {
  readonly manager: SubagentManager;
  readonly runner: ScriptedRunner;
  readonly records: MemoryRecords;
  readonly log: MemoryLog;
  readonly configurations: Map<string, StateValue>;
  /** Starts and stops that are held up, by job. */
  readonly starts: Map<string, { readonly resolve: () => void; readonly reject: (error: Error) => void }>;
  readonly stops: Map<string, () => void>;
}

const realOnes: Real[] = [];

function createReal(maxConcurrent: number): Real {
  const configurations: Real['configurations'] = new Map();
  const starts: Real['starts'] = new Map();
  const stops: Real['stops'] = new Map();
  const runner = createScriptedRunner();
  runner.onStart = ({ jobId, request: { prompt } }) => {
    if (prompt.includes('slow stop'))
      runner.of(jobId).onCancel = () => new Promise((resolve) => stops.set(jobId, resolve));
    return prompt.includes('slow start')
      ? new Promise((resolve, reject) => starts.set(jobId, { resolve, reject }))
      : undefined;
  };
  const inspect = (event: InspectionEvent): void => {
    if (event.type === '@xstate.snapshot')
      configurations.set(
        (event.actorRef as AnyActorRef).id,
        (event.snapshot as unknown as { value: StateValue }).value,
      );
  };
  const records = createMemoryRecords();
  const log = createMemoryLog();
  const limits = { maxDepth: Infinity, maxJobs: Infinity, maxJobsPerParent: Infinity, maxConcurrent };
  const manager = new SubagentManager({
    runner,
    records,
    log,
    limits,
    clock: createSimulatedClock(),
    inspect,
    agentIdleTimeoutMs: 0,
    cancelDeadlineMs: 0,
  });
  const real = { manager, runner, records, log, configurations, starts, stops };
  realOnes.push(real);
  return real;
}

function agree(model: Model, { manager, configurations, records, log }: Real): void {
  const jobs = [...model.jobs.values()];
  expect(Object.fromEntries(manager.list().map(({ id, status }) => [id, status]))).toEqual(
    Object.fromEntries(jobs.map(({ id, status }) => [id, status])),
  );
  for (const { id, chart, status } of jobs) {
    if (chart !== undefined) expect([id, configurations.get(`${id}.subagent`)]).toEqual([id, chart.value]);
    const isOver = !['queued', 'running'].includes(status);
    expect([id, records.stored.get(id)?.stage]).toEqual([id, isOver ? 'ended' : 'accepted']);
    if (isOver) expect([id, records.stored.get(id)?.task.status]).toEqual([id, status]);
    const ends = log.told.flatMap(([what, job]) => (what === 'ended' && job.jobId === id ? [job.status] : []));
    expect([id, ends]).toEqual([id, isOver ? [status] : []]);
  }
}

async function settledDeep(): Promise<void> {
  for (let turn = 0; turn < 3; turn += 1) await settled();
}

class Command implements fc.AsyncCommand<Model, Real> {
  readonly name: string;
  readonly #act: (model: Model, real: Real) => Promise<void> | void;

  constructor(name: string, act: (model: Model, real: Real) => Promise<void> | void) {
    this.name = name;
    this.#act = act;
  }

  check(): boolean {
    return true;
  }

  async run(model: Model, real: Real): Promise<void> {
    await this.#act(model, real);
    model.settle();
    await settledDeep();
    agree(model, real);
  }

  toString(): string {
    return this.name;
  }
}

function pick(model: Model, index: number, fits: (job: ModelJob) => boolean): ModelJob | undefined {
  const fitting = [...model.jobs.values()].filter(fits);
  return fitting[index % Math.max(1, fitting.length)];
}

const index = fc.nat({ max: 30 });

const spawn = fc.record({ at: fc.option(index), isSlowToStart: fc.boolean(), isSlowToStop: fc.boolean() }).map(
  ({ at, isSlowToStart, isSlowToStop }) =>
    new Command(
      `spawn(${at === null ? '' : `below ${at}`}${isSlowToStart ? ' slow start' : ''}${isSlowToStop ? ' slow stop' : ''})`,
      async (model, real) => {
        const parent = at === null ? undefined : pick(model, at, () => true);
        const prompt = `${isSlowToStart ? 'slow start ' : ''}${isSlowToStop ? 'slow stop' : ''}`;
        const spawned = real.manager.spawn(
          jobRequest({ prompt, ...(parent === undefined ? {} : { parentJobId: parent.id }) }),
        );
        if (model.isShutDown || (parent !== undefined && (parent.isClosed || !isLiving(parent)))) {
          await expect(spawned).rejects.toMatchObject({
            code: model.isShutDown ? 'SUBAGENT_MANAGER_SHUT_DOWN' : 'SUBAGENT_PARENT_ENDED',
          });
          return;
        }
        const { id, metadata } = await spawned;
        expect(id).toBe(`agent_${model.nextId++}`);
        model.jobs.set(id, {
          id,
          parent,
          sessionId: String(metadata?.['wakechart.sessionId']),
          isSlowToStart,
          isSlowToStop,
          chart: undefined,
          status: 'queued',
          isClosed: false,
        });
      },
    ),
);

const started = fc.record({ index, fails: fc.boolean() }).map(
  ({ index: at, fails }) =>
    new Command(`${fails ? 'startFails' : 'started'}(${at})`, (model, real) => {
      const job = pick(model, at, ({ chart }) => chart?.topLevel === 'preparing');
      if (job === undefined) return;
      const held = real.starts.get(job.id);
      if (fails) held?.reject(new Error('broken'));
      else held?.resolve();
      model.move(job, fails ? 'PREPARE_FAILED' : 'PREPARED');
      if (job.chart?.matches({ running: 'stopping' }) === true && !job.isSlowToStop) model.move(job, 'WORK_GONE');
    }),
);

const ended = fc.record({ index, isDone: fc.boolean() }).map(
  ({ index: at, isDone }) =>
    new Command(`${isDone ? 'done' : 'fail'}(${at})`, (model, real) => {
      const job = pick(model, at, ({ chart }) => chart?.topLevel === 'running');
      if (job === undefined) return;
      if (isDone) real.runner.of(job.id).resolve();
      else real.runner.of(job.id).reject(new Error('broken'));
      model.move(job, isDone ? 'WORK_DONE' : 'WORK_FAILED');
    }),
);

const cancel = index.map(
  (at) =>
    new Command(`cancel(${at})`, (model, real) => {
      const job = pick(model, at, () => true);
      if (job === undefined) return;
      void real.manager.cancel(job.id, 'model');
      if (isLiving(job)) model.cancelTree(job);
    }),
);

/** Stops all that works for the session of a job, but not the job. */
const cancelOf = index.map(
  (at) =>
    new Command(`cancelOf(${at})`, (model, real) => {
      const job = pick(model, at, () => true);
      if (job === undefined) return;
      void real.manager.cancelOf(job.sessionId);
      for (const child of [...model.jobs.values()].filter((each) => each.parent === job && isLiving(each)))
        model.cancelTree(child);
    }),
);

const gone = index.map(
  (at) =>
    new Command(`gone(${at})`, (model, real) => {
      const job = pick(
        model,
        at,
        ({ chart, id }) => chart?.matches({ running: 'stopping' }) === true && real.stops.has(id),
      );
      if (job === undefined) return;
      real.stops.get(job.id)?.();
      model.move(job, 'WORK_GONE');
    }),
);

const close = index.map(
  (at) =>
    new Command(`close(${at})`, async (model, real) => {
      const job = pick(model, at, () => true);
      if (job === undefined) return;
      const closing = real.manager.close(job.id);
      if (isLiving(job)) return expect(closing).rejects.toMatchObject({ code: 'TASK_NOT_ENDED' });
      await closing;
      model.jobs.delete(job.id);
    }),
);

const shutDown = fc.constant(
  new Command('shutdown()', (model, real) => {
    void real.manager.shutdown('model');
    model.isShutDown = true;
    for (const job of model.jobs.values()) model.cancel(job);
  }),
);

function release(real: Real): void {
  for (const { resolve } of real.starts.values()) resolve();
  for (const resolve of real.stops.values()) resolve();
  // What was held up may hold up something else.
  for (const work of real.runner.works) work.onCancel = () => undefined;
}

afterEach(async () => {
  for (const real of realOnes.splice(0)) {
    release(real);
    await real.manager.shutdown();
  }
});

describe('the subagent manager', () => {
  it('agrees with its chart after every command, in any order', async () => {
    const commands = fc.commands(
      [
        spawn,
        spawn,
        spawn,
        started,
        started,
        ended,
        ended,
        cancel,
        cancelOf,
        gone,
        gone,
        close,
        fc.oneof({ weight: 1, arbitrary: shutDown }, { weight: 15, arbitrary: spawn }),
      ],
      {
        maxCommands: 40,
        size: 'max',
      },
    );
    await fc.assert(
      fc.asyncProperty(commands, fc.integer({ min: 1, max: 4 }), async (plan, maxConcurrent) => {
        const real = createReal(maxConcurrent);
        await fc.asyncModelRun(() => ({ model: new Model(maxConcurrent), real }), plan);
        release(real);
        await real.manager.shutdown();
        const stages = new Set([...real.records.stored.values()].map(({ stage }) => stage));
        expect([...stages].filter((stage) => stage !== 'ended')).toEqual([]);
        const [starts, ends] = (['started', 'ended'] as const).map((what) =>
          real.log.told.flatMap(([each, { jobId }]) => (each === what ? [jobId] : [])).sort(),
        );
        expect(ends).toEqual(starts);
      }),
      modelRuns(100),
    );
  });
});

describe('every transition of the chart of a job', () => {
  const act: Record<string, (real: Real, id: string, work: () => ScriptedWork) => void> = {
    PREPARED: (real, id) => real.starts.get(id)?.resolve(),
    PREPARE_FAILED: (real, id) => real.starts.get(id)?.reject(new Error('broken')),
    STOP: (real, id) => void real.manager.cancel(id, 'stop'),
    WORK_DONE: (_real, _id, work) => work().resolve(),
    WORK_FAILED: (_real, _id, work) => work().reject(new Error('broken')),
    WORK_GONE: (real, id) => real.stops.get(id)?.(),
    SETTLED: () => undefined,
  };
  const paths = pathsOverEveryTransition(subagentMachine, subagentLifecycle.events).filter(
    ({ last }) => last.event !== 'SETTLED',
  );

  it.each(paths.map(({ events }) => [events.join(' '), events] as const))(
    '%s happens in the real manager',
    async (_name, events) => {
      const real = createReal(1);
      const { id } = await real.manager.spawn(jobRequest({ prompt: 'slow start slow stop' }));
      let expected = subagentLifecycle.initial;
      for (const event of events) {
        expected = subagentLifecycle.next(expected, event) ?? expected;
        act[event]?.(real, id, () => real.runner.of(id));
        await settledDeep();
        // Nothing holds the settlement up here.
        if (expected.topLevel === 'settling') expected = subagentLifecycle.next(expected, 'SETTLED') ?? expected;
        expect(real.configurations.get(`${id}.subagent`)).toEqual(expected.value);
      }
      const status = expected.status === 'done' ? expected.topLevel : 'running';
      expect(real.manager.get(id)?.status).toBe(status);
    },
  );
});
