/**
 * Finds out when a stream of text has got stuck: its end is one unit, repeated.
 *
 * The stream counts as stuck when its last characters are some unit repeated at least `threshold` times within the last `window`
 * characters, over a stretch of at least a quarter of the window. The quarter keeps ordinary text alive: eight dashes, a table rule or
 * `[0, 0, 0, 0, 0, 0, 0, 0]` repeat too, and are no loop.
 *
 * Cost per delta is linear in its length plus one comparison per unit length: prefix hashes of the last `window` characters answer
 * "does the tail have period p" in constant time, and a hit is confirmed character by character.
 */

const BASE = 0x01000193;

/** Windows up to this length share one table of powers. */
const SHARED_POWERS = powersOf(BASE, 2_048);

export class RepetitionDetector {
  readonly #threshold: number;
  readonly #minimumStretch: number;
  readonly #longestUnit: number;
  readonly #mask: number;
  readonly #codes: Uint16Array;
  /** hashes[i & mask]: hash of everything before character i. */
  readonly #hashes: Int32Array;
  readonly #powers: Int32Array;
  #length = 0;
  #checkedAt = 0;

  /** @param window characters looked back over  @param threshold how often a unit must stand there; both at least 2 to detect anything */
  constructor(window: number, threshold: number) {
    const capacity = 2 ** Math.ceil(Math.log2(window + 1));
    this.#threshold = threshold;
    this.#minimumStretch = Math.ceil(window / 4);
    this.#longestUnit = Math.floor(window / threshold);
    this.#mask = capacity - 1;
    this.#codes = new Uint16Array(capacity);
    this.#hashes = new Int32Array(capacity);
    this.#powers = window < SHARED_POWERS.length ? SHARED_POWERS : powersOf(BASE, window);
  }

  /** Takes in the next piece of the stream; the repeated unit when it is stuck, undefined otherwise. */
  push(delta: string): string | undefined {
    const mask = this.#mask;
    const codes = this.#codes;
    const hashes = this.#hashes;
    let position = this.#length;
    let hash = hashes[position & mask] ?? 0;
    for (let index = 0; index < delta.length; index += 1) {
      const code = delta.charCodeAt(index);
      codes[position & mask] = code;
      position += 1;
      hash = (Math.imul(hash, BASE) + code + 1) | 0;
      hashes[position & mask] = hash;
      // Inside a long delta too: a loop that fills the window must not slip through between two deltas.
      if (position - this.#checkedAt >= this.#minimumStretch && index + 1 < delta.length) {
        const unit = this.#unitAtEnd(position);
        if (unit !== undefined) return unit;
      }
    }
    this.#length = position;
    return this.#unitAtEnd(position);
  }

  #unitAtEnd(end: number): string | undefined {
    this.#checkedAt = end;
    const mask = this.#mask;
    const codes = this.#codes;
    const last = codes[(end - 1) & mask];
    for (let unit = 1; unit <= this.#longestUnit; unit += 1) {
      const stretch = Math.max(unit * this.#threshold, this.#minimumStretch);
      if (stretch > end) return undefined;
      if (codes[(end - 1 - unit) & mask] !== last) continue;
      if (this.#hashOf(end - stretch + unit, end) !== this.#hashOf(end - stretch, end - unit)) continue;
      if (this.#repeats(end, unit, stretch)) return this.#text(end - unit, end);
    }
    return undefined;
  }

  #hashOf(from: number, to: number): number {
    const before = this.#hashes[from & this.#mask] ?? 0;
    return ((this.#hashes[to & this.#mask] ?? 0) - Math.imul(before, this.#powers[to - from] ?? 0)) | 0;
  }

  #repeats(end: number, unit: number, stretch: number): boolean {
    for (let position = end - stretch + unit; position < end; position += 1) {
      if (this.#codes[position & this.#mask] !== this.#codes[(position - unit) & this.#mask]) return false;
    }
    return true;
  }

  #text(from: number, to: number): string {
    let text = '';
    for (let position = from; position < to; position += 1) text += String.fromCharCode(this.#codes[position & this.#mask] ?? 0);
    return text;
  }
}

function powersOf(base: number, count: number): Int32Array {
  const powers = new Int32Array(count + 1);
  powers[0] = 1;
  for (let index = 1; index <= count; index += 1) powers[index] = Math.imul(powers[index - 1] ?? 0, base);
  return powers;
}
