/**
 * The newest lines of a log in bounded memory, numbered from the first line ever logged.
 *
 * Output is kept as the bytes that came, in runs of whole lines from one source; lines are cut out, decoded and
 * prefixed only when a caller reads them. So logging costs a copy and a count, however short the lines are, and a
 * gigabyte passes through without growing anything. When the ring is full the oldest run goes; its lines keep their
 * numbers.
 */
import { LogBytes } from './log-bytes.ts';
import type { LogRun } from './log-bytes.ts';
import { LINE_START, MAX_SCAN_BYTES, scanLines } from './log-line-scan.ts';
import type { LineBefore } from './log-line-scan.ts';
import { DEFAULT_LOG_PAGE_LINES, clampLogLimit, clampLogOffset, logPage, prefixedLogLine } from './log-pages.ts';
import { completeUtf8Length } from './output-utf8.ts';
import type { BackgroundTaskLogCursor, BackgroundTaskLogPage } from './task-state.ts';

export const DEFAULT_LOG_RING_BYTES = 1_048_576;

/** Less would leave no room for lines of usual length. */
const MIN_LOG_RING_BYTES = 4096;
const MAX_LINE_BYTES = 65_536;
const LINE_FEED = 10;

export interface LogRingOptions {
  /**
   * Most bytes of memory to hold, bookkeeping included, beside one unfinished line of each source; 4096 at least.
   * Default 1 MiB.
   */
  readonly limitBytes?: number | undefined;
}

/** A follower's place in the ring. */
export interface LogRingCursor {
  /** Bytes stored before this place since the log began. */
  readonly position: number;
  /** Index of the line that begins here. */
  readonly line: number;
}

/** Whole lines of one source, as they came. Valid until the next append. */
export interface LogRingPiece {
  readonly source: string;
  readonly bytes: Uint8Array;
  readonly firstLine: number;
  /** Lines in `bytes` that are not empty. */
  readonly lines: number;
  /** Where the next piece begins. */
  readonly next: LogRingCursor;
}

export class LogRing {
  readonly limitBytes: number;
  readonly #bytes: LogBytes;
  /** Longest piece taken at once. */
  readonly #windowBytes: number;
  /** A longer line is logged as several. */
  readonly #maxLineBytes: number;
  readonly #partials = new Map<string, PartialLine>();

  constructor(options: LogRingOptions = {}) {
    const limitBytes = Math.max(Math.floor(options.limitBytes ?? DEFAULT_LOG_RING_BYTES), MIN_LOG_RING_BYTES);
    this.limitBytes = limitBytes;
    this.#bytes = new LogBytes(limitBytes);
    this.#windowBytes = Math.min(MAX_SCAN_BYTES, limitBytes >> 4);
    this.#maxLineBytes = Math.min(MAX_LINE_BYTES, limitBytes >> 3);
  }

  /** Index of the oldest line still here. */
  get firstLine(): number {
    return this.#bytes.oldest?.firstLine ?? this.#bytes.endLine;
  }

  /** Lines logged so far: the index that the next one gets. */
  get endLine(): number {
    return this.#bytes.endLine;
  }

  /** Bytes of memory held, bookkeeping included. */
  get heldBytes(): number {
    return this.#bytes.heldBytes + [...this.#partials.values()].reduce((sum, partial) => sum + partial.capacity, 0);
  }

  /**
   * Takes the next piece of a source's output. A line is logged when its end has come, or when it grows too long to
   * wait for it.
   */
  append(source: string, chunk: Uint8Array): void {
    let partial = this.#partials.get(source);
    if (partial === undefined) this.#partials.set(source, (partial = new PartialLine(this.#maxLineBytes)));
    for (let start = 0; start < chunk.length; start += this.#windowBytes) {
      this.#appendWindow(source, partial, chunk.subarray(start, start + this.#windowBytes));
    }
  }

  /** Logs `text` as one line or several, whole already. */
  appendText(source: string, text: string): void {
    this.append(source, new TextEncoder().encode(`${text}\n`));
  }

  /** The source has ended: what it began and did not end is a line too. */
  endSource(source: string): void {
    const partial = this.#partials.get(source);
    if (partial !== undefined && partial.length > 0) this.#cut(source, partial, partial.length);
    this.#partials.delete(source);
  }

  /** Gives memory back that only further lines would need. */
  compact(): void {
    this.#bytes.compact();
  }

  /** The page at `cursor`; continues at the oldest line when that one is gone. */
  page(taskId: string, cursor?: BackgroundTaskLogCursor, limit?: number): BackgroundTaskLogPage {
    const offset = clampLogOffset(cursor?.offset, { first: this.firstLine, end: this.endLine });
    const lines = this.#read(offset, clampLogLimit(limit ?? DEFAULT_LOG_PAGE_LINES));
    const unfinished = offset + lines.length < this.endLine ? [] : this.#unfinished();
    return {
      ...logPage({ taskId, offset, lines, end: this.endLine }),
      ...(unfinished.length === 0 ? {} : { unfinished }),
    };
  }

  /** What comes at `cursor`, or at the oldest place when that is gone; undefined when there is nothing yet. */
  follow(cursor: LogRingCursor): LogRingPiece | undefined {
    const run = this.#bytes.runAtPosition(cursor.position);
    if (run === undefined) return undefined;
    const isInside = cursor.position > run.position;
    const firstLine = isInside ? cursor.line : run.firstLine;
    const endLine = run.firstLine + run.lines;
    return {
      source: run.source,
      bytes: this.#bytes.view(run).subarray(isInside ? cursor.position - run.position : 0),
      firstLine,
      lines: endLine - firstLine,
      next: { position: run.position + run.length, line: endLine },
    };
  }

  /** Bytes stored behind `cursor`, dropped ones included: how far its owner lags. */
  bytesAfter(cursor: LogRingCursor): number {
    return this.#bytes.endPosition - cursor.position;
  }

  #appendWindow(source: string, partial: PartialLine, window: Uint8Array): void {
    const { lines, lastLineFeed } = scanLines(window, partial.before);
    const whole = window.subarray(0, lastLineFeed + 1);
    if (lastLineFeed !== -1) {
      if (lines > 0) this.#bytes.store(source, [partial.view(), whole], lines);
      partial.clear();
    }
    const rest = window.subarray(whole.length);
    if (partial.length + rest.length > this.#maxLineBytes)
      this.#cut(source, partial, completeUtf8Length(partial.view()));
    partial.append(rest);
  }

  /** What each source has begun and not ended. */
  #unfinished(): string[] {
    return [...this.#partials].flatMap(([source, partial]) => {
      const bytes = partial.view();
      const text = decoder.decode(withoutCarriageReturn(bytes.subarray(0, completeUtf8Length(bytes))));
      return text === '' ? [] : [prefixedLogLine(source, text)];
    });
  }

  /** Logs the first `length` bytes of an unfinished line as a line. */
  #cut(source: string, partial: PartialLine, length: number): void {
    this.#bytes.store(source, [partial.view().subarray(0, length), Uint8Array.of(LINE_FEED)], 1);
    partial.dropFirst(length);
  }

  #read(offset: number, limit: number): string[] {
    const lines: string[] = [];
    for (
      let run = this.#bytes.runAtLine(offset);
      run !== undefined && lines.length < limit;
      run = this.#bytes.runAtLine(run.firstLine + run.lines)
    ) {
      readRun(run, this.#bytes.view(run), { skip: Math.max(0, offset - run.firstLine), limit, into: lines });
    }
    return lines;
  }
}

const decoder = new TextDecoder('utf-8', { ignoreBOM: true });

/** Cuts the lines out of one run, leaving out the first `skip`, until `into` holds `limit`. */
function readRun(
  run: LogRun,
  bytes: Uint8Array,
  { skip, limit, into }: { readonly skip: number; readonly limit: number; readonly into: string[] },
): void {
  let toSkip = skip;
  let start = 0;
  for (let end = bytes.indexOf(LINE_FEED); end !== -1 && into.length < limit; end = bytes.indexOf(LINE_FEED, start)) {
    const line = withoutCarriageReturn(bytes.subarray(start, end));
    start = end + 1;
    if (line.length === 0) continue;
    if (toSkip > 0) toSkip -= 1;
    else into.push(prefixedLogLine(run.source, decoder.decode(line)));
  }
}

function withoutCarriageReturn(line: Uint8Array): Uint8Array {
  return line[line.length - 1] === 13 ? line.subarray(0, -1) : line;
}

/** A line whose end has not come yet. */
class PartialLine {
  readonly #limit: number;
  #bytes = new Uint8Array(0);
  length = 0;

  constructor(limit: number) {
    this.#limit = limit;
  }

  get capacity(): number {
    return this.#bytes.length;
  }

  /** What a scan of the following bytes has to know. */
  get before(): LineBefore {
    if (this.length === 0) return LINE_START;
    return {
      last: this.#bytes[this.length - 1] ?? 0,
      secondLast: this.length === 1 ? LINE_FEED : (this.#bytes[this.length - 2] ?? 0),
    };
  }

  view(): Uint8Array {
    return this.#bytes.subarray(0, this.length);
  }

  append(bytes: Uint8Array): void {
    if (bytes.length === 0) return;
    const needed = this.length + bytes.length;
    if (needed > this.#bytes.length) {
      const grown = new Uint8Array(Math.min(Math.max(needed, this.#bytes.length * 2), Math.max(needed, this.#limit)));
      grown.set(this.view());
      this.#bytes = grown;
    }
    this.#bytes.set(bytes, this.length);
    this.length = needed;
  }

  clear(): void {
    this.length = 0;
  }

  dropFirst(count: number): void {
    this.#bytes.copyWithin(0, count, this.length);
    this.length -= count;
  }
}
