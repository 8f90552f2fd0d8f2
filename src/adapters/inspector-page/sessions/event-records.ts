/**
 * Which record of a session's recording tells an event of its log: one of them for each event, in the order of the log.
 */
import type { InspectedMoment } from '../../../machines/inspection-log/inspected-actor.ts';
import type { InspectionRecord } from '../../../machines/inspection-log/inspection-record.ts';
import type { InspectionTimeline } from '../../../machines/inspection-log/inspection-timeline.ts';

interface Index {
  /** Key of the actor of the session: it was made first. */
  root: string | undefined;
  /** Records that were scanned. */
  through: number;
  /** Number of the record, at the number of its event less one. */
  readonly numbers: number[];
}

const indexes = new WeakMap<InspectionTimeline, Index>();
const PAGE = 1_000;

export interface EventPlace {
  readonly seq: number;
  readonly type: string;
  /** Milliseconds since the epoch. */
  readonly t?: number | undefined;
}

/** Those that had happened at a moment. */
export function eventsUntil<Event extends EventPlace>(
  timeline: InspectionTimeline,
  events: readonly Event[],
  moment: InspectedMoment | undefined,
): readonly Event[] {
  if (moment === undefined) return [];
  return events.filter(
    (event) =>
      event.t === undefined ||
      event.t < moment.t ||
      (event.t === moment.t && (recordOfEvent(timeline, event) ?? 0) <= moment.s),
  );
}

/** Undefined: it is not there yet, or forgotten. */
export function recordOfEvent(timeline: InspectionTimeline, { seq, type, t }: EventPlace): number | undefined {
  const index = broughtUp(timeline);
  const number = index?.numbers[seq - 1];
  if (number !== undefined && isOf(timeline.record(number), type, t)) return number;
  // The oldest records are gone, or events that damage took away: the order does not tell.
  return t === undefined ? undefined : atTime(timeline, type, t);
}

function broughtUp(timeline: InspectionTimeline): Index | undefined {
  if (timeline.first?.s !== 1) return undefined;
  const index = indexes.get(timeline) ?? { root: undefined, through: 0, numbers: [] };
  indexes.set(timeline, index);
  for (
    let page = timeline.records({ from: index.through + 1, limit: PAGE });
    page.length > 0;
    page = timeline.records({ from: index.through + 1, limit: PAGE })
  ) {
    for (const record of page) see(index, record);
  }
  return index;
}

/** What moved the session or came from outside was sent to it; whatever else the log holds was said. */
function see(index: Index, record: InspectionRecord): void {
  index.through = record.s;
  if (record.k === 'actor') index.root ??= record.a;
  if (record.k === 'emit' || (record.k === 'event' && record.a === index.root)) index.numbers.push(record.s);
}

function atTime(timeline: InspectionTimeline, type: string, t: number): number | undefined {
  const last = timeline.atTime(t).moment?.s;
  const before = timeline.atTime(t - 1).moment?.s ?? 0;
  if (last === undefined) return undefined;
  return timeline.records({ from: before + 1, to: last, text: type }).find((record) => isOf(record, type, t))?.s;
}

function isOf(record: InspectionRecord | undefined, type: string, t: number | undefined): boolean {
  return record !== undefined && 'type' in record && record.type === type && (t === undefined || record.t === t);
}
