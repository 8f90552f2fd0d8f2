/** The error of a check that cannot be done as it was asked for. */
import { RuntimeError } from '../machines/errors.ts';

export const INVALID_CHECK = {
  code: 'CHART_CHECK_INVALID',
  hint: 'Give an adapter with start, read and a function for each event, calls that can be told apart, and possible steps.',
} as const;

export function invalidCheck(because: string, cause?: unknown): RuntimeError {
  return new RuntimeError(INVALID_CHECK.code, `the check cannot be done: ${because}`, {
    category: 'validation',
    hint: INVALID_CHECK.hint,
    ...(cause === undefined ? {} : { cause }),
  });
}
