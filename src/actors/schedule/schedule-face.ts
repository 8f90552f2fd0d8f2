/** What the task manager sees of a schedule: sleeping and waking, the next fire, and the result. */
import type { BackgroundTaskError } from '../../machines/task/task-error.ts';
import type { ScheduledTaskRequest } from '../../machines/task/task-request.ts';
import type { BackgroundTaskResult } from '../../machines/task/task-state.ts';
import type { BackgroundTaskStart } from '../task/task-runner.ts';
import type { ScheduleJournal } from './schedule-journal.ts';

/** What is shown of a schedule between fires. */
export interface ScheduleView {
  readonly nextFireAt: string | undefined;
  readonly remark: string | undefined;
}

export class ScheduleFace {
  readonly #start: BackgroundTaskStart<ScheduledTaskRequest>;
  readonly #scheduleId: string;
  readonly #journal: ScheduleJournal;
  readonly result: Promise<BackgroundTaskResult>;
  #settle:
    | {
        readonly resolve: (result: BackgroundTaskResult) => void;
        readonly reject: (failure: BackgroundTaskError) => void;
      }
    | undefined = undefined;
  #shownNextFireAt: string | undefined = undefined;
  #shownRemark: string | undefined = undefined;

  constructor(start: BackgroundTaskStart<ScheduledTaskRequest>, scheduleId: string, journal: ScheduleJournal) {
    this.#start = start;
    this.#scheduleId = scheduleId;
    this.#journal = journal;
    this.result = new Promise((resolve, reject) => {
      this.#settle = { resolve, reject };
    });
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
    if (failure === undefined) this.#settle?.resolve(this.#summary());
    else this.#settle?.reject(failure);
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
