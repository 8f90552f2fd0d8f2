/**
 * Timers in a binary heap ordered by due time, first armed first among equals. One heap serves real and simulated time,
 * and a runtime with a hundred thousand deadlines holds one native timer. Arming and disarming cost O(log n); nothing
 * is scanned.
 */
import type { TimerHandle } from './clock.ts';

/** Position of a timer that is no longer in the heap. */
const OUTSIDE = -1;

class Timer {
  position = OUTSIDE;
  readonly dueMs: number;
  readonly order: number;
  readonly callback: () => void;

  constructor(dueMs: number, order: number, callback: () => void) {
    this.dueMs = dueMs;
    this.order = order;
    this.callback = callback;
  }

  isBefore(other: Timer): boolean {
    return this.dueMs < other.dueMs || (this.dueMs === other.dueMs && this.order < other.order);
  }
}

export class TimerQueue {
  readonly #heap: Timer[] = [];
  #nextOrder = 0;

  get size(): number {
    return this.#heap.length;
  }

  /** Due time of the earliest timer in milliseconds of the caller's time, or undefined when none is armed. */
  get nextDueMs(): number | undefined {
    return this.#heap[0]?.dueMs;
  }

  add(dueMs: number, callback: () => void): TimerHandle {
    const timer = new Timer(dueMs, this.#nextOrder++, callback);
    this.#heap.push(timer);
    this.#siftUp(timer, this.#heap.length - 1);
    return timer;
  }

  delete(handle: TimerHandle | undefined): void {
    if (!(handle instanceof Timer) || handle.position === OUTSIDE) return;
    const position = handle.position;
    if (this.#heap[position] !== handle) return;
    this.#removeAt(position);
  }

  /** Takes out the earliest timer if it is due at `nowMs`; the caller runs it. */
  takeDue(nowMs: number): (() => void) | undefined {
    const first = this.#heap[0];
    if (first === undefined || first.dueMs > nowMs) return undefined;
    this.#removeAt(0);
    return first.callback;
  }

  #removeAt(position: number): void {
    const removed = this.#heap[position];
    const last = this.#heap.pop();
    if (removed === undefined || last === undefined) return;
    removed.position = OUTSIDE;
    if (last === removed) return;
    this.#siftUp(last, position);
    this.#siftDown(last, last.position);
  }

  #siftUp(timer: Timer, from: number): void {
    const heap = this.#heap;
    let position = from;
    while (position > 0) {
      const parentPosition = (position - 1) >> 1;
      const parent = heap[parentPosition];
      if (parent === undefined || !timer.isBefore(parent)) break;
      heap[position] = parent;
      parent.position = position;
      position = parentPosition;
    }
    heap[position] = timer;
    timer.position = position;
  }

  #siftDown(timer: Timer, from: number): void {
    const heap = this.#heap;
    let position = from;
    for (;;) {
      let childPosition = 2 * position + 1;
      let child = heap[childPosition];
      if (child === undefined) break;
      const sibling = heap[childPosition + 1];
      if (sibling?.isBefore(child) === true) {
        child = sibling;
        childPosition += 1;
      }
      if (!child.isBefore(timer)) break;
      heap[position] = child;
      child.position = position;
      position = childPosition;
    }
    heap[position] = timer;
    timer.position = position;
  }
}
