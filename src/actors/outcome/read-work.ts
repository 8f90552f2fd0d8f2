/** Reads what a session has done since its outcome was defined from its log: the newest part of it, within a bound. */
import { WorkRecorder } from '../../machines/outcome/work-record.ts';
import type { WorkRecord } from '../../machines/outcome/work-record.ts';
import type { SessionState } from '../../machines/session/session-state.ts';
import { MAX_READ_EVENTS } from '../session/event-store.ts';
import type { EventStore } from '../session/event-store.ts';

export type EventReader = Pick<EventStore, 'read'>;

/** Events that an evaluation checks: the newest since the outcome was defined. */
const MAX_WORK_EVENTS = 20_000;

export async function readWork(
  reader: EventReader,
  {
    sessionId,
    head,
    outcome,
    forkOf,
    importedThroughSeq = 0,
  }: Pick<SessionState, 'sessionId' | 'head' | 'outcome' | 'forkOf' | 'importedThroughSeq'>,
): Promise<WorkRecord> {
  const sinceSeq = outcome?.seq ?? head;
  const from = Math.max(sinceSeq + 1, head - MAX_WORK_EVENTS + 1);
  // A fork begins with the log of another session, without the facts that are about that alone: no event after this one
  // is of that. An import begins with a log that this runtime has not seen being written.
  const recorder = new WorkRecorder({
    sinceSeq,
    copiedThroughSeq: Math.max(forkOf?.seq ?? 0, importedThroughSeq),
    isWhole: from === sinceSeq + 1,
  });
  let next = from;
  while (next <= head) {
    const events = await reader.read(sessionId, { from: next, limit: Math.min(MAX_READ_EVENTS, head - next + 1) });
    if (events.length === 0) break;
    for (const event of events) recorder.ingest(event);
    next += events.length;
  }
  return { ...recorder.record(), throughSeq: head };
}
