/** In which order candidates are tried: every one once, models as they are named, accounts by their health. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { attemptKey, candidateKey } from '../../../src/machines/run/candidate.ts';
import type { Candidate, ModelChoice } from '../../../src/machines/run/candidate.ts';
import { orderCandidates, restingText } from '../../../src/machines/run/candidate-order.ts';
import type { OrderOptions } from '../../../src/machines/run/candidate-order.ts';
import type { CandidateHealth } from '../../../src/machines/run/candidate-health.ts';

const at = (seconds: number): string => new Date(Date.UTC(2026, 0, 1) + seconds * 1_000).toISOString();
const A: ModelChoice = { provider: 'a', model: 'm' };

function order(
  models: readonly ModelChoice[],
  profiles: Readonly<Record<string, readonly string[]>> = {},
  candidateHealth: Readonly<Record<string, Partial<CandidateHealth>>> = {},
): string[] {
  const options: OrderOptions = {
    models,
    profilesOf: (provider) => profiles[provider] ?? [],
    healthOf: (candidate) => {
      const known = candidateHealth[candidate.profile ?? candidate.provider];
      return known === undefined
        ? undefined
        : { candidate, state: 'closed', failures: 0, billingFailures: 0, ...known };
    },
  };
  return orderCandidates(options).map(({ candidate }) =>
    [candidate.provider, candidate.profile, candidate.backend].filter((part) => part !== undefined).join(':'),
  );
}

describe('candidates', () => {
  it.each<[string, string[], string[]]>([
    ['without accounts are the models', order([A, { provider: 'b', model: 'm' }]), ['a', 'b']],
    [
      'are all accounts of a model before the next model',
      order([A, { provider: 'b', model: 'm' }], { a: ['one', 'two'] }),
      ['a:one', 'a:two', 'b'],
    ],
    [
      'that were used the longest ago come first, and those that never were before them',
      order([A], { a: ['one', 'two', 'new'] }, { one: { lastUsedAt: at(2) }, two: { lastUsedAt: at(1) } }),
      ['a:new', 'a:two', 'a:one'],
    ],
    [
      'that rest come last, the soonest to recover first',
      order(
        [A],
        { a: ['late', 'soon', 'ready'] },
        { late: { state: 'disabled', until: at(9) }, soon: { state: 'cooling', until: at(3) } },
      ),
      ['a:ready', 'a:soon', 'a:late'],
    ],
    [
      'in an order that is given keep it, but for those that rest',
      order(
        [{ ...A, profiles: ['x', 'y', 'z'] }],
        { a: ['z', 'y', 'x'] },
        { x: { state: 'cooling', until: at(1) }, y: { lastUsedAt: at(9) } },
      ),
      ['a:y', 'a:z', 'a:x'],
    ],
    [
      'with an account that the user insists on are that one, resting or not',
      order([{ ...A, profile: 'mine' }], { a: ['one', 'mine'] }, { mine: { state: 'disabled', until: at(9) } }),
      ['a:mine'],
    ],
    [
      'that are named twice are tried once',
      order([A, { ...A, profile: 'one' }, A], { a: ['one', 'two'] }),
      ['a:one', 'a:two'],
    ],
    [
      'of two backends are two ways to the same model',
      order([
        { ...A, backend: 'x' },
        { ...A, backend: 'y' },
        { ...A, backend: 'x' },
      ]),
      ['a:x', 'a:y'],
    ],
  ])('%s', (_what, given, expected) => {
    expect(given).toEqual(expected);
  });

  it('say why they stand where they stand', () => {
    const because = (choice: ModelChoice, profiles: readonly string[]) =>
      orderCandidates({
        models: [{ provider: 'z', model: 'z' }, choice],
        profilesOf: (provider) => (provider === 'a' ? profiles : []),
        healthOf: () => undefined,
      })
        .slice(1)
        .map((each) => each.because);
    expect(because(A, [])).toEqual(['Fallback 1']);
    expect(because(A, ['one'])).toEqual(['Fallback 1, with its one account']);
    expect(because(A, ['one', 'two'])[0]).toBe('Fallback 1, with the account that was used the longest ago');
    expect(because({ ...A, profiles: ['x', 'y'] }, [])[0]).toBe(
      'Fallback 1, with the accounts in the order that was given',
    );
    expect(because({ ...A, profile: 'x' }, [])).toEqual(['Fallback 1, with the account that was asked for']);
  });

  it.each<[CandidateHealth['state'], string]>([
    ['cooling', 'a/m (one) cools down until 2026-01-01T00:00:05.000Z (rate_limit: m)'],
    ['disabled', 'a/m (one) is disabled until 2026-01-01T00:00:05.000Z (rate_limit: m)'],
    ['half_open', 'a/m (one) is being tried by another run until 2026-01-01T00:00:05.000Z (rate_limit: m)'],
  ])('that are %s say so: %s', (state, text) => {
    const candidate: Candidate = { ...A, profile: 'one' };
    expect(
      restingText(candidate, {
        candidate,
        state,
        until: at(5),
        because: { kind: 'rate_limit', message: 'm' },
        failures: 1,
        billingFailures: 0,
      }),
    ).toBe(text);
  });
});

describe('any candidates', () => {
  const name = fc.constantFrom('one', 'two', 'three');
  const choice: fc.Arbitrary<ModelChoice> = fc.record(
    {
      provider: fc.constantFrom('a', 'b'),
      model: fc.constantFrom('m', 'n'),
      backend: fc.constantFrom('x', 'y'),
      profile: name,
      profiles: fc.uniqueArray(name, { minLength: 1 }),
    },
    { requiredKeys: ['provider', 'model'] },
  );
  const health = fc.record({
    state: fc.constantFrom('closed', 'cooling', 'half_open', 'disabled'),
    until: fc.option(fc.nat(100).map(at), { nil: undefined }),
    lastUsedAt: fc.option(fc.nat(100).map(at), { nil: undefined }),
  });

  it('are all of them, each once, models in their order, and within a model none that rests before one that is ready', () => {
    fc.assert(
      fc.property(
        fc.array(choice, { minLength: 1, maxLength: 5 }),
        fc.array(name, { maxLength: 3 }),
        fc.array(health, { minLength: 20, maxLength: 20 }),
        (models, profiles, candidateHealth) => {
          const keys: string[] = [];
          const healthOf = (candidate: Candidate): CandidateHealth => {
            const key = candidateKey(candidate);
            if (!keys.includes(key)) keys.push(key);
            return {
              candidate,
              failures: 0,
              billingFailures: 0,
              state: 'closed',
              ...candidateHealth[keys.indexOf(key) % 20],
            };
          };
          const ordered = orderCandidates({ models, profilesOf: () => [...new Set(profiles)], healthOf });
          const wanted = models.flatMap(({ provider, model, backend, profile, profiles: own }) => {
            const base = { provider, model, ...(backend === undefined ? {} : { backend }) };
            const names = profile === undefined ? (own ?? [...new Set(profiles)]) : [profile];
            return names.length === 0 ? [base] : names.map((each) => ({ ...base, profile: each }));
          });
          expect(ordered.map(({ candidate }) => attemptKey(candidate)).toSorted()).toEqual(
            [...new Set(wanted.map(attemptKey))].toSorted(),
          );
          const indexes = ordered.map(({ modelIndex }) => modelIndex);
          expect(indexes).toEqual(indexes.toSorted((one, other) => one - other));
          for (const [index, each] of ordered.entries()) {
            const before = ordered[index - 1];
            if (before?.modelIndex !== each.modelIndex || healthOf(each.candidate).state !== 'closed') continue;
            expect(healthOf(before.candidate).state).toBe('closed');
          }
        },
      ),
    );
  });
});
