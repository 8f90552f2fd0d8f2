/** How long actors were there, and for how much of that they waited. */
import type { RecordSequence } from '../../../machines/inspection-log/record-sequence.ts';
import type { InspectedActorState } from '../../../machines/inspection-log/inspection-world.ts';
import { toneOf } from './outcomes.ts';
import { duration, stateText } from './words.ts';

/** More records of one actor are not checked. */
const MOST = 2_000;
const QUEUED = /(?:^|\.)queued$/;

type Spanned = Pick<InspectedActorState, 'status' | 'from' | 'since'>;

/**
 * What is over says how long it took, what lives how long it has been in its state. @param time milliseconds since the
 * epoch
 */
export function spanOf({ status, from, since }: Spanned, time: number): string {
  return duration(status === 'active' ? time - since.t : since.t - from.t);
}

/** For a turn, for a person, for something: in milliseconds. @param records of the actor */
export function waitedMs(records: RecordSequence, { s, t }: InspectedActorState['since']): number {
  let waited = 0;
  let waitsFrom: number | undefined;
  for (let index = 0, last = Math.min(MOST, records.indexUpTo(s)); index <= last; index += 1) {
    const record = records.at(index);
    if (record === undefined || !('status' in record)) continue;
    const waits = record.status === 'active' && (toneOf(record) === 'waiting' || QUEUED.test(stateText(record.value)));
    if (waits) waitsFrom ??= record.t;
    else if (waitsFrom !== undefined) [waited, waitsFrom] = [waited + record.t - waitsFrom, undefined];
  }
  return waited + (waitsFrom === undefined ? 0 : t - waitsFrom);
}
