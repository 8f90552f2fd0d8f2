/** One append as columns for the statement that stores many, and what is read back of it. */
import { RuntimeError } from '../../machines/errors.ts';
import { deepFrozen } from '../../machines/plain-copy.ts';
import { utf8Length } from '../../machines/utf8.ts';
import { checkActivation, isActivation, urgencyRank } from '../../machines/session/activation.ts';
import type { Activation } from '../../machines/session/activation.ts';
import { claimsEpoch } from '../../machines/session/log-admission.ts';
import type { LogRecord } from '../../machines/session/log-admission.ts';
import { MAX_IDEMPOTENCY_KEY_CHARACTERS, MAX_RECORD_BYTES } from '../../machines/session/limits.ts';
import { copyPlainEvent } from '../../machines/session/quick-event.ts';
import { placeEvent, readStoredEvent } from '../../machines/session/session-event.ts';
import type { SessionEvent, StoredEvent } from '../../machines/session/session-event.ts';
import type { SessionState } from '../../machines/session/session-state.ts';
import type { AppendOptions, WakeRight } from '../../actors/session/event-store.ts';
import { eventsNotStorable, recordTooLarge } from '../../actors/session/event-store.ts';
import { MAX_KEY_BYTES, columnOfKey, isStorableText, isTooLongKey } from './record-key.ts';

export interface AppendVerdict {
  /**
   * `same`: its first event is stored already. `duplicate`: its key is. Of one that asks for a right to wake:
   * `conflict`, a living worker has it; `passed`, another epoch has to be asked for; `expired`, the worker that asks
   * counts for dead.
   */
  readonly verdict:
    | 'stored'
    | 'same'
    | 'duplicate'
    | 'superseded'
    | 'moved'
    | 'missing'
    | 'conflict'
    | 'passed'
    | 'expired';
  readonly first_seq: number | null;
  readonly events: number | null;
  readonly head: number | null;
  readonly epoch: number | null;
  /** Of one that released a right: whether the session is due all the same. */
  readonly is_due?: boolean;
}

/** Of an integer. */
const MAX_VERSION = 2_147_483_647;

/** Leaves more wakes than a session will ever have until its epoch does not fit any more. */
const MAX_EPOCH = 2_000_000_000;

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
  /** As its column holds it. */
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
  /** What goes with it in the same transaction. */
  readonly hook?: RecordHook | undefined;
}

/**
 * What an append takes along: the right to wake that it begins under, or the end of one, and the state that it leaves.
 */
export interface RecordHook {
  readonly lease?:
    | { readonly act: 'take' | 'free'; readonly worker: string | null; readonly token: string }
    | undefined;
  /** Time of the event at the expected head. */
  readonly at?: string | undefined;
  readonly view?: SessionState | undefined;
  /** The right that it asks for. */
  readonly begins?: WakeRight | undefined;
}

/** @throws RuntimeError SESSION_EVENT_INVALID, RECORD_TOO_LARGE, ACTIVATION_INVALID */
export function appendedRecord(
  sessionId: string,
  record: LogRecord,
  { expectedHead, activate = [], settle = [] }: Omit<AppendOptions, 'idempotencyKey'> = {},
  hook?: RecordHook,
): AppendedRecord {
  const key = record.key === undefined ? undefined : columnOfKey(record.key);
  const data = record.events.map(dataOf);
  const stored = record.events.map((event, index) => storedEvent(event, data[index] ?? ''));
  const [first, ...rest] = stored;
  if (first === undefined || rest.some(({ epoch }) => epoch !== first.epoch)) throw eventsNotStorable();
  const events = record.events.map(({ id, type, v, epoch, at }, index): EventColumns => ({
    id,
    type,
    v,
    epoch: epoch ?? null,
    at,
    data: data[index] ?? '',
  }));
  checkColumns(key, events);
  const bytes = events.reduce(
    (sum, { id, type, at, data: text }) => sum + id.length + utf8Length(type) + utf8Length(at) + utf8Length(text),
    utf8Length(key ?? ''),
  );
  if (bytes > MAX_RECORD_BYTES) throw recordTooLarge(sessionId, bytes, MAX_RECORD_BYTES);
  return {
    sessionId,
    key,
    expectedHead,
    claimsEpoch: claimsEpoch(record),
    events,
    stored: [first, ...rest],
    hints: activate.map(checkActivation),
    settled: settle.filter(isActivation),
    bytes,
    hook,
  };
}

/**
 * What a row cannot hold is refused before anything is sent, for it would fail there, or be stored as something else.
 */
function checkColumns(key: string | undefined, events: readonly EventColumns[]): void {
  if (key !== undefined && isTooLongKey(key))
    throw notInRow(
      `an idempotency key of at most ${MAX_KEY_BYTES} bytes`,
      `Make it shorter: ${MAX_IDEMPOTENCY_KEY_CHARACTERS} characters always fit.`,
    );
  if (!events.every(({ type, at }) => isStorableText(type) && isStorableText(at)))
    throw notInRow(
      'types and times of events without NUL and without halves of characters',
      'Write them as Unicode text.',
    );
  if (!events.every(({ v }) => Math.abs(v) <= MAX_VERSION))
    throw notInRow(`versions of events up to ${MAX_VERSION}`, 'Count versions of a type from 1.');
  if (!events.every(({ epoch }) => epoch === null || epoch <= MAX_EPOCH))
    throw notInRow(`epochs up to ${MAX_EPOCH}`, 'Let the store count the epochs: each wake takes the next one.');
}

function notInRow(expected: string, hint: string): RuntimeError {
  return new RuntimeError(
    'SESSION_EVENT_INVALID',
    `expected ${expected}, received what PostgreSQL cannot store as it is`,
    { category: 'validation', hint },
  );
}

export function placedEvents(
  { sessionId, stored }: Pick<AppendedRecord, 'sessionId' | 'stored'>,
  firstSeq: number,
): SessionEvent[] {
  return stored.map((event, index) => deepFrozen(placeEvent(event, sessionId, firstSeq + index)));
}

const EVENT_PARTS = ['id', 'type', 'v', 'epoch', 'at', 'data'] as const satisfies readonly (keyof EventColumns)[];

/** The events' columns, each as one array. */
export function eventColumns(events: readonly EventColumns[]): readonly (readonly unknown[])[] {
  return EVENT_PARTS.map((part) => events.map((event) => event[part]));
}

/** The hints' columns, each as one array. */
export function hintColumns(hints: readonly Activation[]): readonly (readonly unknown[])[] {
  const part = <Value>(read: (hint: Activation) => Value): Value[] => hints.map(read);
  return [
    part(({ sessionId }) => sessionId),
    part(({ agentId }) => agentId),
    part(({ causeId }) => causeId),
    part(({ kind }) => kind),
    part(({ priority }) => priority),
    part(urgencyRank),
    part(({ dueAtMs }) => dueAtMs),
  ];
}

/** As much of a hint as names it. */
export function hintNames(hints: readonly Activation[]): readonly (readonly unknown[])[] {
  const [sessions = [], agents = [], causes = [], , , ranks = [], times = []] = hintColumns(hints);
  return [sessions, agents, causes, ranks, times];
}

/**
 * What is kept in memory is what a reader will find: known events are copied, all others are read back from their text.
 */
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
