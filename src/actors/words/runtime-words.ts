/** The words of one runtime: of its own wakes, and of those elsewhere that are followed here. */
import type { TextRedaction } from '../../machines/vault/text-redaction.ts';
import { EndableIterator } from '../streams/endable-iterator.ts';
import { LiveWords } from './live-words.ts';
import type { SessionWord } from '../../machines/words/session-word.ts';
import { WaitingWords } from './waiting-words.ts';
import type { OnWord, WordChannel, WordLink } from './word-channel.ts';
import { tellWords } from './told-words.ts';

export interface RuntimeWordsOptions {
  /** To other processes. Absent: there are none. */
  readonly channel?: WordChannel | undefined;
  readonly redact?: TextRedaction | undefined;
  /** @throws RuntimeError SESSION_NOT_FOUND */
  readonly check: (sessionId: string) => Promise<unknown>;
}

export interface WordsOptions {
  /** Aborting it ends the words. */
  readonly signal?: AbortSignal | undefined;
}

export class RuntimeWords {
  readonly live = new LiveWords({ follow: (...session) => this.#link?.follow(...session) ?? (() => undefined) });
  readonly #options: RuntimeWordsOptions;
  #link: WordLink | undefined;
  readonly #open = new Set<SessionWords>();
  #isClosed = false;

  constructor(options: RuntimeWordsOptions) {
    const { channel, redact } = options;
    this.#options = options;
    // It may ask at once.
    this.#link = channel?.join((sessionId, onWord) =>
      tellWords({ live: this.live, sessionId, redact, of: 'here' }, onWord),
    );
  }

  /** Follows from where its reader begins to iterate. */
  of(sessionId: string, { signal }: WordsOptions = {}): AsyncIterable<SessionWord> {
    return { [Symbol.asyncIterator]: () => this.#follow(sessionId, signal) };
  }

  /** Those who follow are at their end. Idempotent. */
  async close(): Promise<void> {
    this.#isClosed = true;
    for (const words of this.#open) words.end();
    await this.#link?.close();
  }

  #follow(sessionId: string, signal: AbortSignal | undefined): SessionWords {
    const { redact, check } = this.#options;
    const words = new SessionWords({
      check: () => check(sessionId),
      follow: (onWord) => tellWords({ live: this.live, sessionId, redact, of: 'everywhere' }, onWord),
      signal: this.#isClosed ? AbortSignal.abort() : signal,
      onEnd: (ended) => this.#open.delete(ended),
    });
    if (!words.hasEnded) this.#open.add(words);
    return words;
  }
}

interface SessionWordsOptions {
  /** @throws RuntimeError SESSION_NOT_FOUND */
  readonly check: () => Promise<unknown>;
  /** @returns leaves */
  readonly follow: (onWord: OnWord) => () => void;
  readonly signal?: AbortSignal | undefined;
  readonly onEnd: (words: SessionWords) => void;
}

/**
 * The words of a session as an async iterator. What its reader has not taken yet is kept, within a bound: one that is
 * slower than the model is told that it missed something.
 */
class SessionWords extends EndableIterator<SessionWord> {
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
