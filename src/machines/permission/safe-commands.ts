/**
 * Decides whether a command only reads: by a table that says what each may be given, and by hand for those with a
 * grammar of their own.
 */
import { SAFE_COMMANDS, SAFE_SUBCOMMANDS } from './safe-command-table.ts';
import type { SafeUse, ValueKind } from './safe-command-table.ts';
import { FILE_TYPES } from './hidden-files.ts';
import { patternProblem } from './open-word.ts';
import { pathProblem } from './sensitive-path.ts';
import type { OpenWord, ShellCommand } from './shell-reading.ts';
import { commandsWithGrammar } from './safe-grammars.ts';
import type { WordsReading } from './safe-grammars.ts';

export type Safety =
  /**
   * `paths`: its words that name places, from its folder, as far as they can be told from the others (a revision of git
   * may be a path). `patterns`: those that find places there. `readsUnnamed`: it shows what is in files besides those.
   */
  | {
      readonly safe: true;
      readonly paths: readonly string[];
      readonly patterns: readonly string[];
      readonly usesGit: boolean;
      readonly readsUnnamed: boolean;
    }
  /** `because` is for people. */
  | { readonly safe: false; readonly because: string };

/**
 * Whether the words of the command, wherever PATH finds it, can make it do nothing but read files below its folder that
 * hold no secrets. Where the places lead that it names, and what the repository tells git to run, is not seen from
 * here: see `checkOf`.
 */
export function safetyOf({ argv, open = {}, input, entersFolder }: ShellCommand): Safety {
  const [name = '', ...rest] = argv;
  if (entersFolder === true) return { safe: true, paths: rest, patterns: [], usesGit: false, readsUnnamed: false };
  const words = argv.map((text, at): SafeWord => ({ text, open: Object.hasOwn(open, at) ? open[at] : undefined }));
  const use = useOf(words);
  const reading = use === undefined ? readUnknown(name, words.slice(1)) : readUse(use.use, use.rest, use.what);
  const problem = reading.problem ?? (input === undefined ? undefined : pathProblem(input));
  if (reading.problem !== undefined || problem !== undefined) return { safe: false, because: problem ?? '' };
  const { paths, patterns = [] } = reading;
  return {
    safe: true,
    paths: input === undefined ? paths : [...paths, input],
    patterns,
    usesGit: name === 'git',
    readsUnnamed: use?.use.readsUnnamed === true,
  };
}

interface SafeWord {
  readonly text: string;
  readonly open: OpenWord | undefined;
}

interface UseOfWords {
  readonly use: SafeUse;
  readonly rest: readonly SafeWord[];
  readonly what: string;
}

function useOf([first, ...rest]: readonly SafeWord[]): UseOfWords | undefined {
  const name = first?.text ?? '';
  if (Object.hasOwn(SAFE_SUBCOMMANDS, name)) {
    const [second, ...words] = rest;
    const subcommand = second?.open === undefined ? (second?.text ?? '') : '';
    const uses = SAFE_SUBCOMMANDS[name] ?? {};
    const use = Object.hasOwn(uses, subcommand) ? uses[subcommand] : undefined;
    return use === undefined ? undefined : { use, rest: words, what: `${name} ${subcommand}` };
  }
  const use = Object.hasOwn(SAFE_COMMANDS, name) ? SAFE_COMMANDS[name] : undefined;
  return use === undefined ? undefined : { use, rest, what: name };
}

function readUnknown(name: string, words: readonly SafeWord[]): WordsReading {
  const rest = words.map(({ text }) => text);
  const grammar = commandsWithGrammar.get(name);
  const odd = words.find(({ open }) => open !== undefined && (open.kind !== 'number' || !PRINTS_ANYTHING.has(name)));
  if (grammar !== undefined) return odd === undefined ? grammar(rest) : { problem: openProblem(name, odd) };
  const [subcommand] = Object.hasOwn(SAFE_SUBCOMMANDS, name) ? rest : [];
  return { problem: `${subcommand === undefined ? name : `${name} ${subcommand}`} is not known to only read` };
}

/** Whatever words they are given, they print them. */
const PRINTS_ANYTHING: ReadonlySet<string> = new Set(['echo', 'printf']);

function openProblem(what: string, { text }: SafeWord): string {
  return `the shell puts something else in the place of ${text}, and ${what} is not known to only read whatever that is`;
}

function readUse(use: SafeUse, words: readonly SafeWord[], what: string): WordsReading {
  const operands: SafeWord[] = [];
  const given: string[] = [];
  const paths: string[] = [];
  for (let at = 0; at < words.length; at += 1) {
    const { text: word, open } = words[at] ?? NO_WORD;
    if (open === undefined && word === '--') {
      operands.push(...words.slice(at + 1));
      break;
    }
    if (!word.startsWith('-')) {
      operands.push(words[at] ?? NO_WORD);
      continue;
    }
    const isLate = use.optionsFirst === true && operands.length > 0;
    const option = open === undefined && !isLate ? readOption(use, word) : undefined;
    if (option === undefined) return { problem: `${what} ${word} is not known to only read` };
    given.push(option.name);
    if (option.kind === undefined) continue;
    if (option.value === undefined) at += 1;
    const next = words[at] ?? NO_WORD;
    if (option.value === undefined && next.open !== undefined)
      return { problem: openProblem(`${what} ${option.name}`, next) };
    const value = option.value ?? words[at]?.text;
    const problem = valueProblem(option.kind, value);
    if (problem !== undefined) return { problem: `${what} ${option.name}: ${problem}` };
    if (isPlace(option.kind)) paths.push(value ?? '');
  }
  return readOperands(use, { operands, given, paths, what });
}

const NO_WORD: SafeWord = { text: '', open: undefined };

interface ReadOption {
  readonly name: string;
  /** Of the value it takes; undefined for an option without. */
  readonly kind?: ValueKind | undefined;
  /** The value that stands in the same word; undefined when it is the next word. */
  readonly value?: string | undefined;
}

function readOption(
  { letters = '', words = [], valued = {}, equals = {}, countOption = false }: SafeUse,
  word: string,
): ReadOption | undefined {
  if (words.includes(word)) return { name: word };
  if (countOption && /^-\d{1,9}$/.test(word)) return { name: word };
  if (Object.hasOwn(valued, word)) return { name: word, kind: valued[word] };
  const sign = word.indexOf('=');
  if (word.startsWith('--')) {
    const name = sign === -1 ? word : word.slice(0, sign);
    const kind = Object.hasOwn(equals, name) ? equals[name] : Object.hasOwn(valued, name) ? valued[name] : undefined;
    return sign === -1 || kind === undefined ? undefined : { name, kind, value: word.slice(sign + 1) };
  }
  return readLetters(letters, valued, word);
}

/** `-la`, `-n5`, `-ln 5`: letters without a value, of which the last may have one. */
function readLetters(
  letters: string,
  valued: Readonly<Record<string, ValueKind>>,
  word: string,
): ReadOption | undefined {
  for (let at = 1; at < word.length; at += 1) {
    const name = `-${word.charAt(at)}`;
    if (Object.hasOwn(valued, name))
      return { name, kind: valued[name], value: at + 1 < word.length ? word.slice(at + 1) : undefined };
    if (!letters.includes(word.charAt(at))) return undefined;
  }
  return word.length > 1 ? { name: word } : undefined;
}

interface GivenWords {
  readonly operands: readonly SafeWord[];
  /** The names of the options. */
  readonly given: readonly string[];
  /** Of the values of options. */
  readonly paths: readonly string[];
  readonly what: string;
}

function readOperands(use: SafeUse, { operands, given, paths, what }: GivenWords): WordsReading {
  const { insteadOfFirst = [], rest } = use;
  const kinds = given.some((name) => insteadOfFirst.includes(name)) ? use.operands.slice(1) : use.operands;
  const places = [...paths];
  const patterns: string[] = [];
  for (const [index, word] of operands.entries()) {
    const kind = kinds[index] ?? rest;
    if (kind === 'none') return { problem: `${what} with "${word.text}" is not known to only read` };
    // A pattern finds any number of files, so it may only stand where each further operand is read as well.
    if (word.open !== undefined && (index < kinds.length || !isPlace(kind)))
      return { problem: openProblem(what, word) };
    const problem =
      word.open?.kind === 'paths' ? patternsProblem(kind, word.open.patterns) : valueProblem(kind, word.text);
    if (word.open?.kind === 'number') return { problem: openProblem(what, word) };
    if (problem !== undefined) return { problem: `${what}: ${problem}` };
    if (word.open?.kind === 'paths') patterns.push(...word.open.patterns);
    else if (isPlace(kind)) places.push(word.text);
  }
  return { paths: places, patterns };
}

function patternsProblem(kind: ValueKind, patterns: readonly string[]): string | undefined {
  for (const pattern of patterns) {
    // What finds nothing is given to git as it is, which then finds hidden files too.
    const problem = patternProblem(pattern) ?? (kind === 'git_path' ? valueProblem(kind, pattern) : undefined);
    if (problem !== undefined) return problem;
  }
  return undefined;
}

function isPlace(kind: ValueKind): boolean {
  return kind === 'path' || kind === 'git_path';
}

/** Only by what a name ends with: a wider pattern finds hidden files too. */
const ENDING = /^!?(?:[A-Za-z0-9_-][A-Za-z0-9_.-]*\/)*\*\.[A-Za-z0-9]+$/;

const VALUE_FORMS: Readonly<Record<Exclude<ValueKind, 'path' | 'git_path' | 'text'>, RegExp>> = {
  number: /^\+?\d{1,12}[kKMG]?$/,
  seconds: /^\d{1,3}(?:\.\d{1,3})?s?$/,
  name: /^[A-Za-z0-9_][A-Za-z0-9_.+-]*$/,
  format: /^\+/,
  file_suffix: new RegExp(`^!|\\.(?:${FILE_TYPES})$`),
  file_type: new RegExp(`^(?:${FILE_TYPES})$`),
  // %G… has git check signatures, which runs another program. A sign or a blank may stand between.
  git_format: /^(?!.*%[-+ ]*G)/s,
};

function valueProblem(kind: ValueKind, value: string | undefined): string | undefined {
  if (value === undefined) return 'its value is missing';
  switch (kind) {
    case 'text':
      return undefined;
    case 'path':
      return pathProblem(value);
    case 'git_path':
      // Git expands them by itself, hidden files included.
      return /[*?[\\]/.test(value) ? endingProblem(value) : pathProblem(value);
    case 'file_suffix':
      return VALUE_FORMS.file_suffix.test(value) ? endingProblem(value) : `"${value}" may find hidden files`;
    case 'file_type':
    case 'number':
    case 'seconds':
    case 'name':
    case 'format':
    case 'git_format':
      return VALUE_FORMS[kind].test(value) ? undefined : `"${value}" is not what is known to be harmless there`;
  }
}

function endingProblem(value: string): string | undefined {
  return ENDING.test(value) ? pathProblem(value.replaceAll(/[!*]/g, '')) : `"${value}" may find hidden files`;
}
