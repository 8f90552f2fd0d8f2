/**
 * The words of a session as an async iterator. What its reader has not taken yet is kept, within a bound: one that is
 * slower than the model is told that it missed something.
 */
import type { SessionWord } from '../../machines/words/session-word.ts';
import { EndableIterator } from '../streams/endable-iterator.ts';
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

export class SessionWords extends EndableIterator<SessionWord> {
  readonly #onEnd: SessionWordsOptions['onEnd'];
  readonly #waiting = new WaitingWords();
  readonly #checked: Promise<unknown>;
  readonly #leave: () => void;

  /** Follows from now on. */
  constructor({ check, follow, signal, onEnd }: SessionWordsOptions) {
    super();
    this.#onEnd = onEnd;
    this.#checked = check();
    // The reader hears of it at its first step.
    this.#checked.catch(() => undefined);
    this.#leave = follow((word) => {
      this.#waiting.add(word);
      this.nudge();
    });
    this.endWith(signal);
  }

  protected override release(): void {
    this.#leave();
    this.#onEnd(this);
  }

  protected override async take(): Promise<SessionWord | undefined> {
    await this.#checked;
    for (;;) {
      if (this.hasEnded) return undefined;
      const value = this.#waiting.shift();
      if (value !== undefined) return value;
      await this.pause();
    }
  }
}
