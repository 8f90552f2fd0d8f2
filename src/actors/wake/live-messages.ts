/**
 * Messages that come in while a backend runs which can take them: it is given each as it comes, and has read it when
 * the step is over.
 */
import type { Clock } from '../clock/clock.ts';
import { waitFor } from '../clock/waiting.ts';
import type { AgentRuntime } from '../run/agent-runtime.ts';
import type { WakeJournal } from './wake-journal.ts';

export interface LiveMessagesOptions {
  /** Watched only for a backend that takes messages. */
  readonly journal: Pick<WakeJournal, 'state' | 'refresh' | 'watch'>;
  /**
   * The text of a message, by its event; undefined for one that only the next step can be given, such as one with
   * files.
   */
  readonly textOf: (seq: number) => Promise<string | undefined>;
  /** Those that the step was given when it began. */
  readonly known: readonly string[];
  readonly runId: string;
  readonly clock: Clock;
  readonly onTrouble: (error: unknown) => void;
}

/** How long a backend may take to say, once its run is over, whether it has taken a message, in milliseconds. */
const ANSWER_GRACE_MS = 5_000;

interface Reader {
  readonly runtime: AgentRuntime;
  /** The events whose messages it has taken. */
  readonly taken: string[];
  /** It has not yet been seen to run. */
  isNew: boolean;
}

export class LiveMessages {
  readonly #options: LiveMessagesOptions;
  readonly #seen: Set<string>;
  /** One for each attempt: what an earlier one took it has taken with it. */
  #reader: Reader | undefined;
  #offering: Promise<void> = Promise.resolve();
  #isClosed = false;
  #unwatch: (() => void) | undefined;

  constructor(options: LiveMessagesOptions) {
    this.#options = options;
    this.#seen = new Set(options.known);
  }

  /** The events whose messages the backend that runs now has taken. */
  get taken(): readonly string[] {
    return this.#reader?.taken ?? [];
  }

  /**
   * Who runs from now on and takes messages; none does when absent. What another one took before it failed is not given
   * again in this step: the next one reads it.
   */
  serve(runtime: AgentRuntime | undefined): void {
    this.#reader = runtime?.queueMessage === undefined ? undefined : { runtime, taken: [], isNew: true };
    if (this.#reader !== undefined) this.#unwatch ??= this.#options.journal.watch((head) => this.#check(head));
  }

  /** The backend has said something, so it runs: what came before it did is offered now. */
  heard(): void {
    if (this.#reader?.isNew !== true) return;
    this.#reader.isNew = false;
    // What no news has told of yet is offered when some does.
    this.#check(0);
  }

  /** Something may have come in. @param head where the log ended at least, where that is known */
  #check(head = Infinity): void {
    if (this.#reader === undefined) return;
    this.#offering = this.#offering
      .then(() => this.#offer(head))
      .catch((error: unknown) => this.#options.onTrouble(error));
  }

  /** Takes no more; resolves when what was on its way has arrived or not. */
  async close(): Promise<void> {
    this.#isClosed = true;
    this.#unwatch?.();
    // A runtime that never answers must not hold the session: what it may have read is read again.
    await waitFor(this.#offering, { clock: this.#options.clock, timeoutMs: ANSWER_GRACE_MS });
  }

  async #offer(head: number): Promise<void> {
    const { journal, textOf, runId } = this.#options;
    const { pending } = head <= journal.state.head ? journal.state : await journal.refresh();
    for (const { eventId, seq, type, delivery } of pending) {
      const reader = this.#reader;
      if (this.#isClosed || reader === undefined) return;
      if (type !== 'user.message' || delivery !== 'steer' || this.#seen.has(eventId)) continue;
      const text = await textOf(seq);
      if (text === undefined) continue;
      // One that is not taken is offered again when something happens; those after it wait, so that all are read in
      // their order.
      if ((await reader.runtime.queueMessage?.(runId, text)) !== true) return;
      this.#seen.add(eventId);
      reader.taken.push(eventId);
    }
  }
}
