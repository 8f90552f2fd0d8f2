/**
 * The error every public part of Wakechart throws, and the plain record of it that state, logs and wire messages carry.
 *
 * An error says what was expected, what came, and what to do: `code` for programs, `message` for people, `hint` for the
 * next step. Test with `RuntimeError.is(error)`, not `instanceof`: two copies of the package share no class.
 */

/** What kind of thing went wrong; decides whether trying again can help. */
export type ErrorCategory =
  | 'validation'
  | 'capacity'
  | 'permission'
  | 'timeout'
  | 'runner'
  | 'provider'
  | 'process'
  | 'storage'
  | 'conflict'
  | 'not_found'
  | 'crash';

const CATEGORIES: Readonly<Record<ErrorCategory, true>> = {
  validation: true,
  capacity: true,
  permission: true,
  timeout: true,
  runner: true,
  provider: true,
  process: true,
  storage: true,
  conflict: true,
  not_found: true,
  crash: true,
};

export function isErrorCategory(category: string): category is ErrorCategory {
  return Object.hasOwn(CATEGORIES, category);
}

/** Plain data: survives JSON, structured clone and a process boundary. */
export interface ErrorRecord {
  readonly name: string;
  readonly code: string;
  readonly category: ErrorCategory;
  readonly message: string;
  readonly recoverable: boolean;
  readonly hint?: string;
  readonly details?: Readonly<Record<string, unknown>>;
}

interface RuntimeErrorOptions {
  readonly category: ErrorCategory;
  /** What to do about it, as one sentence. */
  readonly hint?: string | undefined;
  /** Plain data for programs: limits, ids, counts. */
  readonly details?: Readonly<Record<string, unknown>> | undefined;
  readonly recoverable?: boolean | undefined;
  readonly cause?: unknown;
}

const BRAND = Symbol.for('wakechart.RuntimeError');

export class RuntimeError extends Error {
  override readonly name: string = 'RuntimeError';
  readonly code: string;
  readonly category: ErrorCategory;
  readonly recoverable: boolean;
  /** Its page, from where packages are installed, for codes of Wakechart. Node prints it with an error. */
  readonly docs: string;
  readonly hint?: string;
  readonly details?: Readonly<Record<string, unknown>>;

  constructor(code: string, message: string, options: RuntimeErrorOptions) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.code = code;
    this.category = options.category;
    // The caller can do something about it and go on. A crash leaves nothing to go on with.
    this.recoverable = options.recoverable ?? options.category !== 'crash';
    this.docs = `wakechart/docs/errors/${code}.md`;
    if (options.hint !== undefined) this.hint = options.hint;
    if (options.details !== undefined) this.details = options.details;
    Object.defineProperty(this, BRAND, { value: true });
  }

  /** True for a RuntimeError from this copy of the package or any other. */
  static is(error: unknown): error is RuntimeError {
    return typeof error === 'object' && error !== null && BRAND in error;
  }

  toJSON(): ErrorRecord {
    return {
      name: this.name,
      code: this.code,
      category: this.category,
      message: this.message,
      recoverable: this.recoverable,
      ...(this.hint === undefined ? {} : { hint: this.hint }),
      ...(this.details === undefined ? {} : { details: this.details }),
    };
  }
}

/** The message of anything that can be thrown or given as a reason: never empty, never throwing itself. */
export function messageOf(thrown: unknown): string {
  try {
    if (thrown === undefined || thrown === null) return NOTHING_SAID;
    if (typeof thrown === 'object') return messageOfObject(thrown);
    return textOr(printed(thrown), NOTHING_SAID);
  } catch {
    return 'an unprintable value was thrown';
  }
}

const NOTHING_SAID = 'nothing was said about the reason';

function messageOfObject(thrown: object): string {
  const { message, name, code } = thrown as Partial<Record<'message' | 'name' | 'code', unknown>>;
  if (isText(message)) return message;
  const codeText = isText(code) || typeof code === 'number' ? `${code}` : undefined;
  const nameText = isText(name) ? name : undefined;
  // Errors and plain objects print as what they are, which says nothing; dates, addresses and lists print as what they
  // hold.
  const isMute = thrown instanceof Error || printed(thrown).startsWith('[object ');
  if (!isMute) return textOr(printed(thrown), NOTHING_SAID);
  const what = [nameText, codeText].filter((text) => text !== undefined).join(' ');
  return textOr(what === '' ? '' : `${what} (it has no message)`, 'an object without a message was thrown');
}

function printed(value: unknown): string {
  return String(value);
}

function isText(value: unknown): value is string {
  return typeof value === 'string' && value.trim() !== '';
}

function textOr(text: string, otherwise: string): string {
  return isText(text) ? text : otherwise;
}

/** Ends an exhaustive switch: compiles only while every case is handled. */
export function assertNever(value: never, what: string): never {
  throw new RuntimeError('UNREACHABLE', `${what}: ${JSON.stringify(value)}`, { category: 'crash' });
}
