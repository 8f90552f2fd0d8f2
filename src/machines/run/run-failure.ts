/**
 * The ways a run of a backend fails, as data. Structured codes of a provider are mapped to these; `unknown` never
 * disables anything.
 */
import * as z from 'zod';

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
  /**
   * The kind was told by words alone, which may be quoted from anywhere: a candidate may rest for it, and is never
   * disabled.
   */
  evidence: z.literal('text').optional(),
  /** No provider was asked: it failed on this machine, and says nothing about the candidate. */
  isLocal: z.boolean().optional(),
  /** No provider was asked, since every candidate rests; `retryAfterMs` is then how long the first of them does. */
  isRest: z.boolean().optional(),
  /**
   * How often it may be asked again, where that is less than its kind allows. `once`: a program crashed, and may crash
   * again. `never`, and no other candidate either: a limit of the user's own has ended it.
   */
  retry: z.enum(['once', 'never']).optional(),
  /**
   * Nothing that the program said was a message: it is another one than was meant, or a version that speaks another
   * language. To ask it again comes to the same.
   */
  isNotUnderstood: z.boolean().optional(),
  /** What a person can do about it, as sentences, where more is known than the kind says. */
  hint: z.string().optional(),
});

export type RunFailure = Readonly<z.output<typeof runFailure>>;
