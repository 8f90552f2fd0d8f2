/** Decides whether a command only reads: by a table that says what each may be given, and by hand for those with a grammar of their own. */
import { SAFE_COMMANDS, SAFE_SUBCOMMANDS } from './safe-command-table.ts';
import type { SafeUse, ValueKind } from './safe-command-table.ts';
import { pathProblem } from './sensitive-path.ts';
import type { ShellCommand } from './shell-reading.ts';
import { commandsWithGrammar } from './safe-grammars.ts';
import type { WordsReading } from './safe-grammars.ts';

export type Safety =
  /**
   * `paths`: its words that name places, from its folder, as far as they can be told from the others (a revision of git may be a path).
   * `readsUnnamed`: it shows what is in files besides those.
   */
  | { readonly safe: true; readonly paths: readonly string[]; readonly usesGit: boolean; readonly readsUnnamed: boolean }
  /** `because` is for people. */
  | { readonly safe: false; readonly because: string };

/**
 * Whether the words of the command, wherever PATH finds it, can make it do nothing but read files below its folder that hold no secrets.
 * Where the places lead that it names, and what the repository tells git to run, is not seen from here: see `lookOf`.
 */
export function safetyOf({ argv }: ShellCommand): Safety {
  const [name = '', ...rest] = argv;
  const use = useOf(argv);
  const reading = use === undefined ? readUnknown(name, rest) : readUse(use.use, use.rest, use.what);
  if (reading.problem !== undefined) return { safe: false, because: reading.problem };
  return { safe: true, paths: reading.paths, usesGit: name === 'git', readsUnnamed: use?.use.readsUnnamed === true };
}

interface UseOfWords {
  readonly use: SafeUse;
  readonly rest: readonly string[];
  readonly what: string;
}

function useOf([name = '', ...rest]: readonly string[]): UseOfWords | undefined {
  if (Object.hasOwn(SAFE_SUBCOMMANDS, name)) {
    const [subcommand = '', ...words] = rest;
    const uses = SAFE_SUBCOMMANDS[name] ?? {};
    const use = Object.hasOwn(uses, subcommand) ? uses[subcommand] : undefined;
    return use === undefined ? undefined : { use, rest: words, what: `${name} ${subcommand}` };
  }
  const use = Object.hasOwn(SAFE_COMMANDS, name) ? SAFE_COMMANDS[name] : undefined;
  return use === undefined ? undefined : { use, rest, what: name };
}

function readUnknown(name: string, rest: readonly string[]): WordsReading {
  const grammar = commandsWithGrammar.get(name);
  if (grammar !== undefined) return grammar(rest);
  const [subcommand] = Object.hasOwn(SAFE_SUBCOMMANDS, name) ? rest : [];
  return { problem: `${subcommand === undefined ? name : `${name} ${subcommand}`} is not known to only read` };
}

function readUse(use: SafeUse, words: readonly string[], what: string): WordsReading {
  const operands: string[] = [];
  const given: string[] = [];
  const paths: string[] = [];
  for (let at = 0; at < words.length; at += 1) {
    const word = words[at] ?? '';
    if (word === '--') {
      operands.push(...words.slice(at + 1));
      break;
    }
    if (!word.startsWith('-')) {
      operands.push(word);
      continue;
    }
    const option = readOption(use, word);
    if (option === undefined) return { problem: `${what} ${word} is not known to only read` };
    given.push(option.name);
    if (option.kind === undefined) continue;
    if (option.value === undefined) at += 1;
    const value = option.value ?? words[at];
    const problem = valueProblem(option.kind, value);
    if (problem !== undefined) return { problem: `${what} ${option.name}: ${problem}` };
    if (isPlace(option.kind)) paths.push(value ?? '');
  }
  return readOperands(use, { operands, given, paths, what });
}

interface ReadOption {
  readonly name: string;
  /** Of the value it takes; undefined for an option without. */
  readonly kind?: ValueKind | undefined;
  /** The value that stands in the same word; undefined when it is the next word. */
  readonly value?: string | undefined;
}

function readOption({ letters = '', words = [], valued = {}, equals = {}, countOption = false }: SafeUse, word: string): ReadOption | undefined {
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
function readLetters(letters: string, valued: Readonly<Record<string, ValueKind>>, word: string): ReadOption | undefined {
  for (let at = 1; at < word.length; at += 1) {
    const name = `-${word.charAt(at)}`;
    if (Object.hasOwn(valued, name)) return { name, kind: valued[name], value: at + 1 < word.length ? word.slice(at + 1) : undefined };
    if (!letters.includes(word.charAt(at))) return undefined;
  }
  return word.length > 1 ? { name: word } : undefined;
}

interface GivenWords {
  readonly operands: readonly string[];
  /** The names of the options. */
  readonly given: readonly string[];
  /** Of the values of options. */
  readonly paths: readonly string[];
  readonly what: string;
}

function readOperands(use: SafeUse, { operands, given, paths, what }: GivenWords): WordsReading {
  const { operands: kind, firstOperand, insteadOfFirst = [], maxOperands = Infinity } = use;
  if (operands.length > (kind === 'none' ? 0 : maxOperands)) return { problem: `${what} with "${operands.at(-1) ?? ''}" is not known to only read` };
  if (kind === 'none') return { paths };
  const hasOwnFirst = firstOperand !== undefined && !given.some((name) => insteadOfFirst.includes(name));
  const places = [...paths];
  for (const [index, operand] of operands.entries()) {
    const kindOfThis = index === 0 && hasOwnFirst ? firstOperand : kind;
    const problem = valueProblem(kindOfThis, operand);
    if (problem !== undefined) return { problem: `${what}: ${problem}` };
    if (isPlace(kindOfThis)) places.push(operand);
  }
  return { paths: places };
}

function isPlace(kind: ValueKind): boolean {
  return kind === 'path' || kind === 'git_path';
}

const VALUE_FORMS: Readonly<Record<Exclude<ValueKind, 'path' | 'git_path' | 'text'>, RegExp>> = {
  number: /^\+?\d{1,12}[kKMG]?$/,
  format: /^\+/,
  // Only by what a name ends with: a wider pattern finds hidden files too.
  file_suffix: /^!?\*\.[A-Za-z0-9]+$/,
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
      return /[*?[\\]/.test(value) ? valueProblem('file_suffix', value) : pathProblem(value);
    case 'file_suffix':
      return VALUE_FORMS.file_suffix.test(value) ? pathProblem(value.replaceAll(/[!*]/g, '')) : `"${value}" may find hidden files`;
    case 'number':
    case 'format':
    case 'git_format':
      return VALUE_FORMS[kind].test(value) ? undefined : `"${value}" is not what is known to be harmless there`;
  }
}
