/**
 * One record of a log as bytes, and back:
 *
 *   \n{"crc":"1a2b3c4d","len":123,"record":{"key":"…","after":"…","events":[…]}}\n
 *
 * The line is a JSON object of its own. `len` and `crc` (CRC-32) are those of the bytes of `record`. A newline stands
 * before it as well as after it, so that whatever half a record a crash left in front stays alone on its own line.
 *
 * `record` may hold `over`, the point of the log's chain that its writer knew to be on the disk (see log-chain.ts), and
 * `anew`: true.
 *
 * A seal is a record without events, {"seal":2}: the log goes on in that segment, and what follows here does not count.
 */
import { crc32 } from 'node:zlib';
import { eventsNotStorable } from '../../actors/session/event-store.ts';
import type { LogRecord } from '../../machines/session/log-admission.ts';
import { copyPlainEvent, quickStoredEvent } from '../../machines/session/quick-event.ts';
import { placeEvent, readStoredEvent } from '../../machines/session/session-event.ts';
import type { SessionEvent, StoredEvent } from '../../machines/session/session-event.ts';
import type { ChainClaim, ChainedRecord } from './log-chain.ts';

const BEFORE_CRC = Buffer.from('{"crc":"', 'latin1');
const AFTER_CRC = Buffer.from('","len":', 'latin1');
const BEFORE_RECORD = Buffer.from(',"record":', 'latin1');
const CRC_DIGITS = 8;
const MAX_LENGTH_DIGITS = 10;
const CLOSING_BRACE = 0x7d;

/** A record as every reader finds it. */
export interface ReadRecord extends LogRecord, ChainedRecord {
  readonly events: readonly [StoredEvent, ...StoredEvent[]];
  /** CRC-32 of its bytes. */
  readonly checksum: number;
}

/** What a record says of the log before it. */
export type RecordLink = Pick<ChainedRecord, 'over' | 'isAnew'>;

export interface EncodedRecord {
  readonly record: ReadRecord;
  /** Everything that is written, newlines included. */
  readonly text: string;
  /** Of `text` in UTF-8. */
  readonly byteLength: number;
}

/** The end of a segment. */
export interface Seal {
  /** Number of the segment in which the log goes on. */
  readonly seal: number;
}

/** @throws RuntimeError SESSION_EVENT_INVALID when the events are not JSON */
export function encodeRecord({ key, after, events }: LogRecord, { over, isAnew }: RecordLink = {}): EncodedRecord {
  // Put together by hand: an object made only to be written costs as much as writing it.
  const before = `${fieldOf('key', key)}${fieldOf('after', after)}${over === undefined ? '' : claimText(over)}${isAnew === true ? '"anew":true,' : ''}`;
  const text = `{${before}"events":${toJson(events)}}`;
  const { line, byteLength, checksum } = frame(text);
  // What is kept in memory is what a reader will find: known events are copied, all others are read back from the text.
  const record =
    recordOf({ key, after, over, isAnew, events, checksum }, copyPlainEvent) ?? recordFrom(JSON.parse(text), checksum);
  if (record === undefined) throw eventsNotStorable();
  return { record, text: line, byteLength };
}

/** The line that ends a segment. */
export function encodeSeal(nextSegment: number): string {
  return frame(JSON.stringify({ seal: nextSegment } satisfies Seal)).line;
}

/** What is on a line (without its newlines), or undefined when it is damaged. */
export function decodeLine(line: Buffer): ReadRecord | Seal | undefined {
  const header = readHeader(line);
  if (header === undefined) return undefined;
  const { start, checksum } = header;
  const payload = line.subarray(start, line.length - 1);
  if (crc32(payload) !== checksum) return undefined;
  try {
    const value: unknown = JSON.parse(payload.toString('utf8'));
    return isSeal(value) ? value : recordFrom(value, checksum);
  } catch {
    return undefined;
  }
}

interface RecordStart {
  readonly sessionId: string;
  readonly firstSeq: number;
}

/** The events of a record that begins at `firstSeq`. */
export function eventsOf({ events }: ReadRecord, { sessionId, firstSeq }: RecordStart): SessionEvent[] {
  if (events.length === 1) return [placeEvent(events[0], sessionId, firstSeq)];
  return events.map((event, index) => placeEvent(event, sessionId, firstSeq + index));
}

/** The same, where it has to be known that there is one. */
export function placedEvents(
  { events: [first, ...rest] }: ReadRecord,
  { sessionId, firstSeq }: RecordStart,
): readonly [SessionEvent, ...SessionEvent[]] {
  return [
    placeEvent(first, sessionId, firstSeq),
    ...rest.map((event, index) => placeEvent(event, sessionId, firstSeq + 1 + index)),
  ];
}

export function isSeal(value: unknown): value is Seal {
  return typeof value === 'object' && value !== null && 'seal' in value && Number.isSafeInteger(value.seal);
}

function frame(text: string): { readonly line: string; readonly byteLength: number; readonly checksum: number } {
  const checksum = crc32(text);
  const length = Buffer.byteLength(text, 'utf8');
  const header = `\n{"crc":"${hexOf(checksum)}","len":${length},"record":`;
  return { line: `${header}${text}}\n`, byteLength: header.length + length + 2, checksum };
}

/**
 * Where the record begins and what its checksum is to be; undefined when the line is not framed as it has to be. Byte
 * by byte: it runs for every record.
 */
function readHeader(line: Buffer): { readonly start: number; readonly checksum: number } | undefined {
  if (!startsWith(line, BEFORE_CRC, 0)) return undefined;
  const crcEnd = BEFORE_CRC.length + CRC_DIGITS;
  let checksum = 0;
  for (let at = BEFORE_CRC.length; at < crcEnd; at += 1) {
    const digit = hexDigit(line[at]);
    if (digit === -1) return undefined;
    checksum = checksum * 16 + digit;
  }
  if (!startsWith(line, AFTER_CRC, crcEnd)) return undefined;
  const lengthStart = crcEnd + AFTER_CRC.length;
  let at = lengthStart;
  let length = 0;
  for (
    let byte = line[at] ?? 0;
    byte >= 0x30 && byte <= 0x39 && at - lengthStart < MAX_LENGTH_DIGITS;
    byte = line[at] ?? 0
  ) {
    length = length * 10 + (byte - 0x30);
    at += 1;
  }
  if (at === lengthStart || !startsWith(line, BEFORE_RECORD, at)) return undefined;
  const start = at + BEFORE_RECORD.length;
  return line.length === start + length + 1 && line[start + length] === CLOSING_BRACE ? { start, checksum } : undefined;
}

/** Two hexadecimal digits of each byte. */
const HEX_BYTES = Array.from({ length: 256 }, (_, byte) => byte.toString(16).padStart(2, '0'));

function hexOf(word: number): string {
  return `${HEX_BYTES[word >>> 24]}${HEX_BYTES[(word >>> 16) & 0xff]}${HEX_BYTES[(word >>> 8) & 0xff]}${HEX_BYTES[word & 0xff]}`;
}

function startsWith(line: Buffer, expected: Buffer, from: number): boolean {
  for (let index = 0; index < expected.length; index += 1) {
    if (line[from + index] !== expected[index]) return false;
  }
  return true;
}

/** Value of a lower-case hexadecimal digit, or -1. */
function hexDigit(byte = 0): number {
  if (byte >= 0x30 && byte <= 0x39) return byte - 0x30;
  return byte >= 0x61 && byte <= 0x66 ? byte - 0x57 : -1;
}

/** A record counts whole or not at all: every event must be one that readers understand. */
function recordFrom(value: unknown, checksum: number): ReadRecord | undefined {
  if (typeof value !== 'object' || value === null) return undefined;
  const { key, after, over, anew, events } = value as Partial<Record<keyof LogRecord | 'over' | 'anew', unknown>>;
  if (key !== undefined && typeof key !== 'string') return undefined;
  if (after !== undefined && typeof after !== 'string') return undefined;
  if (!Array.isArray(events)) return undefined;
  return recordOf(
    { key, after, over: claimFrom(over), isAnew: anew === true ? true : undefined, events, checksum },
    (event) => quickStoredEvent(event) ?? readStoredEvent(event),
  );
}

function claimFrom(over: unknown): ChainClaim | undefined {
  if (!Array.isArray(over)) return undefined;
  const [records, chain, writer] = over as readonly unknown[];
  return typeof records === 'number' && typeof chain === 'number' && typeof writer === 'string'
    ? { records, chain, writer }
    : undefined;
}

interface RecordParts extends RecordLink {
  readonly key: string | undefined;
  readonly after: string | undefined;
  readonly events: readonly unknown[];
  readonly checksum: number;
}

function recordOf(
  { key, after, over, isAnew, events, checksum }: RecordParts,
  read: (event: unknown) => StoredEvent | undefined,
): ReadRecord | undefined {
  const first = read(events[0]);
  if (first === undefined) return undefined;
  if (events.length === 1) return { events: [first], key, after, over, isAnew, checksum };
  const rest: StoredEvent[] = [];
  for (let index = 1; index < events.length; index += 1) {
    const event = read(events[index]);
    if (event === undefined || event.epoch !== first.epoch) return undefined;
    rest.push(event);
  }
  return { events: [first, ...rest], key, after, over, isAnew, checksum };
}

function toJson(value: unknown): string {
  let text: string | undefined;
  try {
    text = JSON.stringify(value) as string | undefined;
  } catch (cause) {
    throw eventsNotStorable(cause);
  }
  if (text === undefined) throw eventsNotStorable();
  return text;
}

function fieldOf(name: string, value: string | undefined): string {
  return value === undefined ? '' : `"${name}":${JSON.stringify(value)},`;
}

/** All records of one write name the same point. */
let lastClaim: { readonly over: ChainClaim; readonly text: string } | undefined;

function claimText(over: ChainClaim): string {
  if (lastClaim?.over !== over)
    lastClaim = { over, text: `"over":[${over.records},${over.chain},${JSON.stringify(over.writer)}],` };
  return lastClaim.text;
}
