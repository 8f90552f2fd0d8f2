/**
 * What comes after a failure: a row for every kind of failure in every situation that matters, and what holds for all
 * of them.
 */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { DEFAULT_RUN_LIMITS, decideAfterFailure, outWith } from '../../../src/machines/run/run-decision.ts';
import type { RunSituation } from '../../../src/machines/run/run-decision.ts';
import type { RunDecision } from '../../../src/machines/run/run-attempt.ts';
import { runFailureKind } from '../../../src/machines/run/run-failure.ts';
import type { RunFailureKind } from '../../../src/machines/run/run-failure.ts';

const KINDS = runFailureKind.options;

/** The first attempt, with another account and another model at hand, and a context that can be made smaller. */
const situation = (
  kind: RunFailureKind,
  change: Partial<RunSituation> & { readonly retryAfterMs?: number } = {},
): RunSituation => {
  const { retryAfterMs, ...rest } = change;
  return {
    failure: { kind, message: 'no', ...(retryAfterMs === undefined ? {} : { retryAfterMs }) },
    attempts: 1,
    backOffs: 0,
    waitedMs: 0,
    sameFailures: 1,
    hasOtherProfile: true,
    hasOtherModel: true,
    hasOtherProvider: true,
    canCompact: true,
    wasResumed: false,
    hadEffects: false,
    canPayAgain: true,
    limits: DEFAULT_RUN_LIMITS,
    random: 0,
    ...rest,
  };
};

const NO_MODEL = { hasOtherModel: false, hasOtherProvider: false };
const ALONE = { ...NO_MODEL, hasOtherProfile: false };
const COLUMNS: readonly Partial<RunSituation>[] = [
  {},
  { hasOtherProfile: false },
  NO_MODEL,
  ALONE,
  { sameFailures: 2 },
  { ...ALONE, sameFailures: 2 },
  { ...ALONE, backOffs: 3 },
  { wasResumed: true },
  { canPayAgain: false },
  { ...ALONE, canPayAgain: false },
];

const R = 'rotate_profile';
const F = 'fall_back';
const B = 'back_off';
const C = 'compact';
const G = 'give_up';

/**
 * Everything at hand; no other account; no other model; neither; the second time; that, alone; no wait left, alone;
 * resumed; cannot be paid again; that, alone.
 */
const TABLE: Record<RunFailureKind, readonly RunDecision[]> = {
  auth: [R, F, R, G, R, G, G, R, R, G],
  auth_permanent: [R, F, R, G, R, G, G, R, R, G],
  billing: [R, F, R, G, R, G, G, R, R, G],
  model_not_found: [R, F, R, G, R, G, G, R, R, G],
  unknown: [R, F, R, G, R, G, G, R, R, G],
  rate_limit: [R, F, R, B, R, B, G, R, R, G],
  overloaded: [B, B, B, B, F, B, G, B, R, G],
  server_error: [B, B, B, B, F, B, G, B, R, G],
  timeout: [B, B, B, B, F, B, G, B, R, G],
  empty_response: [B, B, B, B, F, B, G, B, R, G],
  context_overflow: [C, C, C, C, C, C, C, C, R, G],
  session_expired: [R, F, R, G, R, G, G, B, R, G],
  coordination: [B, B, B, B, B, B, G, B, R, G],
  format: [F, F, G, G, F, G, G, F, F, G],
  refusal: [G, G, G, G, G, G, G, G, G, G],
  aborted: [G, G, G, G, G, G, G, G, G, G],
};

describe('after a failure', () => {
  it.each(KINDS)('of the kind %s the run does what its row says', (kind) => {
    expect(COLUMNS.map((change) => decideAfterFailure(situation(kind, change)).next)).toEqual(TABLE[kind]);
  });

  it('of any kind, once tools of the backend have run, nothing is asked again', () => {
    expect(new Set(KINDS.map((kind) => decideAfterFailure(situation(kind, { hadEffects: true })).next))).toEqual(
      new Set([G]),
    );
    expect(decideAfterFailure(situation('aborted', { hadEffects: true })).because).toBe('It was stopped.');
  });

  it('of any kind, no attempt is made beyond the most', () => {
    const verdicts = KINDS.map((kind) => decideAfterFailure(situation(kind, { attempts: 12, wasResumed: true })));
    expect(verdicts.map(({ next }) => next)).toEqual(KINDS.map(() => G));
    expect(decideAfterFailure(situation('overloaded', { attempts: 11 })).next).toBe(B);
    expect(
      decideAfterFailure(situation('overloaded', { attempts: 1, limits: { ...DEFAULT_RUN_LIMITS, maxAttempts: 1 } }))
        .because,
    ).toContain('1 attempts are the most');
  });

  it('a context that was made smaller already falls back, or is given up', () => {
    expect(decideAfterFailure(situation('context_overflow', { canCompact: false })).next).toBe(F);
    expect(decideAfterFailure(situation('context_overflow', { canCompact: false, ...NO_MODEL })).next).toBe(G);
  });

  it('a session that is gone is begun anew once, and at once', () => {
    expect(decideAfterFailure(situation('session_expired', { wasResumed: true }))).toMatchObject({
      next: B,
      waitMs: 0,
    });
    expect(decideAfterFailure(situation('session_expired', { wasResumed: true, sameFailures: 2, ...ALONE })).next).toBe(
      G,
    );
  });

  it('of a wrong form another provider is asked, and no other model of the same', () => {
    expect(decideAfterFailure(situation('format', { hasOtherProvider: false }))).toMatchObject({
      next: G,
      because: expect.stringContaining('No other provider is named') as string,
    });
    expect(outWith('fall_back', { kind: 'format', message: 'no' })).toBe('provider');
    expect([
      outWith('fall_back', { kind: 'auth', message: 'no' }),
      outWith('rotate_profile', { kind: 'auth', message: 'no' }),
    ]).toEqual(['model', 'account']);
  });

  it('that was a crash, the same candidate is asked once more at most, alone or not', () => {
    const crash = (change: Partial<RunSituation>) =>
      decideAfterFailure({
        ...situation('server_error', change),
        failure: { kind: 'server_error', message: 'killed', retry: 'once' },
      }).next;
    expect([
      crash({}),
      crash({ sameFailures: 2 }),
      crash(ALONE),
      crash({ ...ALONE, sameFailures: 2 }),
      crash({ ...NO_MODEL, sameFailures: 2 }),
    ]).toEqual([B, F, B, G, R]);
  });

  it('that a limit of the user has brought, neither it nor another candidate is asked', () => {
    expect(
      KINDS.map(
        (kind) => decideAfterFailure({ ...situation(kind), failure: { kind, message: 'enough', retry: 'never' } }).next,
      ),
    ).toEqual(KINDS.map(() => G));
  });
});

describe('a wait', () => {
  it.each([
    [0, 0, 500],
    [0, 0.999, 1_000],
    [1, 0, 1_000],
    [2, 0, 2_000],
    [2, 0.999, 3_998],
  ])('after %i of them, at the chance %f, takes %i ms', (backOffs, random, waitMs) => {
    expect(decideAfterFailure(situation('overloaded', { backOffs, random }))).toMatchObject({ next: B, waitMs });
  });

  it.each([
    [0, 7_000],
    [0.999, 7_699],
  ])('that the provider asks for is never shorter than that: at the chance %f it is %i ms', (random, waitMs) => {
    expect(decideAfterFailure(situation('rate_limit', { ...ALONE, retryAfterMs: 7_000, random }))).toMatchObject({
      next: B,
      waitMs,
    });
  });

  it('fits into what a run may wait, with all that it has waited, to the millisecond', () => {
    expect(decideAfterFailure(situation('overloaded', { ...ALONE, retryAfterMs: 10_000, waitedMs: 50_000 })).next).toBe(
      B,
    );
    expect(decideAfterFailure(situation('overloaded', { ...ALONE, retryAfterMs: 10_000, waitedMs: 50_001 })).next).toBe(
      G,
    );
    expect(decideAfterFailure(situation('overloaded', { retryAfterMs: 3_600_000 })).next).toBe(F);
  });
});

describe('every decision', () => {
  const anySituation = fc.record({
    kind: fc.constantFrom(...KINDS),
    retryAfterMs: fc.option(fc.integer({ min: 0, max: 10_000_000 }), { nil: undefined }),
    attempts: fc.integer({ min: 1, max: 15 }),
    backOffs: fc.nat(4),
    waitedMs: fc.nat(70_000),
    sameFailures: fc.integer({ min: 1, max: 5 }),
    hasOtherProfile: fc.boolean(),
    hasOtherModel: fc.boolean(),
    hasOtherProvider: fc.boolean(),
    canCompact: fc.boolean(),
    wasResumed: fc.boolean(),
    hadEffects: fc.boolean(),
    canPayAgain: fc.boolean(),
    random: fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true }),
  });

  it('has a reason, keeps the limits, and goes only where there is something', () => {
    fc.assert(
      fc.property(anySituation, ({ kind, retryAfterMs, ...rest }) => {
        const given = situation(kind, {
          ...rest,
          hasOtherProvider: rest.hasOtherProvider && rest.hasOtherModel,
          ...(retryAfterMs === undefined ? {} : { retryAfterMs }),
        });
        const { next, because, waitMs } = decideAfterFailure(given);
        expect(because).toMatch(/^[A-Z0-9].*\.$/);
        expect(next === B).toBe(waitMs !== undefined);
        if (next === B && kind !== 'session_expired') {
          expect(given.waitedMs + (waitMs ?? 0)).toBeLessThanOrEqual(given.limits.maxWaitMs);
          expect(given.backOffs).toBeLessThan(given.limits.maxBackOffs);
          expect(waitMs).toBeGreaterThanOrEqual(retryAfterMs ?? 0);
        }
        if (next === R) expect(given.hasOtherProfile).toBe(true);
        if (next === F)
          expect([given.hasOtherModel, kind !== 'format' || given.hasOtherProvider]).toEqual([true, true]);
        if (next === C) expect(given.canCompact).toBe(true);
        if (next === B || next === C) expect(given.canPayAgain).toBe(true);
        if (next !== G) expect([given.hadEffects, given.attempts < given.limits.maxAttempts]).toEqual([false, true]);
      }),
      { numRuns: 2_000 },
    );
  });
});
