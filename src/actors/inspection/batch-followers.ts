/** Those who follow records that are added: each hears what a turn of the event loop has brought, once, at its end. */
import type { InspectionRecord } from '../../machines/inspection-log/inspection-record.ts';
import { Followers } from '../streams/followers.ts';

export type BatchListener = (batch: readonly InspectionRecord[]) => void;

/** A batch that is longer is told in parts, so that what is not told yet stays bounded. */
const MAX_WAITING = 10_000;

export class BatchFollowers {
  readonly #followers = new Followers<BatchListener>();
  readonly #onProblem: (error: unknown) => void;
  readonly #leaves = new Set<() => void>();
  #waiting: InspectionRecord[] = [];
  #isTurnAwaited = false;

  /** @param onProblem hears what listeners throw */
  constructor(onProblem: (error: unknown) => void) {
    this.#onProblem = onProblem;
  }

  get size(): number {
    return this.#followers.size;
  }

  /** @returns leaves; idempotent */
  add(listener: BatchListener): () => void {
    // An entry of its own, so that one function may follow twice.
    const leaveThem = this.#followers.add((batch) => listener(batch));
    const leave = (): void => {
      this.#leaves.delete(leave);
      leaveThem();
    };
    this.#leaves.add(leave);
    return leave;
  }

  tell(records: readonly InspectionRecord[]): void {
    if (this.size === 0 || records.length === 0) return;
    for (const record of records) this.#waiting.push(record);
    if (this.#waiting.length >= MAX_WAITING) this.#tellNow();
    if (this.#isTurnAwaited) return;
    this.#isTurnAwaited = true;
    setImmediate(() => {
      this.#isTurnAwaited = false;
      this.#tellNow();
    });
  }

  clear(): void {
    this.#waiting = [];
    for (const leave of [...this.#leaves]) leave();
  }

  #tellNow(): void {
    const batch = this.#waiting;
    this.#waiting = [];
    if (batch.length === 0) return;
    for (const listener of this.#followers.all) {
      try {
        listener(batch);
      } catch (error) {
        this.#onProblem(error);
      }
    }
  }
}
