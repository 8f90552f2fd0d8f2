/** Reads the complete lines of a file from a position on. A last line without its newline may still be being written: it is left for later. */
import { MAX_RECORD_BYTES } from '../../machines/session/limits.ts';
import type { LogFile } from './log-file.ts';

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
  /** Without its newline; empty for the newline that leads a record, undefined for a line that is too long to be one. */
  readonly bytes: Buffer | undefined;
}

/** Lines of `file` between `from` and `to`, as many at a time as one read brings. */
export async function* scanLines(file: LogFile, from: number, to: number): AsyncGenerator<readonly ScannedLine[], void, undefined> {
  let lineStart = from;
  let readFrom = from;
  let wanted = CHUNK_BYTES;
  while (readFrom < to) {
    const chunk = await file.read(readFrom, Math.min(wanted, to - readFrom));
    if (chunk.length === 0) return;
    const isPassingOver = readFrom > lineStart;
    const lines = linesOf(chunk, readFrom, isPassingOver ? lineStart : undefined);
    const last = lines.at(-1);
    if (last !== undefined) {
      yield lines;
      lineStart = readFrom = last.end;
      wanted = CHUNK_BYTES;
    } else if (isPassingOver || chunk.length > MAX_LINE_BYTES) readFrom += chunk.length;
    // No newline in all of it: read the same again and more.
    else if (readFrom + chunk.length >= to) return;
    else wanted *= 2;
  }
}

/** The complete lines of a chunk; the first of them began at `longLineStart`, when that is given. */
function linesOf(chunk: Buffer, position: number, longLineStart: number | undefined): ScannedLine[] {
  const lines: ScannedLine[] = [];
  let offset = 0;
  for (let newline = chunk.indexOf(NEWLINE); newline !== -1; newline = chunk.indexOf(NEWLINE, offset)) {
    const end = position + newline + 1;
    if (longLineStart !== undefined && lines.length === 0) lines.push({ start: longLineStart, end, bytes: undefined });
    else lines.push({ start: position + offset, end, bytes: chunk.subarray(offset, newline) });
    offset = newline + 1;
  }
  return lines;
}
