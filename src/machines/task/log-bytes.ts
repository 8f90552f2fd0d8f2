/**
 * The memory of a log ring: runs of whole lines in one circular buffer that grows up to its limit and then drops the
 * oldest.
 */

/** Whole lines of one source, stored next to each other. */
export interface LogRun {
  readonly source: string;
  /** Bytes stored before it since the log began. */
  readonly position: number;
  readonly firstLine: number;
  /** Lines in it that are not empty. */
  lines: number;
  length: number;
  /** Where it lies in the buffer. */
  at: number;
}

/** What a run costs beside its bytes: one object and its place in the list. */
const RUN_OVERHEAD_BYTES = 128;
/**
 * Small pieces of one source are joined into runs of up to this: large enough to spare objects, small enough to be
 * dropped whole.
 */
const JOINED_RUN_BYTES = 16_384;
const MIN_CAPACITY_BYTES = 1024;
/** Dropped runs leave holes at the front of the list; they are closed when this many and half of it are holes. */
const MAX_HOLES = 1024;

export class LogBytes {
  readonly #maxCapacityBytes: number;
  readonly #maxRuns: number;
  readonly #joinedRunBytes: number;
  #buffer = new Uint8Array(0);
  /** Oldest first, from `#first` on. */
  #runs: LogRun[] = [];
  #first = 0;
  #usedBytes = 0;
  #endPosition = 0;
  endLine = 0;

  constructor(limitBytes: number) {
    // Fixed shares: a buffer grown by long lines would otherwise leave no room for the bookkeeping of many short ones.
    const bookkeeping = limitBytes >> 2;
    this.#maxCapacityBytes = limitBytes - bookkeeping;
    this.#maxRuns = Math.max(1, Math.floor(bookkeeping / RUN_OVERHEAD_BYTES));
    this.#joinedRunBytes = Math.min(JOINED_RUN_BYTES, limitBytes >> 3);
  }

  get oldest(): LogRun | undefined {
    return this.#runs[this.#first];
  }

  /** Bytes stored since the log began. */
  get endPosition(): number {
    return this.#endPosition;
  }

  get heldBytes(): number {
    return this.#buffer.length + this.#count * RUN_OVERHEAD_BYTES;
  }

  /** Stores the parts as one stretch that holds `lines` lines. Together they must be smaller than the limit by far. */
  store(source: string, parts: readonly Uint8Array[], lines: number): void {
    const length = parts.reduce((sum, part) => sum + part.length, 0);
    const last = this.#runs.at(-1);
    const mayJoin = last !== undefined && last.source === source && last.length + length <= this.#joinedRunBytes;
    const at = this.#makeRoom(length);
    let end = at;
    for (const part of parts) {
      this.#buffer.set(part, end);
      end += part.length;
    }
    // Making room may have moved the last run, or dropped it.
    if (mayJoin && last === this.#runs.at(-1) && last.at + last.length === at) {
      last.length += length;
      last.lines += lines;
    } else {
      this.#runs.push({ source, position: this.#endPosition, firstLine: this.endLine, lines, length, at });
    }
    this.#usedBytes += length;
    this.#endPosition += length;
    this.endLine += lines;
  }

  view(run: LogRun): Uint8Array {
    return this.#buffer.subarray(run.at, run.at + run.length);
  }

  /** The run with line `line`, or the oldest when that line is gone; undefined when it is still to come. */
  runAtLine(line: number): LogRun | undefined {
    return this.#firstWhere((run) => run.firstLine + run.lines > line);
  }

  /** The run with the byte at `position`, likewise. */
  runAtPosition(position: number): LogRun | undefined {
    return this.#firstWhere((run) => run.position + run.length > position);
  }

  /** Shrinks the buffer to what it holds. */
  compact(): void {
    this.#relocate(this.#usedBytes);
    this.#closeHoles();
  }

  get #count(): number {
    return this.#runs.length - this.#first;
  }

  /** Binary search: `isAt` is false for the runs before the one sought, true from it on. */
  #firstWhere(isAt: (run: LogRun) => boolean): LogRun | undefined {
    let low = this.#first;
    let high = this.#runs.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      const run = this.#runs[middle];
      if (run !== undefined && isAt(run)) high = middle;
      else low = middle + 1;
    }
    return this.#runs[low];
  }

  /** Finds `length` free bytes in a row, growing the buffer or dropping the oldest runs. */
  #makeRoom(length: number): number {
    const allowed = Math.max(this.#maxCapacityBytes, length);
    for (;;) {
      const at = this.#freeAt(length);
      if (at !== undefined && this.#count < this.#maxRuns) return at;
      const canGrow = at === undefined && this.#buffer.length < allowed && this.#usedBytes + length <= allowed;
      if (canGrow)
        this.#relocate(
          Math.min(allowed, Math.max(this.#usedBytes + length, this.#buffer.length * 2, MIN_CAPACITY_BYTES)),
        );
      else this.#dropOldest();
    }
  }

  /** Where `length` bytes fit behind the newest run, without overwriting the oldest. */
  #freeAt(length: number): number | undefined {
    const capacity = this.#buffer.length;
    const oldest = this.oldest;
    const newest = this.#runs.at(-1);
    if (oldest === undefined || newest === undefined) return length <= capacity ? 0 : undefined;
    const end = newest.at + newest.length;
    const isWrapped = newest.at < oldest.at;
    if (isWrapped) return end + length <= oldest.at ? end : undefined;
    if (end + length <= capacity) return end;
    return length <= oldest.at ? 0 : undefined;
  }

  #dropOldest(): void {
    const oldest = this.oldest;
    if (oldest === undefined) return;
    this.#usedBytes -= oldest.length;
    this.#first += 1;
    if (this.#first > MAX_HOLES && this.#first * 2 > this.#runs.length) this.#closeHoles();
  }

  #closeHoles(): void {
    this.#runs = this.#runs.slice(this.#first);
    this.#first = 0;
  }

  #relocate(capacity: number): void {
    const moved = new Uint8Array(capacity);
    let at = 0;
    for (let index = this.#first; index < this.#runs.length; index += 1) {
      const run = this.#runs[index];
      if (run === undefined) continue;
      moved.set(this.view(run), at);
      run.at = at;
      at += run.length;
    }
    this.#buffer = moved;
  }
}
