/** Keeps the best of many, without sorting the rest: a heap with the worst of the kept ones on top. */

export interface Ranked {
  readonly rank: number;
}

export class BestHits<Hit extends Ranked> {
  readonly #limit: number;
  /** Below 0 where the first is the better one. Never 0 for two that are different. */
  readonly #order: (one: Hit, other: Hit) => number;
  readonly #heap: Hit[] = [];

  constructor(limit: number, order: (one: Hit, other: Hit) => number) {
    this.#limit = limit;
    this.#order = order;
  }

  /** What ranks below this is not worth offering. */
  get least(): number {
    return this.#heap.length < this.#limit ? -Infinity : (this.#heap[0]?.rank ?? -Infinity);
  }

  offer(hit: Hit): void {
    if (this.#heap.length < this.#limit) {
      this.#heap.push(hit);
      this.#rise(this.#heap.length - 1);
      return;
    }
    const [worst] = this.#heap;
    if (worst === undefined || this.#order(hit, worst) >= 0) return;
    this.#heap[0] = hit;
    this.#sink(0);
  }

  /** The best first. */
  sorted(): readonly Hit[] {
    return this.#heap.toSorted(this.#order);
  }

  #rise(from: number): void {
    for (let at = from; at > 0;) {
      const above = (at - 1) >> 1;
      if (!this.#isWorse(at, above)) return;
      this.#swap(at, above);
      at = above;
    }
  }

  #sink(from: number): void {
    for (let at = from; ;) {
      const [left, right] = [2 * at + 1, 2 * at + 2];
      let worst = at;
      if (this.#isWorse(left, worst)) worst = left;
      if (this.#isWorse(right, worst)) worst = right;
      if (worst === at) return;
      this.#swap(at, worst);
      at = worst;
    }
  }

  #isWorse(one: number, other: number): boolean {
    const [a, b] = [this.#heap[one], this.#heap[other]];
    return a !== undefined && b !== undefined && this.#order(a, b) > 0;
  }

  #swap(one: number, other: number): void {
    const [a, b] = [this.#heap[one], this.#heap[other]];
    if (a === undefined || b === undefined) return;
    this.#heap[one] = b;
    this.#heap[other] = a;
  }
}
