/** The port to how candidates stand: what cools down, what is disabled, what was used when. Kept across restarts and shared by processes. */
import type { Candidate } from '../../machines/run/candidate.ts';
import type { RunFailure } from '../../machines/run/run-failure.ts';
import type { CandidateStanding } from '../../machines/run/candidate-standing.ts';

/** Leave to try a candidate. */
export type CandidateAdmission =
  /** `isProbe`: it has cooled down, and this attempt alone shows whether it has recovered. */
  | { readonly kind: 'admitted'; readonly isProbe: boolean }
  | { readonly kind: 'refused'; readonly standing: CandidateStanding };

export interface CandidateStandings {
  /** Those of the given candidates, in their order; a candidate that was never tried is closed and unused. */
  read(candidates: readonly Candidate[]): Promise<readonly CandidateStanding[]>;
  /**
   * Asks to try one. At most one probe of a candidate is out at a time, over all processes; one that never reports back is forgotten after
   * PROBE_LIMIT_MS.
   * @param options `isPinned`: the user insists, so it is admitted whatever its standing
   */
  admit(candidate: Candidate, options?: { readonly isPinned?: boolean | undefined }): Promise<CandidateAdmission>;
  /** What became of an attempt that was admitted. Kinds that say nothing about the candidate change nothing but give a probe back. */
  report(candidate: Candidate, outcome: { readonly kind: 'succeeded' } | { readonly kind: 'failed'; readonly failure: RunFailure } | { readonly kind: 'abandoned' }): Promise<CandidateStanding>;
  /** Forgets what is known of a profile, or of all. For people who have put things right. */
  reset(filter?: { readonly profile?: string | undefined; readonly provider?: string | undefined }): Promise<number>;
  /** All that is known, for people. */
  list(): Promise<readonly CandidateStanding[]>;
}
