/** Lets others have their turn during long work: nothing else in the process runs while a search computes. */
import { setImmediate as nextTurn } from 'node:timers/promises';

/** Milliseconds of work after which others have their turn. */
const WORK_MS = 12;

export class CooperativeYield {
  readonly #signal: AbortSignal;
  #since = performance.now();

  constructor(signal: AbortSignal) {
    this.#signal = signal;
  }

  /** Whether it is time to `rest`. */
  get isDue(): boolean {
    return performance.now() - this.#since > WORK_MS;
  }

  /** @throws the reason of the signal when the work is to stop */
  async rest(): Promise<void> {
    await nextTurn();
    this.#signal.throwIfAborted();
    this.#since = performance.now();
  }
}
