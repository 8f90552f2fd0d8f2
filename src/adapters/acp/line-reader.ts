/** Cuts the output of a program into lines of bounded length. */

const LINE_FEED = 0x0a;

export class LineReader {
  readonly #limitBytes: number;
  #parts: Buffer[] = [];
  #bytes = 0;

  constructor(limitBytes: number) {
    this.#limitBytes = limitBytes;
  }

  /** The lines that end in `chunk`, without their ends and without empty ones; `too_long` as the last when one exceeds the limit, ended or not. */
  add(chunk: Buffer): (string | typeof TOO_LONG)[] {
    const lines: (string | typeof TOO_LONG)[] = [];
    let start = 0;
    for (let end = chunk.indexOf(LINE_FEED); end !== -1; end = chunk.indexOf(LINE_FEED, start)) {
      this.#take(chunk.subarray(start, end));
      if (this.#bytes > this.#limitBytes) return [...lines, TOO_LONG];
      const line = this.rest();
      if (line !== '') lines.push(line);
      start = end + 1;
    }
    if (start < chunk.length) this.#take(chunk.subarray(start));
    return this.#bytes > this.#limitBytes ? [...lines, TOO_LONG] : lines;
  }

  /** What came after the last end of a line; it is taken out. */
  rest(): string {
    const text = Buffer.concat(this.#parts).toString('utf8').trim();
    this.#parts = [];
    this.#bytes = 0;
    return text;
  }

  #take(part: Buffer): void {
    this.#bytes += part.length;
    if (this.#bytes <= this.#limitBytes) this.#parts.push(part);
  }
}

export const TOO_LONG = Symbol('too_long');
