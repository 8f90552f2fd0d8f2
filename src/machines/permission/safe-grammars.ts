/**
 * Commands that only read in some of their forms, where the form is a small language: `echo`, `printf`, `find`, `test`,
 * and some scripts of `sed`.
 */
import { pathProblem } from './sensitive-path.ts';

/**
 * What the words after a name come to. `problem`: what is not known to be safe about them, for people. `paths`: what
 * they read otherwise.
 */
export type WordsReading =
  | { readonly problem: string }
  | { readonly problem?: undefined; readonly paths: readonly string[]; readonly patterns?: readonly string[] };

type Grammar = (words: readonly string[]) => WordsReading;

const NO_PATHS: WordsReading = { paths: [] };

/** What follows a predicate of `find`. Whatever is not in here may run, delete or write. */
const FIND_PREDICATES: ReadonlyMap<string, RegExp | undefined> = new Map([
  ...[
    '-print',
    '-print0',
    '-prune',
    '-empty',
    '-not',
    '-o',
    '-or',
    '-a',
    '-and',
    '!',
    '(',
    ')',
    '-xdev',
    '-mount',
    '-depth',
    '-P',
  ].map((name) => [name, undefined] as const),
  ...['-name', '-iname', '-path', '-ipath', '-wholename', '-regex', '-iregex'].map((name) => [name, /^/] as const),
  ...['-maxdepth', '-mindepth'].map((name) => [name, /^\d{1,6}$/] as const),
  ...['-mtime', '-mmin', '-atime', '-amin', '-ctime', '-cmin'].map((name) => [name, /^[+-]?\d{1,9}$/] as const),
  ['-size', /^[+-]?\d{1,12}[bcwkMG]?$/],
  ['-type', /^[bcdpfls](?:,[bcdpfls])*$/],
]);

function readFind(words: readonly string[]): WordsReading {
  const firstPredicate = words.findIndex((word) => /^[-!()]/.test(word));
  const starts = firstPredicate === -1 ? words : words.slice(0, firstPredicate);
  for (const start of starts) {
    const problem = pathProblem(start);
    if (problem !== undefined) return { problem: `find: ${problem}` };
  }
  for (let at = starts.length; at < words.length; at += 1) {
    const word = words[at] ?? '';
    if (!FIND_PREDICATES.has(word)) return { problem: `find with "${word}" is not known to only read` };
    const value = FIND_PREDICATES.get(word);
    if (value === undefined) continue;
    at += 1;
    if (!value.test(words[at] ?? '\0') || at >= words.length)
      return { problem: `find ${word} has no value that is known to be harmless` };
  }
  return { paths: starts };
}

const FILE_TESTS: ReadonlySet<string> = new Set(['-e', '-f', '-d', '-r', '-w', '-x', '-s', '-h', '-L']);
const TEXT_TESTS: ReadonlySet<string> = new Set(['-n', '-z']);

/** No other operator: `test -v` of bash evaluates what it is given. */
function readTest(words: readonly string[]): WordsReading {
  const [first = '', second = ''] = words;
  if (words.length === 2 && FILE_TESTS.has(first)) {
    const problem = pathProblem(second);
    return problem === undefined ? { paths: [second] } : { problem };
  }
  if (words.length === 2 && TEXT_TESTS.has(first)) return NO_PATHS;
  if (words.length === 3 && (second === '=' || second === '!=')) return NO_PATHS;
  return { problem: 'test is known to be harmless with one simple check only' };
}

/**
 * A regular expression of `sed` between slashes: no bracket holds one, since programs differ in where such an
 * expression ends.
 */
const SED_REGEX = String.raw`(?:[^/\\[\n]|\\[^\n]|\[\^?\]?[^\]/\\\n]*\])*`;
const SED_ADDRESS = String.raw`(?:\d{1,9}|\$|/${SED_REGEX}/)`;
const SED_PRINT = String.raw`${SED_ADDRESS}(?:,${SED_ADDRESS})?p`;
/** Its flags leave out `e`, which runs a command, and `w`, which writes a file. */
const SED_REPLACE = String.raw`(?:${SED_ADDRESS}(?:,${SED_ADDRESS})?)?s/${SED_REGEX}/(?:[^/\\\n]|\\[^\n])*/[gpI]{0,3}\d{0,3}`;
const SED_SCRIPT = new RegExp(`^(?:${SED_PRINT}|${SED_REPLACE})(?:; ?(?:${SED_PRINT}|${SED_REPLACE}))*$`);
const SED_OPTIONS: ReadonlySet<string> = new Set(['-n', '-E', '-r', '-nE', '-nr', '-En', '-rn']);

/** `sed -n 5,20p file`, `sed 's/a/b/' file`: prints lines, some of them changed, and is asked for nothing else. */
function readSed(words: readonly string[]): WordsReading {
  const at = words.findIndex((word) => !SED_OPTIONS.has(word));
  const [script = '', ...files] = at === -1 ? [] : words.slice(at);
  if (!SED_SCRIPT.test(script))
    return {
      problem:
        'sed is known to only read with scripts that print lines (-n 5,20p) or replace text in what is printed (s/a/b/)',
    };
  const [problem] = files.flatMap((file) => pathProblem(file) ?? []);
  return problem === undefined ? { paths: files } : { problem: `sed: ${problem}` };
}

/** `%n` and `-v` put something into a variable. */
const PRINTF_FORMAT = /^(?:[^%\\-]|\\[nt\\])(?:[^%\\]|%[sd%]|\\[nt\\])*$|^%[sd%](?:[^%\\]|%[sd%]|\\[nt\\])*$/;

function readPrintf([format = '', ...values]: readonly string[]): WordsReading {
  // Some shells reckon with what is given for a number.
  const isPlain =
    PRINTF_FORMAT.test(format) && (!format.includes('%d') || values.every((value) => /^\d{1,9}$/.test(value)));
  return isPlain ? NO_PATHS : { problem: 'printf is known to be harmless with a plain format only' };
}

/** `command -v name`: where a program lies. */
function readCommand([option, name = '', ...more]: readonly string[]): WordsReading {
  if (option === '-v' && more.length === 0 && /^[A-Za-z0-9_][A-Za-z0-9_.+-]*$/.test(name)) return NO_PATHS;
  return { problem: 'command runs what it is given, unless it is asked for one name with -v' };
}

export const commandsWithGrammar: ReadonlyMap<string, Grammar> = new Map<string, Grammar>([
  // Whatever it is given, it prints.
  ['echo', () => NO_PATHS],
  ['printf', readPrintf],
  ['command', readCommand],
  ['find', readFind],
  ['test', readTest],
  ['sed', readSed],
]);
