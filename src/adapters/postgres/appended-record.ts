/** One append as columns for the statement that stores many, and what is read back of it. */
import { utf8Length } from '../../machines/utf8.ts';
import { checkActivation, isActivation } from '../../machines/session/activation-check.ts';
import { urgencyRank } from '../../machines/session/activation.ts';
import type { Activation } from '../../machines/session/activation.ts';
import { claimsEpoch } from '../../machines/session/log-admission.ts';
import type { LogRecord } from '../../machines/session/log-admission.ts';
import { MAX_RECORD_BYTES } from '../../machines/session/limits.ts';
import { copyPlainEvent } from '../../machines/session/quick-event.ts';
import { placeEvent, readStoredEvent } from '../../machines/session/session-event.ts';
import type { SessionEvent, StoredEvent } from '../../machines/session/session-event.ts';
import type { AppendOptions } from '../../actors/session/event-store.ts';
import { eventsNotStorable, recordTooLarge } from '../../actors/session/event-store.ts';
import { frozen } from '../../actors/session/frozen.ts';

/** What a row holds beside the place of the event. */
export interface EventColumns {
  readonly id: string;
  readonly type: string;
  readonly v: number;
  readonly epoch: number | null;
  readonly at: string;
  /** JSON. */
  readonly data: string;
}

export interface AppendedRecord {
  readonly sessionId: string;
  readonly key: string | undefined;
  readonly expectedHead: number | undefined;
  readonly claimsEpoch: boolean;
  readonly events: readonly EventColumns[];
  /** As readers find them. */
  readonly stored: readonly [StoredEvent, ...StoredEvent[]];
  readonly hints: readonly Activation[];
  readonly settled: readonly Activation[];
  /** Of the events. */
  readonly bytes: number;
}

/** @throws RuntimeError SESSION_EVENT_INVALID, RECORD_TOO_LARGE, ACTIVATION_INVALID */
export function appendedRecord(sessionId: string, record: LogRecord, { expectedHead, activate = [], settle = [] }: Omit<AppendOptions, 'idempotencyKey'> = {}): AppendedRecord {
  const { key } = record;
  const data = record.events.map(dataOf);
  const stored = record.events.map((event, index) => storedEvent(event, data[index] ?? ''));
  const [first, ...rest] = stored;
  if (first === undefined || rest.some(({ epoch }) => epoch !== first.epoch)) throw eventsNotStorable();
  const events = record.events.map(({ id, type, v, epoch, at }, index): EventColumns => ({ id, type, v, epoch: epoch ?? null, at, data: data[index] ?? '' }));
  if ([key ?? '', ...events.flatMap(({ type, at }) => [type, at])].some((text) => text.includes('\0'))) throw eventsNotStorable();
  const bytes = events.reduce((sum, { id, type, at, data: text }) => sum + id.length + utf8Length(type) + utf8Length(at) + utf8Length(text), utf8Length(key ?? ''));
  if (bytes > MAX_RECORD_BYTES) throw recordTooLarge(sessionId, bytes, MAX_RECORD_BYTES);
  return { sessionId, key, expectedHead, claimsEpoch: claimsEpoch(record), events, stored: [first, ...rest], hints: activate.map(checkActivation), settled: settle.filter(isActivation), bytes };
}

export function placedEvents({ sessionId, stored }: Pick<AppendedRecord, 'sessionId' | 'stored'>, firstSeq: number): SessionEvent[] {
  return stored.map((event, index) => frozen(placeEvent(event, sessionId, firstSeq + index)));
}

const EVENT_PARTS = ['id', 'type', 'v', 'epoch', 'at', 'data'] as const satisfies readonly (keyof EventColumns)[];

/** The events' columns, each as one array. */
export function eventColumns(events: readonly EventColumns[]): readonly (readonly unknown[])[] {
  return EVENT_PARTS.map((part) => events.map((event) => event[part]));
}

/** The hints' columns, each as one array. */
export function hintColumns(hints: readonly Activation[]): readonly (readonly unknown[])[] {
  const part = <Value>(read: (hint: Activation) => Value): Value[] => hints.map(read);
  return [part(({ sessionId }) => sessionId), part(({ agentId }) => agentId), part(({ causeId }) => causeId), part(({ kind }) => kind), part(({ priority }) => priority), part(urgencyRank), part(({ dueAtMs }) => dueAtMs)];
}

/** As much of a hint as names it. */
export function hintNames(hints: readonly Activation[]): readonly (readonly unknown[])[] {
  const [sessions = [], agents = [], causes = [], , , ranks = [], times = []] = hintColumns(hints);
  return [sessions, agents, causes, ranks, times];
}

/** What is kept in memory is what a reader will find: known events are copied, all others are read back from their text. */
function storedEvent(event: LogRecord['events'][number], data: string): StoredEvent {
  const stored = copyPlainEvent(event) ?? readStoredEvent({ ...event, data: JSON.parse(data) as unknown });
  if (stored === undefined) throw eventsNotStorable();
  return stored;
}

function dataOf({ data }: LogRecord['events'][number]): string {
  try {
    const text = JSON.stringify(data) as string | undefined;
    if (text !== undefined) return text;
  } catch (cause) {
    throw eventsNotStorable(cause);
  }
  throw eventsNotStorable();
}
