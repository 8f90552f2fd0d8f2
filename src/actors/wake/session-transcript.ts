/**
 * The newest part of a session's conversation, read backwards from the end of its log until a model could not take more: a wake costs
 * the same after a day and after a year.
 */
import { MAX_TRANSCRIPT_CHARACTERS } from '../../machines/session/limits.ts';
import type { SessionEvent } from '../../machines/session/session-event.ts';
import type { SessionState } from '../../machines/session/session-state.ts';
import { TranscriptBuilder } from '../../machines/turn/transcript.ts';
import { MAX_READ_EVENTS } from '../session/event-store.ts';
import type { EventStore } from '../session/event-store.ts';

/** Events that are read first; further pages are as large as a store allows. */
const FIRST_PAGE_EVENTS = 256;

/** Types of events of which a model reads something. */
const IS_SAID = /^(?:user\.|agent\.(?:message|thinking|tool_use|tool_result)$|session\.child_idle$)/;

/**
 * Characters of their data after which no more is read. An event is up to some 2.3 times as long as what a model reads of it, and the rest
 * of a turn at the beginning is left out: so more than the bound of a transcript, or it would hold less than it may.
 */
const ENOUGH_CHARACTERS = 3 * MAX_TRANSCRIPT_CHARACTERS;

/** Events before an open call or an unread message that are read too, so that the step which asked is whole. */
const EVENTS_BEFORE = 80;

/** The transcript of the log up to `state.head`. Goes on with whatever is ingested after. */
export async function loadTranscript(store: EventStore, state: SessionState): Promise<TranscriptBuilder> {
  const events = await newestEvents(store, state);
  const first = events[0]?.seq ?? 1;
  const builder = new TranscriptBuilder({ queuedWakes: state.queuedWakes, startsMidway: first > 1 });
  for (const event of events) builder.ingest(event);
  return builder;
}

async function newestEvents(store: EventStore, { sessionId, head, pending, openToolCalls }: SessionState): Promise<SessionEvent[]> {
  // What the model has to answer is always part of it, however far back it lies.
  const needed = Math.max(1, Math.min(head, ...pending.map(({ seq }) => seq), ...openToolCalls.map(({ seq }) => seq)) - EVENTS_BEFORE);
  let events: SessionEvent[] = [];
  let characters = 0;
  let end = head;
  while (end > 0 && (characters <= ENOUGH_CHARACTERS || end >= needed)) {
    const from = Math.max(1, end + 1 - (end === head ? FIRST_PAGE_EVENTS : MAX_READ_EVENTS));
    const page = await store.read(sessionId, { from, limit: end + 1 - from });
    for (const { type, data } of page) if (IS_SAID.test(type)) characters += JSON.stringify(data).length;
    events = [...page, ...events];
    end = from - 1;
  }
  return events;
}
