/** Commands that only read in some of their forms, where the form is a small language: `echo`, `find`, `test`, and one use of `sed`. */
import { pathProblem } from './sensitive-path.ts';

/** What the words after a name come to. `problem`: what is not known to be safe about them, for people. `paths`: what they read otherwise. */
export type WordsReading = { readonly problem: string } | { readonly problem?: undefined; readonly paths: readonly string[] };

type Grammar = (words: readonly string[]) => WordsReading;

const NO_PATHS: WordsReading = { paths: [] };

/** What follows a predicate of `find`. Whatever is not in here may run, delete or write. */
const FIND_PREDICATES: ReadonlyMap<string, RegExp | undefined> = new Map([
  ...['-print', '-print0', '-prune', '-empty', '-not', '-o', '-or', '-a', '-and', '!', '(', ')', '-xdev', '-mount', '-depth', '-P'].map((name) => [name, undefined] as const),
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
    if (!value.test(words[at] ?? '\0') || at >= words.length) return { problem: `find ${word} has no value that is known to be harmless` };
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

/** `sed -n 5,20p file`: prints lines, and is asked for nothing else. */
function readSed([option, script = '', ...files]: readonly string[]): WordsReading {
  if (option !== '-n' || !/^\d{1,9}(?:,(?:\d{1,9}|\$))?p$/.test(script)) return { problem: 'sed is known to only read as sed -n <from>,<to>p' };
  const [problem] = files.flatMap((file) => pathProblem(file) ?? []);
  return problem === undefined ? { paths: files } : { problem: `sed: ${problem}` };
}

export const commandsWithGrammar: ReadonlyMap<string, Grammar> = new Map<string, Grammar>([
  // Whatever it is given, it prints.
  ['echo', () => NO_PATHS],
  ['find', readFind],
  ['test', readTest],
  ['sed', readSed],
]);
