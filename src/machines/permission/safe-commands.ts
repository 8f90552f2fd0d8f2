/** Decides whether a command only reads: by a table that says what each may be given, and by hand for those with a grammar of their own. */
import { SAFE_COMMANDS, SAFE_SUBCOMMANDS } from './safe-command-table.ts';
import type { SafeUse, ValueKind } from './safe-command-table.ts';
import { pathProblem } from './sensitive-path.ts';
import type { ShellCommand } from './shell-reading.ts';
import { commandsWithGrammar } from './safe-grammars.ts';

/** `because` is for people. */
export type Safety = { readonly safe: true } | { readonly safe: false; readonly because: string };

const SAFE: Safety = { safe: true };

/** Whether running the command, wherever PATH finds it, can do nothing but read files below its folder that hold no secrets. */
export function safetyOf({ argv }: ShellCommand): Safety {
  const [name = '', ...rest] = argv;
  const problem = problemOf(name, rest);
  return problem === undefined ? SAFE : { safe: false, because: problem };
}

function problemOf(name: string, rest: readonly string[]): string | undefined {
  const grammar = commandsWithGrammar.get(name);
  if (grammar !== undefined) return grammar(rest);
  if (Object.hasOwn(SAFE_SUBCOMMANDS, name)) return subcommandProblem(name, rest);
  const use = Object.hasOwn(SAFE_COMMANDS, name) ? SAFE_COMMANDS[name] : undefined;
  return use === undefined ? `${name} is not known to only read` : useProblem(use, rest, name);
}

function subcommandProblem(name: string, [subcommand = '', ...rest]: readonly string[]): string | undefined {
  const uses = SAFE_SUBCOMMANDS[name] ?? {};
  const use = Object.hasOwn(uses, subcommand) ? uses[subcommand] : undefined;
  return use === undefined ? `${name} ${subcommand} is not known to only read`.replace(/ {2,}/, ' ') : useProblem(use, rest, `${name} ${subcommand}`);
}

function useProblem(use: SafeUse, words: readonly string[], what: string): string | undefined {
  const operands: string[] = [];
  const given: string[] = [];
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
    if (option === undefined) return `${what} ${word} is not known to only read`;
    given.push(option.name);
    if (option.kind === undefined) continue;
    if (option.value === undefined) at += 1;
    const problem = valueProblem(option.kind, option.value ?? words[at]);
    if (problem !== undefined) return `${what} ${option.name}: ${problem}`;
  }
  return operandsProblem(use, operands, given, what);
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

function operandsProblem(use: SafeUse, operands: readonly string[], given: readonly string[], what: string): string | undefined {
  const { operands: kind, firstOperand, insteadOfFirst = [], maxOperands = Infinity } = use;
  if (operands.length > (kind === 'none' ? 0 : maxOperands)) return `${what} with "${operands.at(-1) ?? ''}" is not known to only read`;
  const hasOwnFirst = firstOperand !== undefined && !given.some((name) => insteadOfFirst.includes(name));
  for (const [index, operand] of operands.entries()) {
    const problem = kind === 'none' ? undefined : valueProblem(index === 0 && hasOwnFirst ? firstOperand : kind, operand);
    if (problem !== undefined) return `${what}: ${problem}`;
  }
  return undefined;
}

const VALUE_FORMS: Readonly<Record<Exclude<ValueKind, 'path' | 'text'>, RegExp>> = {
  number: /^\+?\d{1,12}[kKMG]?$/,
  format: /^\+/,
  // Only by what a name ends with: a wider pattern finds hidden files too.
  file_suffix: /^!?\*\.[A-Za-z0-9]+$/,
  // %G… has git check signatures, which runs another program.
  git_format: /^(?!.*%G)/s,
};

function valueProblem(kind: ValueKind, value: string | undefined): string | undefined {
  if (value === undefined) return 'its value is missing';
  switch (kind) {
    case 'text':
      return undefined;
    case 'path':
      return pathProblem(value);
    case 'file_suffix':
      return VALUE_FORMS.file_suffix.test(value) ? pathProblem(value.replaceAll(/[!*]/g, '')) : `"${value}" may find hidden files`;
    case 'number':
    case 'format':
    case 'git_format':
      return VALUE_FORMS[kind].test(value) ? undefined : `"${value}" is not what is known to be harmless there`;
  }
}
