/** What a request is answered that is not served: a status, and an error as JSON that gives nothing of the server away. */
import { RuntimeError } from '../../machines/errors.ts';
import type { ErrorCategory } from '../../machines/errors.ts';

/** Of what is refused here, before a session is asked. */
const STATUS_OF_CODE: Readonly<Record<string, number>> = {
  API_UNAUTHORIZED: 401,
  API_FORBIDDEN: 403,
  API_ROUTE_NOT_FOUND: 404,
  API_METHOD_NOT_ALLOWED: 405,
  API_BODY_TOO_LARGE: 413,
  API_BODY_TYPE: 415,
  API_RATE_LIMITED: 429,
  API_STREAMS_LIMITED: 429,
  RECORD_TOO_LARGE: 413,
  STORE_CLOSED: 503,
  RUNTIME_SHUT_DOWN: 503,
};

const STATUS_OF_CATEGORY: Readonly<Record<ErrorCategory, number>> = {
  validation: 400,
  permission: 403,
  not_found: 404,
  conflict: 409,
  capacity: 429,
  timeout: 504,
  runner: 502,
  provider: 502,
  process: 502,
  storage: 503,
  crash: 500,
};

/** What the statuses of errors mean, for the document. */
export const STATUS_WORDS: Readonly<Record<string, string>> = {
  400: 'The request is not as it should be.',
  401: 'It is not known who asks.',
  403: 'It is not allowed.',
  404: 'There is nothing of that name for the caller.',
  409: 'It does not fit what the session is doing, or what was sent before.',
  413: 'The body is too large.',
  429: 'Too often, or too much at once. `Retry-After` says when to try again.',
  500: 'It failed.',
  503: 'The store does not answer.',
};

/**
 * Errors about what the client has asked for. All others may name files, hosts and statements of this machine: the
 * client hears that something failed, and `onError` what.
 */
const TOLD =
  /^(?:API_|SESSION_(?!HISTORY_LOST|IDENTITY_)|REQUEST_|EVENT_|CHILD_LIMIT$|AGENT_NOT_FOUND$|ENVIRONMENT_NOT_FOUND$|RECORD_TOO_LARGE$)/;
const UNTOLD_CATEGORIES: ReadonlySet<ErrorCategory> = new Set(['storage', 'crash', 'process', 'runner', 'provider']);

/** An error of this handler. `headers` go along with it. */
export class Refusal extends RuntimeError {
  readonly headers: Readonly<Record<string, string>>;

  constructor(
    code: `API_${string}`,
    message: string,
    {
      category,
      hint,
      headers = {},
    }: {
      readonly category: ErrorCategory;
      readonly hint: string;
      readonly headers?: Readonly<Record<string, string>>;
    },
  ) {
    super(code, message, { category, hint });
    this.headers = headers;
  }
}

export function isTold(error: unknown): error is RuntimeError {
  return RuntimeError.is(error) && TOLD.test(error.code) && !UNTOLD_CATEGORIES.has(error.category);
}

function statusOf({ code, category }: RuntimeError): number {
  return STATUS_OF_CODE[code] ?? STATUS_OF_CATEGORY[category];
}

/** What a client is told of an error. */
export function toldError(error: unknown): { readonly code: string; readonly message: string; readonly hint?: string } {
  if (isTold(error)) {
    const { code, message, hint } = error;
    return { code, message, ...(hint === undefined ? {} : { hint }) };
  }
  const isGone = RuntimeError.is(error) && statusOf(error) === 503;
  return isGone
    ? { code: 'API_UNAVAILABLE', message: 'the store of the sessions does not answer', hint: 'Try again later.' }
    : { code: 'API_FAILED', message: 'the request failed', hint: 'Tell those who run this server, who can see why.' };
}

export function errorResponse(error: unknown): Response {
  const status = isTold(error) ? statusOf(error) : RuntimeError.is(error) && statusOf(error) === 503 ? 503 : 500;
  const headers = error instanceof Refusal ? error.headers : {};
  return Response.json({ error: toldError(error) }, { status, headers: { ...STRICT, ...headers } });
}

/** No answer is kept, guessed at, or shown as a page. */
export const STRICT = {
  'cache-control': 'no-store',
  'x-content-type-options': 'nosniff',
  'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
} as const;
