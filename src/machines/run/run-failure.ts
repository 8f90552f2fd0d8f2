/** The ways a run of a backend fails, as data. Structured codes of a provider are mapped to these; `unknown` never disables anything. */
import { z } from 'zod';

const runFailureKinds = [
  'auth',
  'auth_permanent',
  'rate_limit',
  'overloaded',
  'billing',
  'timeout',
  'server_error',
  'format',
  'context_overflow',
  'model_not_found',
  'session_expired',
  'empty_response',
  'refusal',
  'aborted',
  'coordination',
  'unknown',
] as const;

export const runFailureKind = z.enum(runFailureKinds);

export type RunFailureKind = z.output<typeof runFailureKind>;

export const runFailure = z.object({
  kind: runFailureKind,
  message: z.string(),
  /** How long the provider asks to be left alone, in milliseconds. */
  retryAfterMs: z.number().nonnegative().optional(),
  /** The kind was told by words alone, which may quote anybody: a candidate may rest for it, and is never disabled. */
  evidence: z.literal('text').optional(),
  /** Nobody was asked: it failed on this machine, and says nothing about the candidate. */
  isLocal: z.boolean().optional(),
  /** Nobody was asked, since every candidate rests; `retryAfterMs` is then how long the first of them does. */
  isRest: z.boolean().optional(),
});

export type RunFailure = Readonly<z.output<typeof runFailure>>;

const ADVICE: Record<RunFailureKind, string> = {
  auth: 'Check the credentials of the provider, then wake the session again.',
  auth_permanent: 'Log in to the provider again or replace the key, then wake the session again.',
  rate_limit: 'Wait until the provider allows more calls, then wake the session again.',
  overloaded: 'Wait a little, then wake the session again.',
  billing: 'Settle the account with the provider, then wake the session again.',
  timeout: 'Wake the session again.',
  server_error: 'Wake the session again; if it keeps failing, ask the provider.',
  format: 'Correct what the message names: no other model and no other account would take it; then wake the session again.',
  context_overflow: 'Start a new session, or use a model with a larger context.',
  model_not_found: 'Correct the model in the agent file or the address of the provider, then wake the session again.',
  session_expired: 'Wake the session again.',
  empty_response: 'Wake the session again.',
  refusal: 'Send a message that asks for it in another way.',
  aborted: 'Wake the session again to go on.',
  coordination: 'Free what the message names on this machine, then wake the session again; the model is not to blame.',
  unknown: 'Do what the message says, or put right what it names; then wake the session again.',
};

/** What a person can do about a failure of this kind, as one sentence. */
export function adviceFor(kind: RunFailureKind): string {
  return ADVICE[kind];
}
