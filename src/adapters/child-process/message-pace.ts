/**
 * How many long messages of one worker are read. Each is read at once, so that all keep their order, and takes some
 * milliseconds: a job says a few of them while people answer, and one at its end.
 */

/** In a row. */
export const LONG_MESSAGES_AT_ONCE = 100;
const LONG_MESSAGES_PER_SECOND = 10;

export class MessagePace {
  readonly #now: () => number;
  #left = LONG_MESSAGES_AT_ONCE;
  #counted: number;

  /** @param now milliseconds that only count on */
  constructor(now: () => number = () => performance.now()) {
    this.#now = now;
    this.#counted = now();
  }

  /** Why the next one is not read, in words; undefined when it is, which counts it. */
  refusal(): string | undefined {
    const now = this.#now();
    this.#left = Math.min(
      LONG_MESSAGES_AT_ONCE,
      this.#left + ((now - this.#counted) * LONG_MESSAGES_PER_SECOND) / 1_000,
    );
    this.#counted = now;
    if (this.#left < 1)
      return `expected at most ${LONG_MESSAGES_AT_ONCE} long messages in a row and then ${LONG_MESSAGES_PER_SECOND} in a second, received more`;
    this.#left -= 1;
    return undefined;
  }
}
