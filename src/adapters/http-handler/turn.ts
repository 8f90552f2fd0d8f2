/** A turn as it goes on: what is stored from an event on and what is said meanwhile, until the session rests. */
import type { Clock } from '../../actors/clock/clock.ts';
import { pause } from '../../actors/clock/waiting.ts';
import type { SessionEvent } from '../../machines/session/session-event.ts';
import { foldSession } from '../../machines/session/session-fold.ts';
import { TAKEN_MS, actionableIngress, delegatedCalls, isDue } from '../../machines/session/session-activations.ts';
import type { SessionState } from '../../machines/session/session-state.ts';
import type { ServedRuntime } from './handler-options.ts';
import { merged, wordsOf } from './merged.ts';
import type { Tick, Told } from './merged.ts';
import { TurnParts } from './turn-parts.ts';
import type { TurnPart } from './turn-part.ts';
import { waitingOf } from './waiting.ts';
import type { Waiting } from './waiting.ts';

/** A session that tries again this soon is still at it. */
const RETRIES_SOON_MS = 60_000;

/** Whether nothing happens in it until a client or a far time says so. */
export function isAtRest(state: SessionState, nowMs: number): boolean {
  if (state.status === 'terminated') return true;
  if (state.openWake !== undefined) return false;
  if (state.parked !== undefined) return true;
  return (
    actionableIngress(state).length === 0 &&
    delegatedCalls(state).length === 0 &&
    !isDue(state, nowMs + RETRIES_SOON_MS)
  );
}

export interface TurnRequest {
  readonly runtime: ServedRuntime;
  readonly sessionId: string;
  /** The first event that counts. */
  readonly from: number;
  /** Nothing is told before this message is read. Undefined: all is told. */
  readonly reading: string | undefined;
  /** Those that the step at `from` reads, where that is known. */
  readonly read?: readonly string[] | undefined;
  readonly signal: AbortSignal;
  readonly clock: Clock;
}

export interface TurnEnd {
  /** The session that rests. Undefined: another turn begins. */
  readonly over: SessionState | undefined;
}

/** The last of its news is its end, unless it is cut short. */
export type TurnNews = { readonly part: TurnPart; readonly in: SessionState } | TurnEnd;

export async function* turnNews(request: TurnRequest): AsyncGenerator<TurnNews, void, undefined> {
  const { runtime, sessionId, from, reading, read = [], signal, clock } = request;
  const words = wordsOf(runtime.words(sessionId, { signal }));
  let state = await runtime.sessions.get(sessionId);
  const first = Math.min(from, state.head + 1);
  const isOver = (): boolean => isAtRest(state, clock.now());
  if (first > state.head && isOver()) return yield { over: state };
  const parts = new TurnParts(read.length > 0 ? read : unreadMessages(state, first));
  let isTold = reading === undefined;
  let waiting: Waiting | undefined;
  const log = runtime.sessions.events(sessionId, { from: first, follow: true, signal });
  for await (const told of merged<Told | Tick>(log, words, ticks(clock, signal))) {
    if (told.kind === 'tick') {
      const now = await waitingOf(runtime, state, clock.now());
      if (now !== undefined && now.reason !== waiting?.reason) yield { part: { type: 'waiting', ...now }, in: state };
      waiting = now;
      continue;
    }
    for (const part of parts.of(told)) {
      if (part.type !== 'read') {
        if (isTold) yield { part, in: state };
      } else if (isTold) return yield { over: undefined };
      else isTold = reading !== undefined && part.eventIds.includes(reading);
    }
    if (told.kind === 'word') continue;
    if (told.value.seq > state.head) state = foldSession(state, told.value);
    if (told.value.seq >= state.head && isOver()) return yield { over: state };
  }
}

async function* ticks(clock: Clock, signal: AbortSignal): AsyncGenerator<Tick, void, undefined> {
  for (;;) {
    await pause({ clock, timeoutMs: TAKEN_MS, signal });
    if (signal.aborted) return;
    yield { kind: 'tick' };
  }
}

/** Those that came before `from`. */
function unreadMessages({ pending }: SessionState, from: number): readonly string[] {
  return pending.filter(({ type, seq }) => type === 'user.message' && seq < from).map(({ eventId }) => eventId);
}

export interface Searched {
  readonly runtime: ServedRuntime;
  readonly sessionId: string;
  readonly head: number;
}

/** Where the agent began to answer what it was told last, and what that was. */
interface FoundReply {
  readonly seq: number;
  readonly eventIds: readonly string[];
}

/** @returns undefined: it was told nothing */
export function newestReply(log: Searched): Promise<FoundReply | undefined> {
  return inNewest(log, async (events) => {
    const parts = new TurnParts();
    let found: FoundReply | undefined;
    for await (const event of events)
      for (const part of parts.of({ kind: 'event', value: event }))
        if (part.type === 'read') found = { seq: event.seq, eventIds: part.eventIds };
    return found;
  });
}

/** The first of the events that answer these requests. */
export async function answeredAt(
  log: Searched,
  requestIds: Pick<ReadonlySet<string>, 'has'>,
): Promise<number | undefined> {
  return inNewest(log, async (events) => {
    for await (const { type, data, seq } of events)
      if (
        (type === 'user.tool_confirmation' || type === 'user.answer' || type === 'user.custom_tool_result') &&
        requestIds.has(data.requestId)
      )
        return seq;
    return undefined;
  });
}

/** How many events are read at first. */
const FIRST_WINDOW = 200;
const GROWTH = 8;

/** What is found in the newest events, without reading the whole log where that is enough. */
async function inNewest<Found>(
  { runtime, sessionId, head }: Searched,
  find: (events: AsyncIterable<SessionEvent>) => Promise<Found | undefined>,
): Promise<Found | undefined> {
  for (let window = FIRST_WINDOW; ; window *= GROWTH) {
    const from = Math.max(1, head - window + 1);
    const found = await find(runtime.sessions.events(sessionId, { from, limit: head - from + 1 }));
    if (found !== undefined || from === 1) return found;
  }
}
