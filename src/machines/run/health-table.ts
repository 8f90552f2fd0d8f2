/**
 * The health of all candidates that are known, as one value: what each question to it answers, and what it leaves.
 * Stores keep the value; time comes from outside.
 */
import { abandoned, admitted, failed, settled, succeeded, unusedHealth } from './breaker.ts';
import type { ReportedAttempt } from './breaker.ts';
import { candidateKey, candidate as candidateSchema } from './candidate.ts';
import type { Candidate } from './candidate.ts';
import type { CandidateHealth } from './candidate-health.ts';
import type { RunFailure } from './run-failure.ts';
import { parseOrThrow } from '../validate.ts';

/** By candidateKey. */
export type HealthTable = ReadonlyMap<string, CandidateHealth>;

export interface HealthFilter {
  readonly profile?: string | undefined;
  readonly provider?: string | undefined;
}

/** What became of an attempt. `abandoned`: given up for reasons of ours. */
export type HealthReport =
  | { readonly kind: 'succeeded' }
  | { readonly kind: 'failed'; readonly failure: RunFailure }
  | { readonly kind: 'abandoned' };

/** Leave to try a candidate. */
export type CandidateAdmission =
  /** `isProbe`: its rest is over, and this attempt alone shows whether it has recovered. */
  | { readonly kind: 'admitted'; readonly isProbe: boolean }
  | { readonly kind: 'refused'; readonly health: CandidateHealth };

/** An answer, and the table after it: the same one when there is nothing to keep. */
export interface TableChange<Answer> {
  readonly answer: Answer;
  readonly table: HealthTable;
}

/** More candidates than users have; beyond it those go that were used the longest ago. */
export const MAX_CANDIDATES_KNOWN = 2_000;

export function healthTable(known: readonly CandidateHealth[]): HealthTable {
  return new Map(known.map((health) => [candidateKey(health.candidate), health]));
}

export function readHealth(
  table: HealthTable,
  candidates: readonly Candidate[],
  nowMs: number,
): readonly CandidateHealth[] {
  return candidates.map((candidate) => settled(healthIn(table, candidate), nowMs));
}

export function listHealth(table: HealthTable, nowMs: number): readonly CandidateHealth[] {
  return [...table.values()].map((health) => settled(health, nowMs));
}

export function admitCandidate(
  table: HealthTable,
  candidate: Candidate,
  { nowMs, isPinned }: { readonly nowMs: number; readonly isPinned: boolean },
): TableChange<CandidateAdmission> {
  const { health, isAdmitted, isProbe } = admitted(healthIn(table, candidate), nowMs, { isPinned });
  // Only a probe is to be known to others; what time has made of it each of them sees by himself.
  return {
    answer: isAdmitted ? { kind: 'admitted', isProbe } : { kind: 'refused', health },
    table: isProbe ? withHealth(table, health) : table,
  };
}

export function reportOutcome(
  table: HealthTable,
  candidate: Candidate,
  report: HealthReport,
  { nowMs, attempt }: { readonly nowMs: number; readonly attempt?: ReportedAttempt | undefined },
): TableChange<CandidateHealth> {
  const before = healthIn(table, candidate);
  const after = afterReport(before, report, nowMs, attempt);
  return { answer: after, table: after === before ? table : withHealth(table, after) };
}

/** @returns how many were forgotten */
export function resetHealth(table: HealthTable, { profile, provider }: HealthFilter = {}): TableChange<number> {
  const kept = [...table].filter(
    ([, { candidate }]) =>
      (profile !== undefined && candidate.profile !== profile) ||
      (provider !== undefined && candidate.provider !== provider),
  );
  const forgotten = table.size - kept.length;
  return { answer: forgotten, table: forgotten === 0 ? table : new Map(kept) };
}

function afterReport(
  health: CandidateHealth,
  report: HealthReport,
  nowMs: number,
  attempt?: ReportedAttempt,
): CandidateHealth {
  switch (report.kind) {
    case 'succeeded':
      return succeeded(health, nowMs, attempt);
    case 'failed':
      return failed(health, report.failure, nowMs, attempt);
    case 'abandoned':
      return abandoned(health, nowMs, attempt);
  }
}

/** @throws RuntimeError CANDIDATE_INVALID: what cannot be a candidate is never kept */
function healthIn(table: HealthTable, candidate: Candidate): CandidateHealth {
  return (
    table.get(candidateKey(candidate)) ??
    unusedHealth(parseOrThrow(candidateSchema, candidate, { what: 'candidate', code: 'CANDIDATE_INVALID' }))
  );
}

function withHealth(table: HealthTable, health: CandidateHealth): HealthTable {
  const next = new Map(table).set(candidateKey(health.candidate), health);
  if (next.size <= MAX_CANDIDATES_KNOWN) return next;
  const oldest = [...next]
    .filter(([key]) => key !== candidateKey(health.candidate))
    .toSorted(([, one], [, other]) => worth(one).localeCompare(worth(other)));
  for (const [key] of oldest.slice(0, next.size - MAX_CANDIDATES_KNOWN)) next.delete(key);
  return next;
}

/**
 * What is forgotten first sorts first: a candidate about which there is nothing to know, then the one that was used the
 * longest ago.
 */
function worth({ state, lastUsedAt = '' }: CandidateHealth): string {
  return `${state === 'closed' ? 0 : 1}${lastUsedAt}`;
}
