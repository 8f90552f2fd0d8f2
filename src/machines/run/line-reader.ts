/** Cuts the output of a program into lines of bounded length. */

const LINE_FEED = 0x0a;
const DECODER = new TextDecoder();

export class LineReader {
  readonly #limitBytes: number;
  #parts: Uint8Array[] = [];
  #bytes = 0;

  constructor(limitBytes: number) {
    this.#limitBytes = limitBytes;
  }

  /**
   * The lines that end in `chunk`, without their ends and without empty ones; `too_long` as the last when one exceeds
   * the limit, ended or not.
   */
  add(chunk: Uint8Array): (string | typeof TOO_LONG)[] {
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
    const text = DECODER.decode(joined(this.#parts)).trim();
    this.#parts = [];
    this.#bytes = 0;
    return text;
  }

  #take(part: Uint8Array): void {
    this.#bytes += part.length;
    if (this.#bytes <= this.#limitBytes) this.#parts.push(part);
  }
}

function joined(parts: readonly Uint8Array[]): Uint8Array {
  const [first] = parts;
  if (parts.length === 1 && first !== undefined) return first;
  const whole = new Uint8Array(parts.reduce((bytes, part) => bytes + part.length, 0));
  let length = 0;
  for (const part of parts) {
    whole.set(part, length);
    length += part.length;
  }
  return whole;
}

export const TOO_LONG = Symbol('too_long');
