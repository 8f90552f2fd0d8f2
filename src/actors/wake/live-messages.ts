/** Messages that come in while a backend runs which can take them: it is given each as it comes, and has read it when the step is over. */
import type { SessionState } from '../../machines/session/session-state.ts';
import type { AgentRuntime } from '../run/agent-runtime.ts';

export interface LiveMessagesOptions {
  readonly state: () => SessionState;
  readonly refresh: () => Promise<SessionState>;
  /** The text of a message, by its event; undefined for one that only the next step can be given, such as one with files. */
  readonly textOf: (seq: number) => Promise<string | undefined>;
  /** Those that the step was given when it began. */
  readonly known: readonly string[];
  readonly runId: string;
  readonly onTrouble: (error: unknown) => void;
}

export class LiveMessages {
  readonly #options: LiveMessagesOptions;
  readonly #taken: string[] = [];
  readonly #seen: Set<string>;
  #runtime: AgentRuntime | undefined;
  #lane: Promise<void> = Promise.resolve();
  #isClosed = false;

  constructor(options: LiveMessagesOptions) {
    this.#options = options;
    this.#seen = new Set(options.known);
  }

  /** The events whose messages the backend has taken. */
  get taken(): readonly string[] {
    return this.#taken;
  }

  /** Who runs from now on and takes messages; nobody does when absent. What another one took before it failed is given to nobody again in this step: the next one reads it. */
  serve(runtime: AgentRuntime | undefined): void {
    this.#runtime = runtime;
    this.#taken.length = 0;
  }

  /** Something may have come in. */
  look(): void {
    if (this.#runtime?.queueMessage === undefined) return;
    this.#lane = this.#lane.then(() => this.#offer()).catch((error: unknown) => this.#options.onTrouble(error));
  }

  /** Takes no more; resolves when what was on its way has arrived or not. */
  async close(): Promise<void> {
    this.#isClosed = true;
    await this.#lane;
  }

  async #offer(): Promise<void> {
    const { refresh, textOf, runId } = this.#options;
    for (const { eventId, seq, type, delivery } of (await refresh()).pending) {
      const runtime = this.#runtime;
      if (this.#isClosed || runtime?.queueMessage === undefined) return;
      if (type !== 'user.message' || delivery !== 'steer' || this.#seen.has(eventId)) continue;
      const text = await textOf(seq);
      if (text === undefined) continue;
      this.#seen.add(eventId);
      if (await runtime.queueMessage(runId, text)) this.#taken.push(eventId);
    }
  }
}
