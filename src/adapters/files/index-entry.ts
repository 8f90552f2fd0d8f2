/**
 * The entries of a log's index: one for each record that counts, in the order of the log, all of one size.
 *
 *   bytes   0  4  first sequence number, low 32 bits       16  4  number of events
 *           4  2  first sequence number, high 16 bits      20  8  hash of the first event's id
 *           6  2  offset, high 16 bits                     28  8  hash of the idempotency key; 0 for none
 *           8  4  offset, low 32 bits                      36  4  CRC-32 of the bytes before, seeded with the entry's number
 *          12  4  segment
 */
import { crc32 } from 'node:zlib';
import { hashText } from './text-hash.ts';
import type { TextHash } from './text-hash.ts';

export const ENTRY_BYTES = 40;

const CHECKED_BYTES = 36;
const WORD = 0x1_0000_0000;

/** Where a line of a log begins. */
export interface LogPlace {
  /** From 1. */
  readonly segment: number;
  /** In bytes, in that segment. */
  readonly offset: number;
}

/** A record that counts. */
export interface IndexedRecord extends LogPlace {
  readonly firstSeq: number;
  readonly count: number;
  readonly id: TextHash;
  readonly key: TextHash | undefined;
}

/** A record that counts and is known by name. */
export interface NamedRecord extends LogPlace {
  readonly firstSeq: number;
  readonly count: number;
  readonly id: string;
  readonly key: TextHash | undefined;
}

/**
 * The index is not what it was when it was written, or not that of this log. It is thrown away, and the log is read
 * again.
 */
export class IndexDamaged extends Error {
  constructor() {
    super('the index of the log does not agree with the log');
  }
}

/** The bytes of these entries, the first of which is the `number`-th (from 0). */
export function encodeEntries(records: readonly NamedRecord[], number: number): Buffer {
  const bytes = Buffer.alloc(records.length * ENTRY_BYTES);
  for (const [index, { firstSeq, count, segment, offset, id, key }] of records.entries()) {
    const at = index * ENTRY_BYTES;
    const idHash = hashText(id);
    bytes.writeUInt32LE(firstSeq % WORD, at);
    bytes.writeUInt16LE(Math.floor(firstSeq / WORD), at + 4);
    bytes.writeUInt16LE(Math.floor(offset / WORD), at + 6);
    bytes.writeUInt32LE(offset % WORD, at + 8);
    bytes.writeUInt32LE(segment, at + 12);
    bytes.writeUInt32LE(count, at + 16);
    bytes.writeUInt32LE(idHash.low, at + 20);
    bytes.writeUInt32LE(idHash.high, at + 24);
    bytes.writeUInt32LE(key?.low ?? 0, at + 28);
    bytes.writeUInt32LE(key?.high ?? 0, at + 32);
    bytes.writeUInt32LE(checksumOf(bytes, at, number + index), at + CHECKED_BYTES);
  }
  return bytes;
}

/** The entry at `at` of `bytes`, which is the `number`-th. @throws IndexDamaged */
export function decodeEntry(bytes: Buffer, at: number, number: number): IndexedRecord {
  if (at + ENTRY_BYTES > bytes.length || bytes.readUInt32LE(at + CHECKED_BYTES) !== checksumOf(bytes, at, number))
    throw new IndexDamaged();
  const key = { low: bytes.readUInt32LE(at + 28), high: bytes.readUInt32LE(at + 32) };
  return {
    firstSeq: bytes.readUInt32LE(at) + bytes.readUInt16LE(at + 4) * WORD,
    count: bytes.readUInt32LE(at + 16),
    segment: bytes.readUInt32LE(at + 12),
    offset: bytes.readUInt32LE(at + 8) + bytes.readUInt16LE(at + 6) * WORD,
    id: { low: bytes.readUInt32LE(at + 20), high: bytes.readUInt32LE(at + 24) },
    key: key.low === 0 && key.high === 0 ? undefined : key,
  };
}

function checksumOf(bytes: Buffer, at: number, number: number): number {
  // An entry at another one's place must not check whole.
  return crc32(bytes.subarray(at, at + CHECKED_BYTES), number % WORD);
}
