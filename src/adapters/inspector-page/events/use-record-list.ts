/** The records that fit, looked for in pieces: after each the page may paint and answer keys. */
import { useEffect, useMemo, useReducer } from 'preact/hooks';
import type { InspectionTimeline } from '../../../machines/inspection-log/inspection-timeline.ts';
import { testOf } from './event-filter.ts';
import type { EventFilter } from './event-filter.ts';
import { FilteredRecords } from './filtered-records.ts';
import type { RecordList } from './filtered-records.ts';

/** In milliseconds: what may be looked for while something is drawn, and between. */
const AT_ONCE_MS = 2;
const BETWEEN_MS = 10;

export interface FoundRecords {
  readonly list: RecordList;
  /** Of all that there are. */
  readonly seen: number;
  readonly all: number;
  readonly isComplete: boolean;
}

/** @param actor key of the one whose records are listed; all where there is none */
export function useRecordList(
  timeline: InspectionTimeline,
  actor: string | undefined,
  filter: EventFilter,
): FoundRecords {
  const [, drawAgain] = useReducer((count: number, _: undefined) => count + 1, 0);
  const { all, found } = useMemo(() => {
    const sequence = timeline.sequence(actor);
    const fits = testOf(filter);
    return { all: sequence, found: fits === undefined ? undefined : new FilteredRecords(sequence, fits) };
  }, [timeline, actor, filter.kind, filter.text]);
  const isComplete = found === undefined || found.look(deadline(AT_ONCE_MS));
  useEffect(() => {
    if (isComplete) return undefined;
    const timer = setTimeout(() => {
      found?.look(deadline(BETWEEN_MS));
      drawAgain(undefined);
    }, 0);
    return () => clearTimeout(timer);
  });
  return { list: found ?? all, seen: found?.seen ?? all.length, all: all.length, isComplete };
}

function deadline(forMs: number): () => boolean {
  const until = performance.now() + forMs;
  return () => performance.now() >= until;
}
