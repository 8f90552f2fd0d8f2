import { describe, expect, it } from 'vitest';
import {
  FORGET_MS,
  MAX_REST_MS,
  PROBE_LIMIT_MS,
  abandoned,
  admitted,
  failed,
  settled,
  succeeded,
  unusedHealth,
} from '../../../src/machines/run/breaker.ts';
import { candidateHealthSchema } from '../../../src/machines/run/candidate-health.ts';
import type { CandidateHealth } from '../../../src/machines/run/candidate-health.ts';
import { runFailureKind } from '../../../src/machines/run/run-failure.ts';
import type { RunFailure, RunFailureKind } from '../../../src/machines/run/run-failure.ts';

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const T0 = Date.UTC(2026, 0, 1);
const CANDIDATE = { provider: 'anthropic', model: 'large', profile: 'work' };
const NEW = unusedHealth(CANDIDATE);

const iso = (ms: number): string => new Date(ms).toISOString();
const failure = (kind: RunFailureKind, retryAfterMs?: number): RunFailure => ({
  kind,
  message: `it was ${kind}`,
  ...(retryAfterMs === undefined ? {} : { retryAfterMs }),
});
const restOf = (health: CandidateHealth, nowMs: number): number => Date.parse(health.until ?? '') - nowMs;
const probe = (health: CandidateHealth, nowMs: number): CandidateHealth => {
  const admission = admitted(health, nowMs, { isPinned: false });
  expect(admission).toMatchObject({ isAdmitted: true, isProbe: true, health: { state: 'half_open' } });
  return admission.health;
};

/** Fails again and again: at once, and then with each probe as soon as one may go. */
function restsOf(kind: RunFailureKind, times: number): number[] {
  const rests: number[] = [];
  let nowMs = T0;
  let health = failed(NEW, failure(kind), nowMs);
  for (;;) {
    rests.push(restOf(health, nowMs));
    if (rests.length === times) return rests;
    nowMs = Date.parse(health.until ?? '');
    health = failed(probe(health, nowMs), failure(kind), nowMs, { startedAt: iso(nowMs), isProbe: true });
  }
}

describe('a candidate that fails', () => {
  it.each(['auth', 'rate_limit', 'overloaded', 'server_error', 'timeout'] as const)(
    'with %s cools for 1, 5, 25 and then 60 minutes',
    (kind) => {
      expect(restsOf(kind, 6)).toEqual([1, 5, 25, 60, 60, 60].map((minutes) => minutes * MINUTE));
      expect(failed(NEW, failure(kind), T0)).toEqual({
        candidate: CANDIDATE,
        state: 'cooling',
        until: iso(T0 + MINUTE),
        because: { kind, message: `it was ${kind}` },
        failures: 1,
        billingFailures: 0,
        lastFailureAt: iso(T0),
        lastUsedAt: iso(T0),
      });
    },
  );

  it.each([
    ['billing', [5, 10, 20, 24, 24]],
    ['auth_permanent', [24, 24]],
    ['model_not_found', [1, 1]],
  ] as const)('with %s is disabled for %j hours', (kind, hours) => {
    expect(failed(NEW, failure(kind), T0).state).toBe('disabled');
    expect(restsOf(kind, hours.length)).toEqual(hours.map((each) => each * HOUR));
  });

  it.each([
    'format',
    'refusal',
    'aborted',
    'context_overflow',
    'coordination',
    'unknown',
    'session_expired',
    'empty_response',
  ] as const)('with %s is no worse than before, however often it does', (kind) => {
    let health = NEW;
    for (let times = 0; times < 50; times += 1) health = failed(health, failure(kind, HOUR), T0 + times);
    expect(health).toEqual({ ...NEW, lastUsedAt: iso(T0 + 49) });
  });

  it('has each kind of failure ruled on above', () => {
    const ruled = [
      'auth',
      'rate_limit',
      'overloaded',
      'server_error',
      'timeout',
      'billing',
      'auth_permanent',
      'model_not_found',
    ];
    const changing = runFailureKind.options.filter((kind) => failed(NEW, failure(kind), T0).state !== 'closed');
    expect(changing.toSorted()).toEqual(ruled.toSorted());
  });

  it.each([
    ['less than its rest', 10_000, MINUTE],
    ['more than its rest', 10 * MINUTE, 10 * MINUTE],
    ['weeks', 21 * 24 * HOUR, MAX_REST_MS],
    ['forever', Infinity, MAX_REST_MS],
    ['no number', Number.NaN, MINUTE],
    ['a fraction of a millisecond', MINUTE + 0.25, MINUTE + 1],
  ])('is left alone for as long as is asked for: %s', (_, retryAfterMs, restMs) => {
    expect(restOf(failed(NEW, failure('rate_limit', retryAfterMs), T0), T0)).toBe(restMs);
  });

  it('keeps a message that is short enough to keep, cut between characters', () => {
    const { because } = failed(NEW, { kind: 'timeout', message: `${'x'.repeat(998)}😀${'y'.repeat(100)}` }, T0);
    expect(because?.message).toBe(`${'x'.repeat(998)}…`);
  });
});

describe('a candidate that rests', () => {
  const cooling = failed(NEW, failure('overloaded'), T0);

  it('is tried by nobody before its rest is over, and then by exactly one', () => {
    expect(admitted(cooling, T0 + MINUTE - 1, { isPinned: false })).toEqual({
      health: cooling,
      isAdmitted: false,
      isProbe: false,
    });
    const halfOpen = probe(cooling, T0 + MINUTE);
    expect(halfOpen).toMatchObject({
      state: 'half_open',
      probeSince: iso(T0 + MINUTE),
      until: iso(T0 + MINUTE + PROBE_LIMIT_MS),
      failures: 1,
    });
    expect(admitted(halfOpen, T0 + MINUTE, { isPinned: false })).toEqual({
      health: halfOpen,
      isAdmitted: false,
      isProbe: false,
    });
  });

  it('is tried all the same when the user insists, and nobody takes that for a probe', () => {
    expect(admitted(cooling, T0, { isPinned: true })).toEqual({ health: cooling, isAdmitted: true, isProbe: false });
    const halfOpen = probe(cooling, T0 + MINUTE);
    expect(admitted(halfOpen, T0 + MINUTE, { isPinned: true })).toEqual({
      health: halfOpen,
      isAdmitted: true,
      isProbe: false,
    });
  });

  it('is the same trouble for all who run into it at once, and for the retries of one run', () => {
    let health = cooling;
    for (let times = 1; times < 40; times += 1)
      health = failed(health, failure('overloaded'), T0 + times * 1_000, {
        startedAt: iso(T0 + times * 1_000 - 10),
      });
    expect(health).toMatchObject({ state: 'cooling', failures: 1, until: iso(T0 + MINUTE) });
  });

  it('rests longer when the provider asks for it, and no shorter when it asks for less', () => {
    const longer = failed(cooling, failure('rate_limit', 2 * HOUR), T0 + 1_000);
    expect(longer).toMatchObject({ failures: 1, until: iso(T0 + 1_000 + 2 * HOUR) });
    expect(failed(longer, failure('rate_limit', 1_000), T0 + 2_000).until).toBe(longer.until);
  });

  it('is disabled by what disables, and for the longer of both rests', () => {
    expect(failed(cooling, failure('billing'), T0 + 1)).toMatchObject({
      state: 'disabled',
      until: iso(T0 + 1 + 5 * HOUR),
      failures: 1,
      billingFailures: 1,
    });
    const disabled = failed(NEW, failure('auth_permanent'), T0);
    expect(failed(disabled, failure('model_not_found'), T0 + 1)).toMatchObject({
      state: 'disabled',
      until: disabled.until,
    });
    expect(failed(disabled, failure('timeout'), T0 + 1)).toMatchObject({
      state: 'disabled',
      until: disabled.until,
      because: { kind: 'auth_permanent' },
    });
  });

  it('is back as soon as an attempt that began after its failure succeeds', () => {
    expect(succeeded(cooling, T0 + 500, { startedAt: iso(T0 + 100) })).toEqual({
      ...NEW,
      lastFailureAt: iso(T0),
      lastUsedAt: iso(T0 + 500),
    });
  });

  it('is not brought back by an attempt that began before it failed', () => {
    expect(succeeded(cooling, T0 + 500, { startedAt: iso(T0 - 1) })).toEqual({ ...cooling, lastUsedAt: iso(T0 + 500) });
    const later = T0 + 2 * MINUTE;
    expect(failed(cooling, failure('timeout'), later, { startedAt: iso(T0 - 1) })).toMatchObject({
      failures: 1,
      until: cooling.until,
    });
  });
});

describe('a probe', () => {
  const since = T0 + MINUTE;
  const halfOpen = probe(failed(NEW, failure('overloaded'), T0), since);
  const own = { startedAt: iso(since + 5), isProbe: true };

  it('that succeeds brings the candidate back, with nothing against it', () => {
    expect(succeeded(halfOpen, since + 900, own)).toEqual({
      ...NEW,
      lastFailureAt: iso(T0),
      lastUsedAt: iso(since + 900),
    });
  });

  it('that fails makes it rest longer', () => {
    expect(failed(halfOpen, failure('timeout'), since + 900, own)).toEqual({
      candidate: CANDIDATE,
      state: 'cooling',
      until: iso(since + 900 + 5 * MINUTE),
      because: { kind: 'timeout', message: 'it was timeout' },
      failures: 2,
      billingFailures: 0,
      lastFailureAt: iso(since + 900),
      lastUsedAt: iso(since + 900),
    });
  });

  it.each([
    ['is given up', (health: CandidateHealth) => abandoned(health, since + 900, own)],
    ['ends in what says nothing', (health: CandidateHealth) => failed(health, failure('unknown'), since + 900, own)],
    ['never comes back', (health: CandidateHealth) => settled(health, since + PROBE_LIMIT_MS)],
  ])('that %s lets the next one go', (_, end) => {
    const returned = end(halfOpen);
    expect(returned).toMatchObject({ state: 'cooling', failures: 1, until: iso(since) });
    expect(returned).not.toHaveProperty('probeSince');
    probe(returned, since + PROBE_LIMIT_MS);
  });

  it('of a candidate that was disabled goes back to that', () => {
    const disabled = failed(NEW, failure('billing'), T0);
    expect(abandoned(probe(disabled, T0 + 5 * HOUR), T0 + 5 * HOUR)).toMatchObject({
      state: 'disabled',
      billingFailures: 1,
      until: iso(T0 + 5 * HOUR),
    });
  });

  it('is not given back, and not judged, by attempts of others', () => {
    const others = [
      { startedAt: iso(since + 5), isProbe: false },
      { startedAt: iso(since - 5), isProbe: true },
      { startedAt: iso(T0 - 5) },
    ];
    for (const attempt of others) {
      expect(abandoned(halfOpen, since + 900, attempt)).toBe(halfOpen);
      expect(failed(halfOpen, failure('refusal'), since + 900, attempt).state).toBe('half_open');
    }
    expect(failed(halfOpen, failure('timeout'), since + 900, { startedAt: iso(T0 - 5) })).toEqual({
      ...halfOpen,
      lastUsedAt: iso(since + 900),
    });
    expect(succeeded(halfOpen, since + 900, { startedAt: iso(T0 - 5) }).state).toBe('half_open');
  });

  it('that nobody knows anything about is taken for the one that is out', () => {
    expect([
      succeeded(halfOpen, since + 1).state,
      failed(halfOpen, failure('timeout'), since + 1).failures,
      abandoned(halfOpen, since + 1).state,
    ]).toEqual(['closed', 2, 'cooling']);
  });
});

describe('what is long ago', () => {
  it('counts for nothing a day after the last failure', () => {
    const health = failed(NEW, failure('timeout'), T0);
    expect(settled(health, T0 + FORGET_MS - 1)).toBe(health);
    expect(settled(health, T0 + FORGET_MS)).toMatchObject({ state: 'closed', failures: 0 });
    expect(failed(health, failure('timeout'), T0 + FORGET_MS).failures).toBe(1);
  });

  it('is tested first where the candidate was disabled', () => {
    const health = failed(NEW, failure('auth_permanent'), T0);
    probe(health, T0 + MAX_REST_MS);
    expect(settled(health, T0 + MAX_REST_MS + FORGET_MS).state).toBe('closed');
  });
});

describe('a clock that was set', () => {
  const health = failed(NEW, failure('timeout'), T0);

  it('back does not set times back', () => {
    const again = failed(succeeded(health, T0 - HOUR), failure('timeout'), T0 - HOUR);
    expect(again).toMatchObject({ lastFailureAt: iso(T0), lastUsedAt: iso(T0) });
  });

  it('back does not keep a probe from closing or opening it', () => {
    const halfOpen = probe(health, T0 + MINUTE);
    const back = T0 - 2 * MINUTE;
    expect(succeeded(halfOpen, back, { isProbe: true }).state).toBe('closed');
    expect(failed(halfOpen, failure('timeout'), back, { isProbe: true })).toMatchObject({
      state: 'cooling',
      failures: 2,
      until: iso(back + 5 * MINUTE),
    });
  });

  it('back by years does not keep a candidate out for years', () => {
    const future = failed(NEW, failure('billing'), T0 + 9_000 * HOUR);
    const halfOpen = probe(future, T0);
    expect(failed(halfOpen, failure('timeout'), T0)).toMatchObject({
      lastFailureAt: iso(T0),
      lastUsedAt: iso(T0),
      until: iso(T0 + MINUTE),
    });
    expect(settled(probe(future, T0 + 9_000 * HOUR + 5 * HOUR), T0).state).toBe('disabled');
  });
});

describe('health that another process has written', () => {
  it.each([
    { state: 'half_open' },
    { state: 'cooling' },
    { state: 'disabled', until: iso(T0 + 1_000), because: { kind: 'unknown', message: '' } },
    { state: 'half_open', probeSince: iso(T0), because: { kind: 'refusal', message: '' } },
  ] as const)('is understood, whatever it leaves out: %j', (parts) => {
    const health = candidateHealthSchema.parse({ candidate: CANDIDATE, failures: 0, billingFailures: 0, ...parts });
    for (const nowMs of [T0, T0 + HOUR]) {
      expect(candidateHealthSchema.parse(settled(health, nowMs))).toBeDefined();
      expect(candidateHealthSchema.parse(failed(health, failure('timeout'), nowMs)).failures).toBeGreaterThanOrEqual(0);
      expect(succeeded(health, nowMs).state).toBe('closed');
    }
  });
});
