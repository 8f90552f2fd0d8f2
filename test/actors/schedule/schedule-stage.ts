/** A schedule on a simulated clock, with children that do exactly what the test says. */
import { createScheduledTaskRunner } from '../../../src/actors/schedule/scheduled-task-runner.ts';
import type { ScheduledTaskRunnerOptions } from '../../../src/actors/schedule/scheduled-task-runner.ts';
import { createMemoryScheduleStore } from '../../../src/actors/schedule/memory-schedule-store.ts';
import type { ScheduleStore } from '../../../src/actors/schedule/schedule-store.ts';
import { createSimulatedClock } from '../../../src/actors/clock/simulated-clock.ts';
import type { SimulatedClock } from '../../../src/actors/clock/simulated-clock.ts';
import type { BackgroundTaskHandle, ChildTasks } from '../../../src/actors/task/task-runner.ts';
import { createCronerPlan } from '../../../src/adapters/cron/croner-plan.ts';
import { recordsInEffect } from '../../../src/machines/schedule/slot-ledger.ts';
import type { ScheduleRecord } from '../../../src/machines/schedule/slot-record.ts';
import { BackgroundTaskError } from '../../../src/machines/task/task-error.ts';
import { backgroundTaskRequest } from '../../../src/machines/task/task-request.ts';
import type { BackgroundTaskRequestInput, ScheduledTaskRequest } from '../../../src/machines/task/task-request.ts';
import type {
  BackgroundTaskResult,
  BackgroundTaskRunnerEvent,
  BackgroundTaskState,
} from '../../../src/machines/task/task-state.ts';
import { scheduledRequest } from '../../support/task-requests.ts';
import { settled } from '../../support/manual-runner.ts';

export const SECOND = 1_000;
export const MINUTE = 60 * SECOND;
export const HOUR = 60 * MINUTE;
export const DAY = 24 * HOUR;
/** Where stages begin: a Thursday. */
export const START = Date.UTC(2026, 0, 1);

export const cron = createCronerPlan({ timezone: 'UTC' });

export class ManualChild {
  readonly id: string;
  readonly request: BackgroundTaskRequestInput;
  readonly cancelReasons: (string | undefined)[] = [];
  /** What a cancel does. Default: the child is gone at once. */
  onCancel: () => Promise<void> | void = () => this.end();
  readonly result: Promise<BackgroundTaskResult>;
  end!: () => void;
  fail!: () => void;

  constructor(id: string, request: BackgroundTaskRequestInput) {
    this.id = id;
    this.request = request;
    this.result = new Promise((resolve, reject) => {
      this.end = () => resolve({ taskId: id, output: '' });
      this.fail = () => reject(new BackgroundTaskError('process', 'it failed'));
    });
  }

  get slot(): string {
    return String(this.request.metadata?.['slot']);
  }
}

export class ManualChildren implements ChildTasks {
  readonly all: ManualChild[] = [];
  /** Called before a child is made: may throw, or wait. */
  onSpawn: () => Promise<void> | void = () => undefined;
  /** Ends each child as soon as it is made. */
  endAtOnce = false;
  running = 0;
  /** Children that ever ran at the same time. */
  mostRunning = 0;

  async spawn(request: BackgroundTaskRequestInput): Promise<BackgroundTaskState> {
    await this.onSpawn();
    const child = new ManualChild(`child_${this.all.length + 1}`, request);
    this.all.push(child);
    this.running += 1;
    this.mostRunning = Math.max(this.mostRunning, this.running);
    const ended = (): void => {
      this.running -= 1;
    };
    void child.result.then(ended, ended);
    if (this.endAtOnce) child.end();
    return { id: child.id, status: 'queued' } as BackgroundTaskState;
  }

  wait(taskId: string): Promise<BackgroundTaskResult> {
    return this.#child(taskId).result;
  }

  async cancel(taskId: string, reason?: string): Promise<void> {
    const child = this.#child(taskId);
    child.cancelReasons.push(reason);
    await child.onCancel();
  }

  readonly closed: string[] = [];

  async close(taskId: string): Promise<void> {
    this.closed.push(taskId);
  }

  get slots(): string[] {
    return this.all.map((child) => child.slot);
  }

  #child(taskId: string): ManualChild {
    const child = this.all.find(({ id }) => id === taskId);
    if (child === undefined) throw new Error(`there is no child ${taskId}`);
    return child;
  }
}

export interface LiveSchedule {
  readonly handle: BackgroundTaskHandle;
  readonly children: ManualChildren;
  readonly events: BackgroundTaskRunnerEvent[];
  /** The events without the id and the progress, as short words. */
  readonly words: () => string[];
  readonly nextFireAt: () => string | undefined;
  readonly log: () => Promise<readonly string[]>;
}

export interface StageOptions extends Partial<Omit<ScheduledTaskRunnerOptions, 'store'>> {
  readonly simulated?: SimulatedClock | undefined;
  readonly store?: ScheduleStore | undefined;
}

export interface Stage {
  readonly clock: SimulatedClock;
  readonly store: ScheduleStore;
  /** Starts a schedule and lets it open. */
  start(
    changes?: Partial<Extract<BackgroundTaskRequestInput, { kind: 'scheduled' }>>,
    children?: ManualChildren,
  ): Promise<LiveSchedule>;
  /** The records of `nightly` that hold. */
  records(scheduleId?: string): Promise<ScheduleRecord[]>;
  /** What became of each slot of `nightly`: the last of its records, as `HH:MM type (reason)`. */
  outcomes(scheduleId?: string): Promise<string[]>;
}

export function createStage(options: StageOptions = {}): Stage {
  const clock = options.simulated ?? createSimulatedClock({ now: START });
  const store = options.store ?? createMemoryScheduleStore();
  let owners = 0;
  // All others are dead, unless a test says otherwise.
  const runner = createScheduledTaskRunner({
    cron,
    owners: { newOwner: () => `run_${(owners += 1)}`, isAlive: async () => false },
    ...options,
    clock,
    store,
  });
  let tasks = 0;

  const records = async (scheduleId = 'nightly'): Promise<ScheduleRecord[]> => {
    const all: ScheduleRecord[] = [];
    for await (const record of store.records(scheduleId)) all.push(record);
    return recordsInEffect(all);
  };

  return {
    clock,
    store,
    records,
    outcomes: async (scheduleId) => outcomesOf(await records(scheduleId)),
    async start(changes = {}, children = new ManualChildren()) {
      const request = backgroundTaskRequest.parse(
        scheduledRequest({ scheduleId: 'nightly', ...changes }),
      ) as ScheduledTaskRequest;
      const events: BackgroundTaskRunnerEvent[] = [];
      const taskId = `task_${(tasks += 1)}`;
      const handle = await runner.start({
        taskId,
        request,
        children,
        emit: (event) => events.push(event),
        signal: new AbortController().signal,
      });
      // As the task manager does: a result is awaited from the moment there is a handle.
      handle.result.catch(() => undefined);
      await settled();
      return live(handle, children, events);
    },
  };
}

function live(
  handle: BackgroundTaskHandle,
  children: ManualChildren,
  events: BackgroundTaskRunnerEvent[],
): LiveSchedule {
  return {
    handle,
    children,
    events,
    words: () =>
      events
        .filter(({ type }) => type !== 'background_task_progress')
        .map(({ type }) => type.replace('background_task_', '')),
    nextFireAt: () => {
      const said = events.findLast(
        ({ type }) => type === 'background_task_sleeping' || type === 'background_task_progress',
      );
      if (said?.type === 'background_task_sleeping') return said.nextFireAt;
      return said?.type === 'background_task_progress' ? said.progress.nextFireAt : undefined;
    },
    log: async () => (await handle.readLog?.())?.lines ?? [],
  };
}

function outcomesOf(records: readonly ScheduleRecord[]): string[] {
  const last = new Map<string, string>();
  for (const record of records) {
    if (record.type === 'slots.missed')
      last.set(record.upTo, `(${time(record.after)}, ${time(record.upTo)}] missed (${record.reason})`);
    if (!('slot' in record)) continue;
    const reason = 'reason' in record ? ` (${record.reason})` : '';
    last.set(record.slot, `${time(record.slot)} ${record.type.replace('slot.', '')}${reason}`);
  }
  return [...last].toSorted(([a], [b]) => (a < b ? -1 : 1)).map(([, words]) => words);
}

function time(instant: string): string {
  return instant.slice(11, 16);
}

export const at = (offsetMs: number): string => new Date(START + offsetMs).toISOString();
