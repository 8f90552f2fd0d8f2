/** Work that must not overlap within this process: one after the other, in the order in which it was asked for. */

export class Mutex {
  #tail: Promise<unknown> = Promise.resolve();

  /**
   * Runs `work` when everything given before has settled. A failure is its caller's alone: what comes after it runs.
   */
  run<Result>(work: () => Promise<Result>): Promise<Result> {
    const result = this.#tail.then(work);
    this.#tail = result.catch(() => undefined);
    return result;
  }
}

/** A mutex for each key. A key is forgotten once nothing runs and nothing waits for it. */
export class KeyedMutex {
  readonly #tails = new Map<string, Promise<unknown>>();

  run<Result>(key: string, work: () => Promise<Result>): Promise<Result> {
    const result = (this.#tails.get(key) ?? Promise.resolve()).then(work);
    const settled = result.catch(() => undefined);
    this.#tails.set(key, settled);
    void settled.then(() => {
      if (this.#tails.get(key) === settled) this.#tails.delete(key);
    });
    return result;
  }
}
