/** One attempt of a run over its candidates, and what was decided after it, as data. */
import * as z from 'zod';
import { attemptKey, candidate } from './candidate.ts';
import { runFailure } from './run-failure.ts';
import type { RunFailure, RunFailureKind } from './run-failure.ts';

/**
 * What comes after an attempt that failed. `rotate_profile`: the same model with another account. `fall_back`: another
 * model. `back_off`: the same candidate again after a wait. `compact`: the same with a smaller context. `give_up`: the
 * failure is the result.
 */
export const runDecision = z.enum(['rotate_profile', 'fall_back', 'back_off', 'compact', 'give_up']);

export type RunDecision = z.output<typeof runDecision>;

export const runAttempt = z.object({
  candidate,
  /** Absent: it succeeded. */
  error: runFailure.optional(),
  next: runDecision.optional(),
  /** Why it was chosen, as one sentence. */
  because: z.string(),
});

export type RunAttempt = Readonly<z.output<typeof runAttempt>>;

/** Failures that lie in what the model is asked, which the next run would ask again. */
const OF_THE_REQUEST: ReadonlySet<RunFailureKind> = new Set(['format', 'refusal', 'context_overflow']);

/**
 * Whether another run would come to the same: it failed for what was asked, and so did every candidate in the end. One
 * that was passed over for a limit or a fault of its own may take it the next time.
 */
export function isGivenUp({ kind, retryAfterMs, isRest }: RunFailure, attempts: readonly RunAttempt[] = []): boolean {
  if (!OF_THE_REQUEST.has(kind) || retryAfterMs !== undefined || isRest === true) return false;
  const last = new Map(attempts.map((attempt) => [attemptKey(attempt.candidate), attempt.error]));
  return [...last.values()].every((error) => error === undefined || OF_THE_REQUEST.has(error.kind));
}
