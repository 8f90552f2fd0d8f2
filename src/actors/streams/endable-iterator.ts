/** An async iterator that is ended from outside, too: a `next` that waits then resolves as done. */

const DONE: IteratorReturnResult<undefined> = { done: true, value: undefined };

export abstract class EndableIterator<Value extends object> implements AsyncIterableIterator<Value, undefined> {
  readonly #end = (): void => this.end();
  #signal: AbortSignal | undefined;
  #turn: Promise<unknown> = Promise.resolve();
  #wakeUp: (() => void) | undefined;
  #hasEnded = false;

  get hasEnded(): boolean {
    return this.#hasEnded;
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  next(): Promise<IteratorResult<Value, undefined>> {
    // One at a time: two calls in a row get two values.
    const result = this.#turn.then(() => this.#next());
    this.#turn = result.catch(() => undefined);
    return result;
  }

  return(): Promise<IteratorReturnResult<undefined>> {
    this.end();
    return Promise.resolve(DONE);
  }

  /** Idempotent. */
  end(): void {
    if (this.#hasEnded) return;
    this.#hasEnded = true;
    this.#signal?.removeEventListener('abort', this.#end);
    this.release();
    this.#wakeUp?.();
  }

  /** The next value, however long that takes; undefined once it has ended. One that rejects ends it. */
  protected abstract take(): Promise<Value | undefined>;

  /** Called once, when it ends. */
  protected abstract release(): void;

  /** Aborting the signal ends it. */
  protected endWith(signal: AbortSignal | undefined): void {
    this.#signal = signal;
    signal?.addEventListener('abort', this.#end, { once: true });
    if (signal?.aborted === true) this.end();
  }

  /** Until `nudge` is called, or it ends. */
  protected async pause(): Promise<void> {
    if (this.#hasEnded) return;
    await new Promise<void>((resolve) => {
      this.#wakeUp = resolve;
    });
    this.#wakeUp = undefined;
  }

  protected nudge(): void {
    this.#wakeUp?.();
  }

  async #next(): Promise<IteratorResult<Value, undefined>> {
    try {
      const value = await this.take();
      return value === undefined ? DONE : { done: false, value };
    } catch (error) {
      // What it reads from may have been closed under it; a reader that was told that it is over need not hear of it.
      if (this.#hasEnded) return DONE;
      this.end();
      throw error;
    }
  }
}
