/**
 * One record of a log as bytes, and back:
 *
 *   \n{"crc":"1a2b3c4d","len":123,"record":{"key":"…","after":"…","events":[…]}}\n
 *
 * The line is a JSON object of its own. `len` and `crc` (CRC-32) are those of the bytes of `record`. A newline stands before it as
 * well as after it, so that whatever half a record a crash left in front stays alone on its own line.
 */
import { crc32 } from 'node:zlib';
import { eventsNotStorable } from '../../actors/session/event-store.ts';
import type { LogRecord } from '../../machines/session/log-admission.ts';
import { placeEvent, readStoredEvent } from '../../machines/session/session-event.ts';
import type { SessionEvent, StoredEvent } from '../../machines/session/session-event.ts';

const HEADER = /^\{"crc":"([0-9a-f]{8})","len":([0-9]{1,10}),"record":/;
/** No header is longer. */
const MAX_HEADER_BYTES = 64;
const NEWLINE = 0x0a;
const CLOSING_BRACE = 0x7d;

/** A record as every reader finds it. */
export interface ReadRecord extends LogRecord {
  readonly events: readonly [StoredEvent, ...StoredEvent[]];
}

export interface EncodedRecord {
  readonly record: ReadRecord;
  /** Everything that is written, newlines included. */
  readonly bytes: Buffer;
}

/** @throws RuntimeError SESSION_EVENT_INVALID when the events are not JSON */
export function encodeRecord({ key, after, events }: LogRecord): EncodedRecord {
  const text = toJson({ ...(key === undefined ? {} : { key }), ...(after === undefined ? {} : { after }), events });
  const payload = Buffer.from(text, 'utf8');
  const header = `\n{"crc":"${crc32(payload).toString(16).padStart(8, '0')}","len":${payload.length},"record":`;
  // Read back from the text, so that what is kept in memory is what a reader will find.
  const record = recordFrom(JSON.parse(text));
  if (record === undefined) throw eventsNotStorable();
  return { record, bytes: Buffer.concat([Buffer.from(header, 'latin1'), payload, Buffer.from([CLOSING_BRACE, NEWLINE])]) };
}

/** The record on a line (without its newlines), or undefined when it is damaged. */
export function decodeRecord(line: Buffer): ReadRecord | undefined {
  const header = HEADER.exec(line.toString('latin1', 0, MAX_HEADER_BYTES));
  if (header === null) return undefined;
  const [prefix, crc, length] = header;
  const end = prefix.length + Number(length);
  if (line.length !== end + 1 || line[end] !== CLOSING_BRACE) return undefined;
  const payload = line.subarray(prefix.length, end);
  if (crc32(payload).toString(16).padStart(8, '0') !== crc) return undefined;
  try {
    return recordFrom(JSON.parse(payload.toString('utf8')));
  } catch {
    return undefined;
  }
}

/** The events of a record that begins at `firstSeq`. */
export function eventsOf({ events }: ReadRecord, place: { readonly sessionId: string; readonly firstSeq: number }): SessionEvent[] {
  return events.map((event, index) => placeEvent(event, place.sessionId, place.firstSeq + index));
}

/** A record counts whole or not at all: every event must be one that readers understand. */
function recordFrom(value: unknown): ReadRecord | undefined {
  if (typeof value !== 'object' || value === null) return undefined;
  const { key, after, events } = value as Partial<Record<keyof LogRecord, unknown>>;
  if (key !== undefined && typeof key !== 'string') return undefined;
  if (after !== undefined && typeof after !== 'string') return undefined;
  if (!Array.isArray(events)) return undefined;
  const read: (StoredEvent | undefined)[] = events.map(readStoredEvent);
  const [first, ...rest] = read;
  if (first === undefined) return undefined;
  const isWhole = rest.every((event): event is StoredEvent => event !== undefined && event.epoch === first.epoch);
  return isWhole ? { events: [first, ...rest], key, after } : undefined;
}

function toJson(value: unknown): string {
  try {
    return JSON.stringify(value);
  } catch (cause) {
    throw eventsNotStorable(cause);
  }
}
