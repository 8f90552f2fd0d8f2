/** Cuts bytes into lines of bounded length. A line beyond the bound is not kept, but its two ends are. */

const LINE_FEED = 0x0a;
/** Of a line that is too long: enough to tell which request it answers. */
const END_BYTES = 512;

export type Line =
  | { readonly kind: 'line'; readonly text: string }
  | { readonly kind: 'too_long'; readonly bytes: number; readonly head: string; readonly tail: string };

export class LineReader {
  readonly #limitBytes: number;
  #parts: Buffer[] = [];
  #bytes = 0;
  #head = '';
  #tail = Buffer.alloc(0);

  constructor(limitBytes: number) {
    this.#limitBytes = limitBytes;
  }

  /** The lines that end in `chunk`, without their ends and without empty ones. */
  add(chunk: Buffer): Line[] {
    const lines: Line[] = [];
    let start = 0;
    for (let end = chunk.indexOf(LINE_FEED); end !== -1; end = chunk.indexOf(LINE_FEED, start)) {
      this.#take(chunk.subarray(start, end));
      start = end + 1;
      const line = this.#finish();
      if (line !== undefined) lines.push(line);
    }
    if (start < chunk.length) this.#take(chunk.subarray(start));
    return lines;
  }

  #take(part: Buffer): void {
    const before = this.#bytes;
    this.#bytes += part.length;
    if (this.#bytes <= this.#limitBytes) {
      this.#parts.push(part);
      return;
    }
    if (before <= this.#limitBytes) {
      this.#parts.push(part);
      const all = Buffer.concat(this.#parts);
      this.#parts = [];
      this.#head = all.toString('utf8', 0, END_BYTES);
      this.#tail = Buffer.from(all.subarray(-END_BYTES));
      return;
    }
    this.#tail = Buffer.concat([this.#tail, part.subarray(-END_BYTES)]).subarray(-END_BYTES);
  }

  #finish(): Line | undefined {
    const bytes = this.#bytes;
    const line: Line =
      bytes > this.#limitBytes
        ? { kind: 'too_long', bytes, head: this.#head, tail: this.#tail.toString('utf8') }
        : { kind: 'line', text: Buffer.concat(this.#parts).toString('utf8').trim() };
    this.#parts = [];
    this.#bytes = 0;
    return line.kind === 'line' && line.text === '' ? undefined : line;
  }
}

/** The number of the request that a message answers, as the ends of the message tell; undefined when they do not. */
export function answeredRequest({ head, tail }: { readonly head: string; readonly tail: string }): number | undefined {
  const found =
    /^\s*\{\s*(?:"jsonrpc"\s*:\s*"2\.0"\s*,\s*)?"id"\s*:\s*(?<id>\d{1,15})\s*,/.exec(head) ??
    /[,{]\s*"id"\s*:\s*(?<id>\d{1,15})\s*(?:,\s*"jsonrpc"\s*:\s*"2\.0"\s*)?\}\s*$/.exec(tail);
  const id = found?.groups?.['id'];
  return id === undefined ? undefined : Number(id);
}
