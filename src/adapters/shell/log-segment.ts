/** One file of a disk log, and where in it each line lies. */
import { open } from 'node:fs/promises';
import { bytesOf } from '../system/own-files.ts';

/** Lines in a row, and the bytes they take in the file. */
interface Stretch {
  readonly firstLine: number;
  lines: number;
  readonly at: number;
  bytes: number;
}

export interface LogLines {
  /** Index of the first of `lines`. */
  readonly offset: number;
  readonly lines: readonly string[];
}

/** A page is found by reading at most this much before it. */
const STRETCH_BYTES = 65_536;

export class LogSegment {
  readonly path: string;
  readonly stretches: Stretch[] = [];
  /** Index of the line that would be next. */
  endLine: number;
  bytes = 0;

  constructor(path: string, firstLine = 0) {
    this.path = path;
    this.endLine = firstLine;
  }

  /** Lines were written at the end of the file. */
  add({
    firstLine,
    lines,
    bytes,
  }: {
    readonly firstLine: number;
    readonly lines: number;
    readonly bytes: number;
  }): void {
    const last = this.stretches.at(-1);
    if (
      last !== undefined &&
      firstLine === this.endLine &&
      last.bytes < STRETCH_BYTES &&
      last.at + last.bytes === this.bytes
    ) {
      last.lines += lines;
      last.bytes += bytes;
    } else {
      this.stretches.push({ firstLine, lines, at: this.bytes, bytes });
    }
    this.bytes += bytes;
    this.endLine = firstLine + lines;
  }

  /** Bytes were written that are no lines of the log. */
  skip(bytes: number): void {
    this.bytes += bytes;
  }
}

/** Lines in a row from `offset` on, or from the first kept after it. */
export async function readLogLines(
  segments: readonly LogSegment[],
  offset: number,
  limit: number,
): Promise<LogLines | undefined> {
  const segment = segments.find(({ endLine, bytes }) => endLine > offset && bytes > 0);
  if (segment === undefined) return undefined;
  const first = segment.stretches.findIndex((stretch) => stretch.firstLine + stretch.lines > offset);
  const begin = segment.stretches[first];
  if (begin === undefined) return undefined;
  const from = Math.max(offset, begin.firstLine);
  const wanted = inARow(segment.stretches.slice(first), from + limit);
  const text = await readRange(segment.path, begin.at, wanted);
  if (text === undefined) return undefined;
  const lines = text.split('\n').slice(0, -1);
  return { offset: from, lines: lines.slice(from - begin.firstLine, from - begin.firstLine + limit) };
}

/** Bytes of the leading stretches that follow each other without a gap and begin before line `end`. */
function inARow(stretches: readonly Stretch[], end: number): number {
  let bytes = 0;
  let previous: Stretch | undefined;
  for (const stretch of stretches) {
    const follows =
      previous === undefined ||
      (previous.firstLine + previous.lines === stretch.firstLine && previous.at + previous.bytes === stretch.at);
    if (!follows || (previous !== undefined && stretch.firstLine >= end)) break;
    bytes += stretch.bytes;
    previous = stretch;
  }
  return bytes;
}

async function readRange(path: string, at: number, length: number): Promise<string | undefined> {
  try {
    const file = await open(path, 'r');
    try {
      const bytes = await bytesOf(file, length, at);
      return bytes.length < length ? undefined : bytes.toString('utf8');
    } finally {
      await file.close();
    }
  } catch {
    // It was removed, or the disk fails: the lines in memory are still there.
    return undefined;
  }
}
