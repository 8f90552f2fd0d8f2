/**
 * Failover over time: in every order, with everything down, with probes that go well or not, over restarts and between
 * processes.
 */
import { join } from 'node:path';
import fc from 'fast-check';
import { afterEach, describe, expect, it } from 'vitest';
import { createSimulatedClock } from '../../../src/actors/clock/simulated-clock.ts';
import { createFileCandidateHealthStore } from '../../../src/adapters/auth-files/file-candidate-health-store.ts';
import { underLock } from '../../../src/adapters/system/process-lock.ts';
import { MemoryCandidateHealthStore } from '../../../src/adapters/memory/memory-candidate-health-store.ts';
import type { ModelChoice } from '../../../src/machines/run/candidate.ts';
import { DEFAULT_RUN_LIMITS } from '../../../src/machines/run/run-decision.ts';
import { runFailureKind } from '../../../src/machines/run/run-failure.ts';
import type { RunFailureKind } from '../../../src/machines/run/run-failure.ts';
import { fails, hangs, says } from '../../support/told-runtime.ts';
import type { Act } from '../../support/told-runtime.ts';
import { until } from '../../support/session-setup.ts';
import { temporaryHome } from '../../support/temporary-home.ts';
import type { TemporaryHome } from '../../support/temporary-home.ts';
import { MINUTE_MS, START_MS, runStage } from './run-stage.ts';

const A: ModelChoice = { provider: 'a', model: 'm' };
const B: ModelChoice = { provider: 'b', model: 'm' };
const C: ModelChoice = { provider: 'c', model: 'm' };
const NO_WAITS = { limits: { maxBackOffs: 0 } };

const ORDERS: readonly (readonly ModelChoice[])[] = [
  [A, B, C],
  [A, C, B],
  [B, A, C],
  [B, C, A],
  [C, A, B],
  [C, B, A],
];

describe('whichever model is named first', () => {
  it.each(ORDERS.map((order) => [order.map(({ provider }) => provider).join(' '), order] as const))(
    'the order %s is kept to the first that answers',
    async (_name, order) => {
      for (const working of ['a', 'b', 'c']) {
        const acts = Object.fromEntries(
          ['a', 'b', 'c'].map((id) => [id, [id === working ? says(id) : fails('billing')]]),
        );
        const { run, path } = runStage({ acts });
        expect(await run(order)).toMatchObject({ payloads: [{ text: working }] });
        const tried = order.slice(0, order.findIndex(({ provider }) => provider === working) + 1);
        expect(path().filter((step) => step.startsWith('try'))).toEqual(tried.map(({ provider }) => `try ${provider}`));
      }
    },
  );
});

describe('with everything down', () => {
  it('the run fails with what the last one said, and names every attempt', async () => {
    const { run, path } = runStage({
      acts: { a: [fails('auth')], b: [fails('billing')], c: [fails('model_not_found')] },
    });
    const { meta } = await run([A, B, C]);
    expect(path()).toEqual([
      'try a',
      'auth fall_back',
      'try b',
      'billing fall_back',
      'try c',
      'model_not_found give_up',
    ]);
    expect([meta?.error?.kind, meta?.attempts?.map(({ error }) => error?.kind)]).toEqual([
      'model_not_found',
      ['auth', 'billing', 'model_not_found'],
    ]);
  });

  it('the next run tries none of them, and says how long it is until the first recovers', async () => {
    const { run, runtimes } = runStage({
      acts: { a: [fails('billing')], b: [fails('rate_limit', { retryAfterMs: 20 * MINUTE_MS })] },
    });
    await run([A, B]);
    const { meta } = await run([A, B]);
    expect(meta).toMatchObject({
      attempts: [],
      error: {
        kind: 'rate_limit',
        message: expect.stringMatching(
          /a\/m is disabled until .* \(billing: .*\); b\/m cools down until .* \(rate_limit: .*\)/,
        ) as string,
      },
    });
    expect(meta?.error?.retryAfterMs).toBeGreaterThan(19 * MINUTE_MS);
    expect(meta?.error?.retryAfterMs).toBeLessThanOrEqual(20 * MINUTE_MS);
    expect([runtimes['a']?.asked.length, runtimes['b']?.asked.length]).toEqual([1, 1]);
  });

  it('what the last one asks for is no reason to leave the others alone for as long', async () => {
    const { run } = runStage({
      acts: { a: [fails('rate_limit')], b: [fails('rate_limit', { retryAfterMs: 20 * 60 * MINUTE_MS })] },
    });
    const { meta } = await run([A, B]);
    expect(meta?.error?.retryAfterMs).toBeGreaterThan(0);
    expect(meta?.error?.retryAfterMs).toBeLessThanOrEqual(MINUTE_MS);
    expect(meta?.attempts?.at(-1)?.error?.retryAfterMs).toBe(20 * 60 * MINUTE_MS);
  });

  it('one that asks to be left alone for days is not asked sooner than a day from now, and the failure says what it asked for', async () => {
    const { run, clock, runtimes } = runStage({
      acts: { a: [fails('rate_limit', { retryAfterMs: 5 * 24 * 60 * MINUTE_MS })] },
    });
    expect((await run([A])).meta?.error).toMatchObject({ retryAfterMs: 5 * 24 * 60 * MINUTE_MS });
    await clock.advance(23 * 60 * MINUTE_MS);
    await run([A]);
    expect(runtimes['a']?.asked).toHaveLength(1);
  });
});

describe('a probe', () => {
  it('that goes well closes the breaker for everybody', async () => {
    const { run, path, clock } = runStage({ acts: { a: [fails('rate_limit'), says('a')], b: [says('b')] } });
    await run([A, B]);
    await clock.advance(MINUTE_MS);
    await run([A, B]);
    await run([A, B]);
    expect(path()).toEqual(['try a', 'rate_limit fall_back', 'try b', 'try a', 'try a']);
  });

  it('that fails makes the rest longer: one minute, five, twenty-five, sixty, and sixty again', async () => {
    const { run, clock, candidateHealth } = runStage({ acts: { a: [fails('rate_limit')], b: [says('b')] } });
    const rests: number[] = [];
    for (let turn = 0; turn < 5; turn += 1) {
      await run([A, B], NO_WAITS);
      const [health] = await candidateHealth.read([A]);
      const restMs = Date.parse(health?.until ?? '') - Date.parse(health?.lastFailureAt ?? '');
      rests.push(restMs / MINUTE_MS);
      await clock.advance(restMs);
    }
    expect(rests).toEqual([1, 5, 25, 60, 60]);
  });

  it('is taken by one of two runs that race for it', async () => {
    const { run, start, finish, clock, runtimes } = runStage({
      acts: { a: [fails('rate_limit'), says('a')], b: [says('b')] },
    });
    await run([A, B]);
    await clock.advance(MINUTE_MS);
    const runs = [start([A, B]), start([A, B])];
    const said = (await Promise.all(runs.map(({ result }) => finish(result)))).map(({ payloads }) => payloads[0]);
    expect(said.map((payload) => (payload?.type === 'text' ? payload.text : '')).toSorted()).toEqual(['a', 'b']);
    expect(runtimes['a']?.asked).toHaveLength(2);
  });

  it.each<[string, Parameters<ReturnType<typeof runStage>['start']>[1]]>([
    ['that the log cannot be told of', { onDecision: () => Promise.reject(new Error('disk full')) }],
    ['that is stopped before it is made', { signal: AbortSignal.abort('no') }],
  ])('%s is given back at once', async (_what, more) => {
    const { run, clock, candidateHealth } = runStage({ acts: { a: [fails('rate_limit'), says('a')] } });
    await run([A], NO_WAITS);
    await clock.advance(MINUTE_MS);
    expect((await run([A], more)).meta?.error).toBeDefined();
    expect(await candidateHealth.read([A])).toMatchObject([{ state: 'cooling', failures: 1 }]);
    expect(await run([A])).toMatchObject({ payloads: [{ text: 'a' }] });
  });

  it('that is cut short says nothing, and the next run may probe', async () => {
    const { run, start, finish, clock } = runStage({
      acts: { a: [fails('rate_limit'), hangs, says('a')], b: [says('b')] },
    });
    await run([A, B]);
    await clock.advance(MINUTE_MS);
    const stop = new AbortController();
    const probing = start([A, B], { signal: stop.signal });
    await clock.advance(10);
    stop.abort('enough');
    await finish(probing.result);
    expect(await run([A, B])).toMatchObject({ payloads: [{ text: 'a' }] });
  });
});

describe('a restart', () => {
  it('in the middle leaves what was learned: the next process does not ask again what has just failed', async () => {
    const before = runStage({ acts: { a: [fails('billing')], b: [hangs] } });
    void before.start([A, B]).result;
    await before.clock.advance(10);
    // The process is gone; the run never ended.
    const { clock, candidateHealth } = before;
    const after = runStage({ acts: { a: [says('a')], b: [says('b')] }, clock, candidateHealth });
    expect(await after.run([A, B])).toMatchObject({ payloads: [{ text: 'b' }] });
    expect(after.path()).toEqual(['try b']);
  });

  it('with a probe out blocks the candidate until the probe is forgotten, and no longer', async () => {
    const before = runStage({ acts: { a: [fails('rate_limit'), hangs], b: [says('b')] } });
    await before.run([A, B]);
    await before.clock.advance(MINUTE_MS);
    void before.start([A, B]).result;
    await before.clock.advance(10);
    const { clock, candidateHealth } = before;
    const after = runStage({ acts: { a: [says('a')], b: [says('b')] }, clock, candidateHealth });
    expect(await after.run([A, B])).toMatchObject({ payloads: [{ text: 'b' }] });
    await clock.advance(10 * MINUTE_MS);
    expect(await after.run([A, B])).toMatchObject({ payloads: [{ text: 'a' }] });
  });
});

describe('two processes over the same files', () => {
  let home: TemporaryHome;
  afterEach(() => home.remove());

  it('share what cools down, and one probe', async () => {
    home = await temporaryHome();
    const clock = createSimulatedClock({ now: START_MS });
    const process = (acts: Readonly<Record<string, readonly Act[]>>) =>
      runStage({
        acts,
        clock,
        candidateHealth: createFileCandidateHealthStore({
          directory: join(home.path, 'auth'),
          clock,
          exclusively: underLock,
        }),
      });
    let answer = (): void => undefined;
    const probe: Act = () =>
      new Promise((resolve) => (answer = () => resolve({ payloads: [{ type: 'text', text: 'a of one' }] })));
    const one = process({ a: [fails('rate_limit'), probe], b: [says('b')] });
    const other = process({ a: [says('a of the other')], b: [says('b')] });
    // Files take time that is none on this clock.
    await one.start([A, B]).result;
    expect(await other.start([A, B]).result).toMatchObject({ payloads: [{ text: 'b' }] });
    expect(other.runtimes['a']?.asked).toEqual([]);
    await clock.advance(MINUTE_MS);
    const probing = one.start([A, B]).result;
    await until(() => one.runtimes['a']?.asked.length === 2);
    expect(await other.start([A, B]).result).toMatchObject({ payloads: [{ text: 'b' }] });
    answer();
    expect(await probing).toMatchObject({ payloads: [{ text: 'a of one' }] });
    const third = process({ a: [says('a of a third')] });
    expect(await third.candidateHealth.read([A])).toMatchObject([{ state: 'closed', failures: 0 }]);
    expect(await third.start([A]).result).toMatchObject({ payloads: [{ text: 'a of a third' }] });
  });
});

describe('a list with the same candidate twice', () => {
  it('tries it once', async () => {
    const { run, path } = runStage({ acts: { a: [fails('auth')] } });
    await run([A, A, { ...A }]);
    expect(path()).toEqual(['try a', 'auth give_up']);
  });
});

describe('any run, whatever fails', () => {
  const script = fc.array(
    fc.oneof(
      {
        weight: 4,
        arbitrary: fc.record({
          kind: fc.constantFrom<RunFailureKind>(...runFailureKind.options),
          retryAfterMs: fc.option(fc.integer({ min: 0, max: 200_000 }), { nil: undefined }),
        }),
      },
      { weight: 1, arbitrary: fc.constant('says' as const) },
    ),
    { minLength: 1, maxLength: 6 },
  );
  const model = fc.record({
    provider: fc.constantFrom('a', 'b', 'c'),
    model: fc.constantFrom('m', 'n'),
    profile: fc.option(fc.constantFrom('one', 'two'), { nil: undefined }),
  });
  const limits = fc.record({
    maxAttempts: fc.integer({ min: 1, max: 8 }),
    maxBackOffs: fc.nat(4),
    maxWaitMs: fc.nat(120_000),
  });

  const actOf = (each: { readonly kind: RunFailureKind; readonly retryAfterMs: number | undefined } | 'says'): Act =>
    each === 'says'
      ? says('x')
      : fails(each.kind, each.retryAfterMs === undefined ? {} : { retryAfterMs: each.retryAfterMs });

  it('ends within its limits, with a reason for each decision and one life of events, and attempts nothing that rests but what was waited for or insisted on', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.tuple(script, script, script),
        fc.array(model, { minLength: 1, maxLength: 4 }),
        limits,
        fc.boolean(),
        async (scripts, models, given, canCompact) => {
          const clock = createSimulatedClock({ now: START_MS });
          const candidateHealth = new MemoryCandidateHealthStore({ clock });
          const acts = Object.fromEntries(['a', 'b', 'c'].map((id, index) => [id, (scripts[index] ?? []).map(actOf)]));
          const profiles = [
            { id: 'one', provider: 'a' },
            { id: 'two', provider: 'a' },
          ];
          for (let round = 0; round < 2; round += 1) {
            const stage = runStage({ acts, clock, candidateHealth, profiles });
            const resting: string[] = [];
            const onDecision: NonNullable<Parameters<typeof stage.start>[1]>['onDecision'] = async (decision) => {
              const [health] = decision.type === 'selected' ? await candidateHealth.read([decision.candidate]) : [];
              const last = stage.decisions.at(-1);
              const isWaitedFor = last?.type === 'failed' && last.next === 'back_off';
              const isInsistedOn =
                decision.type === 'selected' &&
                models.some(
                  ({ provider, profile }) =>
                    profile !== undefined &&
                    profile === decision.candidate.profile &&
                    provider === decision.candidate.provider,
                );
              if (
                decision.type === 'selected' &&
                (health?.state === 'cooling' || health?.state === 'disabled') &&
                !isWaitedFor &&
                !isInsistedOn
              )
                resting.push(decision.because);
              stage.decisions.push(decision);
            };
            const startedMs = clock.now();
            const result = await stage.run(
              models.map(({ profile, ...rest }) => ({ ...rest, ...(profile === undefined ? {} : { profile }) })),
              { limits: given, onDecision, ...(canCompact ? { compact: async () => [] } : {}) },
            );
            expect(resting).toEqual([]);
            expect(result.meta?.attempts?.length ?? 0).toBeLessThanOrEqual(given.maxAttempts);
            const waits = stage.decisions.flatMap((decision) =>
              decision.type === 'selected' ? [] : (decision.waitMs ?? []),
            );
            expect(waits.reduce((sum, each) => sum + each, 0)).toBeLessThanOrEqual(given.maxWaitMs);
            expect(clock.now() - startedMs).toBeLessThanOrEqual(given.maxWaitMs + 5_000);
            expect(stage.decisions.every(({ because }) => because.length > 5 && because.endsWith('.'))).toBe(true);
            const phases = stage.events.flatMap(({ stream, data }) => (stream === 'lifecycle' ? [data.phase] : []));
            expect([phases.length, phases[0], stage.events[0]?.stream]).toEqual([2, 'start', 'lifecycle']);
            expect(stage.events.at(-1)?.stream).toBe('lifecycle');
            expect(stage.events.map(({ seq }) => seq)).toEqual(stage.events.map((_, index) => index + 1));
            await clock.advance(30_000);
          }
        },
      ),
      { numRuns: 150 },
    );
  }, 60_000);

  it('keeps the limits that come with the setup', () => {
    expect(DEFAULT_RUN_LIMITS).toEqual({ maxAttempts: 12, maxBackOffs: 3, maxWaitMs: 60_000 });
  });
});

describe('a backend that plays what somebody has written', () => {
  it('fails as written, and no candidate rests for it', async () => {
    const { run, candidateHealth } = runStage({ acts: { a: [fails('auth')] }, more: { isPlayed: true } });
    expect((await run([{ provider: 'a', model: 'm' }])).meta?.error?.kind).toBe('auth');
    expect(await candidateHealth.read([{ provider: 'a', model: 'm' }])).toMatchObject([{ state: 'closed' }]);
  });
});
