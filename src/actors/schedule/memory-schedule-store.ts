/** Schedules remembered for as long as the process lives. */
import { SlotLedger } from '../../machines/schedule/slot-ledger.ts';
import type { ScheduleRecord } from '../../machines/schedule/slot-record.ts';
import type { ScheduleStore } from './schedule-store.ts';

export interface MemoryScheduleStoreOptions {
  /** Records kept for each schedule; the oldest go first. What they add up to is never lost. Default 10,000. */
  readonly maxRecords?: number | undefined;
}

const DEFAULT_MAX_RECORDS = 10_000;

interface Entry {
  readonly ledger: SlotLedger;
  readonly records: ScheduleRecord[];
}

export function createMemoryScheduleStore({
  maxRecords = DEFAULT_MAX_RECORDS,
}: MemoryScheduleStoreOptions = {}): ScheduleStore {
  const entries = new Map<string, Entry>();

  const entryOf = (scheduleId: string): Entry => {
    const known = entries.get(scheduleId);
    if (known !== undefined) return known;
    const entry = { ledger: new SlotLedger(), records: [] };
    entries.set(scheduleId, entry);
    return entry;
  };

  return {
    load: async (scheduleId) => (entries.get(scheduleId)?.ledger ?? new SlotLedger()).history(),
    async append(scheduleId, records) {
      const entry = entryOf(scheduleId);
      const held = records.map((record) => entry.ledger.ingest(record));
      entry.records.push(...records);
      // Dropped in large pieces: cutting off one record at a time would move all the others each time.
      if (entry.records.length > 2 * maxRecords) entry.records.splice(0, entry.records.length - maxRecords);
      return held;
    },
    async *records(scheduleId) {
      // A copy: more may be appended while a caller reads.
      yield* entries.get(scheduleId)?.records.slice() ?? [];
    },
  };
}
