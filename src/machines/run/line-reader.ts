/** Cuts bytes into lines of bounded length. A line beyond the bound is not kept, but its two ends are. */

const LINE_FEED = 0x0a;
/** Of a line that is too long: enough to tell what it is about. */
const END_BYTES = 512;
const DECODER = new TextDecoder();

/** `overflow`: the line that comes is beyond the bound; `too_long` follows where it ends. */
export type Line =
  | { readonly kind: 'line'; readonly text: string }
  | { readonly kind: 'overflow' }
  | { readonly kind: 'too_long'; readonly bytes: number; readonly head: string; readonly tail: string };

export class LineReader {
  readonly #limitBytes: number;
  /** Of the line whose end has not come: joined once, however many they are. Only its ends when it is too long. */
  #parts: Uint8Array[] = [];
  #bytes = 0;

  /** @param limitBytes more than the two ends together have */
  constructor(limitBytes: number) {
    this.#limitBytes = limitBytes;
  }

  /** The lines that end in `chunk`, without their ends and without empty ones. */
  add(chunk: Uint8Array): Line[] {
    const lines: Line[] = [];
    let start = 0;
    for (let end = chunk.indexOf(LINE_FEED); end !== -1; end = chunk.indexOf(LINE_FEED, start)) {
      // Most lines lie whole in one chunk.
      if (this.#bytes === 0 && end - start <= this.#limitBytes) {
        const text = DECODER.decode(chunk.subarray(start, end)).trim();
        if (text !== '') lines.push({ kind: 'line', text });
      } else lines.push(...this.#take(chunk.subarray(start, end)), ...this.end());
      start = end + 1;
    }
    return [...lines, ...this.#take(chunk.subarray(start))];
  }

  /** What came after the last end of a line is one; none when nothing did. */
  end(): Line[] {
    const [parts, bytes] = [this.#parts, this.#bytes];
    this.#parts = [];
    this.#bytes = 0;
    if (bytes > this.#limitBytes) {
      const [head = '', tail = ''] = parts.map((part) => DECODER.decode(part));
      return [{ kind: 'too_long', bytes, head, tail }];
    }
    const text = DECODER.decode(joined(parts)).trim();
    return text === '' ? [] : [{ kind: 'line', text }];
  }

  #take(part: Uint8Array): Line[] {
    const wasTooLong = this.#bytes > this.#limitBytes;
    this.#bytes += part.length;
    this.#parts.push(part);
    if (this.#bytes <= this.#limitBytes) return [];
    const all = joined(this.#parts);
    // Copies, so that the rest of it is given free.
    this.#parts = [joined([all.subarray(0, END_BYTES)]), joined([all.subarray(-END_BYTES)])];
    return wasTooLong ? [] : [{ kind: 'overflow' }];
  }
}

function joined(parts: readonly Uint8Array[]): Uint8Array {
  const whole = new Uint8Array(parts.reduce((bytes, part) => bytes + part.length, 0));
  let length = 0;
  for (const part of parts) {
    whole.set(part, length);
    length += part.length;
  }
  return whole;
}
