/**
 * The task chart as the model, the real manager on a simulated clock as the system under test. After every command both
 * agree: the status of every task, who holds slots, who waits, and what was announced.
 */
import fc from 'fast-check';
import type { AnyActorRef, InspectionEvent, StateValue } from 'xstate';
import { afterEach, describe, expect, it } from 'vitest';
import { BackgroundTaskManager } from '../../src/actors/task/background-task-manager.ts';
import { createSimulatedClock } from '../../src/actors/clock/simulated-clock.ts';
import {
  isTerminalBackgroundTaskStatus,
  taskLifecycle,
  transitionBackgroundTaskStatus,
} from '../../src/machines/task/task-lifecycle.ts';
import { taskMachine } from '../../src/machines/task/task-machine.ts';
import type { BackgroundTaskStatus, BackgroundTaskTransitionEvent } from '../../src/machines/task/task-machine.ts';
import type { BackgroundTaskEvent } from '../../src/machines/task/task-state.ts';
import { createManualRunner, settled } from '../support/manual-runner.ts';
import type { ManualRunner, ManualWork } from '../support/manual-runner.ts';
import { modelRuns } from '../support/model-runs.ts';
import { pathsOverEveryTransition } from '../support/graph-paths.ts';
import { agentRequest, processRequest, scheduledRequest } from '../support/task-requests.ts';

type Kind = 'process' | 'agent' | 'scheduled';
const REQUESTS = { process: processRequest, agent: agentRequest, scheduled: scheduledRequest };
const IDLE_MS = 1_000;

interface ModelTask {
  readonly id: string;
  readonly kind: Kind;
  readonly priority: number;
  status: BackgroundTaskStatus;
  /** A stop was asked for and its cancel has not answered yet. */
  stopping: 'cancel' | 'deny' | undefined;
  holdsSlot: boolean;
  /** Simulated time of the last progress. */
  progressAtMs: number;
  questions: number;
}

/** What the chart and the rules of the pool say, with no promise, actor or timer in it. */
class Model {
  readonly tasks = new Map<string, ModelTask>();
  readonly maxConcurrent: number;
  readonly maxPending: number;
  nowMs = 0;
  nextId = 1;
  isShutDown = false;

  constructor(maxConcurrent: number, maxPending: number) {
    this.maxConcurrent = maxConcurrent;
    this.maxPending = maxPending;
  }

  get slotsTaken(): number {
    return [...this.tasks.values()].filter((task) => task.holdsSlot).length;
  }

  get queued(): ModelTask[] {
    return [...this.tasks.values()]
      .filter((task) => task.status === 'queued')
      .sort((a, b) => b.priority - a.priority || Number(a.id.slice(5)) - Number(b.id.slice(5)));
  }

  move(task: ModelTask, event: BackgroundTaskTransitionEvent): void {
    task.status = transitionBackgroundTaskStatus(task.status, event);
    if (event === 'SLEEP') task.holdsSlot = false;
    if (event === 'WAKE') task.holdsSlot = true;
    if (isTerminalBackgroundTaskStatus(task.status)) {
      task.holdsSlot = false;
      task.stopping = undefined;
    }
    if (event === 'PERMISSION_ALLOWED') task.questions = 0;
    if (event === 'PERMISSION_ALLOWED' || event === 'WAKE') task.progressAtMs = this.nowMs;
  }

  /** Through the implied edge when the task waits or sleeps. */
  settle(task: ModelTask, event: 'COMPLETE' | 'FAIL'): void {
    if (task.status === 'waiting_permission') this.move(task, 'PERMISSION_ALLOWED');
    if (task.status === 'sleeping') this.move(task, 'WAKE');
    this.move(task, event);
  }

  admit(): void {
    while (!this.isShutDown && this.slotsTaken < this.maxConcurrent) {
      const [next] = this.queued;
      if (next === undefined) return;
      this.move(next, 'START');
      next.holdsSlot = true;
      next.progressAtMs = this.nowMs;
    }
  }
}

interface Real {
  readonly clock: ReturnType<typeof createSimulatedClock>;
  readonly manager: BackgroundTaskManager;
  readonly runners: Record<Kind, ManualRunner<Kind>>;
  readonly events: BackgroundTaskEvent[];
  /** The configuration of each task's actor, as an inspector sees it. */
  readonly configurations: Map<string, StateValue>;
  shutdown: Promise<void> | undefined;
}

const realOnes: Real[] = [];

function createReal(maxConcurrent: number, maxPending: number): Real {
  const clock = createSimulatedClock();
  const runners = {
    process: createManualRunner<Kind>('process'),
    agent: createManualRunner<Kind>('agent'),
    scheduled: createManualRunner<Kind>('scheduled'),
  };
  const configurations = new Map<string, StateValue>();
  const inspect = (event: InspectionEvent): void => {
    if (event.type === '@xstate.snapshot')
      configurations.set(
        (event.actorRef as AnyActorRef).id,
        (event.snapshot as unknown as { value: StateValue }).value,
      );
  };
  const manager = new BackgroundTaskManager({
    clock,
    runners: runners as never,
    maxConcurrent,
    maxPending,
    inspect,
    agentIdleTimeoutMs: IDLE_MS,
    cancelDeadlineMs: 0,
  });
  const events: BackgroundTaskEvent[] = [];
  manager.subscribe((event) => events.push(event));
  const real: Real = { clock, manager, runners, events, configurations, shutdown: undefined };
  realOnes.push(real);
  return real;
}

const workOf = (real: Real, task: ModelTask): ManualWork => real.runners[task.kind].of(task.id);

/** The chosen task among those that satisfy the condition. */
function pick(model: Model, index: number, fits: (task: ModelTask) => boolean): ModelTask | undefined {
  const fitting = [...model.tasks.values()].filter(fits);
  return fitting[index % Math.max(1, fitting.length)];
}

const isWorking = (task: ModelTask): boolean => ['running', 'waiting_permission', 'sleeping'].includes(task.status);

function agree(model: Model, real: Real): void {
  const statuses = Object.fromEntries(real.manager.list().map((task) => [task.id, task.status]));
  expect(statuses).toEqual(Object.fromEntries([...model.tasks.values()].map((task) => [task.id, task.status])));
  if (!model.isShutDown) expect(real.manager.supervisor.getSnapshot()).toMatchObject({ value: 'accepting' });
}

/**
 * Every announced status follows from the one before by a move of the chart (or stays), and terminal is announced once.
 */
function announcedLegally(events: readonly BackgroundTaskEvent[]): void {
  const last = new Map<string, BackgroundTaskStatus>();
  for (const event of events) {
    if (!('task' in event)) continue;
    const { id, status } = event.task;
    const before = last.get(id);
    last.set(id, status);
    if (before === undefined) {
      expect([event.type, status]).toEqual(['background_task_created', 'queued']);
      continue;
    }
    expect(isTerminalBackgroundTaskStatus(before)).toBe(false);
    const isMove = taskLifecycle.snapshots.some(
      (from) =>
        from.topLevel === before &&
        taskLifecycle.events.some((type) => taskLifecycle.next(from, type)?.topLevel === status),
    );
    expect([before, status, isMove || before === status]).toEqual([before, status, true]);
  }
}

type Action = (model: Model, real: Real) => Promise<void> | void;

/** One fast-check command: acts on both sides, lets the real one settle, admits in the model, and compares. */
class Command implements fc.AsyncCommand<Model, Real> {
  readonly name: string;
  readonly #act: Action;

  constructor(name: string, act: Action) {
    this.name = name;
    this.#act = act;
  }

  check(): boolean {
    return true;
  }

  async run(model: Model, real: Real): Promise<void> {
    await this.#act(model, real);
    model.admit();
    await settled();
    agree(model, real);
  }

  toString(): string {
    return this.name;
  }
}

const index = fc.nat({ max: 50 });

const spawn = fc
  .record({ kind: fc.constantFrom<Kind>('process', 'agent', 'scheduled'), priority: fc.integer({ min: 0, max: 2 }) })
  .map(
    ({ kind, priority }) =>
      new Command(`spawn(${kind}, ${priority})`, async (model, real) => {
        const spawned = real.manager.spawn(REQUESTS[kind]({ priority }));
        const isFull =
          model.queued.length >= model.maxPending &&
          !(model.queued.length === 0 && model.slotsTaken < model.maxConcurrent);
        if (model.isShutDown || isFull) {
          await expect(spawned).rejects.toMatchObject({
            code: model.isShutDown ? 'TASK_MANAGER_SHUT_DOWN' : 'TASK_QUEUE_FULL',
          });
          return;
        }
        const task: ModelTask = {
          id: `task_${model.nextId++}`,
          kind,
          priority,
          status: 'queued',
          stopping: undefined,
          holdsSlot: false,
          progressAtMs: 0,
          questions: 0,
        };
        model.tasks.set(task.id, task);
        model.admit();
        expect((await spawned).status).toBe(task.status);
      }),
  );

const settle = fc.record({ index, how: fc.constantFrom('COMPLETE' as const, 'FAIL' as const) }).map(
  ({ index: at, how }) =>
    new Command(`${how}(${at})`, (model, real) => {
      const task = pick(model, at, (candidate) => isWorking(candidate) && candidate.stopping === undefined);
      if (task === undefined) return;
      if (how === 'COMPLETE') workOf(real, task).resolve({ output: 'done' });
      else workOf(real, task).reject(new Error('broken'));
      model.settle(task, how);
    }),
);

const ask = index.map(
  (at) =>
    new Command(`ask(${at})`, (model, real) => {
      const task = pick(
        model,
        at,
        (candidate) => candidate.status === 'running' || candidate.status === 'waiting_permission',
      );
      if (task === undefined) return;
      workOf(real, task).say({
        type: 'background_task_permission_request',
        requestId: `q${task.questions + 1}`,
        toolName: 't',
        toolArgs: {},
      });
      if (task.stopping !== undefined) return;
      task.questions += 1;
      if (task.status === 'running') model.move(task, 'REQUEST_PERMISSION');
    }),
);

const answer = fc.record({ index, allowed: fc.boolean(), isSlow: fc.boolean() }).map(
  ({ index: at, allowed, isSlow }) =>
    new Command(`answer(${at}, ${allowed})`, async (model, real) => {
      const task = pick(
        model,
        at,
        (candidate) =>
          candidate.status === 'waiting_permission' && candidate.stopping === undefined && candidate.questions > 0,
      );
      if (task === undefined) return;
      const gone = isSlow && !allowed ? holdCancel(real, task) : undefined;
      const sent = real.manager.send(task.id, { permission: { requestId: `q${task.questions}`, allowed } });
      if (allowed) {
        await sent;
        task.questions -= 1;
        if (task.questions === 0) model.move(task, 'PERMISSION_ALLOWED');
        return;
      }
      if (gone === undefined) model.move(task, 'PERMISSION_DENIED');
      else task.stopping = 'deny';
    }),
);

/** The work of this task takes its time to go; `release` commands let it go. */
function holdCancel(real: Real, task: ModelTask): true {
  const work = workOf(real, task);
  work.onCancel = () =>
    new Promise((resolve) => {
      held.set(task, resolve);
    });
  return true;
}
const held = new Map<object, () => void>();

const sleep = index.map(
  (at) =>
    new Command(`sleep(${at})`, (model, real) => {
      const task = pick(model, at, (candidate) => candidate.status === 'running');
      if (task === undefined) return;
      workOf(real, task).say({ type: 'background_task_sleeping' });
      if (task.stopping === undefined) model.move(task, 'SLEEP');
    }),
);

const wake = index.map(
  (at) =>
    new Command(`wake(${at})`, (model, real) => {
      const task = pick(model, at, (candidate) => candidate.status === 'sleeping' && candidate.stopping === undefined);
      if (task === undefined) return;
      workOf(real, task).say({ type: 'background_task_waking' });
      model.move(task, 'WAKE');
    }),
);

const cancel = fc.record({ index, isSlow: fc.boolean() }).map(
  ({ index: at, isSlow }) =>
    new Command(`cancel(${at}, ${isSlow ? 'slow' : 'quick'})`, (model, real) => {
      const task = pick(model, at, () => true);
      if (task === undefined) return;
      const isStoppable = isWorking(task) && task.stopping === undefined;
      if (isStoppable && isSlow) holdCancel(real, task);
      void real.manager.cancel(task.id, 'model');
      if (task.status === 'queued' || (isStoppable && !isSlow)) model.move(task, 'CANCEL');
      else if (isStoppable) task.stopping = 'cancel';
    }),
);

const release = index.map(
  (at) =>
    new Command(`release(${at})`, (model) => {
      const task = pick(model, at, (candidate) => candidate.stopping !== undefined && held.has(candidate));
      if (task === undefined) return;
      held.get(task)?.();
      held.delete(task);
      model.move(task, task.stopping === 'deny' ? 'PERMISSION_DENIED' : 'CANCEL');
    }),
);

const close = index.map(
  (at) =>
    new Command(`close(${at})`, async (model, real) => {
      const task = pick(model, at, () => true);
      if (task === undefined) return;
      const closing = real.manager.close(task.id);
      if (isTerminalBackgroundTaskStatus(task.status)) {
        await closing;
        model.tasks.delete(task.id);
      } else await expect(closing).rejects.toMatchObject({ code: 'TASK_NOT_ENDED' });
    }),
);

const passTime = fc.integer({ min: 1, max: 2 * IDLE_MS }).map(
  (durationMs) =>
    new Command(`advance(${durationMs})`, async (model, real) => {
      await real.clock.advance(durationMs);
      model.nowMs += durationMs;
      // Deadlines come due one after the other, and each slot they free starts a task whose own deadline then counts
      // from that moment.
      for (;;) {
        const due = [...model.tasks.values()]
          .filter((task) => task.kind === 'agent' && task.stopping === undefined && task.status === 'running')
          .filter((task) => task.progressAtMs + IDLE_MS <= model.nowMs)
          .sort((a, b) => a.progressAtMs - b.progressAtMs)[0];
        if (due === undefined) return;
        const atMs = due.progressAtMs + IDLE_MS;
        model.settle(due, 'FAIL');
        const endMs = model.nowMs;
        model.nowMs = atMs;
        model.admit();
        model.nowMs = endMs;
      }
    }),
);

const shutDown = fc.constant(
  new Command('shutdown()', (model, real) => {
    real.shutdown ??= real.manager.shutdown('model');
    model.isShutDown = true;
    for (const task of model.tasks.values()) {
      if (task.status === 'queued' || (isWorking(task) && task.stopping === undefined)) model.move(task, 'CANCEL');
    }
  }),
);

afterEach(async () => {
  for (const resolve of held.values()) resolve();
  held.clear();
  await Promise.all(realOnes.splice(0).map((real) => real.manager.shutdown()));
});

describe('the task manager', () => {
  it('agrees with its chart after every command, in any order', async () => {
    const commands = fc.commands(
      [spawn, spawn, spawn, settle, ask, answer, sleep, wake, cancel, release, close, passTime]
        .map((arbitrary) => arbitrary)
        .concat(fc.oneof({ weight: 1, arbitrary: shutDown }, { weight: 12, arbitrary: spawn })),
      { maxCommands: 60, size: 'max' },
    );
    await fc.assert(
      fc.asyncProperty(
        commands,
        fc.integer({ min: 1, max: 3 }),
        fc.integer({ min: 0, max: 5 }),
        async (plan, maxConcurrent, maxPending) => {
          const real = createReal(maxConcurrent, maxPending);
          await fc.asyncModelRun(() => ({ model: new Model(maxConcurrent, maxPending), real }), plan);
          for (const resolve of held.values()) resolve();
          held.clear();
          await real.manager.shutdown();
          announcedLegally(real.events);
          expect(real.clock.pendingTimers).toBe(0);
        },
      ),
      modelRuns(300),
    );
  });
});

describe('every transition of the task chart', () => {
  const doIt: Record<string, (real: Real, id: string, work: () => ManualWork) => Promise<unknown> | void> = {
    START: () => undefined,
    STARTED: () => undefined,
    STOP: (real, id, work) => {
      work().onCancel = () => new Promise((resolve) => held.set(work, resolve));
      void real.manager.cancel(id, 'stop');
    },
    REQUEST_PERMISSION: (_real, _id, work) =>
      work().say({ type: 'background_task_permission_request', requestId: 'q', toolName: 't', toolArgs: {} }),
    PERMISSION_ALLOWED: (real, id) => real.manager.send(id, { permission: { requestId: 'q', allowed: true } }),
    PERMISSION_DENIED: (real, id) => real.manager.send(id, { permission: { requestId: 'q', allowed: false } }),
    SLEEP: (_real, _id, work) => work().say({ type: 'background_task_sleeping' }),
    WAKE: (_real, _id, work) => work().say({ type: 'background_task_waking' }),
    COMPLETE: (_real, _id, work) => work().resolve({ output: 'x' }),
    FAIL: (_real, _id, work) => work().reject(new Error('x')),
    CANCEL: (real, id) => real.manager.cancel(id, 'cancel'),
  };
  // What the outside can bring about: work that is being stopped ends by its stop, not by a second event from outside,
  // and a runner that answers at once is never seen starting.
  const paths = pathsOverEveryTransition(taskMachine, taskLifecycle.events).filter(
    ({ last }) =>
      !JSON.stringify(last.from).includes('stopping') &&
      !(JSON.stringify(last.from).includes('starting') && last.event !== 'STARTED'),
  );

  it.each(paths.map((path) => [path.events.join(' '), path.events] as const))(
    '%s happens in the real manager',
    async (_name, path) => {
      const real = createReal(1, 10);
      if (path[0] !== 'START') await real.manager.spawn(agentRequest());
      const { id } = await real.manager.spawn(processRequest());
      // The runner answers at once, so STARTED follows START whether the path names it or not.
      const events = path
        .filter((event) => event !== 'STARTED')
        .flatMap((event) => (event === 'START' ? ['START', 'STARTED'] : [event]));
      let expected = taskLifecycle.initial;
      for (const event of events) {
        expected = taskLifecycle.next(expected, event) ?? expected;
        void doIt[event]?.(real, id, () => real.runners.process.of(id));
        await settled();
      }
      expect(real.manager.get(id)?.status).toBe(expected.topLevel);
      // A task that never got a slot never had an actor.
      if (path[0] === 'START') expect(real.configurations.get(id)).toEqual(expected.value);
    },
  );
});
