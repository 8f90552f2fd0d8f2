/**
 * The files that a session's log consists of. One goes on in the next: when a segment is long enough, a writer makes
 * the next file and then seals the current one. Any number of writers may do so at once: the next file is there once,
 * whichever makes it, and the first seal in the file ends it for every reader.
 *
 * A crash between the two leaves a next file without a record in it, which changes nothing. Old segments are never
 * removed.
 */
import { existsSync } from 'node:fs';
import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import { systemCodeOf } from '../system/error-codes.ts';
import type { FileOperations, LogFile, ReadableFile } from './file-operations.ts';
import { openToRead } from './file-operations.ts';
import { scanLines } from './line-scanner.ts';
import { decodeLine, isSeal } from './record-codec.ts';
import type { ReadRecord } from './record-codec.ts';
import type { LogPlace } from './index-entry.ts';
import { segmentFile } from './layout.ts';

/** Read at first where the length of a record is not known. */
const RECORD_GUESS_BYTES = 4 * 1024;
const MAX_READ_BYTES = 256 * 1024;

export interface OpenSegment {
  readonly segment: number;
  readonly file: ReadableFile;
}

export class LogSegments {
  readonly #directory: string;
  readonly #operations: FileOperations;
  #syncedSegment = 1;

  /** `directory` is the session's. */
  constructor(directory: string, operations: FileOperations) {
    this.#directory = directory;
    this.#operations = operations;
  }

  pathOf(segment: number): string {
    return join(this.#directory, segmentFile(segment));
  }

  /** Opens a segment. @throws ENOENT when it is not there */
  open(segment: number): Promise<LogFile> {
    return this.#operations.openLog(this.pathOf(segment));
  }

  /**
   * Puts the segment before this one on the disk, once: another process that has ended it may not have come to its sync
   * yet.
   */
  async syncBefore(segment: number): Promise<void> {
    if (segment > this.#syncedSegment) await this.#operations.syncFile(this.pathOf(segment - 1));
    this.#syncedSegment = segment;
  }

  /** Makes sure that the segment is there, and is there after a power failure too. */
  async make(segment: number): Promise<void> {
    try {
      await this.#operations.createFile(this.pathOf(segment), '');
    } catch (error) {
      if (systemCodeOf(error) !== 'EEXIST') throw error;
    }
    // Also when another writer has made it: it may not have come to this yet.
    await this.#operations.syncDirectory(this.#directory);
  }

  isThere(segment: number): boolean {
    return existsSync(this.pathOf(segment));
  }

  /** In bytes; undefined when the segment is not there. */
  async sizeOf(segment: number): Promise<number | undefined> {
    try {
      return (await stat(this.pathOf(segment))).size;
    } catch (error) {
      if (systemCodeOf(error) === 'ENOENT') return undefined;
      throw error;
    }
  }

  /** Whether the log goes on in this segment, seal or no seal. */
  async holdsRecords(segment: number): Promise<boolean> {
    return this.#reading(segment, false, async (file) => {
      for await (const { lines } of scanLines(file, 0, await file.size())) {
        if (lines.some(({ bytes }) => bytes !== undefined && decodeLine(bytes) !== undefined)) return true;
      }
      return false;
    });
  }

  /** The record that begins at `place`; undefined when there is none that can be read. */
  async recordAt(place: LogPlace): Promise<ReadRecord | undefined> {
    for await (const record of this.recordsAt([place])) return record;
    return undefined;
  }

  /** One record for each of `places`, which are in the order of the log; undefined where none can be read. */
  async *recordsAt(
    places: readonly LogPlace[],
    current?: OpenSegment,
  ): AsyncGenerator<ReadRecord | undefined, void, undefined> {
    for (let from = 0; from < places.length;) {
      const segment = places[from]?.segment ?? 0;
      let to = from + 1;
      while (places[to]?.segment === segment) to += 1;
      const ofSegment = places.slice(from, to);
      if (current?.segment === segment) yield* recordsIn(current.file, ofSegment);
      else {
        const file = await this.#openToRead(segment);
        try {
          yield* file === undefined ? ofSegment.map(() => undefined) : recordsIn(file, ofSegment);
        } finally {
          await file?.close();
        }
      }
      from = to;
    }
  }

  async #reading<Value>(
    segment: number,
    otherwise: Value,
    work: (file: ReadableFile) => Promise<Value>,
  ): Promise<Value> {
    const file = await this.#openToRead(segment);
    if (file === undefined) return otherwise;
    try {
      return await work(file);
    } finally {
      await file.close();
    }
  }

  async #openToRead(segment: number): Promise<ReadableFile | undefined> {
    try {
      return await openToRead(this.pathOf(segment));
    } catch (error) {
      if (systemCodeOf(error) === 'ENOENT') return undefined;
      throw error;
    }
  }
}

async function* recordsIn(
  file: ReadableFile,
  places: readonly LogPlace[],
): AsyncGenerator<ReadRecord | undefined, void, undefined> {
  const first = places[0]?.offset ?? 0;
  const extent = (places.at(-1)?.offset ?? first) - first;
  let next = 0;
  for await (const { lines } of scanLines(
    file,
    first,
    await file.size(),
    Math.min(extent + RECORD_GUESS_BYTES, MAX_READ_BYTES),
  )) {
    for (const { start, bytes } of lines) {
      // Places without a line of their own: there is something else now.
      for (; (places[next]?.offset ?? Infinity) < start; next += 1) yield undefined;
      if (places[next]?.offset !== start) continue;
      const content = bytes === undefined ? undefined : decodeLine(bytes);
      yield isSeal(content) ? undefined : content;
      next += 1;
      if (next === places.length) return;
    }
  }
  for (; next < places.length; next += 1) yield undefined;
}
