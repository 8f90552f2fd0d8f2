/** One thing after another: work that awaits in the middle is not interleaved with the next. */
export class SerialLane {
  #tail: Promise<unknown> = Promise.resolve();

  /** Runs `work` when everything given before has settled. Its failure is the caller's and does not hold up the lane. */
  run<Result>(work: () => Promise<Result>): Promise<Result> {
    const result = this.#tail.then(work);
    this.#tail = result.catch(() => undefined);
    return result;
  }
}
