/**
 * All standings that are known, as one value: what each question to them answers, and what it leaves. Stores keep the
 * value; time comes from outside.
 */
import { abandoned, admitted, failed, settled, succeeded, unusedStanding } from './breaker.ts';
import type { ReportedAttempt } from './breaker.ts';
import { candidateKey, candidate as candidateSchema } from './candidate.ts';
import type { Candidate } from './candidate.ts';
import type { CandidateStanding } from './candidate-standing.ts';
import type { RunFailure } from './run-failure.ts';
import { parseOrThrow } from '../validate.ts';

/** By candidateKey. */
export type StandingTable = ReadonlyMap<string, CandidateStanding>;

export interface StandingFilter {
  readonly profile?: string | undefined;
  readonly provider?: string | undefined;
}

/** What became of an attempt. `abandoned`: given up for reasons of ours. */
export type StandingReport =
  | { readonly kind: 'succeeded' }
  | { readonly kind: 'failed'; readonly failure: RunFailure }
  | { readonly kind: 'abandoned' };

/** Leave to try a candidate. */
export type StandingAdmission =
  /** `isProbe`: its rest is over, and this attempt alone shows whether it has recovered. */
  | { readonly kind: 'admitted'; readonly isProbe: boolean }
  | { readonly kind: 'refused'; readonly standing: CandidateStanding };

/** An answer, and the table after it: the same one when there is nothing to keep. */
export interface TableChange<Answer> {
  readonly answer: Answer;
  readonly table: StandingTable;
}

/** More candidates than users have; beyond it those go that were used the longest ago. */
export const MAX_STANDINGS = 2_000;

export function standingTable(standings: readonly CandidateStanding[]): StandingTable {
  return new Map(standings.map((standing) => [candidateKey(standing.candidate), standing]));
}

export function readStandings(
  table: StandingTable,
  candidates: readonly Candidate[],
  nowMs: number,
): readonly CandidateStanding[] {
  return candidates.map((candidate) => settled(standingIn(table, candidate), nowMs));
}

export function listStandings(table: StandingTable, nowMs: number): readonly CandidateStanding[] {
  return [...table.values()].map((standing) => settled(standing, nowMs));
}

export function admitCandidate(
  table: StandingTable,
  candidate: Candidate,
  { nowMs, isPinned }: { readonly nowMs: number; readonly isPinned: boolean },
): TableChange<StandingAdmission> {
  const { standing, isAdmitted, isProbe } = admitted(standingIn(table, candidate), nowMs, { isPinned });
  // Only a probe is to be known to others; what time has made of a standing each of them sees by himself.
  return {
    answer: isAdmitted ? { kind: 'admitted', isProbe } : { kind: 'refused', standing },
    table: isProbe ? withStanding(table, standing) : table,
  };
}

export function reportOutcome(
  table: StandingTable,
  candidate: Candidate,
  report: StandingReport,
  { nowMs, attempt }: { readonly nowMs: number; readonly attempt?: ReportedAttempt | undefined },
): TableChange<CandidateStanding> {
  const before = standingIn(table, candidate);
  const after = afterReport(before, report, nowMs, attempt);
  return { answer: after, table: after === before ? table : withStanding(table, after) };
}

/** @returns how many were forgotten */
export function resetStandings(table: StandingTable, { profile, provider }: StandingFilter = {}): TableChange<number> {
  const kept = [...table].filter(
    ([, { candidate }]) =>
      (profile !== undefined && candidate.profile !== profile) ||
      (provider !== undefined && candidate.provider !== provider),
  );
  const forgotten = table.size - kept.length;
  return { answer: forgotten, table: forgotten === 0 ? table : new Map(kept) };
}

function afterReport(
  standing: CandidateStanding,
  report: StandingReport,
  nowMs: number,
  attempt?: ReportedAttempt,
): CandidateStanding {
  switch (report.kind) {
    case 'succeeded':
      return succeeded(standing, nowMs, attempt);
    case 'failed':
      return failed(standing, report.failure, nowMs, attempt);
    case 'abandoned':
      return abandoned(standing, nowMs, attempt);
  }
}

/** @throws RuntimeError CANDIDATE_INVALID: what cannot be a candidate is never kept */
function standingIn(table: StandingTable, candidate: Candidate): CandidateStanding {
  return (
    table.get(candidateKey(candidate)) ??
    unusedStanding(parseOrThrow(candidateSchema, candidate, { what: 'candidate', code: 'CANDIDATE_INVALID' }))
  );
}

function withStanding(table: StandingTable, standing: CandidateStanding): StandingTable {
  const next = new Map(table).set(candidateKey(standing.candidate), standing);
  if (next.size <= MAX_STANDINGS) return next;
  const oldest = [...next]
    .filter(([key]) => key !== candidateKey(standing.candidate))
    .toSorted(([, one], [, other]) => worth(one).localeCompare(worth(other)));
  for (const [key] of oldest.slice(0, next.size - MAX_STANDINGS)) next.delete(key);
  return next;
}

/**
 * What is forgotten first sorts first: a candidate about which there is nothing to know, then the one that was used the
 * longest ago.
 */
function worth({ state, lastUsedAt = '' }: CandidateStanding): string {
  return `${state === 'closed' ? 0 : 1}${lastUsedAt}`;
}
