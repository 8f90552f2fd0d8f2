/**
 * The port to the health of candidates: what cools down, what is disabled, what was used when. Kept across restarts and
 * shared by processes.
 */
import type { Candidate } from '../../machines/run/candidate.ts';
import type { CandidateHealth } from '../../machines/run/candidate-health.ts';
import type { ReportedAttempt } from '../../machines/run/breaker.ts';
import type { CandidateAdmission, HealthFilter, HealthReport } from '../../machines/run/health-table.ts';

export interface CandidateHealthStore {
  /** Those of the given candidates, in their order; a candidate that was never tried is closed and unused. */
  read(candidates: readonly Candidate[]): Promise<readonly CandidateHealth[]>;
  /**
   * Asks to try one. At most one probe of a candidate is out at a time, over all processes; one that never reports back
   * is forgotten after PROBE_LIMIT_MS.
   * @param options `isPinned`: the user insists, so it is admitted whatever its health
   */
  admit(candidate: Candidate, options?: { readonly isPinned?: boolean | undefined }): Promise<CandidateAdmission>;
  /**
   * What became of an attempt that was admitted. Kinds that say nothing about the candidate change nothing but give a
   * probe back.
   * @param attempt when it began, and whether it was a probe: what began before the newest failure says nothing about
   * now
   */
  report(candidate: Candidate, outcome: HealthReport, attempt?: ReportedAttempt): Promise<CandidateHealth>;
  /** Forgets what is known of a profile, or of all. For people who have put things right. */
  reset(filter?: HealthFilter): Promise<number>;
  /** All that is known, for people. */
  list(): Promise<readonly CandidateHealth[]>;
}
