/** Waiting for a job, and giving up on waiting: which says nothing about the job. */
import { BackgroundTaskError } from '../../machines/task/task-error.ts';
import type { Clock } from '../clock/clock.ts';

export interface SubagentWaitOptions {
  /** Aborting it ends the waiting. */
  readonly signal?: AbortSignal | undefined;
  /** In milliseconds. Default: for ever. */
  readonly timeoutMs?: number | undefined;
}

export interface AwaitedJob {
  readonly jobId: string;
  /** How it is at the moment. */
  readonly status: () => string;
}

/**
 * @throws what `outcome` rejects with, and BackgroundTaskError SUBAGENT_WAIT_TIMEOUT or SUBAGENT_WAIT_ABORTED: then the
 * job goes on
 */
export async function waitFor<Result>(
  outcome: Promise<Result>,
  job: AwaitedJob,
  { signal, timeoutMs }: SubagentWaitOptions,
  clock: Clock,
): Promise<Result> {
  if (timeoutMs !== undefined && !(timeoutMs >= 0)) {
    throw new BackgroundTaskError(
      'validation',
      `timeoutMs must be a number of milliseconds, 0 or more, got ${timeoutMs}`,
      { code: 'SUBAGENT_WAIT_INVALID', hint: 'Leave it out to wait until the job has ended.' },
    );
  }
  // There may be no caller left to hear of it.
  outcome.catch(() => undefined);
  let giveUp: (error: BackgroundTaskError) => void = () => undefined;
  const patience = new Promise<never>((_, reject) => {
    giveUp = reject;
  });
  patience.catch(() => undefined);
  const onAbort = (): void => giveUp(stoppedWaiting(job, 'SUBAGENT_WAIT_ABORTED', 'was asked to'));
  const isFinite = timeoutMs !== undefined && timeoutMs !== Infinity;
  const timer = isFinite
    ? clock.setTimeout(
        () => giveUp(stoppedWaiting(job, 'SUBAGENT_WAIT_TIMEOUT', `waited for ${timeoutMs} ms`)),
        timeoutMs,
      )
    : undefined;
  signal?.addEventListener('abort', onAbort, { once: true });
  if (signal?.aborted === true) onAbort();
  try {
    return await Promise.race([outcome, patience]);
  } finally {
    clock.clearTimeout(timer);
    signal?.removeEventListener('abort', onAbort);
  }
}

function stoppedWaiting({ jobId, status }: AwaitedJob, code: string, why: string): BackgroundTaskError {
  const now = status();
  return new BackgroundTaskError(
    code === 'SUBAGENT_WAIT_TIMEOUT' ? 'timeout' : 'runner',
    `stopped waiting for job ${jobId}, as it ${why}; the job itself is ${now} and was left alone`,
    {
      code,
      hint: 'Wait again, or cancel the job if it is not wanted any more.',
      details: { jobId, status: now },
    },
  );
}
