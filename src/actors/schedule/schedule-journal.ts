/** One run's pen for the records of its schedule: stamps them, stores them, counts what holds, and tells the log. */
import { messageOf } from '../../machines/errors.ts';
import { describeRecord } from '../../machines/schedule/record-text.ts';
import type { ScheduleHistory } from '../../machines/schedule/slot-ledger.ts';
import type { ScheduleRecord, ScheduleRecordType } from '../../machines/schedule/slot-record.ts';
import { LogRing } from '../../machines/task/log-ring.ts';
import { BackgroundTaskError } from '../../machines/task/task-error.ts';
import type { BackgroundTaskLogCursor, BackgroundTaskLogPage } from '../../machines/task/task-state.ts';
import type { ScheduleStore } from './schedule-store.ts';

const RECORD_FAILED = 'SCHEDULE_RECORD';

/** Steps on the way to an outcome; the log waits for the outcome. */
const UNREMARKABLE: ReadonlySet<ScheduleRecordType> = new Set(['slot.claimed']);

export interface ScheduleJournalOptions {
  readonly store: ScheduleStore;
  readonly scheduleId: string;
  readonly log: ScheduleLog;
}

export class ScheduleJournal {
  readonly #store: ScheduleStore;
  readonly #scheduleId: string;
  readonly #log: ScheduleLog;
  readonly #counts = new Map<ScheduleRecordType, number>();
  /** Facts that have happened and could not be stored yet, oldest first. */
  #owed: readonly ScheduleRecord[] = [];

  constructor({ store, scheduleId, log }: ScheduleJournalOptions) {
    this.#store = store;
    this.#scheduleId = scheduleId;
    this.#log = log;
  }

  get isBehind(): boolean {
    return this.#owed.length > 0;
  }

  /** Records of a type that this run has written and that hold. */
  count(type: ScheduleRecordType): number {
    return this.#counts.get(type) ?? 0;
  }

  /** What is recorded by now, by this run and by others. @throws BackgroundTaskError category `storage` */
  history(): Promise<ScheduleHistory> {
    return this.#store.load(this.#scheduleId).catch((thrown: unknown) => {
      throw recordFailed(this.#scheduleId, 'read', thrown);
    });
  }

  /**
   * Stores records of decisions that are carried out only if they hold. What is owed goes first.
   * @throws BackgroundTaskError category `storage`; then nothing may be carried out
   */
  async append(records: readonly ScheduleRecord[]): Promise<readonly boolean[]> {
    const owed = this.#owed;
    const held = await this.#store.append(this.#scheduleId, [...owed, ...records]).catch((thrown: unknown) => {
      throw recordFailed(this.#scheduleId, 'stored', thrown);
    });
    this.#owed = this.#owed.slice(owed.length);
    owed.forEach((record, index) => this.#note(record, held[index] === true));
    const answers = held.slice(owed.length);
    records.forEach((record, index) => this.#note(record, answers[index] === true));
    return answers;
  }

  /** Takes down what has happened already. It is stored with the next records of any writer, and before them. */
  owe(record: ScheduleRecord): void {
    this.#owed = [...this.#owed, record];
  }

  /** Stores what is owed. What cannot be stored stays owed. @returns whether nothing is owed any more */
  async settleDebts(): Promise<boolean> {
    if (!this.isBehind) return true;
    try {
      await this.append([]);
      return true;
    } catch (thrown) {
      this.#log.write(messageOf(thrown));
      return false;
    }
  }

  #note(record: ScheduleRecord, holds: boolean): void {
    if (!holds) {
      this.#log.write(`${describeRecord(record)} (without effect: decided before, by another run of the schedule)`);
      return;
    }
    this.#counts.set(record.type, this.count(record.type) + 1);
    if (!UNREMARKABLE.has(record.type)) this.#log.write(`${record.at} ${describeRecord(record)}`);
  }
}

function recordFailed(scheduleId: string, participle: 'read' | 'stored', cause: unknown): BackgroundTaskError {
  return new BackgroundTaskError(
    'storage',
    `the records of schedule "${scheduleId}" could not be ${participle}: ${messageOf(cause)}`,
    {
      code: RECORD_FAILED,
      hint: 'Slots are not fired until they can be recorded; free the disk, or check its permissions.',
      cause,
    },
  );
}

export function isRecordFailure(thrown: unknown): thrown is BackgroundTaskError {
  return BackgroundTaskError.is(thrown) && thrown.code === RECORD_FAILED;
}

/** A schedule speaks for itself: it has no output of its own, its fires have theirs. */
const SOURCE = 'system';

/** What happened to a schedule, as lines of its task's log. */
export class ScheduleLog {
  readonly #taskId: string;
  readonly #ring: LogRing;

  /** @param limitBytes memory for the newest lines; older ones go */
  constructor(taskId: string, limitBytes: number) {
    this.#taskId = taskId;
    this.#ring = new LogRing({ limitBytes });
  }

  write(text: string): void {
    this.#ring.appendText(SOURCE, text);
  }

  page(cursor?: BackgroundTaskLogCursor): BackgroundTaskLogPage {
    return this.#ring.page(this.#taskId, cursor);
  }
}
