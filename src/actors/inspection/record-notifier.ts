/**
 * Rings for those who follow a recording, at the end of a turn of the event loop in which something was added. It
 * carries nothing: a listener reads the recording.
 */
import { Followers } from '../streams/followers.ts';

export class RecordNotifier {
  readonly #listeners = new Followers<() => void>();
  readonly #onProblem: (error: unknown) => void;
  #isTurnAwaited = false;

  /** @param onProblem hears what listeners throw */
  constructor(onProblem: (error: unknown) => void) {
    this.#onProblem = onProblem;
  }

  get isHeard(): boolean {
    return this.#listeners.size > 0;
  }

  /** @returns leaves; idempotent */
  add(listener: () => void): () => void {
    // An entry of its own, so that one function may follow twice.
    return this.#listeners.add(() => listener());
  }

  /** Once at the end of this turn, however often it is asked for. */
  notify(): void {
    if (this.#isTurnAwaited || !this.isHeard) return;
    this.#isTurnAwaited = true;
    setImmediate(() => {
      this.#isTurnAwaited = false;
      this.notifyNow();
    });
  }

  notifyNow(): void {
    for (const listener of this.#listeners.all) {
      try {
        listener();
      } catch (error) {
        this.#onProblem(error);
      }
    }
  }

  /** All have left. Idempotent. */
  clear(): void {
    this.#listeners.clear();
  }
}
