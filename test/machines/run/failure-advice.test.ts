/**
 * What a person is told to do about a failure fits what the runtime then does: who rests, and whether anybody else is
 * asked.
 */
import { describe, expect, it } from 'vitest';
import { failed, restsAfter, unusedHealth } from '../../../src/machines/run/breaker.ts';
import { adviceFor } from '../../../src/machines/run/failure-advice.ts';
import { DEFAULT_RUN_LIMITS, decideAfterFailure } from '../../../src/machines/run/run-decision.ts';
import { runFailureKind } from '../../../src/machines/run/run-failure.ts';
import type { RunFailure } from '../../../src/machines/run/run-failure.ts';

const KINDS = runFailureKind.options;
const failure = (kind: RunFailure['kind'], more: Partial<RunFailure> = {}): RunFailure => ({
  kind,
  message: 'no',
  ...more,
});

/** What the last decision leaves: a fallback of this sort would have been asked. */
function wouldFallBack({ kind }: RunFailure, hasOtherProvider: boolean): boolean {
  const situation = {
    attempts: 5,
    backOffs: 3,
    waitedMs: 0,
    sameFailures: 4,
    hasOtherProfile: false,
    hasOtherModel: true,
    hasOtherProvider,
    canCompact: false,
    wasResumed: false,
    hadEffects: false,
    canPayAgain: true,
    limits: DEFAULT_RUN_LIMITS,
    random: 0,
  };
  return decideAfterFailure({ ...situation, failure: failure(kind) }).next === 'fall_back';
}

describe('what to do about a failure', () => {
  it.each(KINDS)('of the kind %s says to wait, or to forget a rest, exactly where the candidate rests', (kind) => {
    const { state } = failed(unusedHealth({ provider: 'p', model: 'm' }), failure(kind), 0);
    expect(restsAfter(failure(kind))).toBe(state !== 'closed');
    expect(/\bWait\b|auth reset/.test(adviceFor(failure(kind)))).toBe(state !== 'closed');
    if (state === 'disabled') expect(adviceFor(failure(kind))).toContain('wakechart auth reset --all');
    expect(adviceFor(failure(kind))).toMatch(/wake the session again\.$/);
  });

  it.each(KINDS)('of the kind %s names a fallback only where one would be asked', (kind) => {
    const says = adviceFor(failure(kind));
    if (/another provider/.test(says))
      expect([wouldFallBack(failure(kind), true), wouldFallBack(failure(kind), false)]).toEqual([true, false]);
    else if (/fallback/.test(says)) expect(wouldFallBack(failure(kind), false)).toBe(true);
    expect(says).not.toContain('no other model');
  });

  it('is what the failure itself says, where that says it', () => {
    expect(adviceFor(failure('server_error', { hint: 'Start the server.' }))).toBe(
      'Start the server, then wake the session again.',
    );
  });

  it('names no rest for what was held against no candidate', () => {
    expect(adviceFor(failure('auth', { isLocal: true }))).toBe(
      'Check the credentials of the provider, then wake the session again.',
    );
  });
});
