/**
 * Runs the schedules that exist without a program, in a worker: each is a scheduled task of the task manager for as
 * long as it is there. What other processes add, change and remove takes effect at once where the change is heard, and
 * at the next check where it is not. Any number of workers may run the same schedules: of all who claim a slot one gets
 * it.
 */
import { RuntimeError } from '../../machines/errors.ts';
import type { ErrorRecord } from '../../machines/errors.ts';
import { slotsKeyOf } from '../../machines/schedule/schedule-definition.ts';
import type { ScheduleDefinition } from '../../machines/schedule/schedule-definition.ts';
import { BackgroundTaskError } from '../../machines/task/task-error.ts';
import type { BackgroundTaskRequestInput } from '../../machines/task/task-request.ts';
import type { BackgroundTaskManager } from '../task/background-task-manager.ts';
import type { ChildTasks } from '../task/task-runner.ts';
import type { Clock, TimerHandle } from '../clock/clock.ts';
import { DurableFires } from './durable-fires.ts';
import type { ScheduledSessions } from './durable-ports.ts';
import type { ScheduleSummary, ScheduleRegistry, UnreadableSchedule } from './durable-registry.ts';
import type { DurableScheduleRunner } from './durable-runner.ts';
import { Mutex } from '../concurrency/mutex.ts';
import { createSlotOwners } from './slot-owners.ts';
import type { SlotOwners } from './slot-owners.ts';

export interface DurableSchedulesOptions {
  readonly registry: ScheduleRegistry;
  readonly tasks: BackgroundTaskManager;
  /** The one that `tasks` runs scheduled tasks with. */
  readonly runner: DurableScheduleRunner;
  readonly sessions: ScheduledSessions;
  readonly clock: Clock;
  /** The value of a variable of this worker, for commands that name it. Default: there is none. */
  readonly environment?: ((name: string) => string | undefined) | undefined;
  /** Working directory of the schedules' own tasks; commands have theirs. */
  readonly cwd: string;
  /** A change that goes unheard takes effect within this time. Default 30,000. */
  readonly checkIntervalMs?: number | undefined;
  /**
   * Names this worker, and tells whether others live. Default: a run that gives no sign of life for a minute is taken
   * for dead.
   */
  readonly owners?: SlotOwners | undefined;
  /** Ends what the commands of workers that are gone have left running. Default: nothing is ended. */
  readonly endLeft?: (() => Promise<unknown>) | undefined;
  /**
   * Hears once of each definition that cannot be run, and of records that could not be written. Default: they are not
   * told.
   */
  readonly onTrouble?: ((trouble: ScheduleTrouble) => void) | undefined;
}

export interface ScheduleTrouble {
  /** Absent where it is about all of them. */
  readonly scheduleId?: string | undefined;
  readonly error: ErrorRecord;
}

/** One schedule that this worker runs. */
interface Running {
  definition: ScheduleDefinition;
  readonly taskId: string;
  fires: DurableFires | undefined;
  isPaused: boolean;
}

const DEFAULT_CHECK_INTERVAL_MS = 30_000;

export class DurableSchedules implements AsyncDisposable {
  readonly #options: DurableSchedulesOptions;
  readonly #owners: SlotOwners;
  #owner: string | undefined = undefined;
  readonly #mutex = new Mutex();
  /** What is taken out of it is being taken down, and its end means nothing. */
  readonly #running = new Map<string, Running>();
  /** What was released and may still have a command that is ending. */
  readonly #leaving = new Set<Promise<void>>();
  /** What was last heard of a schedule's trouble, so that it is not told again and again. */
  readonly #troubles = new Map<string, string>();
  #queuedCheck: Promise<void> | undefined = undefined;
  #state: 'new' | 'live' | 'stopped' = 'new';
  #unwatch: (() => void) | undefined = undefined;
  #timer: TimerHandle | undefined = undefined;

  constructor(options: DurableSchedulesOptions) {
    this.#options = options;
    this.#owners = options.owners ?? createSlotOwners();
  }

  /** Ids of the schedules that this worker runs, those that are paused included. */
  get ids(): readonly string[] {
    return [...this.#running.keys()].toSorted();
  }

  /** The task that runs a schedule here. */
  taskIdOf(id: string): string | undefined {
    return this.#running.get(id)?.taskId;
  }

  /** Resolves when every schedule that is there has been started. Idempotent. */
  async start(): Promise<void> {
    if (this.#state === 'stopped')
      throw new RuntimeError('SCHEDULES_STOPPED', 'the schedules were stopped and cannot be started again', {
        category: 'validation',
        hint: 'Make new ones.',
      });
    if (this.#state === 'new') {
      this.#state = 'live';
      // Before the first check: what changes during it is seen by the next.
      this.#unwatch = this.#options.registry.watch(() => void this.check());
      this.#arm();
    }
    await this.check();
  }

  /** Checks what is there now, and makes what runs fit it. It checks by itself as well. */
  check(): Promise<void> {
    // One that has not begun will see everything that has happened until now.
    this.#queuedCheck ??= this.#mutex.run(async () => {
      this.#queuedCheck = undefined;
      await this.#check().catch((error: unknown) => this.#tell(undefined, error));
    });
    return this.#queuedCheck;
  }

  /**
   * Releases all of them; a command that runs is cancelled. Slots that pass from now on are those of other workers,
   * or missed. Idempotent.
   */
  async stop(reason = 'the worker is stopping'): Promise<void> {
    this.#state = 'stopped';
    this.#unwatch?.();
    this.#unwatch = undefined;
    this.#options.clock.clearTimeout(this.#timer);
    await this.#mutex.run(async () => {
      for (const running of this.#running.values()) this.#drop(running, reason);
      await Promise.all(this.#leaving);
    });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.stop();
  }

  #arm(): void {
    const { clock, checkIntervalMs = DEFAULT_CHECK_INTERVAL_MS } = this.#options;
    this.#timer = clock.setTimeout(() => {
      void this.check().finally(() => {
        if (this.#state === 'live') this.#arm();
      });
    }, checkIntervalMs);
  }

  async #check(): Promise<void> {
    if (this.#state !== 'live') return;
    const views = await this.#options.registry.summaries();
    const there = new Set(views.map(({ id }) => id));
    for (const [id, running] of this.#running) if (!there.has(id)) this.#drop(running, 'the schedule was removed');
    for (const id of this.#troubles.keys()) if (!there.has(id)) this.#troubles.delete(id);
    for (const view of views) {
      if (this.#state !== 'live') return;
      await this.#see(view).catch((error: unknown) => this.#tell(view.id, error));
    }
  }

  async #see(view: ScheduleSummary | UnreadableSchedule): Promise<void> {
    // One that runs goes on waiting for its slots; each of them says why it does not fire.
    if ('error' in view) return this.#tell(view.id, BackgroundTaskError.fromRecord(view.error));
    const { id, definition, state } = view;
    let running = this.#running.get(id);
    if (running !== undefined && running.definition.series !== definition.series) {
      this.#drop(running, 'the schedule was removed');
      running = undefined;
    }
    if (state.status === 'ended') return this.#leave(id);
    if (running === undefined) await this.#begin(view);
    else await this.#follow(running, view);
    this.#troubles.delete(id);
  }

  async #begin({ id, definition, state }: ScheduleSummary): Promise<void> {
    const { tasks, runner, registry } = this.#options;
    const key = slotsKeyOf(definition);
    await registry.reconcile(definition);
    const owner = (this.#owner ??= await this.#owners.newOwner());
    let fires: DurableFires | undefined;
    runner.adopt(key, (children) => (fires = this.#firesOf(definition, owner, children)));
    const { id: taskId } = await tasks.spawn(taskRequestOf(definition, this.#options.cwd)).catch((error: unknown) => {
      runner.release(key);
      throw error;
    });
    const running: Running = { definition, taskId, fires, isPaused: state.status !== 'active' };
    // The task may have to wait for a slot of the pool before it is started.
    if (fires === undefined)
      runner.adopt(key, (children) => (running.fires = this.#firesOf(definition, owner, children)));
    this.#running.set(id, running);
    void this.#attend(running);
  }

  /** Its plan may run out, and it may fail: then there is nothing left that fires. */
  async #attend(running: Running): Promise<void> {
    const { tasks, runner, registry } = this.#options;
    const { definition, taskId } = running;
    try {
      await tasks.wait(taskId);
      if (this.#isHere(running))
        await registry.end(definition, {
          code: 'SCHEDULE_EXHAUSTED',
          message: `"${definition.cron}" has no further time`,
        });
    } catch (error) {
      if (this.#isHere(running)) this.#tell(definition.id, error);
    } finally {
      runner.release(slotsKeyOf(definition));
      if (this.#isHere(running)) this.#running.delete(definition.id);
      await tasks.close(taskId).catch(() => undefined);
    }
  }

  async #follow(running: Running, { definition, state }: ScheduleSummary): Promise<void> {
    const { tasks } = this.#options;
    const { definition: before, taskId } = running;
    if (
      before.cron !== definition.cron ||
      before.timezone !== definition.timezone ||
      before.overlap !== definition.overlap
    ) {
      await tasks.edit(taskId, {
        cronExpression: definition.cron,
        timezone: definition.timezone,
        overlap: definition.overlap,
      });
    }
    running.definition = definition;
    const isPaused = state.status !== 'active';
    if (isPaused === running.isPaused) return;
    await (isPaused ? tasks.pause(taskId) : tasks.resume(taskId));
    running.isPaused = isPaused;
  }

  /** A schedule that has ended lets its last run finish. */
  #leave(id: string): void {
    const running = this.#running.get(id);
    if (running === undefined) return;
    const drop = (): void => this.#drop(running, 'the schedule has ended');
    if (running.fires === undefined) drop();
    else running.fires.whenIdle(drop);
  }

  #isHere(running: Running): boolean {
    return this.#running.get(running.definition.id) === running;
  }

  /** Does not wait for it: a command that ends slowly must not hold up the other schedules. */
  #drop(running: Running, reason: string): void {
    const { id } = running.definition;
    if (!this.#isHere(running)) return;
    this.#running.delete(id);
    const gone: Promise<void> = this.#options.tasks
      .cancel(running.taskId, reason)
      .catch((error: unknown) => this.#tell(id, error))
      .finally(() => this.#leaving.delete(gone));
    this.#leaving.add(gone);
  }

  #firesOf(started: ScheduleDefinition, owner: string, children: ChildTasks): DurableFires {
    const { registry, sessions, clock, environment = () => undefined, endLeft = async () => undefined } = this.#options;
    return new DurableFires({
      registry,
      sessions,
      clock,
      environment,
      owner,
      isAlive: (other) => this.#owners.isAlive(other),
      endLeft,
      started,
      children,
      onStatus: () => void this.check(),
      onTrouble: (error) => this.#tell(started.id, error),
    });
  }

  #tell(scheduleId: string | undefined, thrown: unknown): void {
    const error = BackgroundTaskError.from(thrown, 'runner').toJSON();
    const key = scheduleId ?? '';
    if (this.#troubles.get(key) === error.message) return;
    this.#troubles.set(key, error.message);
    this.#options.onTrouble?.({ ...(scheduleId === undefined ? {} : { scheduleId }), error });
  }
}

/**
 * The request of a schedule's task. What a slot does is looked up when it fires; only what concerns slots counts here.
 */
function taskRequestOf(definition: ScheduleDefinition, cwd: string): BackgroundTaskRequestInput {
  const { id, cron, timezone, catchUp, overlap, target } = definition;
  return {
    kind: 'scheduled',
    label: `schedule ${id}`,
    scheduleId: slotsKeyOf(definition),
    cronExpression: cron,
    timezone,
    catchUp,
    overlap,
    cwd,
    metadata: { schedule: id },
    ...(target.kind === 'command' ? { command: target.command } : { agentInstruction: target.text }),
  };
}
