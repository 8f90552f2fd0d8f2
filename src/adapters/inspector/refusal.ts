/**
 * What goes wrong, as clients are told: a status and `{ code, message, hint }`, and nothing about the inside of the
 * program.
 */
import { beginningOf } from '../../machines/cut-text.ts';
import { RuntimeError } from '../../machines/errors.ts';
import type { ErrorCategory } from '../../machines/errors.ts';

export interface RefusalOptions {
  readonly hint: string;
  readonly headers?: Readonly<Record<string, string>> | undefined;
}

/** An error of the server's own, whose words are fit to be shown. */
export class Refusal extends RuntimeError {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;

  constructor(status: number, code: string, message: string, { hint, headers = {} }: RefusalOptions) {
    super(code, message, { category: categoryOf(status), hint });
    this.status = status;
    this.headers = headers;
  }
}

export interface ToldError {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: { readonly code: string; readonly message: string; readonly hint: string };
  /** Whether an operator has to examine it: it is not what the client did. */
  readonly isOurs: boolean;
}

const STATUS = {
  validation: 400,
  permission: 403,
  not_found: 404,
  conflict: 409,
  capacity: 503,
  timeout: 504,
  runner: 500,
  provider: 500,
  process: 500,
  storage: 500,
  crash: 500,
} as const satisfies Record<ErrorCategory, number>;

const MAX_CHARACTERS = 1_000;
const HINT_OF_OURS = 'The program that runs the inspector was told why.';

/**
 * Absolute paths, of files in URLs too, up to what usually ends one. What has a protocol that is not `file` is an
 * address.
 */
const PATHS =
  /\bfile:\/\/[^\s'"`<>]*|(?<![\w.:/~])~?(?:\/[^\s'"`<>:;,()[\]{}/]+)+\/?|(?<!\w)[A-Za-z]:[\\/][^\s'"`<>;,()]*|\\\\[^\s'"`<>;,()]+/gu;

/** Whatever was thrown, as it is told to a client. */
export function tell(error: unknown): ToldError {
  if (error instanceof Refusal)
    return {
      status: error.status,
      headers: error.headers,
      body: { code: error.code, message: error.message, hint: error.hint ?? '' },
      isOurs: false,
    };
  if (!RuntimeError.is(error))
    return {
      status: 500,
      headers: {},
      body: { code: 'INSPECTOR_FAILED', message: 'the inspector failed to answer', hint: HINT_OF_OURS },
      isOurs: true,
    };
  const status = STATUS[error.category] ?? 500;
  // What storage, processes and providers say is made of paths and of words of others.
  if (status === 500)
    return {
      status,
      headers: {},
      body: { code: error.code, message: `what was asked for failed (${error.category})`, hint: HINT_OF_OURS },
      isOurs: true,
    };
  return {
    status,
    headers: {},
    body: { code: error.code, message: shown(error.message), hint: shown(error.hint ?? '') },
    isOurs: false,
  };
}

function shown(text: string): string {
  return beginningOf(text, MAX_CHARACTERS).replace(PATHS, '(path)');
}

function categoryOf(status: number): ErrorCategory {
  if (status === 401 || status === 403 || status === 421) return 'permission';
  if (status === 404) return 'not_found';
  if (status === 409) return 'conflict';
  if (status === 413 || status === 503) return 'capacity';
  return status === 504 ? 'timeout' : 'validation';
}
