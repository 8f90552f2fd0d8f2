/**
 * A model step that failed, and how whatever the SDK throws or streams as an error becomes a failure of a known kind.
 */
import { cutText } from '../../machines/cut-text.ts';
import { RuntimeError, messageOf } from '../../machines/errors.ts';
import { classifyRunFailure } from '../../machines/run/classify-failure.ts';
import type { RunFailure } from '../../machines/run/run-failure.ts';
import { isLoopbackName } from '../system/loopback.ts';
import type { HttpInterface } from './load-models.ts';

/** Characters of a message: an error of a provider may quote the whole request. */
const MAX_MESSAGE_CHARACTERS = 2_000;

export class StepFailure extends Error {
  readonly failure: RunFailure;

  constructor(failure: RunFailure) {
    super(failure.message);
    this.failure = failure;
  }
}

export interface FailureOfOptions {
  /** Who was to be asked, and where. */
  readonly provider: string;
  readonly baseUrl: string;
  /** Where the key came from, if from a variable. */
  readonly keyVariable?: string | undefined;
  /** Takes secrets out of what was said. */
  readonly redact: (text: string) => string;
  /** Milliseconds since the epoch, for waits that are told as a moment in time. */
  readonly now: number;
}

export function failureOf(
  thrown: unknown,
  { redact, now, provider, baseUrl, keyVariable }: FailureOfOptions,
): RunFailure {
  const failure = stepFailureIn(thrown)?.failure ?? classified(thrown, now);
  const hint = failure.hint ?? (isUnreached(thrown) ? redact(unreachedHint(provider, baseUrl)) : undefined);
  return {
    ...failure,
    message: `${cutText(redact(failure.message), MAX_MESSAGE_CHARACTERS)}${refusedKey(failure, keyVariable)}`,
    ...(hint === undefined ? {} : { hint }),
  };
}

/** Which key the provider does not take: in the message, which goes wherever the failure is told of. */
function refusedKey({ kind, isLocal = false }: RunFailure, keyVariable: string | undefined): string {
  const isOfKey = !isLocal && (kind === 'auth' || kind === 'auth_permanent');
  return isOfKey && keyVariable !== undefined ? ` (the key is that of ${keyVariable})` : '';
}

/** Nothing listens there, or no such host is known: whatever is wrong, no provider has said anything. */
const UNREACHED: readonly unknown[] = [
  'ECONNREFUSED',
  'ENOTFOUND',
  'EAI_AGAIN',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'UND_ERR_CONNECT_TIMEOUT',
];
const MAX_CAUSES = 10;

function isUnreached(thrown: unknown, depth = 0): boolean {
  if (!(thrown instanceof Error) || depth > MAX_CAUSES) return false;
  if ('code' in thrown && UNREACHED.includes(thrown.code)) return true;
  const inner = thrown instanceof AggregateError ? (thrown.errors as readonly unknown[]) : [];
  return [thrown.cause, ...inner].some((cause) => isUnreached(cause, depth + 1));
}

/** How servers on one's own machine are started. */
const STARTS: Readonly<Record<string, string>> = {
  ollama: '`ollama serve`',
  'lm-studio': '`lms server start`',
  vllm: '`vllm serve MODEL`',
};

function unreachedHint(provider: string, baseUrl: string): string {
  const { hostname } = new URL(baseUrl);
  const start = STARTS[provider];
  const server = isLoopbackName(hostname)
    ? `Start the server${start === undefined ? '' : ` (${start})`}`
    : 'See that the server runs and can be reached from here';
  return `${server}, or correct its address: baseUrl of "${provider}" in providers.yaml, now ${baseUrl}.`;
}

/** The SDK wraps what breaks a stream. */
function stepFailureIn(thrown: unknown): StepFailure | undefined {
  if (thrown instanceof StepFailure) return thrown;
  return thrown instanceof Error && thrown.cause instanceof StepFailure ? thrown.cause : undefined;
}

function classified(thrown: unknown, now: number): RunFailure {
  if (RuntimeError.is(thrown) && thrown.code === 'AI_SDK_MISSING')
    return { kind: 'format', message: `${thrown.message}. ${thrown.hint ?? ''}`.trim(), isLocal: true };
  return classifyRunFailure(thrown, { now });
}

/** An answer that cannot be read: nothing is wrong with what was asked, so it is the server's. */
export function brokenAnswer(what: string): StepFailure {
  return new StepFailure({ kind: 'server_error', message: `the answer of the provider is broken: ${what}` });
}

/** The documented HTTP status of the errors that Anthropic also sends in mid-stream, after a status of 200. */
const ANTHROPIC_STATUSES: Readonly<Record<string, number>> = {
  invalid_request_error: 400,
  authentication_error: 401,
  billing_error: 402,
  permission_error: 403,
  not_found_error: 404,
  request_too_large: 413,
  rate_limit_error: 429,
  api_error: 500,
  timeout_error: 504,
  overloaded_error: 529,
};

export interface StreamedError {
  readonly error: unknown;
  readonly api: HttpInterface;
  readonly headers: Readonly<Record<string, string>> | undefined;
}

/** The error that a provider sent where the answer should have gone on. */
export function streamedFailure({ error, api, headers }: StreamedError): unknown {
  if (error instanceof Error) return isUnreadable(error) ? brokenAnswer(messageOf(error)) : error;
  if (typeof error !== 'object' || error === null) return error;
  const { type, code, statusCode, data, message } = error as Readonly<Record<string, unknown>>;
  const status =
    statusIn(statusCode) ??
    statusIn(code) ??
    (api === 'anthropic' && typeof type === 'string' ? ANTHROPIC_STATUSES[type] : undefined);
  const body = data ?? (api === 'anthropic' ? { type: 'error', error } : { error });
  const facts = {
    ...(headers === undefined ? {} : { headers }),
    body,
    ...(typeof message === 'string' ? { message } : {}),
  };
  // A body says more than a status that was not sent.
  return status === undefined ? { status: 500, ...facts } : { status, ...facts };
}

function statusIn(value: unknown): number | undefined {
  const status = typeof value === 'string' && /^\d{3}$/.test(value) ? Number(value) : value;
  return typeof status === 'number' && Number.isInteger(status) && status >= 400 && status <= 599 ? status : undefined;
}

const UNREADABLE: readonly string[] = [
  'AI_JSONParseError',
  'AI_TypeValidationError',
  'AI_InvalidResponseDataError',
  'AI_NoContentGeneratedError',
];

function isUnreadable({ name }: Error): boolean {
  return UNREADABLE.includes(name);
}
