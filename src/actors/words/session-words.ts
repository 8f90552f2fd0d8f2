/**
 * The words of a session as an async iterator. What its reader has not taken yet is kept, within a bound: one that is
 * slower than the model is told that it missed something.
 */
import type { SessionWord } from '../../machines/words/session-word.ts';
import type { OnWord } from './word-channel.ts';
import { WaitingWords } from './waiting-words.ts';

export interface SessionWordsOptions {
  /** @throws RuntimeError SESSION_NOT_FOUND */
  readonly check: () => Promise<unknown>;
  /** @returns leaves */
  readonly follow: (onWord: OnWord) => () => void;
  readonly signal?: AbortSignal | undefined;
  readonly onEnd: (words: SessionWords) => void;
}

const DONE: IteratorReturnResult<undefined> = { done: true, value: undefined };

export class SessionWords implements AsyncIterableIterator<SessionWord, undefined> {
  readonly #options: SessionWordsOptions;
  readonly #waiting = new WaitingWords();
  readonly #end = (): void => this.end();
  readonly #checked: Promise<unknown>;
  readonly #leave: () => void;
  #turn: Promise<unknown> = Promise.resolve();
  #wakeUp: (() => void) | undefined;
  #hasEnded = false;

  /** Follows from now on. */
  constructor(options: SessionWordsOptions) {
    this.#options = options;
    this.#checked = options.check();
    // The reader hears of it at its first step.
    this.#checked.catch(() => undefined);
    this.#leave = options.follow((word) => {
      this.#waiting.add(word);
      this.#wakeUp?.();
    });
    options.signal?.addEventListener('abort', this.#end, { once: true });
    if (options.signal?.aborted === true) this.end();
  }

  get hasEnded(): boolean {
    return this.#hasEnded;
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  next(): Promise<IteratorResult<SessionWord, undefined>> {
    // One at a time: two calls in a row get two words.
    const result = this.#turn.then(() => this.#take());
    this.#turn = result.catch(() => undefined);
    return result;
  }

  return(): Promise<IteratorReturnResult<undefined>> {
    this.end();
    return Promise.resolve(DONE);
  }

  /** Ends it from outside; a `next` that waits resolves as done. Idempotent. */
  end(): void {
    if (this.#hasEnded) return;
    this.#hasEnded = true;
    this.#options.signal?.removeEventListener('abort', this.#end);
    this.#leave();
    this.#wakeUp?.();
    this.#options.onEnd(this);
  }

  async #take(): Promise<IteratorResult<SessionWord, undefined>> {
    try {
      await this.#checked;
    } catch (error) {
      if (this.#hasEnded) return DONE;
      this.end();
      throw error;
    }
    for (;;) {
      if (this.#hasEnded) return DONE;
      const value = this.#waiting.shift();
      if (value !== undefined) return { done: false, value };
      await new Promise<void>((resolve) => (this.#wakeUp = resolve));
      this.#wakeUp = undefined;
    }
  }
}
