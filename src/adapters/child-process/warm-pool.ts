/**
 * Workers that are forked and loaded before a job needs them. Each is for one job; another is made in the background
 * for every one that is taken or dies. They do not keep this process alive, and end with it.
 */
import type { WorkerParentConfig } from '../../machines/subagent/worker-protocol.ts';
import type { TalkingWorker } from './talking-worker.ts';

/** Between a failure and the next try; doubled with each failure in a row. */
const FIRST_PAUSE_MS = 250;
const LONGEST_PAUSE_MS = 30_000;
/** A taken worker leaves a free place; its job comes first. */
const REFILL_DELAY_MS = 25;

export interface WarmPoolOptions {
  readonly size: number;
  readonly fork: () => Promise<TalkingWorker>;
  /** What they open while they wait. */
  readonly parentConfig: WorkerParentConfig;
  readonly killGraceMs: number;
}

export class WarmPool {
  readonly #options: WarmPoolOptions;
  /** The oldest first, whether warm already or not, with what ends the wait for their becoming warm. */
  readonly #waiting = new Map<TalkingWorker, () => void>();
  /** Since when, in milliseconds that only count on. */
  readonly #warm = new Map<TalkingWorker, number>();
  /** Every one that is not ended yet and was not taken. */
  readonly #ends = new Map<TalkingWorker, Promise<unknown>>();
  #making: Promise<void> | undefined;
  #failuresInARow = 0;
  /** The system's own, which can be told not to keep this process alive. */
  #timer: NodeJS.Timeout | undefined;
  #isClosed = false;

  constructor(options: WarmPoolOptions) {
    this.#options = options;
    this.#refillIn(0);
  }

  /** Loaded and waiting at the moment. */
  get warmCount(): number {
    return this.#warm.size;
  }

  /** One that belongs to the caller from now on: a warm one where there is one, else one on its way there. */
  take(): TalkingWorker | undefined {
    const [worker] = (this.#warm.size > 0 ? this.#warm : this.#waiting).keys();
    if (worker === undefined) return undefined;
    this.#forget(worker);
    worker.process.setHeld(true);
    this.#failuresInARow = 0;
    this.#refillIn(REFILL_DELAY_MS);
    return worker;
  }

  /** Ends all that wait. Idempotent. @throws BackgroundTaskError category `process` naming who is left */
  async close(): Promise<void> {
    this.#isClosed = true;
    clearTimeout(this.#timer);
    this.#endWaiting();
    // One that was being forked is among those who wait by then.
    await this.#making;
    this.#endWaiting();
    await Promise.all(this.#ends.values());
  }

  #endWaiting(): void {
    for (const worker of this.#waiting.keys()) {
      this.#forget(worker);
      this.#end(worker);
    }
  }

  #refillIn(delayMs: number): void {
    if (this.#isClosed || this.#options.size === 0 || this.#making !== undefined) return;
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => {
      this.#making = this.#fill().finally(() => {
        this.#making = undefined;
        if (this.#waiting.size < this.#options.size)
          this.#refillIn(this.#failuresInARow === 0 ? REFILL_DELAY_MS : this.#pauseMs());
      });
    }, delayMs);
    this.#timer.unref();
  }

  #pauseMs(): number {
    return Math.min(LONGEST_PAUSE_MS, FIRST_PAUSE_MS * 2 ** (this.#failuresInARow - 1));
  }

  /** One after the other: a machine that is busy with jobs is not to be busier with preparing for them. */
  async #fill(): Promise<void> {
    const { size, fork } = this.#options;
    while (!this.#isClosed && this.#waiting.size < size) {
      try {
        await this.#warmUp(await fork());
      } catch {
        this.#failuresInARow += 1;
        return;
      }
      if (this.#failuresInARow > 0) return;
    }
  }

  /** Resolves when it is warm, taken, or gone. */
  async #warmUp(worker: TalkingWorker): Promise<void> {
    const freed = new Promise<void>((resolve) => this.#waiting.set(worker, resolve));
    if (this.#isClosed) return;
    worker.process.setHeld(false);
    void worker.process.exited.then(() => this.#lost(worker));
    await worker.send({ type: 'prepare', parentConfig: this.#options.parentConfig });
    const trouble = await Promise.race([worker.warm, freed]);
    if (!this.#waiting.has(worker)) return;
    if (trouble === undefined) this.#warm.set(worker, performance.now());
    else this.#lost(worker);
  }

  /** It died, or cannot become warm, before a job took it. */
  #lost(worker: TalkingWorker): void {
    if (!this.#waiting.has(worker)) return;
    // One that was there for long has not failed like those before it.
    if (performance.now() - (this.#warm.get(worker) ?? Infinity) > LONGEST_PAUSE_MS) this.#failuresInARow = 0;
    this.#forget(worker);
    this.#end(worker);
    this.#failuresInARow += 1;
    this.#refillIn(this.#pauseMs());
  }

  #end(worker: TalkingWorker): void {
    worker.process.setHeld(true);
    worker.process.release();
    const { killGraceMs } = this.#options;
    const ended = worker.process.endedWithin(killGraceMs).then(() => worker.process.end({ graceMs: killGraceMs }));
    this.#ends.set(worker, ended);
    // Those that cannot be ended are named when the pool is closed.
    ended.then(
      () => this.#ends.delete(worker),
      () => undefined,
    );
  }

  #forget(worker: TalkingWorker): void {
    this.#waiting.get(worker)?.();
    this.#waiting.delete(worker);
    this.#warm.delete(worker);
  }
}
