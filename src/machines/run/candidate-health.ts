/** How a candidate stands, as data that outlasts processes. Its states are those of `breakerMachine`. */
import * as z from 'zod';
import { candidate } from './candidate.ts';
import { runFailure, runFailureKind } from './run-failure.ts';

const isoTime = z.iso.datetime();

export const candidateHealthSchema = z.object({
  candidate,
  state: z.enum(['closed', 'cooling', 'half_open', 'disabled']),
  /** When it may be probed, for `cooling` and `disabled`. */
  until: isoTime.optional(),
  /** Of what it fell out of use. */
  because: z
    .object({ kind: runFailureKind, message: z.string().max(1_000), evidence: runFailure.shape.evidence })
    .optional(),
  /** Failures since the last success, by what they cost: cooling grows with the first, disabling with the second. */
  failures: z.number().int().nonnegative(),
  billingFailures: z.number().int().nonnegative(),
  lastFailureAt: isoTime.optional(),
  lastUsedAt: isoTime.optional(),
  /** Since when a run probes it, for `half_open`. */
  probeSince: isoTime.optional(),
});

export type CandidateHealth = Readonly<z.output<typeof candidateHealthSchema>>;
