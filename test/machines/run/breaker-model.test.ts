/**
 * Random histories of a candidate, by many runs and under clocks that jump: the chart is the model, and the health of
 * any history is one that could be.
 */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { breakerAfter } from '../../../src/machines/run/breaker-machine.ts';
import type { BreakerEventType, BreakerState } from '../../../src/machines/run/breaker-machine.ts';
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

const HOUR_MS = 3_600_000;
const EVENTS: readonly BreakerEventType[] = ['COOL', 'DISABLE', 'PROBE', 'RECOVER'];
const SILENT = [
  'format',
  'refusal',
  'aborted',
  'context_overflow',
  'coordination',
  'unknown',
  'session_expired',
  'empty_response',
];

type Act =
  | { readonly type: 'admit'; readonly isPinned: boolean }
  | {
      readonly type: 'fail';
      readonly kind: (typeof runFailureKind.options)[number];
      readonly retryAfterMs: number | undefined;
      readonly age: number | undefined;
      readonly isProbe: boolean | undefined;
    }
  | { readonly type: 'succeed'; readonly age: number | undefined; readonly isProbe: boolean | undefined }
  | { readonly type: 'abandon'; readonly age: number | undefined; readonly isProbe: boolean | undefined };

interface Step {
  readonly act: Act;
  readonly passesMs: number;
}

const age = fc.option(fc.integer({ min: 0, max: 2 * HOUR_MS }), { nil: undefined });
const isProbe = fc.option(fc.boolean(), { nil: undefined });
const act: fc.Arbitrary<Act> = fc.oneof(
  fc.record({ type: fc.constant('admit' as const), isPinned: fc.boolean() }),
  fc.record({
    type: fc.constant('fail' as const),
    kind: fc.constantFrom(...runFailureKind.options),
    retryAfterMs: fc.option(
      fc.oneof(fc.integer({ min: 0, max: 60 * HOUR_MS }), fc.constantFrom(Number.NaN, Infinity, 0.5)),
      { nil: undefined },
    ),
    age,
    isProbe,
  }),
  fc.record({ type: fc.constantFrom('succeed' as const, 'abandon' as const), age, isProbe }),
);
const passes = fc.oneof(
  fc.constantFrom(0, 1, 60_000, 5 * 60_000, PROBE_LIMIT_MS, 5 * HOUR_MS, FORGET_MS),
  fc.integer({ min: 0, max: 3 * HOUR_MS }),
);
const steps = fc.array(fc.record({ act, passesMs: passes }), { maxLength: 40 });
/** Set back by up to a few hours, as time servers and people do. */
const jumpySteps = fc.array(fc.record({ act, passesMs: fc.oneof(passes, fc.integer({ min: -5 * HOUR_MS, max: 0 })) }), {
  maxLength: 40,
});

const START_MS = Date.UTC(2026, 0, 1);
const iso = (ms: number): string => new Date(ms).toISOString();

function acted(health: CandidateHealth, step: Act, nowMs: number): CandidateHealth {
  if (step.type === 'admit') return admitted(health, nowMs, step).health;
  const attempt = { startedAt: step.age === undefined ? undefined : iso(nowMs - step.age), isProbe: step.isProbe };
  if (step.type === 'succeed') return succeeded(health, nowMs, attempt);
  if (step.type === 'abandon') return abandoned(health, nowMs, attempt);
  const { kind, retryAfterMs } = step;
  return failed(
    health,
    { kind, message: 'no', ...(retryAfterMs === undefined ? {} : { retryAfterMs }) },
    nowMs,
    attempt,
  );
}

/** Walks through a history; every step is judged with what was before it, once settled, and what is after it. */
function walk(
  history: readonly Step[],
  judge: (step: {
    readonly before: CandidateHealth;
    readonly after: CandidateHealth;
    readonly act: Act;
    readonly nowMs: number;
  }) => void,
): void {
  let health = unusedHealth({ provider: 'p', model: 'm' });
  let nowMs = START_MS;
  for (const { act: next, passesMs } of history) {
    nowMs += passesMs;
    const before = settled(health, nowMs);
    expect(settled(before, nowMs)).toBe(before);
    health = acted(health, next, nowMs);
    judge({ before, after: health, act: next, nowMs });
  }
}

/** The states in which one event of the chart, or none, can leave a candidate. */
const oneEventFrom = (state: BreakerState): readonly BreakerState[] => [
  state,
  ...EVENTS.flatMap((event) => breakerAfter(state, event) ?? []),
];

function expectLegal(health: CandidateHealth, nowMs: number): void {
  expect(candidateHealthSchema.strict().parse(JSON.parse(JSON.stringify(health)))).toEqual(health);
  const { state, until, because, probeSince, failures, billingFailures, lastFailureAt } = health;
  expect({
    hasUntil: until !== undefined,
    hasReason: because !== undefined,
    hasCounters: failures + billingFailures > 0,
  }).toEqual(
    state === 'closed'
      ? { hasUntil: false, hasReason: false, hasCounters: false }
      : { hasUntil: true, hasReason: true, hasCounters: true },
  );
  expect(probeSince !== undefined).toBe(state === 'half_open');
  if (state !== 'closed') expect(lastFailureAt).toBeDefined();
  if (because !== undefined) expect(SILENT).not.toContain(because.kind);
  if (until !== undefined) expect(Date.parse(until) - nowMs).toBeLessThanOrEqual(MAX_REST_MS + 5 * HOUR_MS * 40);
}

describe('a candidate with any history', () => {
  it('stands as one that could be, and goes only where the chart leads', () => {
    fc.assert(
      fc.property(steps, (history) =>
        walk(history, ({ before, after, nowMs }) => {
          expectLegal(after, nowMs);
          expect(oneEventFrom(before.state)).toContain(after.state);
          if (after.until !== undefined) expect(Date.parse(after.until) - nowMs).toBeLessThanOrEqual(MAX_REST_MS);
        }),
      ),
    );
  });

  it('is brought out of use by nothing that says nothing about it', () => {
    fc.assert(
      fc.property(steps, (history) =>
        walk(history, ({ before, after, act: done }) => {
          if (done.type !== 'fail' || !SILENT.includes(done.kind)) return;
          expect(after).toMatchObject({ failures: before.failures, billingFailures: before.billingFailures });
          // A probe goes back to where it came from, and nothing else moves.
          if (after.state !== before.state)
            expect([before.state, after.until]).toEqual(['half_open', before.probeSince]);
        }),
      ),
    );
  });

  it('has one probe out at a time, and rests until it may be probed', () => {
    fc.assert(
      fc.property(steps, (history) =>
        walk(history, ({ before, act: done, nowMs }) => {
          if (done.type !== 'admit') return;
          const admission = admitted(before, nowMs, done);
          const again = admitted(admission.health, nowMs, { isPinned: false });
          expect(again.isProbe).toBe(false);
          if (admission.isProbe) expect(before.state === 'half_open' || before.state === 'closed').toBe(false);
          if (admission.isProbe) expect(Date.parse(before.until ?? '')).toBeLessThanOrEqual(nowMs);
          if (done.isPinned || before.state === 'closed') expect(admission.isAdmitted).toBe(true);
        }),
      ),
    );
  });

  it('is no sooner back, and counts no more, for what fails while it rests', () => {
    fc.assert(
      fc.property(steps, (history) =>
        walk(history, ({ before, after, act: done, nowMs }) => {
          const rests =
            (before.state === 'cooling' || before.state === 'disabled') && Date.parse(before.until ?? '') > nowMs;
          if (done.type !== 'fail' || !rests) return;
          expect(Date.parse(after.until ?? '')).toBeGreaterThanOrEqual(Date.parse(before.until ?? ''));
          if (after.state === before.state && after.because?.kind === before.because?.kind)
            expect(after.failures).toBe(before.failures);
        }),
      ),
    );
  });

  it('has times that do not go back when the clock does, and is legal all the same', () => {
    fc.assert(
      fc.property(jumpySteps, (history) => {
        let highest = START_MS;
        walk(history, ({ before, after, nowMs }) => {
          highest = Math.max(highest, nowMs);
          expectLegal(after, nowMs);
          // Further back than a day the clock was wrong before.
          if (highest - nowMs > FORGET_MS) return;
          for (const name of ['lastUsedAt', 'lastFailureAt'] as const) {
            if (before[name] !== undefined)
              expect(Date.parse(after[name] ?? '')).toBeGreaterThanOrEqual(Date.parse(before[name]));
          }
        });
      }),
    );
  });

  it('is back in use in the end, whatever happened, when an attempt succeeds that began after all of it', () => {
    fc.assert(
      fc.property(steps, (history) => {
        let last = unusedHealth({ provider: 'p', model: 'm' });
        let endMs = START_MS;
        walk(history, ({ after, nowMs }) => {
          last = after;
          endMs = nowMs;
        });
        const laterMs = endMs + MAX_REST_MS;
        const { health, isAdmitted } = admitted(last, laterMs, { isPinned: false });
        expect(isAdmitted).toBe(true);
        expect(succeeded(health, laterMs, { startedAt: iso(laterMs) })).toMatchObject({
          state: 'closed',
          failures: 0,
          billingFailures: 0,
        });
      }),
    );
  });
});
