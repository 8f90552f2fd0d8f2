/**
 * How a failure is told: one line that says what was expected and what came, one that says what to do, and the exit
 * code.
 */
import { RuntimeError, messageOf } from '../machines/errors.ts';
import type { ErrorCategory } from '../machines/errors.ts';
import { asTyped, invocation } from './invocation.ts';
import type { Output } from './terminal/output.ts';
import { printable, shellQuoted } from './terminal/text.ts';
import { wrapped } from './terminal/text-width.ts';
import { USAGE } from './usage.ts';

export const EXIT_SUCCESS = 0;
export const EXIT_FAILURE = 1;
export const EXIT_USAGE = 2;

/** Errors that lie in the arguments and in nothing else. */
const USAGE_CODES: ReadonlySet<string> = new Set([
  USAGE,
  'SESSION_REQUEST_INVALID',
  'TASK_REQUEST_INVALID',
  'RETRIEVAL_REQUEST_INVALID',
]);

/** Wrong usage says it all; the others came of asking for an explanation. */
const EXPLAINS_ITSELF: ReadonlySet<string> = new Set([USAGE, 'ERROR_UNKNOWN', 'ERRORS_PAGE_MISSING']);

/** What ended because the user interrupted it has nothing to report; where another person ended it, nothing is to be done. */
const ENDED_BY_INTERRUPTION: ReadonlySet<string> = new Set([
  'RUNTIME_SHUT_DOWN',
  'TASK_MANAGER_SHUT_DOWN',
  'TASK_CANCELLED',
  'STORE_CLOSED',
]);

const DEFECT_HINT =
  'This is a defect of Wakechart. Run the command again with WAKECHART_DEBUG=1 and report what it prints.';

/** For errors that come without advice of their own. */
const HINTS = {
  validation: 'Check what was given to the command; its --help says what it takes.',
  capacity: 'Wait until some of the work is done, then try again.',
  permission: 'Ask a person who may allow it.',
  timeout: 'Try again with more time.',
  runner: 'Run the command again with WAKECHART_DEBUG=1 to see more.',
  provider: 'Try again later, or check the log of the session.',
  process: 'Check that the command can be run from a shell here.',
  storage: 'Check the home directory, who owns it and how full its disk is, then try again.',
  conflict: 'Check where it stands now, then decide again.',
  not_found: 'List what there is.',
  crash: DEFECT_HINT,
} as const satisfies Record<ErrorCategory, string>;

const DISK_FULL = 'The disk is full. Free some space, then try again.';
const NOT_ALLOWED = 'Check who owns it and its permissions, then try again.';
const TOO_MANY_FILES = 'Too many files are open here. Raise the limit (ulimit -n), then try again.';

/** What the system refuses wherever it is asked: no defect of ours, wherever that was not said. */
const SYSTEM_HINTS: Readonly<Record<string, string>> = {
  ...{
    ENOSPC: DISK_FULL,
    EDQUOT: DISK_FULL,
    EACCES: NOT_ALLOWED,
    EPERM: NOT_ALLOWED,
    EMFILE: TOO_MANY_FILES,
    ENFILE: TOO_MANY_FILES,
  },
  ...{
    EROFS: 'That disk can only be read. Name a home that can be written with --home DIR.',
    EIO: 'The disk does not work. Check it, then try again.',
    EFBIG: 'A file may not be that large here. Raise the limit (ulimit -f), then try again.',
  },
};

interface Told {
  readonly message: string;
  readonly code: string;
  /** Absent where nothing is to be done. */
  readonly hint: string | undefined;
}

function toldOf(error: unknown): Told {
  const message = printable(messageOf(error)).trim();
  if (RuntimeError.is(error)) {
    const { code, category, hint = ENDED_BY_INTERRUPTION.has(code) ? undefined : HINTS[category] } = error;
    return { message, code, hint };
  }
  const hint =
    error instanceof Error && 'syscall' in error && 'code' in error ? SYSTEM_HINTS[String(error.code)] : undefined;
  return hint === undefined
    ? { message, code: 'INTERNAL', hint: DEFECT_HINT }
    : { message: `a file could not be read or written: ${message}`, code: 'STORAGE_FAILED', hint };
}

export function exitCodeOf(error: unknown): number {
  return RuntimeError.is(error) && USAGE_CODES.has(error.code) ? EXIT_USAGE : EXIT_FAILURE;
}

export function isEndOfInterrupted(error: unknown): boolean {
  return RuntimeError.is(error) && ENDED_BY_INTERRUPTION.has(error.code);
}

export interface FailureOutput extends Pick<Output, 'styles'> {
  /** Places of a line; undefined: as long as they are. */
  readonly wrapsAt?: number;
}

/** Text for standard error. @param typed this program as it was called, with the options that every command takes */
export function failureText(
  error: unknown,
  { styles, wrapsAt }: FailureOutput,
  typed: readonly string[] = invocation(),
): string {
  const { message, code, hint } = toldOf(error);
  const shown = hint === undefined ? undefined : asTyped(hint, typed);
  const head = `${styles.red('error:')} ${message} ${styles.dim(`[${code}]`)}`;
  const lines = wrapsAt === undefined ? [head] : wrapped(head, wrapsAt);
  if (shown !== undefined) lines.push(...hintText(wrapsAt === undefined ? shown : wrappedHint(shown, wrapsAt), styles));
  if (RuntimeError.is(error) && !EXPLAINS_ITSELF.has(code))
    lines.push(`  ${styles.cyan('more:')} ${shellQuoted([...invocation(), 'explain', code])}`);
  if (process.env['WAKECHART_DEBUG'] === '1') lines.push(stackOf(error));
  return `${lines.join('\n')}\n`;
}

/** A command that stands on a line of its own stays whole: it is there to be copied. */
function wrappedHint(hint: string, width: number): string {
  return printable(hint)
    .split('\n')
    .flatMap((line) => (line.startsWith('  ') ? [line] : wrapped(line, Math.max(20, width - HINT_INDENT))))
    .join('\n');
}

const HINT_INDENT = 8;

/** Every line of a hint after the first is set under it. */
export function hintText(hint: string, styles: Output['styles']): string[] {
  return printable(hint)
    .split('\n')
    .map((line, index) => (index === 0 ? `  ${styles.cyan('hint:')} ${line}` : `        ${line}`));
}

function stackOf(error: unknown): string {
  if (!(error instanceof Error)) return '';
  const { cause } = error;
  return `${error.stack ?? ''}${cause === undefined ? '' : `\ncaused by: ${cause instanceof Error ? (cause.stack ?? cause.message) : messageOf(cause)}`}`;
}
