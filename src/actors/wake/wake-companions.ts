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

  /** Whether anything is done under the right to write when the wake has ended in the log. */
  needRight(wake: CompanionWake): boolean {
    return this.#options.companions.some((companion) => needsRight(companion, wake));
  }

  /**
   * Without the right, what takes it is left to the next wake: the log may have gone on since nothing was to be done.
   */
  ended(wake: CompanionWake, { hasRight }: { readonly hasRight: boolean }): Promise<void> {
    return this.#each((companion) => (hasRight || !needsRight(companion, wake) ? companion.ended?.(wake) : undefined));
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

function needsRight(companion: WakeCompanion, wake: CompanionWake): boolean {
  return companion.ended !== undefined && (companion.needsRight?.(wake) ?? true);
}
