/** One change at a time to each file: of two that look at what is there and then replace it, the second must see the first. */

export class PathLanes {
  /** The last change of each path that has not ended yet. */
  readonly #last = new Map<string, Promise<unknown>>();

  /** Runs `change` after those that asked before it for the same path. */
  async run<Result>(realPath: string, change: () => Promise<Result>): Promise<Result> {
    const before = this.#last.get(realPath) ?? Promise.resolve();
    const result = before.then(change, change);
    this.#last.set(realPath, result);
    try {
      return await result;
    } finally {
      if (this.#last.get(realPath) === result) this.#last.delete(realPath);
    }
  }
}
