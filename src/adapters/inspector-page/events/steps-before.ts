/** How an actor stood before one of its steps. */
import type { InspectedValue, InspectionRecordOf } from '../../../machines/inspection-log/inspection-record.ts';
import type { InspectionTimeline } from '../../../machines/inspection-log/inspection-timeline.ts';

/** So far back a context is searched for, in records of the actor: recorders write it when it changes. */
const MOST = 2_000;

/** The state before the step; undefined where none is known. */
export function stepBefore(
  timeline: InspectionTimeline,
  { a, s }: InspectionRecordOf<'step'>,
): InspectedValue | undefined {
  return timeline.at(s - 1).actor(a)?.value;
}

/** The context that was recorded last before the step. */
export function contextBefore(
  timeline: InspectionTimeline,
  { a, s }: InspectionRecordOf<'step'>,
): { readonly isKnown: boolean; readonly context?: unknown } {
  const records = timeline.sequence(a);
  const last = records.indexUpTo(s - 1);
  for (let index = last; index >= Math.max(0, last - MOST); index -= 1) {
    const record = records.at(index);
    if (record?.k === 'step' && record.context !== undefined) return { isKnown: true, context: record.context };
  }
  return { isKnown: false };
}
