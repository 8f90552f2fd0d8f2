/**
 * Makes a worker's index whole again when it is suspect, beside the work; what fails is tried again after a time that
 * grows.
 */
import { backOffMs } from '../../machines/session/worker-rules.ts';
import type { TimerHandle } from '../clock/clock.ts';
import { rebuildActivations } from './rebuild-activations.ts';
import type { JournalPorts } from './session-journal.ts';

export interface WorkerRebuildListener {
  /** It is known whether the index has to be made again. */
  readonly onReady: () => void;
  /** @param failures how many times in a row it failed @param againAtMs milliseconds since the epoch */
  readonly onFailure: (error: unknown, failures: number, againAtMs: number) => void;
  /** Called once, also when it was stopped; not when it is given up. */
  readonly onEnded: () => void;
}

export class WorkerRebuild {
  readonly #ports: JournalPorts;
  readonly #listener: WorkerRebuildListener;
  readonly #abort = new AbortController();
  #state: 'new' | 'running' | 'done' | 'given_up' = 'new';
  #timer: TimerHandle | undefined;
  #failures = 0;

  constructor(ports: JournalPorts, listener: WorkerRebuildListener) {
    this.#ports = ports;
    this.#listener = listener;
  }

  /** Whether it reads or writes at this moment. */
  get isRunning(): boolean {
    return this.#state === 'running';
  }

  /** Whether the index can be trusted, or the tries to make it so are over. */
  get isOver(): boolean {
    return this.#state === 'done' || this.#state === 'given_up';
  }

  begin(): void {
    void this.#run();
  }

  /** It is not tried again. */
  giveUp(): void {
    this.#state = 'given_up';
    this.#ports.clock.clearTimeout(this.#timer);
  }

  stop(): void {
    this.#abort.abort('the worker was stopped');
    this.#ports.clock.clearTimeout(this.#timer);
  }

  async #run(): Promise<void> {
    const { signal } = this.#abort;
    this.#state = 'running';
    try {
      const isSuspect = await this.#ports.store.activations.isSuspect();
      if (!signal.aborted) this.#listener.onReady();
      if (isSuspect) await rebuildActivations(this.#ports, { signal });
      this.#state = 'done';
    } catch (error) {
      this.#state = 'new';
      if (!signal.aborted) return this.#tryAgain(error);
    }
    this.#listener.onEnded();
  }

  #tryAgain(error: unknown): void {
    const { clock } = this.#ports;
    this.#failures += 1;
    const delayMs = backOffMs('backed_off', this.#failures);
    this.#timer = clock.setTimeout(() => void this.#run(), delayMs);
    this.#listener.onFailure(error, this.#failures, clock.now() + delayMs);
  }
}
