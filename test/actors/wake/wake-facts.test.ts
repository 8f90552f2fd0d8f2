/** What a wake says of a failure, for people. */
import { describe, expect, it } from 'vitest';
import { failureRecord } from '../../../src/actors/wake/wake-facts.ts';

it('a failure on this machine is not told as one of a model', () => {
  expect(
    failureRecord({ kind: 'coordination', message: 'the auth profiles are not safe there', isLocal: true }).message,
  ).toBe('no model was asked (coordination): the auth profiles are not safe there');
});

it('a program that is not understood has an error of its own, and to ask it again does not help', () => {
  const failure = { kind: 'format', message: 'it said hello', isNotUnderstood: true, hint: 'Use 2.1.332.' } as const;
  expect(failureRecord(failure)).toEqual({
    name: 'RuntimeError',
    code: 'BACKEND_NOT_UNDERSTOOD',
    category: 'provider',
    message: 'the model step failed (format): it said hello',
    recoverable: false,
    hint: 'Use 2.1.332, then wake the session again.',
    details: { kind: 'format', givenUp: true },
  });
});

describe('the hint of a failed step', () => {
  it('says how long the provider asks to wait', () => {
    expect(failureRecord({ kind: 'rate_limit', message: 'slow', retryAfterMs: 30_000 }).hint).toContain(
      'The provider asks to wait 30 seconds.',
    );
  });

  it('says, where every candidate rests, how to see why and how to end it, and puts nothing into the mouth of a provider', () => {
    const { hint } = failureRecord({
      kind: 'billing',
      message: 'no candidate can be tried',
      retryAfterMs: 18_000_000,
      isRest: true,
    });
    expect(hint).toContain('wakechart auth status');
    expect(hint).toContain('wakechart auth reset');
    expect(hint).not.toContain('provider asks');
  });
});
