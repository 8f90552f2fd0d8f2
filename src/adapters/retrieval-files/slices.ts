/** Long work in slices: no caller waits longer than one of them for the event loop. */
import { setImmediate as nextTurn } from 'node:timers/promises';

/** In milliseconds. */
const SLICE_MS = 6;

export class Slices {
  #begun = performance.now();
  #lastTurn: Promise<void> | undefined;

  /** Whether the slice is used up. Cheaper than to wait for `breathe`, where each step is short. */
  get isOver(): boolean {
    return performance.now() - this.#begun >= SLICE_MS;
  }

  /** Resolves after others have had their turn, when the slice is used up. */
  async breathe(): Promise<void> {
    if (!this.isOver) return;
    this.#lastTurn ??= this.#pause();
    await this.#lastTurn;
  }

  async #pause(): Promise<void> {
    await nextTurn();
    this.#begun = performance.now();
    this.#lastTurn = undefined;
  }
}
