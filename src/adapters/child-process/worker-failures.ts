/** How a job fails because of its worker, in words: what was expected, what came, what to do. */
import { isErrorCategory } from '../../machines/errors.ts';
import { BackgroundTaskError } from '../../machines/task/task-error.ts';
import type { SubagentWorkerChildMessage } from '../../machines/subagent/worker-protocol.ts';
import type { BrokenTalk } from './message-link.ts';
import type { WorkerExit } from './worker-process.ts';

export interface LastWords {
  /** The end of its error output, redacted; empty when there was none. */
  readonly stderr: string;
}

export function crashed({ code, signal }: WorkerExit, { stderr }: LastWords): BackgroundTaskError {
  const how = signal === undefined ? `exited with code ${code ?? 'unknown'}` : `was ended by ${signal}`;
  const details = {
    ...(code === undefined ? {} : { exitCode: code }),
    ...(signal === undefined ? {} : { signal }),
    stderr,
  };
  return new BackgroundTaskError('crash', `the subagent worker ${how} without a result${said(stderr)}`, {
    code: 'SUBAGENT_WORKER_CRASHED',
    hint: 'Its session keeps what was done until then. Check the transcript of the job, then start another one.',
    details,
  });
}

/** It lives, but this process cannot hear it any more. */
export function silenced({ stderr }: LastWords): BackgroundTaskError {
  return new BackgroundTaskError(
    'crash',
    `the subagent worker closed its channel without a result and went on running${said(stderr)}`,
    {
      code: 'SUBAGENT_WORKER_SILENT',
      hint: 'Whatever runs in the worker must leave its channel to the parent open.',
      details: { stderr },
    },
  );
}

export function notReady(readyTimeoutMs: number, { stderr }: LastWords): BackgroundTaskError {
  return new BackgroundTaskError(
    'timeout',
    `the subagent worker did not say that it is ready within ${readyTimeoutMs} ms${said(stderr)}`,
    {
      code: 'SUBAGENT_WORKER_NOT_READY',
      hint: 'Raise readyTimeoutMs if the machine is slow; else check that workerPath is a worker of Wakechart.',
      details: { readyTimeoutMs, stderr },
    },
  );
}

/** A crash of the talk: nothing that the worker says can be relied on, its result as little as its errors. */
export function brokenTalk({ kind, complaint }: BrokenTalk): BackgroundTaskError {
  const what =
    kind === 'other_version'
      ? complaint
      : `the subagent worker sent invalid messages in a row, the last one: ${complaint}`;
  return new BackgroundTaskError('crash', what, {
    code: kind === 'other_version' ? 'SUBAGENT_WORKER_VERSION' : 'SUBAGENT_WORKER_PROTOCOL',
    hint:
      kind === 'other_version'
        ? 'Let workerPath be the worker of the same installation, or leave it out.'
        : 'Check that workerPath is a worker of Wakechart, and that nothing in it uses its channel.',
  });
}

export function tooManyRequests(maxOpen: number): BackgroundTaskError {
  return new BackgroundTaskError(
    'capacity',
    `the subagent worker asked for permission more than ${maxOpen} times without waiting for an answer`,
    {
      code: 'SUBAGENT_TOO_MANY_REQUESTS',
      hint: 'Answer requests while the job runs, or let its agent run fewer tools at once.',
      details: { maxOpenRequests: maxOpen },
    },
  );
}

export function cancelled(reason: string): BackgroundTaskError {
  return new BackgroundTaskError('runner', `the subagent was cancelled: ${reason}`, {
    code: 'SUBAGENT_CANCELLED',
    details: { reason },
  });
}

export function notRunning(jobId: string): BackgroundTaskError {
  return new BackgroundTaskError('conflict', `job ${jobId} has ended, or is being ended: it takes nothing more`, {
    code: 'SUBAGENT_NOT_RUNNING',
    hint: 'Start another job, or go on with its session.',
  });
}

export function notAsked(jobId: string, requestId: string): BackgroundTaskError {
  return new BackgroundTaskError(
    'conflict',
    `job ${jobId} does not wait for an answer to ${requestId.slice(0, 200)}: it was answered already, or never asked`,
    {
      code: 'SUBAGENT_PERMISSION_NOT_ASKED',
      hint: 'Answer each request once, by the id it came with.',
    },
  );
}

export function runnerClosed(): BackgroundTaskError {
  return new BackgroundTaskError('conflict', 'the subagent runner is closed and starts nothing more', {
    code: 'SUBAGENT_RUNNER_CLOSED',
    hint: 'Open a new runtime.',
  });
}

/** What the worker itself says went wrong. */
export function reported({
  message,
  category,
  code,
  hint,
  details,
}: Extract<SubagentWorkerChildMessage, { type: 'error' }>): BackgroundTaskError {
  return new BackgroundTaskError(category !== undefined && isErrorCategory(category) ? category : 'runner', message, {
    code: code ?? 'SUBAGENT_FAILED',
    hint,
    details,
  });
}

function said(stderr: string): string {
  return stderr === '' ? '' : `; its error output ended with: ${stderr}`;
}
