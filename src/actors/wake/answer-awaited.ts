/**
 * Waits for the answer to what an open call asks, within the step that runs it: a backend holds its breath meanwhile.
 */
import type { OpenToolCall } from '../../machines/session/session-state.ts';
import type { Clock } from '../clock/clock.ts';
import type { WakeJournal } from './wake-journal.ts';

export interface AwaitedAnswer {
  /** The call by the state as it was read last; undefined once it has been closed. */
  readonly call: () => OpenToolCall | undefined;
  readonly journal: Pick<WakeJournal, 'refresh' | 'watch'>;
  readonly clock: Clock;
  readonly signal: AbortSignal;
}

/** The call once it waits no more, or has waited too long, or the signal has aborted; undefined when it was closed. */
export async function answerAwaited({
  call,
  journal,
  clock,
  signal,
}: AwaitedAnswer): Promise<OpenToolCall | undefined> {
  let nudge = (): void => undefined;
  let hasNews = true;
  const tell = (): void => {
    hasNews = true;
    nudge();
  };
  // From before the first check, so that nothing is missed between a check and the wait.
  const unwatch = journal.watch(tell);
  signal.addEventListener('abort', tell, { once: true });
  try {
    for (;;) {
      if (hasNews && !signal.aborted) await refreshed();
      const open = call();
      const expiresAtMs = expiryOf(open);
      if (open?.phase !== 'waiting' || signal.aborted || clock.now() >= expiresAtMs) return open;
      if (!hasNews) await newsOr(expiresAtMs);
    }
  } finally {
    unwatch();
    signal.removeEventListener('abort', tell);
  }

  async function refreshed(): Promise<void> {
    hasNews = false;
    await journal.refresh();
  }

  function newsOr(untilMs: number): Promise<void> {
    return new Promise((resolve) => {
      const timer = Number.isFinite(untilMs) ? clock.setTimeout(() => nudge(), untilMs - clock.now()) : undefined;
      nudge = () => {
        clock.clearTimeout(timer);
        resolve();
      };
    });
  }
}

function expiryOf(open: OpenToolCall | undefined): number {
  const { request } = open ?? {};
  return request?.kind === 'permission' && request.expiresAt !== undefined ? Date.parse(request.expiresAt) : Infinity;
}
