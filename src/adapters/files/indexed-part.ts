/**
 * The part of a log that a checkpoint stands for, found through its index on the disk: a place by binary search, a
 * repeated record by the hashes of ids and keys. Nothing of it is kept in memory until a caller asks for a key, or for
 * an id as old as that part.
 */
import { crc32 } from 'node:zlib';
import type { LogRecord, RecordPlace } from '../../machines/session/log-admission.ts';
import type { ReadableFile } from './file-operations.ts';
import { openToRead } from './file-operations.ts';
import type { IndexedRecord, NamedRecord } from './index-entry.ts';
import { decodeEntry, ENTRY_BYTES, IndexDamaged } from './index-entry.ts';
import type { LogSegments } from './log-segments.ts';
import type { EarlierRecords } from './tail-admission.ts';
import type { TextHash } from './text-hash.ts';
import { hashText } from './text-hash.ts';

// Numbers of records by a 64-bit hash, in a few bytes each: a million of them take no more than a small part of the
// heap.

const SMALLEST_CAPACITY = 1024;

class HashTable {
  #capacity: number;
  /** Three words to a slot: low, high, and the number plus one; zero for a slot that is free. */
  #slots: Uint32Array;
  #size = 0;

  constructor(expected = 0) {
    this.#capacity = SMALLEST_CAPACITY;
    while (this.#capacity < expected * 2) this.#capacity *= 2;
    this.#slots = new Uint32Array(this.#capacity * 3);
  }

  add({ low, high }: TextHash, number: number): void {
    if (this.#size * 2 >= this.#capacity) this.#grow();
    this.#put(low, high, number + 1);
    this.#size += 1;
  }

  /** Every number that was added under this hash. */
  find({ low, high }: TextHash): number[] {
    const found: number[] = [];
    for (let slot = low & (this.#capacity - 1); ; slot = (slot + 1) & (this.#capacity - 1)) {
      const number = this.#slots[slot * 3 + 2] ?? 0;
      if (number === 0) return found;
      if (this.#slots[slot * 3] === low && this.#slots[slot * 3 + 1] === high) found.push(number - 1);
    }
  }

  #put(low: number, high: number, number: number): void {
    let slot = low & (this.#capacity - 1);
    while (this.#slots[slot * 3 + 2] !== 0) slot = (slot + 1) & (this.#capacity - 1);
    this.#slots[slot * 3] = low;
    this.#slots[slot * 3 + 1] = high;
    this.#slots[slot * 3 + 2] = number;
  }

  #grow(): void {
    const before = this.#slots;
    this.#capacity *= 2;
    this.#slots = new Uint32Array(this.#capacity * 3);
    for (let at = 0; at < before.length; at += 3) {
      const number = before[at + 2] ?? 0;
      if (number !== 0) this.#put(before[at] ?? 0, before[at + 1] ?? 0, number);
    }
  }
}

/** Entries that are read at once. */
const ENTRIES_PER_READ = 16 * 1024;

export interface IndexExtent {
  /** Which file the index is in. */
  readonly generation: string;
  /** How many records it lists. */
  readonly records: number;
  /** CRC-32 of all of its entries. */
  readonly checksum: number;
  /** The greatest of the ids that records begin with. Ids grow with time: a greater one is new. */
  readonly greatestId: string;
}

/** Each is loaded by itself: most logs are asked for keys only, and few of their records have one. */
interface Tables {
  ids?: HashTable;
  keys?: HashTable;
}

/** Where in an entry the hash lies that a table holds. */
const HASH_AT = { ids: 20, keys: 28 } as const satisfies Record<keyof Tables, number>;

export class IndexedPart {
  readonly extent: IndexExtent;
  /** Sequence number of its last event. */
  readonly head: number;
  readonly #path: string;
  readonly #segments: LogSegments;
  #tables: Tables = {};

  constructor({
    path,
    segments,
    extent,
    head,
  }: {
    readonly path: string;
    readonly segments: LogSegments;
    readonly extent: IndexExtent;
    readonly head: number;
  }) {
    this.#path = path;
    this.#segments = segments;
    this.extent = extent;
    this.head = head;
  }

  /** The same part and these records behind it. What was loaded of it stays loaded. */
  extended(
    { path, extent, head }: { readonly path: string; readonly extent: IndexExtent; readonly head: number },
    records: readonly NamedRecord[],
  ): IndexedPart {
    const part = new IndexedPart({ path, extent, head, segments: this.#segments });
    part.#tables = { ...this.#tables };
    for (const [index, { id, key }] of records.entries()) {
      part.#tables.ids?.add(hashText(id), this.extent.records + index);
      if (key !== undefined) part.#tables.keys?.add(key, this.extent.records + index);
    }
    return part;
  }

  /** False when it is certain, without checking the disk, that `record` repeats nothing here. */
  mayHold({ key, events: [{ id }] }: LogRecord): boolean {
    const isOld = id <= this.extent.greatestId;
    return (isOld && this.#mayFind('ids', id)) || (key !== undefined && this.#mayFind('keys', key));
  }

  /** What `record` repeats. @throws IndexDamaged */
  async findEarlier({ key, events: [{ id }] }: LogRecord): Promise<EarlierRecords> {
    return {
      byId: await this.findId(id),
      byKey: key === undefined ? undefined : await this.findKey(key),
    };
  }

  /** Where the record lies whose first event has this id. @throws IndexDamaged */
  async findId(id: string): Promise<RecordPlace | undefined> {
    return id > this.extent.greatestId ? undefined : this.#find('ids', id, (found) => found.events[0].id === id);
  }

  /** Where the record lies that was stored under this key. @throws IndexDamaged */
  findKey(key: string): Promise<RecordPlace | undefined> {
    return this.#find('keys', key, (found) => found.key === key);
  }

  /** The records that hold the events from `from` to `to`. @throws IndexDamaged */
  covering({ from, to }: { readonly from: number; readonly to: number }): Promise<IndexedRecord[]> {
    return this.#reading(async (file) => {
      const found: IndexedRecord[] = [];
      let number = await this.#numberOf(file, from);
      while (number < this.extent.records) {
        const entries = await this.#entriesAt(file, number, Math.min(to - from + 1, ENTRIES_PER_READ));
        for (const entry of entries) {
          if (entry.firstSeq > to) return found;
          found.push(entry);
        }
        number += entries.length;
      }
      return found;
    });
  }

  /** The last entry. @throws IndexDamaged */
  last(): Promise<IndexedRecord> {
    return this.#reading((file) => this.#entryAt(file, this.extent.records - 1));
  }

  /** Reads all of the index and compares its checksum. @throws IndexDamaged */
  async verify(): Promise<void> {
    await this.#forEachPiece(() => undefined);
  }

  /** Number of the record that holds event `seq`. */
  async #numberOf(file: ReadableFile, seq: number): Promise<number> {
    let low = 0;
    let high = this.extent.records - 1;
    while (low < high) {
      const middle = Math.floor((low + high + 1) / 2);
      if ((await this.#entryAt(file, middle)).firstSeq <= seq) low = middle;
      else high = middle - 1;
    }
    return low;
  }

  /** False when it is certain, without checking the disk, that it is not there. */
  #mayFind(what: keyof Tables, text: string): boolean {
    const table = this.#tables[what];
    return table === undefined || table.find(hashText(text)).length > 0;
  }

  /** The first of the candidates whose record is the one that is searched for. */
  async #find(
    what: keyof Tables,
    text: string,
    isIt: (record: LogRecord) => boolean,
  ): Promise<RecordPlace | undefined> {
    const table = (this.#tables[what] ??= await this.#load(what));
    const numbers = table.find(hashText(text));
    if (numbers.length === 0) return undefined;
    return this.#reading(async (file) => {
      for (const number of numbers.toSorted((one, other) => one - other)) {
        const entry = await this.#entryAt(file, number);
        const record = await this.#segments.recordAt(entry);
        if (record === undefined || !agrees(entry, record)) throw new IndexDamaged();
        if (isIt(record)) return { firstSeq: entry.firstSeq, count: entry.count };
      }
      return undefined;
    });
  }

  async #load(what: keyof Tables): Promise<HashTable> {
    const table = what === 'ids' ? new HashTable(this.extent.records) : new HashTable();
    const hashAt = HASH_AT[what];
    await this.#forEachPiece((bytes, number) => {
      for (let at = hashAt, index = number; at < bytes.length; at += ENTRY_BYTES, index += 1) {
        const hash = { low: bytes.readUInt32LE(at), high: bytes.readUInt32LE(at + 4) };
        // What has no key has a hash of nothing.
        if (what === 'ids' || hash.low !== 0 || hash.high !== 0) table.add(hash, index);
      }
    });
    return table;
  }

  async #forEachPiece(take: (bytes: Buffer, number: number) => void): Promise<void> {
    await this.#reading(async (file) => {
      let checksum = 0;
      for (let number = 0; number < this.extent.records; number += ENTRIES_PER_READ) {
        const bytes = await this.#bytesAt(file, number, ENTRIES_PER_READ);
        checksum = crc32(bytes, checksum);
        take(bytes, number);
      }
      if (checksum !== this.extent.checksum) throw new IndexDamaged();
    });
  }

  async #entryAt(file: ReadableFile, number: number): Promise<IndexedRecord> {
    return decodeEntry(await this.#bytesAt(file, number, 1), 0, number);
  }

  async #entriesAt(file: ReadableFile, number: number, count: number): Promise<IndexedRecord[]> {
    const bytes = await this.#bytesAt(file, number, count);
    return Array.from({ length: bytes.length / ENTRY_BYTES }, (_, index) =>
      decodeEntry(bytes, index * ENTRY_BYTES, number + index),
    );
  }

  /** The bytes of `count` entries from the `number`-th on, or of those that are left. */
  async #bytesAt(file: ReadableFile, number: number, count: number): Promise<Buffer> {
    const length = Math.min(count, this.extent.records - number) * ENTRY_BYTES;
    const bytes = await file.read(number * ENTRY_BYTES, length);
    if (length <= 0 || bytes.length !== length) throw new IndexDamaged();
    return bytes;
  }

  async #reading<Value>(work: (file: ReadableFile) => Promise<Value>): Promise<Value> {
    const file = await openToRead(this.#path).catch(() => undefined);
    // A process that has begun another one may have removed it.
    if (file === undefined) throw new IndexDamaged();
    try {
      return await work(file);
    } finally {
      await file.close();
    }
  }
}

/** Whether the record that lies at an entry's place is the one that the entry speaks of. */
export function agrees(entry: IndexedRecord, { events }: LogRecord): boolean {
  const { low, high } = hashText(events[0].id);
  return entry.count === events.length && entry.id.low === low && entry.id.high === high;
}
