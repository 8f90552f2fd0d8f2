/** One attempt of a run over its candidates, and what was decided after it, as data. */
import { z } from 'zod';
import { candidate } from './candidate.ts';
import { runFailure } from './run-failure.ts';

/**
 * What comes after an attempt that failed. `rotate_profile`: the same model with another account. `fall_back`: another model. `back_off`: the
 * same candidate again after a wait. `compact`: the same with a smaller context. `give_up`: the failure is the result.
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
