/**
 * What a signal from outside means to a command. While it has work to clean up, the first signal asks it to end in good
 * order, the second one ends at once whatever it still runs, and what takes longer even then is left to the next start.
 * Otherwise a signal just ends the process.
 */
import { constants } from 'node:os';

type Interrupt = 'SIGINT' | 'SIGTERM' | 'SIGHUP';

const SIGNALS: readonly Interrupt[] = ['SIGINT', 'SIGTERM', 'SIGHUP'];

/** How long the end may take once it was forced. */
const FORCED_END_MS = 5000;

/** Shells report a command that a signal ended as 128 and the number of the signal. */
export function exitCodeOfSignal(signal: string): number {
  return 128 + (constants.signals[signal as NodeJS.Signals] ?? 0);
}

export class Interruption {
  readonly #controller = new AbortController();
  readonly #guards = new Set<() => void>();
  readonly #onForced: () => void;
  #first: Interrupt | undefined;
  #isEndExpected = false;
  #isForced = false;

  /** Listens for as long as the process lives. @param onForced told once, when a second signal ends things at once */
  constructor(onForced: () => void) {
    this.#onForced = onForced;
    for (const signal of SIGNALS) process.on(signal, () => this.#receive(signal));
  }

  /** Aborted by the first signal. */
  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  /**
   * Nothing is cut short from now on: a first signal is how the command is ended, and says nothing about how it went.
   */
  expectEnd(): void {
    this.#isEndExpected = this.#first === undefined;
  }

  /** What to exit with; undefined without an interruption, and where that was expected. */
  get exitCode(): number | undefined {
    return this.#first === undefined || (this.#isEndExpected && !this.#isForced)
      ? undefined
      : exitCodeOfSignal(this.#first);
  }

  /**
   * There is work to clean up from now on. `force` is called at the second signal. Returns the function that says it is
   * done.
   */
  guard(force: () => void): () => void {
    this.#guards.add(force);
    return () => this.#guards.delete(force);
  }

  #receive(signal: Interrupt): void {
    const isFirst = this.#first === undefined;
    this.#first ??= signal;
    if (this.#guards.size === 0) process.exit(this.exitCode);
    if (isFirst) {
      this.#controller.abort(`received ${signal}`);
      return;
    }
    for (const force of this.#guards) force();
    if (this.#isForced) return;
    this.#isForced = true;
    this.#onForced();
    setTimeout(() => process.exit(this.exitCode), FORCED_END_MS).unref();
  }
}
