/** Errors of our own: what went wrong in this setup must never look like a failure of a model. */
import { RuntimeError } from '../../../../src/machines/errors.ts';
import type { ErrorCategory } from '../../../../src/machines/errors.ts';
import { BackgroundTaskError } from '../../../../src/machines/task/task-error.ts';
import { failureCase, sdk } from './failure-case.ts';
import type { FailureCase } from './failure-case.ts';

function ours(code: string, message: string, category: ErrorCategory, cause?: unknown): RuntimeError {
  return new RuntimeError(code, message, { category, cause });
}

const RATE_LIMIT = sdk(
  429,
  { type: 'error', error: { type: 'rate_limit_error', message: 'Too many requests' } },
  { 'retry-after': '7' },
);

export const ownCases: readonly FailureCase[] = [
  failureCase(
    'a superseded epoch',
    ours('EPOCH_SUPERSEDED', 'session s is at epoch 4; epoch 3 may not write any more', 'conflict'),
    'coordination',
    'our category conflict',
  ),
  failureCase(
    'a lock that waited too long, whatever it says',
    ours(
      'POLICY_BUSY',
      'rate limit: the policy was being changed by others, timed out after 5000 ms (HTTP 429)',
      'conflict',
    ),
    'coordination',
    'our category conflict',
  ),
  failureCase(
    'a lock that wraps a refusal for the rate',
    ours('WAKE_CONFLICT', 'session s is being woken by another process', 'conflict', RATE_LIMIT),
    'coordination',
    'our category conflict',
  ),
  failureCase(
    'a lock inside another error',
    new Error('model failed', { cause: ours('SESSION_BUSY', 'session s is busy: a wake of it runs', 'conflict') }),
    'coordination',
    'our category conflict',
  ),
  failureCase(
    'an abort because the lease was lost',
    Object.assign(new Error('aborted', { cause: ours('WAKE_SUPERSEDED', 'epoch 4 has taken over', 'conflict') }), {
      name: 'AbortError',
    }),
    'coordination',
    'our category conflict',
  ),
  failureCase(
    'a store that failed',
    ours(
      'STORAGE_FAILED',
      'could not append: no space left on device',
      'storage',
      Object.assign(new Error('ENOSPC'), { code: 'ENOSPC' }),
    ),
    'coordination',
    'our category storage',
  ),
  failureCase(
    'a queue that is full',
    ours('SESSION_QUEUE_FULL', 'the queue holds 64 of 64 messages', 'capacity'),
    'coordination',
    'our category capacity',
  ),
  failureCase(
    'accounts that lie open to others',
    ours(
      'AUTH_PROFILES_INVALID',
      'the auth profiles are not safe there: others than its owner may read them',
      'permission',
    ),
    'coordination',
    'our code AUTH_PROFILES_INVALID',
  ),
  failureCase(
    'a session of ours that is gone',
    ours('SESSION_NOT_FOUND', 'there is no session "x"', 'not_found'),
    'coordination',
    'our code SESSION_NOT_FOUND',
  ),
  failureCase(
    'survivors of a crash',
    ours('SURVIVORS_LEFT', 'expected to end what a crashed process left running', 'process'),
    'coordination',
    'our code SURVIVORS_LEFT',
  ),
  failureCase(
    'a tree of processes that lives on',
    ours('PROCESS_TREE_SURVIVES', 'process 12 is still there', 'process'),
    'coordination',
    'our code PROCESS_TREE_SURVIVES',
  ),
  failureCase(
    'a table of processes that cannot be read',
    ours('PROCESS_TABLE_UNREADABLE', 'could not read /proc', 'process'),
    'coordination',
    'our code PROCESS_TABLE_UNREADABLE',
  ),
  failureCase(
    'a record of a process that cannot be written',
    ours('PROCESS_RECORD_UNWRITABLE', 'could not write', 'process'),
    'coordination',
    'our code PROCESS_RECORD_UNWRITABLE',
  ),
  failureCase(
    'an address of a lock that is too long',
    ours('SOCKET_PATH_TOO_LONG', 'expected a socket path of at most 107 bytes', 'validation'),
    'coordination',
    'our code SOCKET_PATH_TOO_LONG',
  ),
  failureCase(
    'a context of ours that is too large',
    ours(
      'CONTEXT_TOO_LARGE',
      'what the model has to answer takes about 300000 tokens, and there is room for 200000',
      'capacity',
    ),
    'context_overflow',
    'our code CONTEXT_TOO_LARGE',
  ),
  failureCase(
    'a task that was canceled',
    new BackgroundTaskError('runner', 'the task was canceled: user', { code: 'TASK_CANCELLED' }),
    'aborted',
    'our code TASK_CANCELLED',
  ),
  failureCase(
    'settings that are wrong',
    ours('SCRIPT_INVALID', 'the script is not valid: expected steps', 'validation'),
    'format',
    'our category validation',
  ),
  failureCase(
    'a backend that is not registered',
    ours('AGENT_RUNTIME_NOT_FOUND', 'expected the backend "acp"; registered: script', 'not_found'),
    'format',
    'our category not_found',
  ),
  failureCase(
    'a file that others could read',
    ours('AUTH_FILE_UNSAFE', 'the file of accounts can be read by others', 'permission'),
    'format',
    'our category permission',
  ),
  failureCase(
    'a time limit of ours',
    new BackgroundTaskError('timeout', 'nothing was said for 240000 ms', { code: 'TASK_TIMED_OUT' }),
    'timeout',
    'our category timeout',
  ),
  failureCase(
    'our error around what a provider said',
    ours('MODEL_FAILED', 'the model failed', 'provider', RATE_LIMIT),
    'rate_limit',
    'code rate_limit_error',
    7_000,
  ),
  failureCase(
    'our error that only says what a provider said',
    ours('MODEL_FAILED', 'the model failed: rate limit', 'provider'),
    'rate_limit',
    'text "rate limit"',
  ),
  failureCase('a defect of ours', ours('WAKE_CRASHED', 'the wake broke', 'crash'), 'unknown', 'nothing fits'),
  failureCase(
    'a failure that is classified already',
    { kind: 'billing', message: 'spent', retryAfterMs: 5 },
    'billing',
    'already classified',
    5,
  ),
  failureCase(
    'a body that pretends to be an error of ours',
    { error: { name: 'RuntimeError', code: 'EPOCH_SUPERSEDED', category: 'conflict', message: 'x' } },
    'unknown',
    'nothing fits',
  ),
];
