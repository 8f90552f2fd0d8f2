/** Of everything that providers and programs say when they fail, one table says what it is: one row for each shape. */
import { describe, expect, it } from 'vitest';
import { failed, unusedHealth } from '../../../src/machines/run/breaker.ts';
import { classifyRunFailure } from '../../../src/machines/run/classify-failure.ts';
import { NOW } from './failure-corpus/failure-case.ts';
import { PROVIDER_FAILURES, formsOf } from './failure-corpus/provider-failures.ts';

describe('what a provider says', () => {
  it.each(PROVIDER_FAILURES)('$from: $what is $kind', (given) => {
    const kinds = formsOf(given).map((error) => classifyRunFailure(error, { now: NOW }).kind);
    expect(kinds).toEqual(kinds.map(() => given.taken ?? given.kind));
  });

  it('is taken for something else in two shapes only', () => {
    expect(
      PROVIDER_FAILURES.filter(({ taken, kind }) => taken !== undefined && taken !== kind).map(
        ({ from, what }) => `${from}: ${what}`,
      ),
    ).toEqual(['LM Studio: crash', 'llama.cpp: no templates for tools']);
  });

  it('is told in more than 250 shapes, each of them once', () => {
    expect(new Set(PROVIDER_FAILURES.map(({ from, what }) => `${from}: ${what}`)).size).toBe(PROVIDER_FAILURES.length);
    expect(PROVIDER_FAILURES.length).toBeGreaterThan(250);
  });

  it('disables no candidate where it is not recognized', () => {
    for (const given of PROVIDER_FAILURES.filter(({ kind }) => kind === 'unknown')) {
      for (const error of formsOf(given)) {
        expect(failed(unusedHealth({ provider: 'p', model: 'm' }), classifyRunFailure(error), NOW)).toMatchObject({
          state: 'closed',
        });
      }
    }
  });
});
