/** The lines of a log that another program has written: numbered, bounded, and with a digest of every byte. */
import { createHash } from 'node:crypto';
import type { FileHandle } from 'node:fs/promises';
import { MAX_IMPORT_LINE_BYTES, MAX_KEPT_CHARACTERS } from '../../machines/import/import-limits.ts';
import type { SourceLine } from '../../machines/import/source-log.ts';

export interface ReadLog {
  /** SHA-256 of the log. */
  readonly digest: Uint8Array;
  readonly bytes: number;
  /** It begins with a byte order mark. */
  readonly hasMark: boolean;
  /** Lines that end as on Windows. */
  readonly carriageReturns: number;
}

export interface LineBounds {
  readonly lineBytes: number;
  readonly chunkBytes: number;
}

const NEWLINE = 0x0a;
const RETURN = 0x0d;
const MARK = Buffer.from([0xef, 0xbb, 0xbf]);
const BOUNDS: LineBounds = { lineBytes: MAX_IMPORT_LINE_BYTES, chunkBytes: 256 * 1024 };

/** Reads from the beginning to where the file ended when it was begun. */
export async function readLines(
  handle: FileHandle,
  onLine: (line: SourceLine) => void,
  bounds: LineBounds = BOUNDS,
): Promise<ReadLog> {
  const { size } = await handle.stat();
  const hash = createHash('sha256');
  const lines = new Lines(onLine, bounds.lineBytes);
  const chunk = Buffer.alloc(bounds.chunkBytes);
  let position = 0;
  while (position < size) {
    const { bytesRead } = await handle.read(chunk, 0, Math.min(chunk.length, size - position), position);
    if (bytesRead === 0) break;
    position += bytesRead;
    hash.update(chunk.subarray(0, bytesRead));
    lines.push(chunk.subarray(0, bytesRead));
  }
  lines.end();
  return { digest: hash.digest(), bytes: position, hasMark: lines.hasMark, carriageReturns: lines.carriageReturns };
}

class Lines {
  readonly #onLine: (line: SourceLine) => void;
  readonly #maxBytes: number;
  #parts: Buffer[] = [];
  #length = 0;
  #number = 1;
  hasMark = false;
  carriageReturns = 0;

  constructor(onLine: (line: SourceLine) => void, maxBytes: number) {
    this.#onLine = onLine;
    this.#maxBytes = maxBytes;
  }

  push(chunk: Buffer): void {
    let start = 0;
    for (let end = chunk.indexOf(NEWLINE); end !== -1; end = chunk.indexOf(NEWLINE, start)) {
      this.#add(chunk.subarray(start, end));
      this.#tell(false);
      start = end + 1;
    }
    this.#add(chunk.subarray(start));
  }

  end(): void {
    if (this.#length > 0) this.#tell(true);
  }

  /** Of a line that is too long only the beginning is kept. */
  #add(part: Buffer): void {
    if (this.#length <= this.#maxBytes) this.#parts.push(Buffer.from(part));
    this.#length += part.length;
  }

  #tell(isLast: boolean): void {
    const number = this.#number;
    const isTooLong = this.#length > this.#maxBytes;
    const bytes = this.#bytes(isTooLong);
    this.#parts = [];
    this.#length = 0;
    this.#number += 1;
    const text = bytes.toString('utf8');
    const isBroken = text.includes('\uFFFD') && !Buffer.from(text).equals(bytes);
    this.#onLine({
      number,
      text,
      ...(isLast ? { isLast } : {}),
      ...(isTooLong ? { trouble: 'too_long' } : isBroken ? { trouble: 'not_utf8' } : {}),
    });
  }

  #bytes(isTooLong: boolean): Buffer {
    let bytes = Buffer.concat(this.#parts);
    if (this.#number === 1 && bytes.subarray(0, MARK.length).equals(MARK)) {
      this.hasMark = true;
      bytes = bytes.subarray(MARK.length);
    }
    if (isTooLong) return bytes.subarray(0, MAX_KEPT_CHARACTERS);
    if (bytes.at(-1) !== RETURN) return bytes;
    this.carriageReturns += 1;
    return bytes.subarray(0, -1);
  }
}
