/** A model step that failed, and how whatever the SDK throws or streams as an error becomes a failure of a known kind. */
import { RuntimeError, messageOf } from '../../machines/errors.ts';
import { classifyRunFailure } from '../../machines/run/classify-failure.ts';
import type { RunFailure } from '../../machines/run/run-failure.ts';
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
  /** Takes secrets out of what was said. */
  readonly redact: (text: string) => string;
  /** Milliseconds since the epoch, for waits that are told as a moment in time. */
  readonly now: number;
}

export function failureOf(thrown: unknown, { redact, now }: FailureOfOptions): RunFailure {
  const failure = stepFailureIn(thrown)?.failure ?? classified(thrown, now);
  return { ...failure, message: shortened(redact(failure.message)) };
}

/** The SDK wraps what breaks a stream. */
function stepFailureIn(thrown: unknown): StepFailure | undefined {
  if (thrown instanceof StepFailure) return thrown;
  return thrown instanceof Error && thrown.cause instanceof StepFailure ? thrown.cause : undefined;
}

function classified(thrown: unknown, now: number): RunFailure {
  if (RuntimeError.is(thrown) && thrown.code === 'AI_SDK_MISSING') return { kind: 'format', message: `${thrown.message}. ${thrown.hint ?? ''}`.trim(), isLocal: true };
  return classifyRunFailure(thrown, { now });
}

function shortened(message: string): string {
  return message.length <= MAX_MESSAGE_CHARACTERS ? message : `${message.slice(0, MAX_MESSAGE_CHARACTERS).replace(/[\uD800-\uDBFF]$/, '')}…`;
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
  const status = statusIn(statusCode) ?? statusIn(code) ?? (api === 'anthropic' && typeof type === 'string' ? ANTHROPIC_STATUSES[type] : undefined);
  const body = data ?? (api === 'anthropic' ? { type: 'error', error } : { error });
  const facts = { ...(headers === undefined ? {} : { headers }), body, ...(typeof message === 'string' ? { message } : {}) };
  // A body says more than a status that nobody sent.
  return status === undefined ? { status: 500, ...facts } : { status, ...facts };
}

function statusIn(value: unknown): number | undefined {
  const status = typeof value === 'string' && /^\d{3}$/.test(value) ? Number(value) : value;
  return typeof status === 'number' && Number.isInteger(status) && status >= 400 && status <= 599 ? status : undefined;
}

const UNREADABLE: readonly string[] = ['AI_JSONParseError', 'AI_TypeValidationError', 'AI_InvalidResponseDataError', 'AI_NoContentGeneratedError'];

function isUnreadable({ name }: Error): boolean {
  return UNREADABLE.includes(name);
}
