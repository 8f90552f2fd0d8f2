/** The port that keeps what is recorded about schedules, by schedule id. */
import type { ScheduleHistory } from '../../machines/schedule/slot-ledger.ts';
import type { ScheduleRecord } from '../../machines/schedule/slot-record.ts';

export interface ScheduleStore {
  /** What the records add up to. A schedule without a record has the empty history, and is not created by asking. */
  load(scheduleId: string): Promise<ScheduleHistory>;
  /**
   * Stores the records in order, durably and behind all that any process has stored before, and says of each whether it
   * holds (see SlotLedger). This is the atomic claim of a slot: of all who append `slot.claimed` for it, exactly one
   * reads true.
   *
   * When it rejects, some of the records may be stored all the same. Repeating them is safe.
   * @throws RuntimeError category `storage`
   */
  append(scheduleId: string, records: readonly ScheduleRecord[]): Promise<readonly boolean[]>;
  /** Every record that is kept, in the order of storage, those without effect included. */
  records(scheduleId: string): AsyncIterable<ScheduleRecord>;
}
