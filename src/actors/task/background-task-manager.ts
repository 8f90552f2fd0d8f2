/**
 * The public face of background tasks: checks what comes in, hands it to the supervisor, and answers with values.
 *
 * One pool of slots serves every kind of task. `spawn` starts the work at once when a slot is free; otherwise the task
 * waits, first in, first out within its priority. A terminal task is a stopped task: what it ran is gone.
 */
import type { AnyActorRef } from 'xstate';
import type { Observable } from 'rxjs';
import { BackgroundTaskError } from '../../machines/task/task-error.ts';
import { checkFilter, checkedCursor, checkedEventFilter } from '../../machines/task/task-input.ts';
import { checkedSettings } from '../../machines/task/task-settings.ts';
import type { BackgroundTaskRequestInput } from '../../machines/task/task-request.ts';
import type {
  BackgroundTaskEvent,
  BackgroundTaskFilter,
  BackgroundTaskInput,
  BackgroundTaskLogCursor,
  BackgroundTaskLogPage,
  BackgroundTaskResult,
  BackgroundTaskState,
} from '../../machines/task/task-state.ts';
import { createSystemClock } from '../clock/system-clock.ts';
import type { Clock } from '../clock/clock.ts';
import { createStamp } from '../clock/iso-time.ts';
import { reportToConsole, safely } from '../streams/listener-errors.ts';
import { TaskEventHub } from './task-event-hub.ts';
import type { BackgroundTaskEventFilter, BackgroundTaskListener } from './task-event-hub.ts';
import { settingsAmong } from './task-manager-options.ts';
import type { BackgroundTaskManagerOptions, SupervisorSettings } from './task-manager-options.ts';
import { TaskRecord } from './task-record.ts';
import { TaskIds, checkedRequest } from './task-admission.ts';
import { deliverInput } from './task-input.ts';
import type { BackgroundTaskHandle, BackgroundTaskRunners, ChildTasks, ScheduleChanges } from './task-runner.ts';
import { checkedRunners } from './runner-boundary.ts';
import { TaskSupervisor } from './supervisor.ts';
import { matchesFilter, resultOf } from './task-queries.ts';

export class BackgroundTaskManager {
  readonly #settings: SupervisorSettings;
  readonly #runners: BackgroundTaskRunners;
  readonly #clock: Clock;
  readonly #hub: TaskEventHub;
  readonly #supervisor: TaskSupervisor;
  readonly #ids: TaskIds;
  #shutdown: Promise<void> | undefined;

  /** @throws BackgroundTaskError category `validation` when an option makes no sense; nothing is started then. */
  constructor(options: BackgroundTaskManagerOptions = {}) {
    const report = safely(options.onListenerError ?? reportToConsole);
    const { inspect } = options;
    this.#settings = {
      ...checkedSettings(settingsAmong(options)),
      inspect:
        inspect === undefined
          ? undefined
          : (event) => {
              try {
                inspect(event);
              } catch (thrown) {
                report(thrown, 'inspector');
              }
            },
    };
    this.#runners = checkedRunners(options.runners);
    this.#clock = options.clock ?? createSystemClock();
    this.#hub = new TaskEventHub(options.eventSink, report);
    this.#ids = new TaskIds(options.idFactory);
    this.#supervisor = new TaskSupervisor({
      settings: this.#settings,
      runners: this.#runners,
      clock: this.#clock,
      now: createStamp(this.#clock, options.now, (error) => report(error, 'clock')),
      hub: this.#hub,
      childTasksOf: (record) => this.#childTasksOf(record),
    });
  }

  /** The supervisor's actor: its system holds every task actor. For inspection, not for control. */
  get supervisor(): AnyActorRef {
    return this.#supervisor.actor;
  }

  /**
   * Records the task and starts it as soon as a slot is free. Resolves with its state: `running` when there was one,
   * else `queued`.
   * @param options `taskId`: the id that it is to have. Default: the manager's next one
   * @throws BackgroundTaskError `validation` for a bad request, an id that is taken or a manager that is shut down,
   * `capacity` for a full queue
   */
  spawn(
    request: BackgroundTaskRequestInput,
    options: { readonly taskId?: string | undefined } = NO_OPTIONS,
  ): Promise<BackgroundTaskState> {
    try {
      const record = this.#register(request, options.taskId);
      // Called from inside an event or a runner, the supervisor gets to it when that is done.
      if (record.actor === undefined && this.#supervisor.freeSlots > 0)
        return Promise.resolve().then(() => record.view());
      const view = record.view();
      // It can be made again: a hundred thousand of them in the queue would only be ballast.
      if (record.isQueued) record.dropView();
      return Promise.resolve(view);
    } catch (thrown) {
      return Promise.reject(BackgroundTaskError.from(thrown, 'runner'));
    }
  }

  /** Resolves with the result of a task that completes; rejects with the task's own error otherwise. */
  wait(taskId: string): Promise<BackgroundTaskResult> {
    const found = this.#supervisor.tasks.get(taskId);
    if (found === undefined) return Promise.reject(unknownTask(taskId));
    if (!found.hasEnded) return found.whenSettled();
    found.unread = false;
    return resultOf(found);
  }

  /** Tasks that were not closed, oldest first. */
  /** @throws BackgroundTaskError TASK_FILTER_INVALID */
  list(filter: BackgroundTaskFilter = {}): BackgroundTaskState[] {
    checkFilter(filter);
    const states: BackgroundTaskState[] = [];
    for (const task of this.#supervisor.tasks.values()) if (matchesFilter(task, filter)) states.push(task.view());
    return states;
  }

  get(taskId: string): BackgroundTaskState | undefined {
    return this.#supervisor.tasks.get(taskId)?.view();
  }

  /** Stops the task and resolves when it has ended. A task that has ended already stays as it is. */
  async cancel(taskId: string, reason = 'cancelled by the caller'): Promise<void> {
    const record = this.#found(taskId);
    if (record.hasEnded) return;
    const ended = record.whenEnded();
    this.#supervisor.cancel(record, reason);
    await ended;
  }

  /** Forgets a task that has ended. @throws BackgroundTaskError `validation` while it lives */
  async close(taskId: string): Promise<void> {
    const found = this.#found(taskId);
    if (!found.hasEnded) {
      throw new BackgroundTaskError(
        'validation',
        `task ${taskId} is ${found.status}; only a task that has ended can be closed`,
        {
          code: 'TASK_NOT_ENDED',
          hint: 'Wait for it, or cancel it first.',
        },
      );
    }
    this.#supervisor.tasks.delete(taskId);
    this.#supervisor.logs.delete(taskId);
    this.#hub.announce(Object.freeze({ type: 'background_task_closed', taskId }), found);
  }

  /**
   * Gives a running task input, or answers its permission request. Any input to a task that waits for permission counts
   * as leave to go on.
   * @throws BackgroundTaskError `runner` when the task cannot take it
   */
  async send(taskId: string, input: BackgroundTaskInput): Promise<void> {
    await deliverInput(this.#supervisor, this.#liveRecord(taskId, 'take input'), input);
  }

  /** One page of the task's log, 200 lines at most. Reading it marks an ended task as read. */
  async readLog(taskId: string, cursor?: BackgroundTaskLogCursor): Promise<BackgroundTaskLogPage> {
    const found = this.#found(taskId);
    checkedCursor(cursor);
    const handle = found.hasEnded ? this.#supervisor.logs.get(taskId) : found.execution?.handle;
    const hasNotBegun = found.hasEnded ? found.startedAt === undefined : handle === undefined;
    if (hasNotBegun) return { taskId, cursor, lines: [] };
    if (handle?.readLog === undefined) throw unsupported(taskId, 'keep a log', 'TASK_LOG_UNSUPPORTED');
    const page = { ...(await handle.readLog(cursor)), taskId };
    if (found.hasEnded) found.unread = false;
    return page;
  }

  /** Pauses a schedule: no fires until `resume`. */
  async pause(taskId: string): Promise<void> {
    const handle = await this.#handleWith(taskId, 'pause');
    await handle.pause?.();
  }

  async resume(taskId: string): Promise<void> {
    const handle = await this.#handleWith(taskId, 'resume');
    await handle.resume?.();
  }

  /** Changes the plan of a schedule for the fires to come. */
  async edit(taskId: string, changes: ScheduleChanges): Promise<void> {
    const handle = await this.#handleWith(taskId, 'edit');
    await handle.edit?.(changes);
  }

  /** Calls `listener` with every event from now on. A listener that throws is reported and goes on hearing. */
  subscribe(listener: BackgroundTaskListener): () => void {
    return this.#hub.subscribe(listener);
  }

  /**
   * Events from now on. A stream of one task completes when the task is closed, every stream when the manager has shut
   * down; that of a task which is not there waits for it. @throws BackgroundTaskError `validation` for a filter that
   * makes no sense
   */
  events$(filter: BackgroundTaskEventFilter = {}): Observable<BackgroundTaskEvent> {
    return this.#hub.events$(checkedEventFilter(filter));
  }

  /** Refuses new tasks, stops every task, and resolves when all have ended. Their records stay. Idempotent. */
  shutdown(reason = 'the task manager is shutting down'): Promise<void> {
    this.#shutdown ??= new Promise<void>((resolve) => {
      this.#supervisor.drain(reason, resolve);
      for (const task of this.#supervisor.tasks.values()) {
        task.execution?.stop({ kind: 'cancelled', reason });
      }
    }).then(() => this.#hub.complete());
    return this.#shutdown;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.shutdown();
  }

  #register(request: BackgroundTaskRequestInput, taskId: string | undefined): TaskRecord {
    const { maxPending } = this.#settings;
    const checked = checkedRequest(request, this.#settings.maxDepth, this.#runners);
    if (!this.#supervisor.isAccepting) {
      throw new BackgroundTaskError('validation', 'the task manager is shut down and takes no new tasks', {
        code: 'TASK_MANAGER_SHUT_DOWN',
        hint: 'Open a new runtime.',
      });
    }
    const { pending, freeSlots } = this.#supervisor;
    if (pending >= maxPending + freeSlots) {
      throw new BackgroundTaskError('capacity', `the queue holds ${pending} of ${maxPending} tasks`, {
        code: 'TASK_QUEUE_FULL',
        hint: 'Raise maxPending, or wait for a task to end and try again.',
        details: { pending, maxPending },
      });
    }
    const id = this.#ids.next(this.#supervisor.tasks, taskId);
    const record = new TaskRecord(id, checked, this.#supervisor.now());
    this.#supervisor.submit(record);
    return record;
  }

  #childTasksOf(record: TaskRecord): ChildTasks {
    return {
      // One deeper unless the runner says otherwise, so that work which starts itself meets maxDepth.
      spawn: (request) =>
        this.spawn({
          parentSessionId: record.parentSessionId,
          depth: record.request.depth + 1,
          ...request,
          parentTaskId: record.id,
        }),
      wait: async (taskId) => {
        const child = this.#found(taskId);
        if (!child.hasEnded) await child.whenEnded();
        return resultOf(child);
      },
      cancel: (taskId, reason) => this.cancel(taskId, reason),
      close: (taskId) => this.close(taskId),
    };
  }

  #found(taskId: string): TaskRecord {
    const found = this.#supervisor.tasks.get(taskId);
    if (found === undefined) throw unknownTask(taskId);
    return found;
  }

  #liveRecord(taskId: string, what: string): TaskRecord {
    const record = this.#found(taskId);
    if (!record.hasEnded) return record;
    throw new BackgroundTaskError('runner', `task ${taskId} has ended and cannot ${what}`, {
      code: 'TASK_ENDED',
      hint: 'Spawn another one. What it left can be read until it is closed.',
    });
  }

  async #handleWith(taskId: string, operation: 'pause' | 'resume' | 'edit'): Promise<BackgroundTaskHandle> {
    const { execution } = this.#liveRecord(taskId, operation);
    if (execution === undefined) throw notStarted(taskId, operation);
    const handle = await execution.whenHandle();
    if (handle[operation] === undefined) throw unsupported(taskId, operation, 'TASK_OPERATION_UNSUPPORTED');
    return handle;
  }
}

const NO_OPTIONS = Object.freeze({});

function unknownTask(taskId: string): BackgroundTaskError {
  return new BackgroundTaskError('validation', `there is no task ${JSON.stringify(taskId)}`, {
    code: 'TASK_NOT_FOUND',
    hint: 'It was never spawned here, or it was closed.',
  });
}

function notStarted(taskId: string, operation: string): BackgroundTaskError {
  return new BackgroundTaskError('runner', `task ${taskId} is still queued and cannot ${operation}`, {
    code: 'TASK_NOT_STARTED',
    hint: 'Wait until it is running.',
  });
}

function unsupported(taskId: string, what: string, code: string): BackgroundTaskError {
  return new BackgroundTaskError('runner', `the runner of task ${taskId} does not ${what}`, {
    code,
    hint: 'Only a runner whose handle has that method can do it.',
  });
}
