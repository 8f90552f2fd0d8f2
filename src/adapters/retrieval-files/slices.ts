/** Long work in slices: nobody waits longer than one of them for the event loop. */
import { setImmediate as nextTurn } from 'node:timers/promises';

/** In milliseconds. */
const SLICE_MS = 8;

export class Slices {
  #begun = performance.now();
  #lastTurn: Promise<void> | undefined;

  /** Resolves after others have had their turn, when the slice is used up. */
  async breathe(): Promise<void> {
    if (performance.now() - this.#begun < SLICE_MS) return;
    this.#lastTurn ??= this.#pause();
    await this.#lastTurn;
  }

  async #pause(): Promise<void> {
    await nextTurn();
    this.#begun = performance.now();
    this.#lastTurn = undefined;
  }
}
