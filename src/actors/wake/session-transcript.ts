/**
 * The newest part of a session's conversation, read backwards from the end of its log until a model could not take
 * more, or until what a summary stands for: a wake costs the same after a day and after a year.
 */
import { DEFAULT_MAX_CONTEXT_TOKENS } from '../../machines/session/limits.ts';
import type { SessionEvent } from '../../machines/session/session-event.ts';
import type { SessionState } from '../../machines/session/session-state.ts';
import { TranscriptBuilder } from '../../machines/turn/transcript.ts';
import { MAX_READ_EVENTS } from '../session/event-store.ts';
import type { EventStore } from '../session/event-store.ts';

/** Events that are read first; further pages are as large as a store allows. */
const FIRST_PAGE_EVENTS = 256;

/** Types of events of which a model reads something. */
const IS_SAID = /^(?:user\.|agent\.(?:message|thinking|tool_use|tool_result)$|session\.child_idle$|subagent\.ended$)/;

/**
 * Characters of their data, for each token that a model may read, after which no more is read. An event is up to some
 * 2.3 times as long as what a model reads of it, and the rest of a turn at the beginning is left out: so more than the
 * bound of a transcript, or it would hold less than it may.
 */
const CHARACTERS_PER_TOKEN = 12;

/**
 * Events before an open call, an unread message or the end of what is summarized that are read too, so that the step
 * there is whole.
 */
const EVENTS_BEFORE = 80;

/** How far before what is summarized is searched for what had not been read by then, in events. */
const MAX_EVENTS_BEFORE_SUMMARY = 4 * MAX_READ_EVENTS;

/**
 * The transcript of the log up to `state.head`, which is the head of the builder then. Goes on with whatever is
 * ingested after.
 */
export async function loadTranscript(
  store: Pick<EventStore, 'read'>,
  state: SessionState,
  { maxTokens = DEFAULT_MAX_CONTEXT_TOKENS } = {},
): Promise<TranscriptBuilder> {
  const window = new LogWindow(store, state, maxTokens * CHARACTERS_PER_TOKEN);
  await window.read();
  const events = window.events();
  const builder = new TranscriptBuilder({ queuedWakes: state.queuedWakes, startsMidway: (events[0]?.seq ?? 1) > 1 });
  for (const event of events) builder.ingest(event);
  return builder;
}

class LogWindow {
  readonly #store: Pick<EventStore, 'read'>;
  readonly #state: SessionState;
  readonly #enoughCharacters: number;
  /** The newest first. */
  readonly #pages: (readonly SessionEvent[])[] = [];
  /** Sequence number of the newest event that is not read. */
  #end: number;
  #characters = 0;
  #summary: SessionEvent | undefined;
  /**
   * Ingress that a step after the summarized part read, and wakes that began there: what they name may lie before it.
   */
  readonly #named = new Set<string>();

  constructor(store: Pick<EventStore, 'read'>, state: SessionState, enoughCharacters: number) {
    this.#enoughCharacters = enoughCharacters;
    this.#store = store;
    this.#state = state;
    this.#end = state.head;
  }

  /** Oldest first: the newest without a gap, and before them the summary if it lies further back. */
  events(): readonly SessionEvent[] {
    const events = this.#pages.toReversed().flat();
    const isApart = this.#summary !== undefined && this.#summary.seq < (events[0]?.seq ?? 0);
    return this.#summary !== undefined && isApart ? [this.#summary, ...events] : events;
  }

  async read(): Promise<void> {
    while (this.#end > 0 && this.#isWanted(this.#end)) {
      const events = this.#pages.length === 0 ? FIRST_PAGE_EVENTS : MAX_READ_EVENTS;
      const page = await this.#readPage(this.#end, events);
      for (const event of page.toReversed()) this.#check(event);
      this.#pages.push(page);
      this.#end -= events;
    }
    await this.#findSummary();
  }

  /** Whether the event at `seq` has to be read. */
  #isWanted(seq: number): boolean {
    const { head, pending, openToolCalls, compactedThroughSeq: summarized = 0 } = this.#state;
    // What the model has to answer is always part of it, however far back it lies.
    const needed = Math.max(
      1,
      Math.min(head, ...pending.map((each) => each.seq), ...openToolCalls.map((each) => each.seq)) - EVENTS_BEFORE,
    );
    if (seq >= needed) return true;
    if (this.#characters > this.#enoughCharacters) return false;
    // What came before the summary and was read after it is not in it.
    return seq > summarized - EVENTS_BEFORE || (this.#named.size > 0 && seq > summarized - MAX_EVENTS_BEFORE_SUMMARY);
  }

  /** A summary stands for what cannot be read again, so it is searched for behind as much as a model could take. */
  async #findSummary(): Promise<void> {
    const { compactedThroughSeq } = this.#state;
    if (compactedThroughSeq === undefined) return;
    for (let end = this.#end; this.#summary === undefined && end > compactedThroughSeq;) {
      const page = await this.#readPage(end, MAX_READ_EVENTS);
      this.#summary = page.findLast(({ type }) => type === 'context.compacted');
      end -= MAX_READ_EVENTS;
    }
  }

  /** At most so many events that end with the one at `end`. */
  async #readPage(end: number, events: number): Promise<readonly SessionEvent[]> {
    const from = Math.max(1, end + 1 - events);
    return this.#store.read(this.#state.sessionId, { from, limit: end + 1 - from });
  }

  #check(event: SessionEvent): void {
    if (IS_SAID.test(event.type)) this.#characters += JSON.stringify(event.data).length;
    if (event.type === 'context.compacted') this.#summary ??= event;
    this.#named.delete(event.id);
    if (event.type === 'wake.queued') this.#named.delete(event.data.queuedWakeId);
    if (event.seq <= (this.#state.compactedThroughSeq ?? 0)) return;
    if (event.type === 'message.consumed') for (const eventId of event.data.eventIds) this.#named.add(eventId);
    if (event.type === 'wake.started')
      for (const queuedWakeId of event.data.queuedWakeIds) this.#nameWake(queuedWakeId);
  }

  /** Those that are still queued are known without the log. */
  #nameWake(queuedWakeId: string): void {
    if (this.#state.queuedWakes.every((queued) => queued.queuedWakeId !== queuedWakeId)) this.#named.add(queuedWakeId);
  }
}
