/**
 * The task supervisor: one XState actor with logic of its own that keeps the registry, the queue and the slots, and
 * creates a child actor for each task that gets a slot.
 *
 * It is not a machine with children in its context: those copy their children on every spawn, and stopping one with ten
 * thousand children takes seconds. Here every step costs the same at ten tasks and at a million. Its lifecycle is still
 * a chart (see machines/task/supervisor-machine.ts), and inspection sees it and its tasks like any others.
 */
import { createActor } from 'xstate';
import type { ActorLogic, AnyActorRef, AnyEventObject, Snapshot } from 'xstate';
import type { LifecycleSnapshot } from '../../machines/lifecycle.ts';
import { BackgroundTaskError } from '../../machines/task/task-error.ts';
import { isTerminalBackgroundTaskStatus, taskLifecycle } from '../../machines/task/task-lifecycle.ts';
import { supervisorLifecycle } from '../../machines/task/supervisor-machine.ts';
import { agentLimitsOf, watchdogLimitsFor } from '../../machines/task/watchdog.ts';
import type { WatchdogLimits } from '../../machines/task/watchdog.ts';
import type { BackgroundTaskRequest } from '../../machines/task/task-request.ts';
import type {
  BackgroundTaskEvent,
  BackgroundTaskProgress,
  BackgroundTaskState,
} from '../../machines/task/task-state.ts';
import type { Clock } from '../clock/clock.ts';
import type {
  BackgroundTaskHandle,
  BackgroundTaskRunner,
  BackgroundTaskRunners,
  BackgroundTaskStart,
  ChildTasks,
} from './task-runner.ts';
import { IdleLine } from './idle-line.ts';
import { TaskExecution } from './task-execution.ts';
import { cancelledRecord } from './stop-cause.ts';
import type { SettlingEvent } from './stop-cause.ts';
import type { TaskHost } from './task-host.ts';
import type { TaskEventHub } from './task-event-hub.ts';
import { moveChild, startChild, stopChild } from '../xstate-child.ts';
import { keepLiveActors, takeUnseen } from '../xstate-system.ts';
import { TaskQueue } from './task-queue.ts';
import type { LiveTask, TaskRecord } from './task-record.ts';
import type { SupervisorSettings } from './task-manager-options.ts';

export type SupervisorSnapshot = LifecycleSnapshot & Snapshot<undefined>;

type SupervisorEvent =
  | { readonly type: 'SUBMIT'; readonly task: TaskRecord }
  | { readonly type: 'CANCEL_TASK'; readonly task: TaskRecord }
  | { readonly type: 'ENDED'; readonly task: TaskRecord }
  | { readonly type: 'SLOT_FREE' }
  | { readonly type: 'DRAIN'; readonly reason: string }
  | { readonly type: 'IDLE' };

export interface SupervisorOptions {
  readonly settings: SupervisorSettings;
  readonly runners: BackgroundTaskRunners;
  readonly clock: Clock;
  readonly now: () => string;
  readonly hub: TaskEventHub;
  readonly childTasksOf: (record: TaskRecord) => ChildTasks;
}

export class TaskSupervisor implements TaskHost {
  readonly actor: AnyActorRef;
  readonly clock: Clock;
  readonly cancelDeadlineMs: number;
  readonly now: () => string;
  readonly childTasksOf: (record: TaskRecord) => ChildTasks;
  readonly agentIdleLine: IdleLine;
  /** Every task that was not closed, oldest first. */
  readonly tasks = new Map<string, TaskRecord>();
  readonly queue = new TaskQueue();
  /** Handles of ended tasks whose log can still be read. */
  readonly logs = new Map<string, Pick<BackgroundTaskHandle, 'readLog'>>();
  readonly #settings: SupervisorSettings;
  readonly #agentLimits: WatchdogLimits;
  readonly #runners: BackgroundTaskRunners;
  readonly #hub: TaskEventHub;
  #slotsTaken = 0;
  #liveTasks = 0;
  #submitting = 0;
  /**
   * Called when the last task has ended. Set when a caller shuts down: from then on, and not only when the chart has
   * heard of it, no work is taken.
   */
  #onIdle: (() => void) | undefined;
  readonly #take = (event: SupervisorEvent): void => void this.#handle(event);

  constructor(options: SupervisorOptions) {
    this.#settings = options.settings;
    this.#agentLimits = agentLimitsOf(options.settings);
    this.#runners = options.runners;
    this.#hub = options.hub;
    this.clock = options.clock;
    this.agentIdleLine = new IdleLine(options.settings.agentIdleTimeoutMs, options.clock);
    this.cancelDeadlineMs = options.settings.cancelDeadlineMs;
    this.now = options.now;
    this.childTasksOf = options.childTasksOf;
    const { inspect } = options.settings;
    this.actor = createActor(this.#createLogic(), {
      id: 'tasks',
      clock: options.clock,
      ...(inspect === undefined ? {} : { inspect }),
    });
    keepLiveActors(this.actor, inspect !== undefined);
    this.actor.start();
  }

  get isAccepting(): boolean {
    return this.#onIdle === undefined;
  }

  get freeSlots(): number {
    return Math.max(0, this.#settings.maxConcurrent - this.#slotsTaken);
  }

  /**
   * Tasks that wait for a slot, those included that were submitted from inside an event and are not in the queue yet.
   */
  get pending(): number {
    return this.queue.size + this.#submitting;
  }

  /** Registers the task, announces it, and starts it if a slot is free. */
  submit(record: TaskRecord): void {
    this.tasks.set(record.id, record);
    this.#liveTasks += 1;
    this.#submitting += 1;
    this.#tell({ type: 'SUBMIT', task: record });
  }

  /**
   * Stops the task, or keeps it from ever starting: also from inside the event that announces it. The first reason
   * stays.
   */
  cancel(record: TaskRecord, reason: string): void {
    if (record.execution !== undefined) return record.execution.stop({ kind: 'cancelled', reason });
    record.error ??= cancelledRecord(reason);
    this.queue.delete(record);
    this.#tell({ type: 'CANCEL_TASK', task: record });
  }

  /** Refuses new work and cancels what waits. `onIdle` is called when the last task has ended, or at once. */
  drain(reason: string, onIdle: () => void): void {
    this.#onIdle = onIdle;
    this.#tellChart({ type: 'DRAIN', reason });
  }

  limitsOf(request: BackgroundTaskRequest): WatchdogLimits {
    return watchdogLimitsFor(request, this.#agentLimits);
  }

  startRunner(start: BackgroundTaskStart): unknown {
    // The registry is keyed by kind, so the runner of this request's kind takes this request.
    const runner: BackgroundTaskRunner | undefined = this.#runners[start.request.kind];
    return runner?.start(start);
  }

  move(record: TaskRecord, event: AnyEventObject): boolean {
    return this.#moveAt(record, event, undefined);
  }

  /** @param now the time, where it is known already */
  #moveAt(record: TaskRecord, event: AnyEventObject, now: string | undefined): boolean {
    const next = taskLifecycle.next(record.snapshot, event.type);
    if (next === undefined) return false;
    record.touch(now ?? this.now());
    if (record.actor === undefined) record.restsAt = next;
    else if (!moveChild(record.actor, event, next) && next.status === 'done')
      this.#tell({ type: 'ENDED', task: record });
    return true;
  }

  settle(record: TaskRecord, event: SettlingEvent): void {
    if (record.isOver) return;
    if (taskLifecycle.next(record.snapshot, event.type) === undefined) this.#passImpliedEdge(record);
    const now = this.now();
    record.completedAt = now;
    record.error = event.error;
    if (event.failure !== undefined) record.noteFailure(event.failure);
    // A denial may come after the work has gone on: then it is a failure like any other.
    if (!this.#moveAt(record, event, now)) this.#moveAt(record, { ...event, type: 'FAIL' }, now);
  }

  progress(record: TaskRecord, progress: BackgroundTaskProgress, now = this.now()): void {
    record.noteProgress(progress);
    record.touch(now);
    this.announceUpdated(record);
  }

  announceUpdated(record: TaskRecord): void {
    this.#announceState(record, 'background_task_updated');
  }

  announce(record: TaskRecord, event: BackgroundTaskEvent): void {
    this.#hub.announce(Object.freeze(event), record);
  }

  hasAudience(taskId: string): boolean {
    return this.#hub.hasAudience(taskId);
  }

  takeSlot(record: TaskRecord): void {
    if (record.holdsSlot) return;
    record.holdsSlot = true;
    this.#slotsTaken += 1;
  }

  releaseSlot(record: TaskRecord): void {
    this.#giveSlotBack(record);
    if (this.queue.size > 0 && this.isAccepting) this.#tell({ type: 'SLOT_FREE' });
  }

  #giveSlotBack(record: TaskRecord): void {
    if (!record.holdsSlot) return;
    record.holdsSlot = false;
    this.#slotsTaken -= 1;
  }

  /** A result or a failure is never lost: a task that waits or sleeps takes the edge back to work first. */
  #passImpliedEdge(record: TaskRecord): void {
    const isAsleep = record.status === 'sleeping';
    if (!this.move(record, { type: isAsleep ? 'WAKE' : 'PERMISSION_ALLOWED' })) return;
    if (isAsleep) this.takeSlot(record);
    this.announceUpdated(record);
  }

  get #isDraining(): boolean {
    return (this.actor.getSnapshot() as SupervisorSnapshot).topLevel === 'draining';
  }

  #tell(event: SupervisorEvent): void {
    if (!takeUnseen(this.actor, event, this.#take)) this.actor.send(event);
  }

  /** Sends an event that moves the supervisor's own chart. */
  #tellChart(event: SupervisorEvent): void {
    this.actor.send(event);
  }

  #createLogic(): ActorLogic<SupervisorSnapshot, AnyEventObject> & { readonly handlesEventsItself: true } {
    const lifecycle = supervisorLifecycle as unknown as ActorLogic<SupervisorSnapshot, AnyEventObject>;
    return {
      ...lifecycle,
      // Tells inspectors that what the chart does not take is not lost.
      handlesEventsItself: true,
      transition: (snapshot, event, scope) => {
        // The chart knows only its own few events; checking each `xstate.done.actor.<id>` up in it would hash a new
        // string per task.
        return this.#handle(event) ? lifecycle.transition(snapshot, event, scope) : snapshot;
      },
    };
  }

  /** @returns whether the event may move the supervisor's own chart */
  #handle(event: AnyEventObject): boolean {
    const { actorId } = event as { readonly actorId?: string };
    // XState tells a parent that a child is done with an event that carries its id.
    if (actorId !== undefined) {
      const record = this.tasks.get(actorId);
      if (record !== undefined) this.#ended(record);
      return false;
    }
    const own = event as SupervisorEvent | { readonly type: 'xstate.stop' };
    switch (own.type) {
      case 'SUBMIT':
        this.#admit(own.task);
        return false;
      case 'ENDED':
        this.#ended(own.task);
        return false;
      case 'CANCEL_TASK':
        if (!own.task.isOver) this.#endUnbegun(own.task, own.task.error);
        return false;
      case 'SLOT_FREE':
        this.#startWaiting();
        return false;
      case 'DRAIN':
        for (let record = this.queue.shift(); record !== undefined; record = this.queue.shift())
          this.#endUnbegun(record, cancelledRecord(own.reason));
        // The chart is not there yet.
        if (this.#liveTasks === 0) this.#reportIdle();
        return true;
      case 'xstate.stop':
        // Children made this way are not in the snapshot; XState would leave them running.
        for (const record of this.tasks.values()) if (record.actor !== undefined) stopChild(record.actor);
        return true;
      case 'IDLE':
        return true;
      default:
        // XState's own events about the supervisor itself, such as xstate.init.
        return true;
    }
  }

  #admit(record: TaskRecord): void {
    this.#announceState(record, 'background_task_created');
    this.#submitting -= 1;
    // A listener may have cancelled it: that is told next.
    if (record.error !== undefined) return;
    this.queue.push(record);
    this.#startWaiting();
  }

  #startWaiting(): void {
    while (this.freeSlots > 0 && this.isAccepting) {
      const record = this.queue.shift();
      if (record === undefined) return;
      this.#start(record);
    }
  }

  #start(record: TaskRecord): void {
    this.takeSlot(record);
    record.actor = startChild(this.actor, taskLifecycle, record.id);
    const now = this.now();
    record.startedAt = now;
    this.#moveAt(record, START, now);
    try {
      // Before it is announced: a listener that hears of it can stop it.
      const execution = new TaskExecution(record, this);
      record.execution = execution;
      this.#announceState(record, 'background_task_started');
      execution.begin();
    } catch (thrown) {
      // A clock that throws must cost one task, not the supervisor.
      const failure = BackgroundTaskError.from(thrown, 'crash');
      this.settle(record, { type: 'FAIL', error: Object.freeze(failure.toJSON()), failure });
    }
  }

  #endUnbegun(record: TaskRecord, error: SettlingEvent['error']): void {
    this.settle(record, { type: 'CANCEL', error });
    this.#ended(record);
  }

  #ended(record: TaskRecord): void {
    const { execution, snapshot, status } = record;
    if (!isTerminalBackgroundTaskStatus(status)) return;
    record.rest(snapshot, record.completedAt ?? record.updatedAt);
    if (execution !== undefined) this.#keepLog(record, execution);
    this.#liveTasks -= 1;
    this.#announceState(record, ANNOUNCED_AS[status]);
    execution?.ended();
    record.settle();
    if (execution === undefined || execution.isWorkGone) this.#giveSlotBack(record);
    else execution.whenWorkGone(() => this.releaseSlot(record));
    if (this.#liveTasks === 0 && this.#isDraining) this.#reportIdle();
    if (this.isAccepting) this.#startWaiting();
  }

  #keepLog({ id }: TaskRecord, { handle }: LiveTask): void {
    if (handle === undefined) this.logs.set(id, NEVER_RAN);
    else if (handle.readLog !== undefined) this.logs.set(id, handle);
  }

  #announceState(record: TaskRecord, type: LifecycleEventType): void {
    if (this.#hub.hasAudience(record.id)) this.#hub.announce(Object.freeze({ type, task: record.view() }), record);
  }

  #reportIdle(): void {
    this.#tellChart({ type: 'IDLE' });
    this.#onIdle?.();
  }
}

type LifecycleEventType = Extract<BackgroundTaskEvent, { task: BackgroundTaskState }>['type'];

const START = Object.freeze({ type: 'START' });

/** The log of a task whose runner never gave it a handle: empty, which is not the same as none. */
const NEVER_RAN: Pick<BackgroundTaskHandle, 'readLog'> = { readLog: (cursor) => ({ taskId: '', cursor, lines: [] }) };

const ANNOUNCED_AS = {
  completed: 'background_task_completed',
  failed: 'background_task_failed',
  cancelled: 'background_task_cancelled',
} as const;
