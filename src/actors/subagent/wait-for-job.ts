/** Waiting for a job, and giving up on waiting: which says nothing about the job. */
import { BackgroundTaskError } from '../../machines/task/task-error.ts';
import type { Clock } from '../clock/clock.ts';
import { waitFor } from '../clock/waiting.ts';

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
export async function waitForJob<Result>(
  outcome: Promise<Result>,
  job: AwaitedJob,
  { signal, timeoutMs = Infinity }: SubagentWaitOptions,
  clock: Clock,
): Promise<Result> {
  if (!(timeoutMs >= 0)) {
    throw new BackgroundTaskError(
      'validation',
      `timeoutMs must be a number of milliseconds, 0 or more, got ${timeoutMs}`,
      { code: 'SUBAGENT_WAIT_INVALID', hint: 'Leave it out to wait until the job has ended.' },
    );
  }
  switch (await waitFor(outcome, { clock, timeoutMs, signal })) {
    case 'over':
      return outcome;
    case 'aborted':
      throw stoppedWaiting(job, 'SUBAGENT_WAIT_ABORTED', 'was asked to');
    case 'timed_out':
      throw stoppedWaiting(job, 'SUBAGENT_WAIT_TIMEOUT', `waited for ${timeoutMs} ms`);
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
