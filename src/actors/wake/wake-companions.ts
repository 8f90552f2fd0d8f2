/** What goes along with one wake, one after the other; what fails in it is reported and nothing more. */
import type { OnListenerError } from '../streams/listener-errors.ts';
import type { CompanionWake, WakeCompanion } from './wake-companion.ts';

export interface WakeCompanionsOptions {
  readonly companions: readonly WakeCompanion[];
  readonly onListenerError: OnListenerError;
}

export class WakeCompanions {
  readonly #options: WakeCompanionsOptions;

  constructor(options: WakeCompanionsOptions) {
    this.#options = options;
  }

  beforeStep(wake: CompanionWake): Promise<void> {
    return this.#each((companion) => companion.beforeStep?.(wake));
  }

  beforeCalls(wake: CompanionWake): Promise<void> {
    return this.#each((companion) => companion.beforeCalls?.(wake));
  }

  /** Whether anything is done when the wake has ended in the log. */
  get hasMore(): boolean {
    return this.#options.companions.some((companion) => 'ended' in companion);
  }

  ended(wake: CompanionWake): Promise<void> {
    return this.#each((companion) => companion.ended?.(wake));
  }

  async #each(work: (companion: WakeCompanion) => Promise<void> | undefined): Promise<void> {
    const { companions, onListenerError } = this.#options;
    for (const companion of companions) {
      try {
        await work(companion);
      } catch (error) {
        onListenerError(error, 'listener');
      }
    }
  }
}
