/**
 * The rights to wake the sessions of one process: the same rules as across processes, without a holder that could be
 * silent.
 */
import { RuntimeError } from '../../machines/errors.ts';
import { wakeConflict } from '../../actors/session/event-store.ts';
import type { WakeClaim, WakeRight } from '../../actors/session/event-store.ts';

class MemoryWakeRight implements WakeRight {
  readonly epoch: number;
  readonly #lost = new AbortController();
  readonly #onRelease: () => void;
  readonly #waiting = new Set<() => void>();

  constructor(epoch: number, onRelease: () => void) {
    this.epoch = epoch;
    this.#onRelease = onRelease;
  }

  get lost(): AbortSignal {
    return this.#lost.signal;
  }

  lose(sessionId: string, by: number): void {
    this.#lost.abort(
      new RuntimeError(
        'WAKE_SUPERSEDED',
        `epoch ${by} of session ${sessionId} has taken over from epoch ${this.epoch}`,
        {
          category: 'conflict',
          hint: 'Leave the session to the other wake; nothing that this one still writes counts.',
          details: { sessionId, epoch: this.epoch, by },
        },
      ),
    );
    this.#free();
  }

  /** Calls back when the right is free or has another holder. Returns the function that ends the wait. */
  onFreed(callback: () => void): () => void {
    this.#waiting.add(callback);
    return () => this.#waiting.delete(callback);
  }

  async release(): Promise<void> {
    this.#onRelease();
    this.#free();
  }

  #free(): void {
    for (const callback of this.#waiting) callback();
  }
}

export class MemoryWakeRights {
  readonly #held = new Map<string, MemoryWakeRight>();

  /** @throws RuntimeError WAKE_CONFLICT */
  async acquire(sessionId: string, { epoch, isOpen }: WakeClaim): Promise<WakeRight> {
    const holder = this.#held.get(sessionId);
    if (holder !== undefined && (holder.epoch > epoch || (holder.epoch === epoch && isOpen)))
      throw wakeConflict(sessionId);
    // The log has gone past the one who has it; one whose wake has ended is only about to release it.
    if (holder !== undefined && holder.epoch < epoch) holder.lose(sessionId, epoch + 1);
    const right: MemoryWakeRight = new MemoryWakeRight(epoch + 1, () => {
      if (this.#held.get(sessionId) === right) this.#held.delete(sessionId);
    });
    this.#held.set(sessionId, right);
    return right;
  }

  isHeld(sessionId: string): boolean {
    return this.#held.has(sessionId);
  }

  /** Resolves when the present holder has the right no more, or when `signal` aborts. */
  freed(sessionId: string, signal: AbortSignal): Promise<void> {
    const holder = this.#held.get(sessionId);
    if (holder === undefined || signal.aborted) return Promise.resolve();
    return new Promise((resolve) => {
      const done = (): void => {
        stopWaiting();
        signal.removeEventListener('abort', done);
        resolve();
      };
      const stopWaiting = holder.onFreed(done);
      signal.addEventListener('abort', done, { once: true });
    });
  }
}
