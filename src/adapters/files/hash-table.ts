/**
 * Numbers of records by a 64-bit hash, in a few bytes each: a million of them take no more than a small part of the
 * heap.
 */
import type { TextHash } from './text-hash.ts';

const SMALLEST_CAPACITY = 1024;

export class HashTable {
  #capacity: number;
  /** Three words to a slot: low, high, and the number plus one; zero for a slot that is free. */
  #slots: Uint32Array;
  #size = 0;

  constructor(expected = 0) {
    this.#capacity = SMALLEST_CAPACITY;
    while (this.#capacity < expected * 2) this.#capacity *= 2;
    this.#slots = new Uint32Array(this.#capacity * 3);
  }

  add({ low, high }: TextHash, number: number): void {
    if (this.#size * 2 >= this.#capacity) this.#grow();
    this.#put(low, high, number + 1);
    this.#size += 1;
  }

  /** Every number that was added under this hash. */
  find({ low, high }: TextHash): number[] {
    const found: number[] = [];
    for (let slot = low & (this.#capacity - 1); ; slot = (slot + 1) & (this.#capacity - 1)) {
      const number = this.#slots[slot * 3 + 2] ?? 0;
      if (number === 0) return found;
      if (this.#slots[slot * 3] === low && this.#slots[slot * 3 + 1] === high) found.push(number - 1);
    }
  }

  #put(low: number, high: number, number: number): void {
    let slot = low & (this.#capacity - 1);
    while (this.#slots[slot * 3 + 2] !== 0) slot = (slot + 1) & (this.#capacity - 1);
    this.#slots[slot * 3] = low;
    this.#slots[slot * 3 + 1] = high;
    this.#slots[slot * 3 + 2] = number;
  }

  #grow(): void {
    const before = this.#slots;
    this.#capacity *= 2;
    this.#slots = new Uint32Array(this.#capacity * 3);
    for (let at = 0; at < before.length; at += 3) {
      const number = before[at + 2] ?? 0;
      if (number !== 0) this.#put(before[at] ?? 0, before[at + 1] ?? 0, number);
    }
  }
}
