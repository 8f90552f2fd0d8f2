/**
 * Fallback within a wake: the log tells every decision, budgets hold over all attempts, and who has to wait is not
 * tried sooner.
 */
import { afterEach, describe, expect, it } from 'vitest';
import type { AgentFrontmatter } from '../../../src/machines/agent/agent-definition.ts';
import { MemoryCandidateHealthStore } from '../../../src/adapters/memory/memory-candidate-health-store.ts';
import { createSimulatedClock } from '../../../src/actors/clock/simulated-clock.ts';
import { RuntimeError } from '../../../src/machines/errors.ts';
import { HookedStore } from '../../support/hooked-store.ts';
import { openBackendSetup } from '../../support/backend-setup.ts';
import type { BackendSetup, BackendSetupOptions } from '../../support/backend-setup.ts';
import { fails, says, toldRuntime } from '../../support/told-runtime.ts';
import type { Act, ToldRuntime } from '../../support/told-runtime.ts';

let open: BackendSetup;
let other: ToldRuntime;
afterEach(() => open.setup[Symbol.asyncDispose]());

const FALLBACK: Partial<AgentFrontmatter> = { fallbacks: [{ provider: 'other', model: 'n' }] };

async function stage(
  acts: readonly Act[],
  otherActs: readonly Act[],
  options: BackendSetupOptions = {},
): Promise<void> {
  other = toldRuntime('other', otherActs);
  open = await openBackendSetup(acts, {
    traits: { runs: 'step' },
    others: [other],
    ...options,
    agent: { ...FALLBACK, ...options.agent },
  });
}

const wake = () => open.setup.runtime.wake(open.id);
const used =
  (inputTokens: number, outputTokens = 0): Act =>
  () => ({ payloads: [], usage: { inputTokens, outputTokens }, meta: { error: { kind: 'auth', message: 'no' } } });

describe('the log of a step over several candidates', () => {
  it('tells who was tried and why, what failed and what was decided, and what all of it used', async () => {
    await stage([used(100)], [says('From the other.')]);
    expect(await wake()).toMatchObject({ outcome: 'sleep', summary: 'From the other.', modelSteps: 1 });
    const types = (await open.setup.log(open.id))
      .map(({ type }) => type)
      .filter((type) => type.startsWith('run.') || type.startsWith('span.'));
    expect(types).toEqual(['span.started', 'run.attempt_failed', 'run.candidate_selected', 'span.completed']);
    expect(await open.setup.dataOf(open.id, 'span.started')).toMatchObject([
      { provider: 'told', model: 'm', backend: 'told', because: 'The first choice.' },
    ]);
    expect(await open.setup.dataOf(open.id, 'run.attempt_failed')).toMatchObject([
      {
        attempt: 1,
        candidate: { provider: 'told' },
        error: { kind: 'auth' },
        next: 'fall_back',
        because: 'This account cannot be used now. Another model is tried.',
      },
    ]);
    expect(await open.setup.dataOf(open.id, 'run.candidate_selected')).toMatchObject([
      { attempt: 2, candidate: { provider: 'other', model: 'n' }, because: 'Fallback 1, after told/m failed (auth).' },
    ]);
    expect(await open.setup.dataOf(open.id, 'span.completed')).toMatchObject([
      { outcome: 'completed', usage: { inputTokens: 110, outputTokens: 1 } },
    ]);
    expect((await open.setup.state(open.id)).used.tokens).toBe(111);
  });

  it('that all fail says so once more than there were attempts before the last', async () => {
    await stage([fails('billing')], [fails('auth')]);
    expect(await wake()).toMatchObject({ outcome: 'failed', error: { details: { kind: 'auth' } } });
    expect((await open.setup.dataOf(open.id, 'run.attempt_failed')).map(({ next }) => next)).toEqual([
      'fall_back',
      'give_up',
    ]);
  });
});

describe('a budget', () => {
  it('bounds the attempts of a step together', async () => {
    await stage([used(7_000, 500)], [says('x')], { agent: { budget: { maxTokensPerWake: 10_000 } } });
    await wake();
    const bounds = [...open.backend.asked, ...other.asked].map(({ budget }) => budget?.maxOutputTokens ?? Infinity);
    expect(bounds).toHaveLength(2);
    expect(bounds[1]).toBeLessThan(2_500);
    expect(bounds[0]).toBeGreaterThan(1_000);
  });

  it('that the first attempt has used up pays for no other', async () => {
    await stage([used(10_000)], [says('x')], { agent: { budget: { maxTokensPerWake: 10_000 } } });
    expect(await wake()).toMatchObject({ outcome: 'failed' });
    expect(other.asked).toEqual([]);
    expect((await open.setup.state(open.id)).used.tokens).toBe(10_000);
  });

  it('of money is not broken by a fallback that costs more, or that nobody knows the price of', async () => {
    const free = { input: 0, output: 0 };
    await stage([fails('auth')], [says('x')], {
      prices: { 'told/m': free, 'other/n': { input: 1e9, output: 1e9 } },
      agent: { budget: { maxCostPerWake: 1 } },
    });
    await wake();
    expect(other.asked).toEqual([]);
    await open.setup[Symbol.asyncDispose]();
    await stage([fails('auth')], [says('x')], { prices: { 'told/m': free }, agent: { budget: { maxCostPerWake: 1 } } });
    await wake();
    expect(other.asked).toEqual([]);
  });

  it('counts what a fallback used at its own price', async () => {
    const untold: Act = () => ({ payloads: [{ type: 'text', text: 'x'.repeat(4_000) }], meta: { modelSteps: 1 } });
    await stage([fails('auth')], [untold], {
      prices: { 'told/m': { input: 0, output: 0 }, 'other/n': { input: 0, output: 1_000 } },
      agent: { budget: { maxCostPerWake: 10 } },
    });
    await wake();
    const [{ usage } = {}] = await open.setup.dataOf(open.id, 'span.completed');
    expect([usage?.isEstimate, (usage?.cost ?? 0) > 0.5]).toEqual([true, true]);
  });
});

describe('trouble with the log', () => {
  it.each(['span.started', 'run.attempt_failed', 'run.candidate_selected'] as const)(
    'at %s is no failure of a model: nobody else is asked, and no candidate is blamed',
    async (type) => {
      const store = new HookedStore();
      const clock = createSimulatedClock();
      const candidateHealth = new MemoryCandidateHealthStore({ clock });
      await stage([fails('auth')], [says('x')], { store, candidateHealth });
      store.before(type, () =>
        Promise.reject(new RuntimeError('STORAGE_FAILED', 'the disk is full', { category: 'storage' })),
      );
      expect(await wake()).toMatchObject({ outcome: 'failed', error: { code: 'STORAGE_FAILED' } });
      expect(other.asked).toEqual([]);
      expect(await candidateHealth.read([{ provider: 'other', model: 'n' }])).toMatchObject([{ state: 'closed' }]);
    },
  );
});

describe('when every candidate rests', () => {
  it('the wake fails with the reason and the time, and the session is not tried before', async () => {
    await stage([fails('billing')], [fails('rate_limit', { retryAfterMs: 3_600_000 })]);
    const clock = open.setup.clock;
    const candidateHealth = new MemoryCandidateHealthStore({ clock });
    const runtime = open.setup.open({ candidateHealth, runtimes: [open.backend, other] });
    await runtime.wake(open.id);
    await open.setup.runtime.sessions.send(open.id, { type: 'user.message', text: 'Again' });
    expect(await runtime.wake(open.id)).toMatchObject({
      outcome: 'failed',
      error: {
        details: { kind: 'rate_limit', retryAfterMs: 3_600_000 },
        message: expect.stringContaining('cools down until') as string,
      },
    });
    const { lastWake } = await open.setup.state(open.id);
    expect(Date.parse(lastWake?.retryAt ?? '')).toBeGreaterThanOrEqual(clock.now() + 3_600_000);
    expect((await open.setup.dataOf(open.id, 'span.started')).length).toBe(2);
    expect([open.backend.asked.length, other.asked.length]).toEqual([1, 1]);
  });
});

describe('a context that is too much', () => {
  it('is made smaller once, and the log says so', async () => {
    await stage(
      [says('One. '.repeat(100)), says('Two. '.repeat(100)), fails('context_overflow'), says('It fits.')],
      [says('x')],
    );
    for (const text of ['And?', 'And then?']) {
      await wake();
      await open.setup.runtime.sessions.send(open.id, { type: 'user.message', text });
    }
    expect(await wake()).toMatchObject({ outcome: 'sleep', summary: 'It fits.' });
    expect((await open.setup.dataOf(open.id, 'run.attempt_failed')).map(({ next }) => next)).toEqual(['compact']);
    expect(await open.setup.dataOf(open.id, 'run.context_reduced')).toHaveLength(1);
    expect(other.asked).toEqual([]);
  });

  it.each(['rate_limit', 'timeout', 'unknown'] as const)(
    'for a fallback does not park a session whose first choice failed with %s: that one may answer the next time',
    async (kind) => {
      await stage([...Array.from({ length: 2 }, () => fails(kind))], [fails('context_overflow')]);
      const ended = wake();
      await open.setup.clock.advance(60_000);
      expect(await ended).toMatchObject({ outcome: 'failed', error: { details: { kind: 'context_overflow' } } });
      const { parked, lastWake } = await open.setup.state(open.id);
      expect([parked, lastWake?.retryAt]).toEqual([undefined, expect.any(String)]);
    },
  );

  it('for every candidate parks the session', async () => {
    await stage([fails('context_overflow')], [fails('context_overflow')]);
    expect(await wake()).toMatchObject({ outcome: 'failed' });
    expect(await open.setup.dataOf(open.id, 'session.parked')).toMatchObject([{ code: 'given_up' }]);
  });
});
