/**
 * The runner of scheduled tasks: each fire of the schedule is a child task of its own.
 *
 * The schedule's task sleeps from fire to fire and holds no slot of the pool; it wakes for the moment in which it asks
 * for a child. A request with a `scheduleId` is remembered under that name by the store: its next start knows what was
 * missed, and two processes that run it never fire the same slot. One without a name is remembered for as long as it
 * runs: a task id means something else after a restart.
 *
 * `cancel` is a stop like any other, a shutdown included: slots that pass until the next start under the same name
 * count as missed. A pause is meant to last, so a named schedule that was paused is still paused when it starts again,
 * and one that runs in another process stops firing at its next slot.
 */
import { fireRequestOf } from '../../machines/schedule/fire-request.ts';
import { checkedPlanChange, checkedScheduleLimits } from '../../machines/schedule/schedule-options.ts';
import type { ScheduleLimitsInput } from '../../machines/schedule/schedule-options.ts';
import type { BackgroundTaskError } from '../../machines/task/task-error.ts';
import type { CatchUpPolicy, OverlapPolicy, ScheduledTaskRequest } from '../../machines/task/task-request.ts';
import type { BackgroundTaskResult } from '../../machines/task/task-state.ts';
import type { Clock } from '../clock/clock.ts';
import { deferred } from '../concurrency/deferred.ts';
import type { BackgroundTaskHandle, BackgroundTaskRunner, BackgroundTaskStart } from '../task/task-runner.ts';
import { requireFutureTime } from './cron-plan.ts';
import type { CronPlan } from './cron-plan.ts';
import { FireLine } from './fire-line.ts';
import { createMemoryScheduleStore } from './memory-schedule-store.ts';
import { createScheduleCore } from './schedule-core.ts';
import type { ScheduleCore } from './schedule-core.ts';
import type { ScheduleJournal } from './schedule-journal.ts';
import { Schedule } from './schedule.ts';
import type { ScheduleStore } from './schedule-store.ts';
import { createSlotOwners } from './slot-owners.ts';
import type { SlotOwners } from './slot-owners.ts';

/** One late fire at most: a nightly job still runs when the machine slept through the night, and runs once. */
const DEFAULT_CATCH_UP: CatchUpPolicy = 'latest';
const DEFAULT_OVERLAP: OverlapPolicy = 'skip';

export interface ScheduledTaskRunnerOptions {
  readonly clock: Clock;
  readonly cron: CronPlan;
  /** Keeps schedules that have a name. Default: in memory, for as long as this runner. */
  readonly store?: ScheduleStore | undefined;
  readonly limits?: ScheduleLimitsInput | undefined;
  /**
   * Names its runs, and tells whether others live. Default: of no other can that be told, and one that is silent for a
   * minute is taken for dead.
   */
  readonly owners?: SlotOwners | undefined;
}

/** @throws BackgroundTaskError category `validation` for limits that make no sense */
export function createScheduledTaskRunner(
  options: ScheduledTaskRunnerOptions,
): BackgroundTaskRunner<ScheduledTaskRequest> {
  const { clock, cron, owners = createSlotOwners() } = options;
  const limits = checkedScheduleLimits(options.limits ?? {});
  const named = options.store ?? createMemoryScheduleStore();
  /** Runs of this process that go on: those that have ended are not heard of any more, though their process lives. */
  const live = new Map<string, boolean>();
  const isAlive = async (owner: string): Promise<boolean | undefined> => live.get(owner) ?? owners.isAlive(owner);
  return {
    kind: 'scheduled',
    check(request) {
      const times = cron.read(request);
      // One with a name may have slots of an earlier program to catch up with.
      if (request.scheduleId === undefined) requireFutureTime(times, clock.now());
    },
    start(start) {
      const { taskId, request, parent } = start;
      // Two managers may both have a `task_1`: what a nameless schedule records is its own, and only what it adds up to
      // is ever read.
      const store = request.scheduleId === undefined ? createMemoryScheduleStore({ maxRecords: 0 }) : named;
      const begin = (owner: string): BackgroundTaskHandle => {
        const handle = startSchedule(
          start,
          cron,
          createScheduleCore({
            taskId,
            scheduleId: request.scheduleId ?? taskId,
            owner,
            isAlive,
            clock,
            limits,
            store,
            parent,
          }),
        );
        live.set(owner, true);
        const end = (): void => void live.set(owner, false);
        handle.result.then(end, end);
        return handle;
      };
      const owner = owners.newOwner();
      return typeof owner === 'string' ? begin(owner) : owner.then(begin);
    },
  };
}

/** @throws BackgroundTaskError category `validation` when the expression or the time zone cannot be read */
function startSchedule(
  start: BackgroundTaskStart<ScheduledTaskRequest>,
  cron: CronPlan,
  core: ScheduleCore,
): BackgroundTaskHandle {
  const { taskId, request, children } = start;
  const { scheduleId, log } = core;
  const times = cron.read(request);
  const face = new ScheduleFace(start, scheduleId, core.journal);
  const fires = new FireLine({
    core,
    children,
    requestFor: (slot) => fireRequestOf(request, { scheduleId, slot }),
    isLive: () => schedule.isLive,
    onWaking: () => face.wake(),
    onAsleep: () => face.sleep(schedule),
    onNews: () => schedule.check(),
  });
  const { catchUp = DEFAULT_CATCH_UP, overlap = DEFAULT_OVERLAP } = request;
  const schedule: Schedule = new Schedule({
    core,
    cron,
    times,
    catchUp,
    overlap,
    fires,
    onOpened: () => face.sleep(schedule),
    onChanged: () => face.show(schedule),
    onEnded: (failure) => face.end(failure),
  });
  schedule.open();
  return {
    taskId,
    result: face.result,
    cancel: (reason = 'the schedule was cancelled') => schedule.stop(reason),
    pause: () => schedule.pause(),
    resume: () => schedule.resume(),
    edit: async (changes) => schedule.edit(checkedPlanChange(changes)),
    readLog: (cursor) => log.page(cursor),
  };
}

/** What is shown of a schedule between fires. */
interface ScheduleView {
  readonly nextFireAt: string | undefined;
  readonly remark: string | undefined;
}

/** What the task manager sees of a schedule: sleeping and waking, the next fire, and the result. */
class ScheduleFace {
  readonly #start: BackgroundTaskStart<ScheduledTaskRequest>;
  readonly #scheduleId: string;
  readonly #journal: ScheduleJournal;
  readonly result: Promise<BackgroundTaskResult>;
  readonly #end = deferred<BackgroundTaskResult>();
  #shownNextFireAt: string | undefined = undefined;
  #shownRemark: string | undefined = undefined;

  constructor(start: BackgroundTaskStart<ScheduledTaskRequest>, scheduleId: string, journal: ScheduleJournal) {
    this.#start = start;
    this.#scheduleId = scheduleId;
    this.#journal = journal;
    this.result = this.#end.promise;
  }

  wake(): void {
    const { emit, taskId } = this.#start;
    emit({ type: 'background_task_waking', taskId });
  }

  sleep({ nextFireAt, remark }: ScheduleView): void {
    const { emit, taskId } = this.#start;
    emit({ type: 'background_task_sleeping', taskId, ...(nextFireAt === undefined ? {} : { nextFireAt }) });
    this.#shownNextFireAt = nextFireAt;
    this.show({ nextFireAt, remark });
  }

  /** Reports what has changed since the last time; nothing when nothing has. */
  show({ nextFireAt, remark }: ScheduleView): void {
    if (nextFireAt === this.#shownNextFireAt && remark === this.#shownRemark) return;
    const { emit, taskId } = this.#start;
    this.#shownNextFireAt = nextFireAt;
    this.#shownRemark = remark;
    emit({ type: 'background_task_progress', taskId, progress: { nextFireAt, currentAction: remark } });
  }

  /** The first call counts. */
  end(failure?: BackgroundTaskError): void {
    if (failure === undefined) this.#end.resolve(this.#summary());
    else this.#end.reject(failure);
  }

  #summary(): BackgroundTaskResult {
    const { taskId } = this.#start;
    const fired = this.#journal.count('slot.fired');
    const refused = this.#journal.count('slot.refused');
    const skipped = this.#journal.count('slot.skipped');
    const missed = this.#journal.count('slot.missed');
    // A span holds slots that were not counted.
    const atLeast = this.#journal.count('slots.missed') > 0 ? 'at least ' : '';
    const rest = [
      refused > 0 && `${refused} could not be started`,
      skipped > 0 && `${skipped} skipped`,
      missed > 0 && `${atLeast}${missed} missed`,
    ];
    const output = [`fired ${fired} ${fired === 1 ? 'time' : 'times'}`, ...rest.filter((part) => part !== false)].join(
      ', ',
    );
    return { taskId, output, metadata: { scheduleId: this.#scheduleId, fired, refused, skipped, missed } };
  }
}
