/**
 * Decides when a worker checks what is due: when it is told that hints were made, when the next one falls due, when
 * it has room for more, and now and then in case it was not told. Many reasons at once are one check; a check that took
 * long is followed by a rest, so that checking never takes more than a small part of the time; one that failed is tried
 * again after a time that grows.
 */
import { backOffMs } from '../../machines/session/worker-rules.ts';
import type { Clock, TimerHandle } from '../clock/clock.ts';
import { letOthersRun } from '../clock/waiting.ts';

export interface DueCheckOptions {
  readonly clock: Clock;
  readonly restLimitMs: number;
  /** Checks, and answers when to check again at the latest, in milliseconds since the epoch. */
  readonly check: () => Promise<number | undefined>;
  /** Tells that hints may have been made. Returns the function that ends it. */
  readonly watch: (onChange: () => void) => () => void;
  /** @param failures how many checks in a row have failed @param againAtMs milliseconds since the epoch */
  readonly onFailure: (error: unknown, failures: number, againAtMs: number) => void;
}

/** A check that took a millisecond is followed by this many at least without one. */
const REST_PER_CHECK = 4;

/** After a check that took less, in milliseconds, as much again is rest enough: a client may wait for an answer. */
const QUICK_CHECK_MS = 5;

/** Delays of a rest between checks end here, in milliseconds. */
const MAX_REST_AFTER_CHECK_MS = 1_000;

export class DueCheck {
  readonly #options: DueCheckOptions;
  #rings = 0;
  #isWanted = false;
  #isChecking = false;
  #hasCheckedThisTurn = false;
  #isStopped = false;
  #failures = 0;
  /** On the steady clock. */
  #notBeforeMs = 0;
  #timer: TimerHandle | undefined;
  #stopWatching: (() => void) | undefined;

  constructor(options: DueCheckOptions) {
    this.#options = options;
  }

  /** How often hints were made, as far as one was told. */
  get rings(): number {
    return this.#rings;
  }

  /** Whether there is a reason to check that came after the last check began. */
  get isWanted(): boolean {
    return this.#isWanted;
  }

  begin(): void {
    this.#stopWatching = this.#options.watch(() => {
      this.#rings += 1;
      this.request();
    });
    this.request();
  }

  /** Checks as soon as it may. */
  request(): void {
    if (this.#isWanted) return;
    this.#isWanted = true;
    this.#schedule();
  }

  stop(): void {
    this.#isStopped = true;
    this.#stopWatching?.();
    this.#options.clock.clearTimeout(this.#timer);
  }

  #schedule(): void {
    if (this.#isChecking || this.#isStopped) return;
    const { clock } = this.#options;
    const delayMs = this.#notBeforeMs - clock.steadyNow();
    if (delayMs > 0) this.#arm(delayMs);
    else void this.#check();
  }

  #arm(delayMs: number): void {
    const { clock } = this.#options;
    clock.clearTimeout(this.#timer);
    this.#timer = clock.setTimeout(() => void this.#check(), delayMs);
  }

  async #check(): Promise<void> {
    if (this.#isChecking || this.#isStopped) return;
    const { clock, check, restLimitMs } = this.#options;
    clock.clearTimeout(this.#timer);
    this.#isChecking = true;
    await this.#turnOfOurs();
    this.#isWanted = false;
    const beganMs = clock.steadyNow();
    let delayMs = restLimitMs;
    try {
      const nextMs = await check();
      this.#failures = 0;
      const tookMs = clock.steadyNow() - beganMs;
      this.#notBeforeMs =
        clock.steadyNow() +
        Math.min(MAX_REST_AFTER_CHECK_MS, tookMs < QUICK_CHECK_MS ? tookMs : tookMs * REST_PER_CHECK);
      if (nextMs !== undefined) delayMs = Math.min(restLimitMs, Math.max(0, nextMs - clock.now()));
    } catch (error) {
      delayMs = this.#failed(error);
    }
    this.#isChecking = false;
    if (this.#isStopped) return;
    if (this.#isWanted) this.#schedule();
    else this.#arm(delayMs);
  }

  /**
   * One search for each turn of the event loop: wakes that end as soon as they begin must not keep all other work
   * waiting.
   */
  async #turnOfOurs(): Promise<void> {
    while (this.#hasCheckedThisTurn) await letOthersRun();
    this.#hasCheckedThisTurn = true;
    setImmediate(() => {
      this.#hasCheckedThisTurn = false;
    });
  }

  /** @returns how long to wait */
  #failed(error: unknown): number {
    const { clock, onFailure } = this.#options;
    this.#failures += 1;
    const delayMs = backOffMs('backed_off', this.#failures);
    this.#notBeforeMs = clock.steadyNow() + delayMs;
    if (!this.#isStopped) onFailure(error, this.#failures, clock.now() + delayMs);
    return delayMs;
  }
}
