/** The timers of an actor that run at a moment, from what was said of it. */
import type { RecordSequence } from '../../../machines/inspection-log/record-sequence.ts';
import { eventName } from '../model/event-names.ts';

export interface RunningTimer {
  readonly id: string;
  /** As charts write it: `after(soon)`. */
  readonly name: string;
  readonly dueAt: number;
  readonly seq: number;
}

/** So far back timers are searched for, in records of the actor. */
const MOST = 2_000;

/** @param upTo number of the last record that counts @returns the one that is due first at the front */
export function runningTimers(records: RecordSequence, upTo: number): readonly RunningTimer[] {
  const over = new Set<string>();
  const running: RunningTimer[] = [];
  const last = records.indexUpTo(upTo);
  for (let index = last; index >= Math.max(0, last - MOST); index -= 1) {
    const record = records.at(index);
    if (record === undefined || ('status' in record && record.status !== 'active')) break;
    if (record.k === 'cancel') over.add(record.id);
    // What a timer sends is called like the timer.
    if (record.k === 'event' && record.from === record.a) over.add(record.type);
    if (record.k !== 'timer' || over.has(record.id)) continue;
    over.add(record.id);
    running.push({ id: record.id, name: eventName(record.id), dueAt: record.dueAt, seq: record.s });
  }
  return running.toSorted((one, other) => one.dueAt - other.dueAt);
}
