/** Where subagent runners, which are foreign code, meet the runtime: checks of what they give back. */
import { plainCopy } from '../../machines/plain-copy.ts';
import { BackgroundTaskError } from '../../machines/task/task-error.ts';
import { isPromiseLike } from '../task/runner-boundary.ts';
import type { SubagentJobHandle, SubagentJobResult } from './subagent-runner.ts';

/** The code of what a runner returned that is no handle. */
export const RUNNER_HANDLE = 'SUBAGENT_RUNNER_HANDLE';

/** @throws BackgroundTaskError category `runner` when it is no handle */
export function checkedJobHandle(value: unknown): SubagentJobHandle {
  const canStop =
    typeof value === 'object' && value !== null && 'cancel' in value && typeof value.cancel === 'function';
  if (canStop && 'result' in value && isPromiseLike(value.result)) return value as unknown as SubagentJobHandle;
  // Something may run behind it all the same.
  if (canStop) {
    const half = value as unknown as Pick<SubagentJobHandle, 'cancel'>;
    void Promise.resolve()
      .then(() => half.cancel('its handle has no result'))
      .catch(() => undefined);
  }
  throw new BackgroundTaskError(
    'runner',
    `the subagent runner must return a handle with a result promise and a cancel function, got ${described(value)}`,
    {
      code: RUNNER_HANDLE,
      hint: 'Return { jobId, result, cancel } from start(), or a promise of it.',
    },
  );
}

/** A frozen copy with the public fields only. @throws BackgroundTaskError category `runner` when it is no result */
export function checkedJobResult(value: SubagentJobResult, jobId: string): SubagentJobResult {
  // Typed, and still from outside: a runner in plain JavaScript may resolve with anything.
  const output: unknown = (value as Partial<SubagentJobResult> | undefined | null)?.output;
  if (typeof output !== 'string') {
    throw new BackgroundTaskError(
      'runner',
      `the runner of job ${jobId} must resolve with { output: string }, got ${described(value)}`,
      {
        code: 'SUBAGENT_RUNNER_RESULT',
        hint: 'Let the promise of the handle resolve with { output }; where there is none, with an empty text.',
      },
    );
  }
  const { metadata } = value;
  return Object.freeze({
    jobId,
    output,
    ...(metadata === undefined ? {} : { metadata: plainCopy(metadata) as Readonly<Record<string, unknown>> }),
  });
}

function described(value: unknown): string {
  if (value === null || typeof value !== 'object') return String(value);
  return `an object with ${Object.keys(value).join(', ') || 'no fields'}`;
}
