/**
 * The acknowledged end of a log, in `events.end` beside it: how the log went when the last receipt was given. A log
 * that is shorter has lost something. It is written after the sync of the log and without one of its own: after a power
 * failure it may lag, and it never leads. Each writer has a place of its own in the file, so none takes back what
 * another has written; the one that says most counts.
 */
import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { crc32 } from 'node:zlib';
import * as z from 'zod';
import { systemCodeOf } from '../system/error-codes.ts';
import { openToRead } from './file-operations.ts';
import type { FileOperations, ReadableFile, WritableFile } from './file-operations.ts';
import { END_FILE } from './layout.ts';
import type { ChainClaim, ChainPoint, LogChain } from './log-chain.ts';

export interface AcknowledgedEnd extends ChainPoint {
  /** Sequence number of the last event. */
  readonly events: number;
}

/** Small enough to lie within one sector of a disk: it is written whole or not at all. */
const PLACE_BYTES = 128;
const PLACES = 16;
const WRITER_BYTES = 3;

const count = z.number().int().nonnegative();
const storedEnd = z.object({ crc: count, end: z.object({ records: count, chain: count, events: count }) });

export class LogEnd {
  #writer: string;
  /** What was kept when the file was opened. */
  readonly known: readonly AcknowledgedEnd[];
  readonly #path: string;
  readonly #operations: FileOperations;
  readonly #place: number;
  #file: WritableFile | undefined;
  /** How far the log is known to be on the disk. */
  #durable: AcknowledgedEnd | undefined;
  /** That as a record names it. */
  #claim: ChainClaim | undefined;

  private constructor(
    path: string,
    operations: FileOperations,
    file: WritableFile | undefined,
    known: readonly AcknowledgedEnd[],
  ) {
    const name = randomBytes(WRITER_BYTES);
    this.#writer = name.toString('hex');
    this.#place = name.readUIntBE(0, WRITER_BYTES) % PLACES;
    this.known = known;
    this.#path = path;
    this.#operations = operations;
    this.#file = file;
    this.#durable = known.reduce<AcknowledgedEnd | undefined>(
      (last, end) => (last !== undefined && last.records >= end.records ? last : end),
      undefined,
    );
  }

  /** Of the session in `directory`. To be opened before its log is read: the log only grows. */
  static async open(directory: string, operations: FileOperations): Promise<LogEnd> {
    const path = join(directory, END_FILE);
    const file = await operations.openWritable(path).catch(() => undefined);
    if (file !== undefined) return new LogEnd(path, operations, file, await endsIn(file));
    return new LogEnd(path, operations, undefined, await endsOf(path));
  }

  /** What a record that is written now says of the log before it, which goes as `chain` does. */
  claim(chain: LogChain): ChainClaim | undefined {
    // A loss that was accepted since has ended the chain of which it was a point.
    if (this.#durable === undefined || chain.faultOf(this.#durable) !== undefined) return undefined;
    return (this.#claim ??= this.claimOf(this.#durable));
  }

  claimOf({ records, chain }: ChainPoint): ChainClaim {
    return { records, chain, writer: this.#writer };
  }

  /**
   * After a write that failed: it may have left a record without its last newline, and the same bytes written again
   * would look like a copy of it.
   */
  writeUnderNewName(): void {
    this.#writer = randomBytes(WRITER_BYTES).toString('hex');
    this.#claim = undefined;
  }

  /** Keeps `end`, all of which is on the disk. One that cannot be kept lags, and fails nothing that is stored. */
  async keep(end: AcknowledgedEnd, bytes = encodedEnd(end)): Promise<void> {
    this.#durable = end;
    this.#claim = undefined;
    try {
      this.#file ??= await this.#made();
      await this.#file.write(bytes, this.#place * PLACE_BYTES);
    } catch {
      await this.close();
    }
  }

  /**
   * Forgets what every writer has kept: the log ends so, and what was behind it is known to be gone. @throws the
   * system's error
   */
  async startAnew(end: AcknowledgedEnd): Promise<void> {
    this.#file ??= await this.#made();
    const bytes = Buffer.alloc(PLACES * PLACE_BYTES, ' ');
    encodedEnd(end).copy(bytes);
    await this.#file.write(bytes, 0);
    await this.#file.sync();
  }

  async close(): Promise<void> {
    const file = this.#file;
    this.#file = undefined;
    await file?.close().catch(() => undefined);
  }

  async #made(): Promise<WritableFile> {
    await this.#operations.createFile(this.#path, '').catch((error: unknown) => {
      if (systemCodeOf(error) !== 'EEXIST') throw error;
    });
    return this.#operations.openWritable(this.#path);
  }
}

/** The content of the file for a log that ends so. */
export function encodedEnd({ records, chain, events }: AcknowledgedEnd): Buffer {
  const end = `{"records":${records},"chain":${chain},"events":${events}}`;
  return Buffer.from(`${`{"crc":${crc32(end)},"end":${end}}`.padEnd(PLACE_BYTES - 1)}\n`, 'latin1');
}

/** What the file says. */
export async function endsOf(path: string): Promise<readonly AcknowledgedEnd[]> {
  const file = await openToRead(path).catch(() => undefined);
  if (file === undefined) return [];
  try {
    return await endsIn(file);
  } finally {
    await file.close();
  }
}

async function endsIn(file: ReadableFile): Promise<AcknowledgedEnd[]> {
  const bytes = await file.read(0, PLACES * PLACE_BYTES);
  const ends = Array.from({ length: Math.ceil(bytes.length / PLACE_BYTES) }, (_, place) =>
    decoded(bytes.toString('latin1', place * PLACE_BYTES, (place + 1) * PLACE_BYTES)),
  );
  return ends.filter((end) => end !== undefined);
}

/** A place that says nothing is one that was never written, or that a power failure took. */
function decoded(text: string): AcknowledgedEnd | undefined {
  try {
    const { crc, end } = storedEnd.parse(JSON.parse(text));
    return crc32(JSON.stringify(end)) === crc ? end : undefined;
  } catch {
    return undefined;
  }
}
