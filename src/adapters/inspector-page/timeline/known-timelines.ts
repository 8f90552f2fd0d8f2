/** The timeline of a session, from the records of its recording: those that came since are added when it is asked for. */
import type { InspectionRecord } from '../../../machines/inspection-log/inspection-record.ts';
import type { InspectionTimeline } from '../../../machines/inspection-log/inspection-timeline.ts';
import { SessionTimeline } from '../../../machines/inspection-log/session-timeline.ts';
import type { PriceTable } from '../../../machines/run/prices.ts';

interface Known {
  readonly prices: string;
  readonly root: string;
  /** Number of the last record that was read. */
  through: number;
  readonly timeline: SessionTimeline;
}

const PAGE = 1_000;
const known = new WeakMap<InspectionTimeline, Known>();

/** Undefined: nothing of it is there yet. Other prices make another one. */
export function timelineOf(recording: InspectionTimeline, prices: PriceTable = {}): SessionTimeline | undefined {
  const { first } = recording;
  if (first === undefined) return undefined;
  const told = JSON.stringify(prices);
  const before = known.get(recording);
  const state = before?.prices === told ? before : begun(recording, first, prices);
  if (state === undefined) return undefined;
  known.set(recording, state);
  for (let page = next(recording, state); page.length > 0; page = next(recording, state))
    for (const record of page) see(state, record);
  return state.timeline;
}

/** The session is the actor that was made first, and of the oldest that are known it is the root. */
function begun(
  recording: InspectionTimeline,
  first: { readonly s: number; readonly t: number },
  prices: PriceTable,
): Known | undefined {
  const roots = recording.at(Number.MAX_SAFE_INTEGER).roots({ limit: 1 });
  const root = roots[0]?.key;
  if (root === undefined) return undefined;
  const timeline = new SessionTimeline({ place: first.s, t: first.t }, { prices });
  return { prices: JSON.stringify(prices), root, through: 0, timeline };
}

function next(recording: InspectionTimeline, { through }: Known): readonly InspectionRecord[] {
  return recording.records({ from: through + 1, limit: PAGE });
}

/** What moved the session or came from outside was sent to it; whatever else its log holds was said. */
function see(state: Known, record: InspectionRecord): void {
  state.through = record.s;
  const isEvent = record.k === 'event' && record.a === state.root;
  if (!isEvent && record.k !== 'emit') return;
  const isOfWake = record.k === 'emit' ? record.a !== state.root : record.from !== undefined;
  state.timeline.see({ place: record.s, t: record.t, type: record.type, data: record.data, isOfWake });
}
