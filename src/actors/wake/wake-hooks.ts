/** What goes along with one wake, one after the other; what fails in it is reported and nothing more. */
import type { OnListenerError } from '../streams/listener-errors.ts';
import type { HookedWake } from '../turn/tool.ts';
import type { WakeHook } from './wake-hook.ts';

export interface WakeHooksOptions {
  readonly hooks: readonly WakeHook[];
  readonly onListenerError: OnListenerError;
}

export class WakeHooks {
  readonly #options: WakeHooksOptions;

  constructor(options: WakeHooksOptions) {
    this.#options = options;
  }

  beforeStep(wake: HookedWake): Promise<void> {
    return this.#each((hook) => hook.beforeStep?.(wake));
  }

  beforeCalls(wake: HookedWake): Promise<void> {
    return this.#each((hook) => hook.beforeCalls?.(wake));
  }

  /** Whether anything is done under the right to write when the wake has ended in the log. */
  needRight(wake: HookedWake): boolean {
    return this.#options.hooks.some((hook) => needsRight(hook, wake));
  }

  /**
   * Without the right, what takes it is left to the next wake: the log may have gone on since nothing was to be done.
   */
  ended(wake: HookedWake, { hasRight }: { readonly hasRight: boolean }): Promise<void> {
    return this.#each((hook) => (hasRight || !needsRight(hook, wake) ? hook.ended?.(wake) : undefined));
  }

  async #each(work: (hook: WakeHook) => Promise<void> | undefined): Promise<void> {
    const { hooks, onListenerError } = this.#options;
    for (const hook of hooks) {
      try {
        await work(hook);
      } catch (error) {
        onListenerError(error, 'listener');
      }
    }
  }
}

function needsRight(hook: WakeHook, wake: HookedWake): boolean {
  return hook.ended !== undefined && (hook.needsRight?.(wake) ?? true);
}
