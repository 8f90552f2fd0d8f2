/**
 * What may stand before a command and leaves it what it is: programs that bound its time, and variables that change
 * only how it talks.
 */

const DURATION = /^\d{1,7}(?:\.\d{1,3})?[smhd]?$/;
const SIGNAL = /^(?:SIG)?[A-Z]{1,6}[12]?$|^\d{1,2}$/;
const NICENESS = /^-?\d{1,2}$/;
const ATTACHED_NICENESS = /^--?\d{1,2}$/;

/** A program by its plain name: an option, an assignment or a word of the shell is none. */
const PROGRAM = /^[A-Za-z0-9_./][A-Za-z0-9_.+/-]*$/;

interface WrapperUse {
  readonly flags: readonly string[];
  /** Options with a value in the next word, or after `=`. */
  readonly valued: Readonly<Record<string, RegExp>>;
  /** Options that hold their value. */
  readonly attached: RegExp | undefined;
  /** Operands before the command. */
  readonly operands: readonly RegExp[];
}

/** `env` is not in here: it has a form of its own. */
const WRAPPERS: ReadonlyMap<string, WrapperUse> = new Map<string, WrapperUse>([
  [
    'timeout',
    {
      flags: ['--preserve-status', '--foreground', '-v', '--verbose'],
      valued: { '-k': DURATION, '--kill-after': DURATION, '-s': SIGNAL, '--signal': SIGNAL },
      attached: undefined,
      operands: [DURATION],
    },
  ],
  [
    'nice',
    { flags: [], valued: { '-n': NICENESS, '--adjustment': NICENESS }, attached: ATTACHED_NICENESS, operands: [] },
  ],
  ['time', { flags: ['-p'], valued: {}, attached: undefined, operands: [] }],
]);

const MAX_WRAPPERS = 5;

/**
 * Where in the words the command begins that runs after all. 0 when the first word is it, or when that cannot be told.
 */
export function wrappedCommandAt(argv: readonly string[]): number {
  let at = 0;
  for (let count = 0; count < MAX_WRAPPERS; count += 1) {
    const next = commandAfter(argv, at);
    if (next === undefined) break;
    at = next;
  }
  return at;
}

function commandAfter(argv: readonly string[], start: number): number | undefined {
  const name = argv[start] ?? '';
  const use = WRAPPERS.get(name);
  const next = use === undefined ? afterVariables(argv, start) : afterOptions(use, argv, start + 1);
  return next !== undefined && PROGRAM.test(argv[next] ?? '') ? next : undefined;
}

function afterOptions(
  { flags, valued, attached, operands }: WrapperUse,
  argv: readonly string[],
  start: number,
): number | undefined {
  let at = start;
  for (; argv[at]?.startsWith('-') === true; at += 1) {
    const word = argv[at] ?? '';
    if (flags.includes(word) || attached?.test(word) === true) continue;
    const [name = '', value] =
      word.startsWith('--') && word.includes('=')
        ? [word.slice(0, word.indexOf('=')), word.slice(word.indexOf('=') + 1)]
        : [word];
    const form = Object.hasOwn(valued, name) ? valued[name] : undefined;
    if (value === undefined) at += 1;
    if (form?.test(value ?? argv[at] ?? '') !== true) return undefined;
  }
  return operands.every((form, index) => form.test(argv[at + index] ?? '')) ? at + operands.length : undefined;
}

function afterVariables(argv: readonly string[], start: number): number | undefined {
  if (argv[start] !== 'env') return undefined;
  let at = start + 1;
  while (isHarmlessVariable(argv[at] ?? '')) at += 1;
  return at === start + 1 ? undefined : at;
}

const SWITCH = /^(?:[0-3]|true|false)?$/;
const LOCALE = /^(?:C|POSIX|C\.UTF-8|C\.utf8|[a-z]{2}_[A-Z]{2}(?:\.(?:UTF-8|utf8))?)$/;
const NUMBER = /^\d{1,5}$/;

/**
 * By name, with the values that are known to be harmless. What loads code, finds programs or says where something goes
 * is not in here.
 */
const HARMLESS_VARIABLES: ReadonlyMap<string, RegExp> = new Map<string, RegExp>([
  ...[
    'CI',
    'FORCE_COLOR',
    'NO_COLOR',
    'CLICOLOR',
    'CLICOLOR_FORCE',
    'NODE_NO_WARNINGS',
    'PYTHONUNBUFFERED',
    'PYTHONDONTWRITEBYTECODE',
  ].map((name): [string, RegExp] => [name, SWITCH]),
  ...['LANG', 'LANGUAGE', 'LC_ALL', 'LC_CTYPE', 'LC_COLLATE', 'LC_MESSAGES', 'LC_NUMERIC', 'LC_TIME'].map(
    (name): [string, RegExp] => [name, LOCALE],
  ),
  ...['COLUMNS', 'LINES'].map((name): [string, RegExp] => [name, NUMBER]),
  ...['GIT_PAGER', 'PAGER'].map((name): [string, RegExp] => [name, /^cat$/]),
  // Another value may be what decides where a program writes.
  ['NODE_ENV', /^test$/],
  ['TZ', /^(?:UTC|GMT|[A-Z][a-z]{1,12}\/[A-Z][A-Za-z_]{1,30})$/],
  ['TERM', /^(?:dumb|xterm|xterm-256color)$/],
  ['CARGO_TERM_COLOR', /^(?:always|auto|never)$/],
  ['RUST_BACKTRACE', /^(?:0|1|full)$/],
  ['RUST_LOG', /^(?:off|error|warn|info|debug|trace)$/],
  ['GIT_TERMINAL_PROMPT', /^0$/],
]);

/** @param assignment as it is written: `NAME=value` */
export function isHarmlessVariable(assignment: string): boolean {
  const sign = assignment.indexOf('=');
  return sign > 0 && HARMLESS_VARIABLES.get(assignment.slice(0, sign))?.test(assignment.slice(sign + 1)) === true;
}
