/**
 * A task's log on disk: it follows the ring in memory.
 *
 * The file begins with the first line and takes half of the limit; a task that prints faster than that can be written
 * is asked to wait (see `pressure`), for a moment and never for a disk that hangs. What comes after goes to tail files,
 * `<path>.<first line>`, of which the newest are kept. Behind the head nothing waits: what comes too fast is dropped by
 * the ring, a `[system]` line in the file says how many lines are missing, and what came last is there in the end.
 * Lines keep their numbers wherever they lie. A disk that fails ends the file and nothing else.
 */
import type { FileHandle } from 'node:fs/promises';
import { open, rm } from 'node:fs/promises';
import { prefixedLogLine } from '../../machines/task/log-pages.ts';
import type { LogRing, LogRingCursor, LogRingPiece } from '../../machines/task/log-ring.ts';
import { within } from './deadline.ts';
import type { LogLines } from './log-segment.ts';
import { LogSegment, readLogLines } from './log-segment.ts';

// Raw lines of one source as they stand in a log file: each with its prefix, empty ones left out.

/**
 * Works on Latin-1 strings, in which each byte is one character: the string functions are native, several times faster
 * than a loop over bytes, and whatever the bytes meant they mean afterwards.
 */
export function formatLogLines({ source, bytes }: { readonly source: string; readonly bytes: Uint8Array }): Buffer {
  const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString('latin1');
  const hasOddLines = text.startsWith('\n') || text.includes('\n\n') || text.includes('\r');
  const formatted = hasOddLines
    ? formatOneByOne(source, text)
    : prefixedLogLine(source, text.slice(0, -1).replaceAll('\n', `\n${prefixedLogLine(source, '')}`));
  return Buffer.from(`${formatted}\n`, 'latin1');
}

function formatOneByOne(source: string, text: string): string {
  const lines = text.split('\n').map((line) => (line.endsWith('\r') ? line.slice(0, -1) : line));
  return lines
    .filter((line) => line !== '')
    .map((line) => prefixedLogLine(source, line))
    .join('\n');
}

/** What a file says where lines are missing in it. No line of a log. */
export const MISSING_LINES = /^\[system\] (\d+) lines are missing here: they came faster than they could be written$/;

export interface DiskLogOptions {
  readonly ring: LogRing;
  readonly path: string;
  /** Open for writing, empty. */
  readonly file: FileHandle;
  /** Most bytes on disk, MIN_DISK_LOG_BYTES at least. */
  readonly limitBytes: number;
  /** Called at most once, when writing has failed and stopped. */
  readonly onFailure: (error: unknown) => void;
}

/** The tail's half of the limit is kept in this many files, so that dropping the oldest leaves most of it. */
const TAIL_SEGMENTS = 4;
const BATCH_BYTES = 262_144;
/** A batch and the piece that completes it, at worst 128 KiB of lines of one character, fit a tail file even then. */
export const MIN_DISK_LOG_BYTES = 8_388_608;
/** A disk that takes longer for one batch is not waited for again. */
const PATIENCE_MS = 1000;
/** Behind the head, formatting may take one part in four of the time: the task's own output comes first. */
const REST_PER_WORK = 3;

export class DiskLog {
  readonly path: string;
  readonly #options: DiskLogOptions;
  readonly #segments: LogSegment[];
  #file: FileHandle | undefined;
  #cursor = LOG_BEGINNING;
  #pumping: Promise<void> | undefined;
  /** Set when no more will come: what is left is written without rest. */
  #isFinishing = false;
  #endRest: (() => void) | undefined;
  /** Resolves when the next batch is written; there while a caller waits for that. */
  #relief: Promise<void> | undefined;
  #relieve: (() => void) | undefined;
  #isImpatient = false;

  constructor(options: DiskLogOptions) {
    this.path = options.path;
    this.#options = options;
    this.#file = options.file;
    this.#segments = [new LogSegment(options.path)];
  }

  /** Something was logged. */
  wake(): void {
    if (this.#file !== undefined) this.#pumping ??= this.#pump();
  }

  /** What a writer who wants the file complete should wait for before it logs more; undefined when it need not wait. */
  pressure(): Promise<void> | undefined {
    const isHead = this.#segments.length === 1 && this.#file !== undefined;
    if (!isHead || this.#isImpatient || !isFallingBehind(this.#options.ring, this.#cursor)) return undefined;
    this.#relief ??= within(new Promise<void>((resolve) => (this.#relieve = resolve)), PATIENCE_MS, 'writing a batch')
      .catch(() => {
        this.#isImpatient = true;
      })
      .finally(() => {
        this.#relief = undefined;
      });
    return this.#relief;
  }

  /** Resolves when everything the ring still holds is written, or can no longer be. */
  async finish(): Promise<void> {
    this.#isFinishing = true;
    this.#endRest?.();
    this.wake();
    await this.#pumping;
    const file = this.#file;
    this.#file = undefined;
    await file?.close().catch(() => undefined);
  }

  /**
   * Up to `limit` lines from `offset` on, or from the next line that is kept; undefined when there is none or it cannot
   * be read.
   */
  read(offset: number, limit: number): Promise<LogLines | undefined> {
    return readLogLines(this.#segments, offset, limit);
  }

  async #pump(): Promise<void> {
    try {
      // What is logged in the same turn comes along.
      await Promise.resolve();
      for (let more = true; more;) {
        const began = performance.now();
        const pieces = this.#nextBatch();
        more = pieces.length > 0;
        const workedMs = performance.now() - began;
        for (const piece of pieces) await this.#write(piece);
        this.#relieve?.();
        if (more && this.#segments.length > 1) await this.#rest(workedMs * REST_PER_WORK);
      }
    } catch (error) {
      await this.#fail(error);
    } finally {
      this.#pumping = undefined;
      this.#relieve?.();
    }
  }

  /**
   * Takes what the ring holds, up to a batch, formatted: the ring may overwrite its bytes while they are being written.
   */
  #nextBatch(): FormattedPiece[] {
    const pieces: FormattedPiece[] = [];
    let size = 0;
    for (let piece = this.#next(); piece !== undefined; piece = size < BATCH_BYTES ? this.#next() : undefined) {
      const bytes = formatLogLines(piece);
      size += bytes.length;
      const last = pieces.at(-1);
      if (last !== undefined && last.firstLine + last.lines === piece.firstLine) {
        last.parts.push(bytes);
        last.lines += piece.lines;
      } else {
        pieces.push({ parts: [bytes], firstLine: piece.firstLine, lines: piece.lines });
      }
    }
    return pieces;
  }

  #next(): LogRingPiece | undefined {
    const piece = this.#options.ring.follow(this.#cursor);
    if (piece !== undefined) this.#cursor = piece.next;
    return piece;
  }

  async #write({ parts, firstLine, lines }: FormattedPiece): Promise<void> {
    const bytes = Buffer.concat(parts);
    const segment = await this.#segmentFor(bytes.length, firstLine);
    const missing = firstLine - segment.endLine;
    if (missing > 0) {
      const mark = Buffer.from(
        `[system] ${missing} lines are missing here: they came faster than they could be written\n`,
      );
      await this.#writeAll(mark);
      segment.skip(mark.length);
    }
    await this.#writeAll(bytes);
    segment.add({ firstLine, lines, bytes: bytes.length });
  }

  /** The segment that takes the next bytes; begins another when the last is full. */
  async #segmentFor(bytes: number, firstLine: number): Promise<LogSegment> {
    const { limitBytes, path } = this.#options;
    const last = this.#segments.at(-1);
    const headBytes = limitBytes / 2;
    const maxBytes = this.#segments.length === 1 ? headBytes : headBytes / TAIL_SEGMENTS;
    if (last !== undefined && (last.bytes === 0 || last.bytes + bytes <= maxBytes)) return last;
    if (this.#segments.length > TAIL_SEGMENTS) {
      const [dropped] = this.#segments.splice(1, 1);
      if (dropped !== undefined) await rm(dropped.path, { force: true });
    }
    await this.#file?.close();
    const segment = new LogSegment(`${path}.${firstLine}`, firstLine);
    this.#file = await open(segment.path, 'w', 0o600);
    this.#segments.push(segment);
    return segment;
  }

  async #writeAll(bytes: Buffer): Promise<void> {
    for (let at = 0; at < bytes.length;) {
      const written = await this.#file?.write(bytes, at);
      at += written?.bytesWritten ?? bytes.length;
    }
  }

  #rest(durationMs: number): Promise<void> {
    if (this.#isFinishing) return Promise.resolve();
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, durationMs);
      this.#endRest = () => {
        clearTimeout(timer);
        resolve();
      };
    });
  }

  async #fail(error: unknown): Promise<void> {
    const file = this.#file;
    this.#file = undefined;
    this.#options.onFailure(error);
    await file?.close().catch(() => undefined);
  }
}

/** Half of the ring is left to take what comes until the reader has stopped. */
export function isFallingBehind(ring: LogRing, cursor: LogRingCursor): boolean {
  return ring.bytesAfter(cursor) > ring.limitBytes / 2;
}

/** Where a follower that has seen nothing begins. */
export const LOG_BEGINNING: LogRingCursor = { position: 0, line: 0 };

interface FormattedPiece {
  readonly parts: Buffer[];
  readonly firstLine: number;
  lines: number;
}
