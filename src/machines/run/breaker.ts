/**
 * How candidates fall out of use and come back, as pure transitions over their health: the states are those of
 * `breakerMachine`, and what happens when is decided here, by times and by the kinds of failures.
 *
 * A candidate that rests is not punished for what fails meanwhile: many runs that hit the same trouble at the same
 * moment are one failure, and so are the retries of one run. Only a new failure after its rest, a probe's above all,
 * makes the next rest longer.
 */
import { cutText } from '../cut-text.ts';
import { breakerAfter } from './breaker-machine.ts';
import type { BreakerEventType } from './breaker-machine.ts';
import type { Candidate } from './candidate.ts';
import type { CandidateHealth } from './candidate-health.ts';
import { messageLine } from './failure-message.ts';
import type { RunFailure, RunFailureKind } from './run-failure.ts';

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;

/** A probe that has not reported for this long, in milliseconds, is forgotten, and another may go out. */
export const PROBE_LIMIT_MS = 10 * MINUTE_MS;

/** However long a provider asks to be left alone: after this many milliseconds a probe checks. */
export const MAX_REST_MS = 24 * HOUR_MS;

/** Without a failure for this long, in milliseconds, nothing counts against a candidate any more. */
export const FORGET_MS = 24 * HOUR_MS;

/** By consecutive failures, from the first on. */
const COOLING_MS = [1, 5, 25, 60].map((minutes) => minutes * MINUTE_MS);

const FIRST_BILLING_REST_MS = 5 * HOUR_MS;

/**
 * A user who replaces a key tells us by adding the profile anew or by a reset; where none does, a day is soon enough to
 * check.
 */
const ACCOUNT_REST_MS = 24 * HOUR_MS;

const MODEL_REST_MS = HOUR_MS;

const MAX_MESSAGE_CHARACTERS = 1_000;

/**
 * What a failure says about the candidate. `passing`: it will be well by itself. The others last until a user does
 * something.
 */
type Ailment = 'passing' | 'billing' | 'account' | 'model';

/**
 * `undefined`: it says nothing about the candidate. What is behind `unknown` is not known, so it counts for nothing.
 */
const AILMENTS: Readonly<Record<RunFailureKind, Ailment | undefined>> = {
  auth: 'passing',
  rate_limit: 'passing',
  overloaded: 'passing',
  server_error: 'passing',
  timeout: 'passing',
  billing: 'billing',
  auth_permanent: 'account',
  model_not_found: 'model',
  format: undefined,
  context_overflow: undefined,
  session_expired: undefined,
  empty_response: undefined,
  refusal: undefined,
  aborted: undefined,
  coordination: undefined,
  unknown: undefined,
};

/**
 * Words may be quoted from anywhere, so they put no candidate out of use for good; and what failed on this machine says
 * nothing about a provider.
 */
function ailmentOf({
  kind,
  evidence,
  isLocal,
}: Pick<RunFailure, 'kind' | 'evidence' | 'isLocal'>): Ailment | undefined {
  const ailment = isLocal === true ? undefined : AILMENTS[kind];
  return ailment === undefined || evidence === undefined ? ailment : 'passing';
}

/** Whether a candidate rests after it has failed like this. */
export function restsAfter(failure: RunFailure): boolean {
  return ailmentOf(failure) !== undefined;
}

const EVENTS: Readonly<Record<Ailment, BreakerEventType>> = {
  passing: 'COOL',
  billing: 'DISABLE',
  account: 'DISABLE',
  model: 'DISABLE',
};

/** What is known of the attempt that a report is about. */
export interface ReportedAttempt {
  /** ISO-8601, not before its admission. Absent: it is unknown, and counts as the newest. */
  readonly startedAt?: string | undefined;
  /** Whether it was admitted as a probe. Absent: it is taken for the probe that is out, if one is. */
  readonly isProbe?: boolean | undefined;
}

export interface BreakerAdmission {
  readonly health: CandidateHealth;
  readonly isAdmitted: boolean;
  readonly isProbe: boolean;
}

/** A candidate that was never tried. */
export function unusedHealth(candidate: Candidate): CandidateHealth {
  return { candidate, state: 'closed', failures: 0, billingFailures: 0 };
}

/**
 * What time alone has made of it: a probe that never came back is forgotten, and so is, in the end, what failed. The
 * same object when nothing changed.
 */
export function settled(health: CandidateHealth, nowMs: number): CandidateHealth {
  const current = health.state === 'half_open' && !isProbeOut(health, nowMs) ? probeReturned(health) : health;
  return isForgotten(current, nowMs) ? recovered(current) : current;
}

/** Whether an attempt may go to it now. @param options `isPinned`: the user insists, so it may whatever its health */
export function admitted(
  health: CandidateHealth,
  nowMs: number,
  { isPinned }: { readonly isPinned: boolean },
): BreakerAdmission {
  const current = settled(health, nowMs);
  if (current.state === 'closed') return { health: current, isAdmitted: true, isProbe: false };
  const isTaken = current.state === 'half_open' || isResting(current, nowMs);
  if (isTaken) return { health: current, isAdmitted: isPinned, isProbe: false };
  return { health: probed(current, nowMs), isAdmitted: true, isProbe: true };
}

export function succeeded(health: CandidateHealth, nowMs: number, attempt: ReportedAttempt = {}): CandidateHealth {
  const current = used(settled(health, nowMs), nowMs);
  // It began before the newest failure: it shows how things were, not how they are.
  if (!isOwnProbe(current, attempt) && isBeforeFailure(current, nowMs, attempt)) return current;
  return recovered(current);
}

export function failed(
  health: CandidateHealth,
  failure: RunFailure,
  nowMs: number,
  attempt: ReportedAttempt = {},
): CandidateHealth {
  const current = used(settled(health, nowMs), nowMs);
  const ailment = ailmentOf(failure);
  if (ailment === undefined) return isOwnProbe(current, attempt) ? probeReturned(current) : current;
  if (!isNews(current, ailment, { nowMs, attempt }))
    return current.state === 'half_open' ? current : restExtended(current, failure, nowMs);
  return fallenOut(current, failure, ailment, nowMs);
}

/** The attempt was given up for reasons of ours. The same object when nothing changed. */
export function abandoned(health: CandidateHealth, nowMs: number, attempt: ReportedAttempt = {}): CandidateHealth {
  const current = settled(health, nowMs);
  return isOwnProbe(current, attempt) ? probeReturned(current) : current;
}

/**
 * Whether its rest goes on. An end that lies further ahead than any rest can last was written under a clock that was
 * wrong.
 */
function isResting({ state, until }: CandidateHealth, nowMs: number): boolean {
  const leftMs = timeOf(until) - nowMs;
  return (state === 'cooling' || state === 'disabled') && leftMs > 0 && leftMs <= MAX_REST_MS;
}

function isProbeOut({ probeSince }: CandidateHealth, nowMs: number): boolean {
  return Math.abs(nowMs - timeOf(probeSince)) < PROBE_LIMIT_MS;
}

function isOwnProbe({ state, probeSince }: CandidateHealth, { isProbe = true, startedAt }: ReportedAttempt): boolean {
  return state === 'half_open' && isProbe && !(timeOf(startedAt, Infinity) < timeOf(probeSince));
}

/** One that was disabled is tested before it is forgotten: nothing shows that a user has put it right. */
function isForgotten({ state, lastFailureAt, until }: CandidateHealth, nowMs: number): boolean {
  if (state !== 'cooling' && state !== 'disabled') return false;
  const sinceMs = state === 'cooling' ? timeOf(lastFailureAt) : Math.max(timeOf(lastFailureAt), timeOf(until));
  return nowMs - sinceMs >= FORGET_MS;
}

function isBeforeFailure({ lastFailureAt }: CandidateHealth, nowMs: number, { startedAt }: ReportedAttempt): boolean {
  const failedMs = timeOf(lastFailureAt);
  return timeOf(startedAt, Infinity) < failedMs && failedMs - nowMs <= FORGET_MS;
}

/** Whether a failure tells more than what the candidate rests for already. */
function isNews(
  health: CandidateHealth,
  ailment: Ailment,
  { nowMs, attempt }: { readonly nowMs: number; readonly attempt: ReportedAttempt },
): boolean {
  const { state, because } = health;
  if (state === 'closed' || isOwnProbe(health, attempt)) return true;
  const known = because === undefined ? undefined : ailmentOf(because);
  if (ailment !== 'passing' && ailment !== known) return true;
  return !isResting(health, nowMs) && !isBeforeFailure(health, nowMs, attempt);
}

function fallenOut(health: CandidateHealth, failure: RunFailure, ailment: Ailment, nowMs: number): CandidateHealth {
  const state = breakerAfter(health.state, EVENTS[ailment]);
  if (state === undefined) return health;
  const failures = health.failures + (ailment === 'billing' ? 0 : 1);
  const billingFailures = health.billingFailures + (ailment === 'billing' ? 1 : 0);
  const untilMs =
    nowMs + Math.min(MAX_REST_MS, Math.max(restOf(ailment, { failures, billingFailures }), askedFor(failure)));
  const { probeSince: _, ...rest } = health;
  return {
    ...rest,
    state,
    until: isoTime(isResting(health, nowMs) ? Math.max(untilMs, timeOf(health.until)) : untilMs),
    because: {
      kind: failure.kind,
      message: shortened(failure.message),
      ...(failure.evidence === undefined ? {} : { evidence: failure.evidence }),
    },
    failures,
    billingFailures,
    lastFailureAt: later(health.lastFailureAt, nowMs),
  };
}

/** The failure counts for nothing, but what the provider asks for does. */
function restExtended(health: CandidateHealth, failure: RunFailure, nowMs: number): CandidateHealth {
  const askedMs = Math.min(MAX_REST_MS, askedFor(failure));
  const untilMs = nowMs + askedMs;
  const lastFailureAt = later(health.lastFailureAt, nowMs);
  const isLonger = askedMs > 0 && (!isResting(health, nowMs) || untilMs > timeOf(health.until));
  return { ...health, lastFailureAt, ...(isLonger ? { until: isoTime(untilMs) } : {}) };
}

function restOf(
  ailment: Ailment,
  { failures, billingFailures }: Pick<CandidateHealth, 'failures' | 'billingFailures'>,
): number {
  switch (ailment) {
    case 'passing':
      return COOLING_MS[Math.min(failures, COOLING_MS.length) - 1] ?? 0;
    case 'billing':
      return FIRST_BILLING_REST_MS * 2 ** (billingFailures - 1);
    case 'account':
      return ACCOUNT_REST_MS;
    case 'model':
      return MODEL_REST_MS;
  }
}

function probed(health: CandidateHealth, nowMs: number): CandidateHealth {
  const state = breakerAfter(health.state, 'PROBE');
  if (state === undefined) return health;
  return {
    ...health,
    state,
    until: isoTime(nowMs + PROBE_LIMIT_MS),
    probeSince: isoTime(nowMs),
    lastUsedAt: later(health.lastUsedAt, nowMs),
  };
}

/** Nothing was learned: its rest is over, as it was before, and the next one may probe. */
function probeReturned(health: CandidateHealth): CandidateHealth {
  const { probeSince, ...rest } = health;
  const ailment = rest.because === undefined ? undefined : ailmentOf(rest.because);
  const state = breakerAfter(health.state, EVENTS[ailment ?? 'passing']) ?? health.state;
  return { ...rest, state, ...(probeSince === undefined ? {} : { until: probeSince }) };
}

function recovered(health: CandidateHealth): CandidateHealth {
  if (health.state === 'closed') return health;
  const { candidate, state, lastFailureAt, lastUsedAt } = health;
  return {
    ...unusedHealth(candidate),
    state: breakerAfter(state, 'RECOVER') ?? 'closed',
    ...(lastFailureAt === undefined ? {} : { lastFailureAt }),
    ...(lastUsedAt === undefined ? {} : { lastUsedAt }),
  };
}

function used(health: CandidateHealth, nowMs: number): CandidateHealth {
  return { ...health, lastUsedAt: later(health.lastUsedAt, nowMs) };
}

/**
 * The later of both, since clocks are set back; but for a time so far ahead that the clock was wrong when it was
 * written.
 */
function later(stored: string | undefined, nowMs: number): string {
  const storedMs = timeOf(stored);
  return isoTime(storedMs - nowMs > FORGET_MS ? nowMs : Math.max(storedMs, nowMs));
}

/** How long the provider asks to be left alone, in milliseconds; 0 where it says nothing that makes sense. */
function askedFor({ retryAfterMs = 0 }: RunFailure): number {
  return retryAfterMs > 0 ? retryAfterMs : 0;
}

function timeOf(iso: string | undefined, otherwise = -Infinity): number {
  const timeMs = iso === undefined ? otherwise : Date.parse(iso);
  return Number.isNaN(timeMs) ? otherwise : timeMs;
}

function isoTime(epochMs: number): string {
  // Providers ask for fractions of a second; a wait must not end early.
  return new Date(Math.ceil(epochMs)).toISOString();
}

/**
 * It is written to a disk and shown to people: on one line, without what looks like a key, and cut between characters,
 * never inside one.
 */
function shortened(message: string): string {
  return cutText(messageLine(message), MAX_MESSAGE_CHARACTERS);
}
