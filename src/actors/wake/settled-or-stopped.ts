/** Waits for a run, but not for ever once it was told to stop: a backend that is deaf to its signal must not hold a session. */
import { messageOf } from '../../machines/errors.ts';
import type { Clock, TimerHandle } from '../clock/clock.ts';
import type { AgentRunResult } from '../run/agent-runtime.ts';

/** How long a backend may take to stop. */
const ABORT_GRACE_MS = 5_000;

/** The run's result; or, when it has not stopped ABORT_GRACE_MS after the signal, that it was aborted. */
export function settledOrStopped(result: Promise<AgentRunResult>, signal: AbortSignal, clock: Clock): Promise<AgentRunResult> {
  return new Promise((resolve, reject) => {
    let timer: TimerHandle | undefined;
    const giveUp = (): void => {
      settle();
      resolve({ payloads: [], meta: { error: { kind: 'aborted', message: `${messageOf(signal.reason)} (the backend did not stop in time)` }, modelSteps: 0 } });
    };
    const onAbort = (): void => {
      timer ??= clock.setTimeout(giveUp, ABORT_GRACE_MS);
    };
    const settle = (): void => {
      clock.clearTimeout(timer);
      signal.removeEventListener('abort', onAbort);
    };
    signal.addEventListener('abort', onAbort, { once: true });
    if (signal.aborted) onAbort();
    result.then(resolve, reject).finally(settle);
  });
}
