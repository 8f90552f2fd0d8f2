/**
 * Finds out when a stream of text has got stuck: its end is one unit, repeated.
 *
 * The stream counts as stuck when its last characters are some unit repeated at least `threshold` times within the last
 * `window` characters, over a stretch of at least a quarter of the window. The quarter keeps ordinary text alive: eight
 * dashes, a table rule or `[0, 0, 0, 0, 0, 0, 0, 0]` repeat too, and are no loop.
 *
 * Cost per delta is linear in its length plus one comparison per unit length: a unit is checked only when the last
 * two characters stood there before, prefix hashes of the last `window` characters then answer "does the tail have this
 * period" in constant time, and a hit is confirmed character by character.
 */

const BASE = 0x01000193;

/** Windows up to this length share one table of powers. */
const SHARED_POWERS = powersOf(BASE, 2_048);

export class RepetitionDetector {
  readonly #threshold: number;
  readonly #minimumStretch: number;
  readonly #longestUnit: number;
  readonly #mask: number;
  /** Each character with the one before it in the upper half. */
  readonly #pairs: Int32Array;
  /** hashes[i & mask]: hash of everything before character i. */
  readonly #hashes: Int32Array;
  readonly #powers: Int32Array;
  #length = 0;

  /**
   * @param window characters read back over @param threshold how often a unit must stand there; both at least 2 to
   * detect anything
   */
  constructor(window: number, threshold: number) {
    const capacity = 2 ** Math.ceil(Math.log2(window + 1));
    this.#threshold = threshold;
    this.#minimumStretch = Math.ceil(window / 4);
    this.#longestUnit = Math.floor(window / threshold);
    this.#mask = capacity - 1;
    this.#pairs = new Int32Array(capacity);
    this.#hashes = new Int32Array(capacity);
    this.#powers = window < SHARED_POWERS.length ? SHARED_POWERS : powersOf(BASE, window);
  }

  /** Takes in the next piece of the stream; the repeated unit when it is stuck, undefined otherwise. */
  push(delta: string): string | undefined {
    // Inside a long delta too: a loop that fills the window must not slip through between two deltas.
    for (let from = 0; from + this.#minimumStretch < delta.length; from += this.#minimumStretch) {
      this.#append(delta, from, from + this.#minimumStretch);
      const unit = this.#unitAtEnd();
      if (unit !== undefined) return unit;
    }
    const rest = delta.length === 0 ? 0 : delta.length - 1 - ((delta.length - 1) % this.#minimumStretch);
    this.#append(delta, rest, delta.length);
    return this.#unitAtEnd();
  }

  #append(delta: string, from: number, to: number): void {
    const mask = this.#mask;
    const pairs = this.#pairs;
    const hashes = this.#hashes;
    let position = this.#length;
    let hash = hashes[position & mask] ?? 0;
    let before = position === 0 ? 0 : (pairs[(position - 1) & mask] ?? 0);
    for (let index = from; index < to; index += 1) {
      const code = delta.charCodeAt(index);
      before = (before << 16) | code;
      pairs[position & mask] = before;
      position += 1;
      hash = (Math.imul(hash, BASE) + code + 1) | 0;
      hashes[position & mask] = hash;
    }
    this.#length = position;
  }

  #unitAtEnd(): string | undefined {
    const end = this.#length;
    const mask = this.#mask;
    const pairs = this.#pairs;
    const last = pairs[(end - 1) & mask];
    const longest = Math.min(this.#longestUnit, end - 1);
    // One character needs no second one before it to have stood there before.
    if (longest >= 1 && this.#hasPeriod(1, end)) return this.#text(end - 1, end);
    for (let unit = 2; unit <= longest; unit += 1) {
      if (pairs[(end - 1 - unit) & mask] === last && this.#hasPeriod(unit, end)) return this.#text(end - unit, end);
    }
    return undefined;
  }

  #hasPeriod(unit: number, end: number): boolean {
    const stretch = Math.max(unit * this.#threshold, this.#minimumStretch);
    if (stretch > end || stretch <= unit) return false;
    if (this.#hashOf(end - stretch + unit, end) !== this.#hashOf(end - stretch, end - unit)) return false;
    for (let position = end - stretch + unit; position < end; position += 1) {
      if (this.#codeAt(position) !== this.#codeAt(position - unit)) return false;
    }
    return true;
  }

  #hashOf(from: number, to: number): number {
    const before = this.#hashes[from & this.#mask] ?? 0;
    return ((this.#hashes[to & this.#mask] ?? 0) - Math.imul(before, this.#powers[to - from] ?? 0)) | 0;
  }

  #codeAt(position: number): number {
    return (this.#pairs[position & this.#mask] ?? 0) & 0xffff;
  }

  #text(from: number, to: number): string {
    let text = '';
    for (let position = from; position < to; position += 1) text += String.fromCharCode(this.#codeAt(position));
    return text;
  }
}

function powersOf(base: number, count: number): Int32Array {
  const powers = new Int32Array(count + 1);
  powers[0] = 1;
  for (let index = 1; index <= count; index += 1) powers[index] = Math.imul(powers[index - 1] ?? 0, base);
  return powers;
}
