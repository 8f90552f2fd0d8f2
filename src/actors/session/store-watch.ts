/**
 * Notices that a store which is elsewhere does not answer, and that it answers again: a caller that waits for it would
 * say nothing for as long as it is patient.
 */
import type { Clock, TimerHandle } from '../clock/clock.ts';

export interface StoreNews {
  readonly answers: boolean;
  /** For how long it has not answered, or had not when it did again, in milliseconds. */
  readonly silentMs: number;
}

export interface StoreWatchOptions {
  readonly clock: Pick<Clock, 'steadyNow' | 'setTimeout' | 'clearTimeout'>;
  /** Resolves when the store has answered. It may wait for one that is away, and reject in the end. */
  readonly ask: () => Promise<unknown>;
  readonly onNews: (news: StoreNews) => void;
}

/** Between two questions, and before silence is news, in milliseconds. */
const EVERY_MS = 5_000;

/** Asks at once and every few seconds from then on. @returns what ends it */
export function watchStore(options: StoreWatchOptions): () => void {
  const watch = new StoreWatch(options);
  watch.check();
  return () => watch.end();
}

class StoreWatch {
  readonly #options: StoreWatchOptions;
  #timer: TimerHandle | undefined;
  /** On the steady clock: since when it has not answered. */
  #askedAtMs = 0;
  #isSilent = false;
  #isOver = false;

  constructor(options: StoreWatchOptions) {
    this.#options = options;
  }

  check(): void {
    const { clock } = this.#options;
    this.#askedAtMs = clock.steadyNow();
    this.#timer = clock.setTimeout(() => this.#tell(false), EVERY_MS);
    void this.#ask();
  }

  end(): void {
    this.#isOver = true;
    this.#options.clock.clearTimeout(this.#timer);
  }

  async #ask(): Promise<void> {
    const { clock, ask } = this.#options;
    const hasAnswered = await ask().then(
      () => true,
      () => false,
    );
    if (this.#isOver) return;
    if (!hasAnswered) {
      const again = (): void => void this.#ask();
      // The silence goes on; that it is news has its own time.
      if (this.#isSilent) this.#timer = clock.setTimeout(again, EVERY_MS);
      else {
        clock.clearTimeout(this.#timer);
        const leftMs = Math.max(0, this.#askedAtMs + EVERY_MS - clock.steadyNow());
        this.#timer = clock.setTimeout(() => {
          this.#tell(false);
          again();
        }, leftMs);
      }
      return;
    }
    clock.clearTimeout(this.#timer);
    if (this.#isSilent) this.#tell(true);
    this.#timer = clock.setTimeout(() => this.check(), EVERY_MS);
  }

  #tell(answers: boolean): void {
    this.#isSilent = !answers;
    this.#options.onNews({ answers, silentMs: Math.round(this.#options.clock.steadyNow() - this.#askedAtMs) });
  }
}
