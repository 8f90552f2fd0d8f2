/** What Codex says of a turn that failed. */
import * as z from 'zod';
import type { RunFailureKind } from '../../machines/run/run-failure.ts';
import type { TurnError } from './codex-protocol.ts';
import type { CliFailure } from './dialect.ts';

/** Its own names. What is not named here is told by a status, else by its words. */
const KINDS: Readonly<Record<string, RunFailureKind>> = {
  contextWindowExceeded: 'context_overflow',
  rateLimitExceeded: 'rate_limit',
  serverOverloaded: 'overloaded',
  flexUnavailable: 'overloaded',
  policyCapacityUnavailable: 'overloaded',
  modelNotFound: 'model_not_found',
  internalServerError: 'server_error',
  unauthorized: 'auth',
  badRequest: 'format',
  sessionBudgetExceeded: 'format',
  cyberPolicy: 'refusal',
  bioPolicy: 'refusal',
  misalignmentPolicyViolation: 'refusal',
};

/** What its words tell better, where they tell something: a limit of a plan, or no credit. */
const OTHERWISE: Readonly<Record<string, RunFailureKind>> = { usageLimitExceeded: 'rate_limit' };

/** `{ httpConnectionFailed: { httpStatusCode: 503 } }`, or only a name. */
const info = z.union([z.string(), z.record(z.string(), z.looseObject({ httpStatusCode: z.number().nullish() }))]);

/** The answer of a provider as it came. */
const providerError = z.looseObject({
  error: z.looseObject({ message: z.string(), code: z.union([z.string(), z.number()]).nullish() }),
});

export function codexFailure({ message, codexErrorInfo }: TurnError): CliFailure {
  const { data: said } = info.safeParse(codexErrorInfo);
  const status = typeof said === 'object' ? Object.values(said)[0]?.httpStatusCode : undefined;
  const name = typeof said === 'string' ? said : '';
  const answer = providerAnswer(message);
  return {
    kind: Object.hasOwn(KINDS, name) ? KINDS[name] : undefined,
    message: answer?.message ?? message,
    ...(answer?.code === undefined ? {} : { code: answer.code }),
    ...(typeof status === 'number' ? { httpStatus: status } : {}),
    otherwise:
      (Object.hasOwn(OTHERWISE, name) ? OTHERWISE[name] : undefined) ?? (answer === undefined ? undefined : 'format'),
  };
}

/** What is refused with status 400 is told as the body of the answer, without the status. */
function providerAnswer(message: string): { readonly message: string; readonly code: string | undefined } | undefined {
  if (!message.startsWith('{')) return undefined;
  try {
    const { data } = providerError.safeParse(JSON.parse(message));
    if (data === undefined) return undefined;
    const { code } = data.error;
    return { message: data.error.message, code: code === undefined || code === null ? undefined : String(code) };
  } catch {
    return undefined;
  }
}
