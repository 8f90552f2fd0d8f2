/**
 * Reads the complete lines of a file from a position on. A last line without its newline may still be being written: it
 * is left for later.
 */
import { MAX_RECORD_BYTES } from '../../machines/session/limits.ts';
import type { ReadableFile } from './file-operations.ts';

/** How much is read at once. A longer line is read in a larger piece. */
const CHUNK_BYTES = 256 * 1024;
/** No record makes a longer line; what is longer is damage and is passed over without being kept. */
const MAX_LINE_BYTES = MAX_RECORD_BYTES + 1024;
const NEWLINE = 0x0a;

export interface ScannedLine {
  /** Where the line begins. */
  readonly start: number;
  /** Where the next one begins. */
  readonly end: number;
  /** Without its newline; undefined for a line that is too long to be a record. */
  readonly bytes: Buffer | undefined;
}

/** What one read brought. */
export interface ScannedPiece {
  /** Empty lines are left out: the newline that leads a record makes one. */
  readonly lines: readonly ScannedLine[];
  /** Where the next unread line begins. */
  readonly end: number;
}

/** Lines of `file` between `from` and `to`, as many at a time as one read brings. */
export async function* scanLines(
  file: ReadableFile,
  from: number,
  to: number,
  chunkBytes = CHUNK_BYTES,
): AsyncGenerator<ScannedPiece, void, undefined> {
  let lineStart = from;
  let readFrom = from;
  let wanted = chunkBytes;
  while (readFrom < to) {
    const chunk = await file.read(readFrom, Math.min(wanted, to - readFrom));
    if (chunk.length === 0) return;
    const isPassingOver = readFrom > lineStart;
    const piece = linesOf(chunk, readFrom, isPassingOver ? lineStart : undefined);
    if (piece !== undefined) {
      yield piece;
      lineStart = readFrom = piece.end;
      wanted = Math.max(wanted, CHUNK_BYTES);
    } else if (isPassingOver || chunk.length > MAX_LINE_BYTES) readFrom += chunk.length;
    // No newline in all of it: read the same again and more.
    else if (readFrom + chunk.length >= to) return;
    else wanted *= 2;
  }
}

/**
 * The complete lines of a chunk, undefined when there are none; the first of them began at `longLineStart`, when that
 * is given.
 */
function linesOf(chunk: Buffer, position: number, longLineStart: number | undefined): ScannedPiece | undefined {
  const lines: ScannedLine[] = [];
  let offset = 0;
  let start = longLineStart;
  for (let newline = chunk.indexOf(NEWLINE); newline !== -1; newline = chunk.indexOf(NEWLINE, offset)) {
    const end = position + newline + 1;
    if (start !== undefined) lines.push({ start, end, bytes: undefined });
    else if (newline > offset) lines.push({ start: position + offset, end, bytes: chunk.subarray(offset, newline) });
    start = undefined;
    offset = newline + 1;
  }
  return offset === 0 ? undefined : { lines, end: position + offset };
}
