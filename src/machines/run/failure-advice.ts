/**
 * What a person can do about a failure. It ends with what the runtime then does: a candidate that rests is not asked
 * before its rest is over or forgotten.
 */
import { restsAfter } from './breaker.ts';
import type { RunFailure, RunFailureKind } from './run-failure.ts';

const WHAT_TO_DO: Readonly<Record<RunFailureKind, string>> = {
  auth: 'Check the credentials of the provider',
  auth_permanent: 'Log in to the provider again or replace the key',
  rate_limit: 'Wait until the provider allows more calls',
  overloaded: 'Wait a little, or name a fallback',
  billing: 'Settle the account with the provider',
  timeout: 'Wait a little; where the model needs longer to answer, set a longer idleTimeoutMs for its provider',
  server_error:
    'Wait a little; if it keeps failing, check where the message points: at the provider, the network or the program',
  format: 'Correct what the message names, or name a fallback of another provider',
  context_overflow: 'Start a new session, or name a model with a larger context, as a fallback or in its place',
  model_not_found: 'Correct the model in the agent file or the address of the provider',
  session_expired: 'Nothing has to be put right: the next wake gives the conversation to a new session of the backend',
  empty_response: 'Nothing has to be put right: the next wake asks anew',
  refusal: 'Send a message that asks for it in another way',
  aborted: 'Nothing has to be put right: the next wake goes on',
  coordination: 'Free what the message names on this machine; the model is not to blame',
  unknown: 'Do what the message says, or put right what it names',
};

/** What a person puts right, and no time does. */
const TO_PUT_RIGHT: ReadonlySet<RunFailureKind> = new Set(['auth', 'auth_permanent', 'billing', 'model_not_found']);

const WAKE = 'then wake the session again.';
/** A user who has put right what was wrong need not wait for a rest. */
const RESET = 'then forget what is held against the candidate (wakechart auth reset --all) and wake the session again.';

/** As one sentence, or more where the failure brings its own. */
export function adviceFor(failure: RunFailure): string {
  const { kind, hint = WHAT_TO_DO[kind] } = failure;
  return `${hint.replace(/\.$/, '')}, ${TO_PUT_RIGHT.has(kind) && restsAfter(failure) ? RESET : WAKE}`;
}
