/** Reads sessions for the tools about them: bounded in events and characters, and in how far one call checks. */
import { beginningOf } from '../../machines/cut-text.ts';
import type { EventView } from '../../machines/session-tools/event-view.ts';
import { viewOf } from '../../machines/session-tools/event-view.ts';
import type {
  SessionEventsInput,
  SessionEventsOutput,
  SessionListInput,
  SessionListOutput,
  SessionTraceInput,
  SessionTraceOutput,
} from '../../machines/session-tools/session-tool-definitions.ts';
import {
  DEFAULT_LISTED_SESSIONS,
  DEFAULT_READ_EVENTS,
  MAX_EVENTS_CHARACTERS,
  MAX_READ_EVENTS_PER_CALL,
  MAX_SCANNED_EVENTS,
} from '../../machines/session-tools/session-tool-limits.ts';
import { definedOnly, snapshotOf } from '../../machines/session-tools/snapshot.ts';
import { TraceSelection } from '../../machines/session-tools/trace-selection.ts';
import type { TraceTarget } from '../../machines/session-tools/trace-selection.ts';
import { isWithin, relationshipOf } from '../../machines/retrieval/session-relations.ts';
import { formerEventTypes } from '../../machines/session/former-events.ts';
import type { SessionEvent } from '../../machines/session/session-event.ts';
import type { SessionState } from '../../machines/session/session-state.ts';
import { MAX_READ_EVENTS } from './event-store.ts';
import type { EventStore } from './event-store.ts';
import { isOfSameOwner, parentsOf } from './session-tools-relations.ts';
import type { Sessions } from './sessions.ts';

export interface SessionReading {
  readonly store: EventStore;
  readonly sessions: Pick<Sessions, 'list' | 'get'>;
}

/** @param own the session that asks */
export async function listSessions(
  { sessions }: SessionReading,
  own: { readonly sessionId: string; readonly agentId: string },
  input: SessionListInput,
): Promise<SessionListOutput> {
  const { status, relation = 'agent', titleContains, updatedSince, limit = DEFAULT_LISTED_SESSIONS, after } = input;
  const asker = await sessions.get(own.sessionId);
  const all = (await sessions.list({ agentId: own.agentId })).filter((state) => isOfSameOwner(state, asker));
  const parents = await parentsOf(all, (sessionId) => sessions.get(sessionId));
  const kinOf = ({ sessionId }: SessionState): ReturnType<typeof relationshipOf> =>
    relationshipOf(own.sessionId, sessionId, (id) => parents.get(id));
  const wanted = all
    .filter(
      (state) =>
        (status === undefined || state.status === status) &&
        isWithin(kinOf(state), relation) &&
        holds(state, titleContains) &&
        isSince(state, updatedSince),
    )
    .toSorted(newestFirst);
  const start = after === undefined ? 0 : wanted.findIndex(({ sessionId }) => sessionId === after) + 1;
  const page = wanted.slice(start, start + limit);
  return {
    sessions: page.map((state) => ({ ...listed(state), kinship: kinOf(state), children: state.children.length })),
    total: wanted.length,
    more: start + page.length < wanted.length,
  };
}

export async function readEvents(
  { store }: SessionReading,
  { sessionId, from, limit = DEFAULT_READ_EVENTS, types }: SessionEventsInput,
): Promise<SessionEventsOutput> {
  const head = await store.head(sessionId);
  const isWanted = wantedTypes(types);
  const start = from ?? (await startOfNewest(store, { sessionId, head, limit, isWanted }));
  const page = new Page(limit);
  let next = start;
  for (const end = Math.min(head, start + MAX_SCANNED_EVENTS - 1); next <= end && !page.isFull;) {
    const events = await store.read(sessionId, { from: next, limit: Math.min(MAX_READ_EVENTS, end + 1 - next) });
    if (events.length === 0) break;
    for (const event of events) {
      if (isWanted(event) && !page.take(viewOf(event))) break;
      next = event.seq + 1;
    }
  }
  return { sessionId, events: page.events, head, ...definedOnly({ nextFrom: next <= head ? next : undefined }) };
}

export async function readTrace(
  { store }: SessionReading,
  { sessionId, callId, spanId, wakeId, nearSeq }: SessionTraceInput,
): Promise<SessionTraceOutput> {
  const target: TraceTarget =
    callId !== undefined
      ? { kind: 'call', id: callId }
      : spanId !== undefined
        ? { kind: 'span', id: spanId }
        : { kind: 'wake', id: wakeId ?? '' };
  const head = await store.head(sessionId);
  const selection = new TraceSelection(target);
  const start = await startOf(store, { sessionId, head, selection, nearSeq });
  if (start === undefined) return { sessionId, events: [], isWhole: false };
  const page = new Page(MAX_READ_EVENTS_PER_CALL);
  let next = start;
  for (let scanned = 0; next <= head && !selection.hasEnded && !page.isFull && scanned < MAX_SCANNED_EVENTS;) {
    const before = selection.events.length;
    const events = await store.read(sessionId, { from: next, limit: MAX_READ_EVENTS });
    if (events.length === 0) break;
    for (const event of events) selection.ingest(event);
    next = (events.at(-1)?.seq ?? next) + 1;
    scanned += events.length;
    for (const event of selection.events.slice(before)) {
      if (page.take(viewOf(event))) continue;
      next = event.seq;
      break;
    }
    // A model step is over when the next one begins or its wake ends; nothing later names it.
    if (
      target.kind === 'span' &&
      events.some((event) => event.seq > start && (event.type === 'span.started' || event.type === 'wake.ended'))
    )
      break;
  }
  const isWhole = !page.isFull && selection.hasBegun;
  return { sessionId, events: page.events, isWhole, ...definedOnly({ nextFrom: page.isFull ? next : undefined }) };
}

/** What one call gives: so many events, and so many characters. */
class Page {
  readonly events: EventView[] = [];
  readonly #limit: number;
  #characters = 0;
  #isFull = false;

  constructor(limit: number) {
    this.#limit = limit;
  }

  get isFull(): boolean {
    return this.#isFull || this.events.length >= this.#limit;
  }

  /** @returns false when there is no room for it. There always is for the first. */
  take(event: EventView): boolean {
    const characters = JSON.stringify(event).length;
    if (this.isFull || (this.events.length > 0 && this.#characters + characters > MAX_EVENTS_CHARACTERS)) {
      this.#isFull = true;
      return false;
    }
    this.#characters += characters;
    this.events.push(event);
    return true;
  }
}

interface NewestWanted {
  readonly sessionId: string;
  readonly head: number;
  readonly limit: number;
  readonly isWanted: (event: SessionEvent) => boolean;
}

/** Searched for from the end: a log may be long, and most of it of no interest. */
async function startOfNewest(store: EventStore, { sessionId, head, limit, isWanted }: NewestWanted): Promise<number> {
  let left = limit;
  let start = head + 1;
  for (let end = head; end > 0 && left > 0 && head - end < MAX_SCANNED_EVENTS;) {
    const from = Math.max(1, end + 1 - MAX_READ_EVENTS);
    const events = await store.read(sessionId, { from, limit: end + 1 - from });
    for (const event of events.toReversed()) {
      if (left === 0 || !isWanted(event)) continue;
      left -= 1;
      start = event.seq;
    }
    end = from - 1;
  }
  return Math.min(start, head);
}

interface Sought {
  readonly sessionId: string;
  readonly head: number;
  readonly selection: TraceSelection;
  readonly nearSeq?: number | undefined;
}

/** The number of the event with which it begins; searched for close by first, then from the end. */
async function startOf(
  store: EventStore,
  { sessionId, head, selection, nearSeq }: Sought,
): Promise<number | undefined> {
  const foundIn = async (from: number, limit: number): Promise<number | undefined> =>
    (await store.read(sessionId, { from, limit })).findLast((event) => selection.isBeginning(event))?.seq;
  if (nearSeq !== undefined && nearSeq <= head) {
    const from = Math.max(1, nearSeq - MAX_READ_EVENTS / 2);
    const near = await foundIn(from, MAX_READ_EVENTS);
    if (near !== undefined) return near;
  }
  for (let end = head; end > 0 && head - end < MAX_SCANNED_EVENTS; end -= MAX_READ_EVENTS) {
    const from = Math.max(1, end + 1 - MAX_READ_EVENTS);
    const found = await foundIn(from, end + 1 - from);
    if (found !== undefined) return found;
  }
  return undefined;
}

/** Names of types, and of groups such as `user.*`; also those that they had in earlier versions. */
function wantedTypes(types: readonly string[] | undefined): (event: SessionEvent) => boolean {
  if (types === undefined) return () => true;
  const groups = types.filter((type) => type.endsWith('.*')).map((type) => type.slice(0, -1));
  const isNamed = (type: string): boolean => types.includes(type) || groups.some((group) => type.startsWith(group));
  const names = new Set([...types, ...[...formerEventTypes].flatMap(([former, now]) => (isNamed(former) ? now : []))]);
  return ({ type }) => names.has(type) || groups.some((group) => type.startsWith(group));
}

function listed(state: SessionState): Omit<SessionListOutput['sessions'][number], 'kinship' | 'children'> {
  const {
    sessionId,
    title,
    createdAt,
    updatedAt,
    status,
    stopReason,
    summary,
    head,
    messages,
    wakes,
    parentSessionId,
    unreadable,
  } = snapshotOf(state);
  return {
    sessionId,
    status,
    head,
    messages,
    wakes,
    ...definedOnly({
      title,
      createdAt,
      updatedAt,
      stopReason,
      summary: summary === undefined ? undefined : beginningOf(summary, 300),
      parentSessionId,
      unreadable,
    }),
  };
}

function holds({ title = '', summary = '' }: SessionState, text: string | undefined): boolean {
  return text === undefined || `${title}\n${summary}`.toLowerCase().includes(text.toLowerCase());
}

function isSince({ updatedAt }: SessionState, since: string | undefined): boolean {
  return since === undefined || (updatedAt !== undefined && Date.parse(updatedAt) >= Date.parse(since));
}

function newestFirst(one: SessionState, other: SessionState): number {
  const byTime = (other.updatedAt ?? '').localeCompare(one.updatedAt ?? '');
  return byTime === 0 ? other.sessionId.localeCompare(one.sessionId) : byTime;
}
