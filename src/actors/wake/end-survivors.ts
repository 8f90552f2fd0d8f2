/**
 * Ends what a process that died left running, before another wake goes on with a session of it: a command of the dead
 * wake must not work beside the wake that takes over.
 */
import { RuntimeError, messageOf } from '../../machines/errors.ts';
import type { Clock } from '../clock/clock.ts';
import { pause } from '../clock/waiting.ts';
import type { OnListenerError } from '../streams/listener-errors.ts';
import type { ReconciledProcessTree } from '../task/process-tree.ts';

/** Deals with what dead processes left, as `ProcessTree.reconcile` does. */
export type Reconcile = () => Promise<readonly ReconciledProcessTree[]>;

export interface EndSurvivorsOptions {
  readonly reconcile: Reconcile;
  readonly clock: Clock;
  readonly signal: AbortSignal;
}

/** How long a wake waits for survivors to be gone, in milliseconds. Ending a tree takes 7 seconds at most. */
export const END_SURVIVORS_LIMIT_MS = 15_000;

/** How long to leave another host alone with the survivors that it is ending, in milliseconds. */
const CHECK_AGAIN_MS = 100;

/**
 * Resolves when no dead process has left anything running that is on record, or at once when the signal aborts.
 * @throws RuntimeError SURVIVORS_LEFT when some cannot be ended, or not in END_SURVIVORS_LIMIT_MS; and whatever
 * `reconcile` throws
 */
export function endSurvivors({ reconcile, clock, signal }: EndSurvivorsOptions): Promise<void> {
  if (signal.aborted) return Promise.resolve();
  const over = new AbortController();
  return new Promise<void>((resolve, reject) => {
    const stop = (): void => resolve();
    const timer = clock.setTimeout(
      () => reject(survivorsLeft(`they were not gone after ${END_SURVIVORS_LIMIT_MS} ms`)),
      END_SURVIVORS_LIMIT_MS,
    );
    signal.addEventListener('abort', stop, { once: true });
    over.signal.addEventListener('abort', () => {
      clock.clearTimeout(timer);
      signal.removeEventListener('abort', stop);
    });
    reconcileUntilQuiet({ reconcile, clock, signal: over.signal }).then(resolve, reject);
  }).finally(() => over.abort());
}

async function reconcileUntilQuiet({ reconcile, clock, signal }: EndSurvivorsOptions): Promise<void> {
  // A record that another host claims while we read the list is missing from the first report, so it takes a second one
  // to believe it.
  for (let reports = 1; !signal.aborted; reports += 1) {
    const trees = await reconcile();
    const left = trees.filter(({ reason }) => reason === 'not_ended');
    if (left.length > 0)
      throw survivorsLeft(
        `processes ${left.flatMap(({ survivors }) => survivors.map(({ pid }) => pid)).join(', ') || 'of a task'} did not end`,
      );
    const isQuiet = !trees.some(({ reason }) => reason === 'being_reconciled');
    if (isQuiet && reports > 1) return;
    if (!isQuiet) await pause({ clock, timeoutMs: CHECK_AGAIN_MS, signal });
  }
}

function survivorsLeft(why: string): RuntimeError {
  return new RuntimeError('SURVIVORS_LEFT', `expected to end what a crashed process left running; ${why}`, {
    category: 'process',
    hint: 'Search for these processes and end them; the session goes on without waiting for them.',
  });
}

/** The same for a wake that goes on in any case. @returns what of the dead process could not be ended, if anything */
export async function survivorsOf(
  {
    reconcile,
    clock,
    onListenerError,
  }: Omit<EndSurvivorsOptions, 'signal'> & { readonly onListenerError: OnListenerError },
  signal: AbortSignal,
): Promise<string | undefined> {
  try {
    await endSurvivors({ reconcile, clock, signal });
    return undefined;
  } catch (error) {
    onListenerError(error, 'listener');
    return messageOf(error);
  }
}
