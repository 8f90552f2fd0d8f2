/**
 * Makes a worker's index whole again when it is suspect, beside the work; what fails is tried again after a time that
 * grows.
 */
import type { Activation } from '../../machines/session/activation.ts';
import { activationsOf } from '../../machines/session/session-activations.ts';
import { backOffMs } from '../../machines/session/worker-rules.ts';
import type { TimerHandle } from '../clock/clock.ts';
import type { SessionListing } from './event-store.ts';
import type { JournalPorts } from './session-journal.ts';
import { SessionJournal } from './session-journal.ts';

// Makes the index of what is due again from the logs, as after a power failure. Others may append and wake all the
// while.

interface RebuildOptions {
  /** Aborting it leaves the index suspect, with what was found so far in it. */
  readonly signal: AbortSignal;
}

/** The cause of a hint for a session whose log cannot be read: the wake that comes of it tells why. */
const UNREADABLE = 'unreadable';

/** @throws what the store throws, and the signal's reason */
async function rebuildActivations(ports: JournalPorts, { signal }: RebuildOptions): Promise<void> {
  const { store } = ports;
  await store.activations.rebuilt(activationsIn(await store.list(), ports, signal));
}

async function* activationsIn(
  listings: readonly SessionListing[],
  ports: JournalPorts,
  signal: AbortSignal,
): AsyncGenerator<Activation, void, undefined> {
  for (const listing of listings) {
    signal.throwIfAborted();
    yield* await activationsOfOne(listing, ports);
  }
}

async function activationsOfOne(
  { sessionId, agentId, view }: SessionListing,
  ports: JournalPorts,
): Promise<readonly Activation[]> {
  try {
    return activationsOf(view ?? (await SessionJournal.open(sessionId, ports)).state);
  } catch {
    // One that cannot be read must not hide all the others.
    return [{ sessionId, agentId, causeId: UNREADABLE, kind: 'retry', dueAtMs: ports.clock.now(), priority: 'low' }];
  }
}

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
