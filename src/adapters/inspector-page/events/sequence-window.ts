/**
 * Which records a sequence diagram is made of. It stays where it is while the moment moves about in it, so that nothing
 * jumps under the pointer.
 */
import type { RecordSequence } from '../../../machines/inspection-log/record-sequence.ts';
import type { Cursor } from '../model/view.ts';

/** In records. It moves in strides, not with every record. */
const BEHIND = 700;
const AHEAD = 150;
const STRIDE = 250;

export interface SequenceWindow {
  /** Places counted from the first record that ever was: from `begin` up to, and without, `end`. */
  readonly begin: number;
  readonly end: number;
}

export interface WindowOptions {
  readonly cursor: Cursor;
  /**
   * Number of the last record that is about the chosen actor. Where it did nothing lately, what it did last is shown.
   */
  readonly lastOfChosen?: number | undefined;
  /** What is shown now. */
  readonly before?: SequenceWindow | undefined;
}

export function sequenceWindow(
  records: RecordSequence,
  { cursor, lastOfChosen, before }: WindowOptions,
): SequenceWindow {
  const first = records.vanished;
  const last = first + records.length;
  const newest = { begin: Math.max(first, Math.floor((last - BEHIND) / STRIDE) * STRIDE), end: last };
  const own = lastOfChosen === undefined ? undefined : first + records.indexUpTo(lastOfChosen);
  if (cursor === 'live' && (own === undefined || own >= newest.begin)) return newest;
  const now = cursor === 'live' ? last - 1 : first + records.indexUpTo(cursor);
  const at = own !== undefined && own < now - BEHIND ? own : now;
  if (before !== undefined && before.begin >= first && at >= before.begin && at < before.end) return before;
  return { begin: Math.max(first, at - BEHIND), end: Math.min(last, at + AHEAD) };
}
