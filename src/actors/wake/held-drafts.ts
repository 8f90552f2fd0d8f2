/**
 * Events that can wait for the next ones, to be stored with them in one write: each write of its own would have to wait
 * for the disk.
 */
import type { SessionEventDraft } from '../../machines/session/session-event.ts';

export class HeldDrafts {
  #held: readonly SessionEventDraft[] = [];

  hold(drafts: readonly SessionEventDraft[]): void {
    this.#held = [...this.#held, ...drafts];
  }

  /** Stores what was held before what is given. When that fails it is held on. */
  async store(
    drafts: readonly SessionEventDraft[],
    append: (all: readonly SessionEventDraft[]) => Promise<unknown>,
  ): Promise<void> {
    const held = this.#held;
    this.#held = [];
    try {
      await append([...held, ...drafts]);
    } catch (error) {
      this.#held = [...held, ...this.#held];
      throw error;
    }
  }
}
