/** What a command line can go on with, from the definitions of the commands. */
import type { Command, Option } from 'commander';

/** What only the home knows, or the file system. */
export type ValueKind =
  | 'sessions'
  | 'agents'
  | 'environments'
  | 'worktrees'
  | 'tasks'
  | 'schedules'
  | 'codes'
  | 'files'
  | 'folders';

export interface Candidate {
  readonly value: string;
  readonly description: string;
}

export interface Completion {
  readonly candidates: readonly Candidate[];
  readonly values?: ValueKind;
  /** Of the word that is being typed. */
  readonly typed: string;
  /** What was typed of `--home`. */
  readonly home: string | undefined;
}

const OPTION_VALUES: Readonly<Record<string, ValueKind>> = {
  '--session': 'sessions',
  '--parent': 'sessions',
  '--resume': 'sessions',
  '--accept-loss': 'sessions',
  '--agent': 'agents',
  '--environment': 'environments',
  '--home': 'folders',
  '--dir': 'folders',
  '--cwd': 'folders',
  '--from': 'files',
  '--attach': 'files',
  '--store-file': 'files',
  '--record': 'files',
};

/** Of a first argument, by the noun and verb that take it. */
const ARGUMENT_VALUES: Readonly<Record<string, ValueKind>> = {
  'agent show': 'agents',
  'env show': 'environments',
  'task show': 'tasks',
  'task logs': 'tasks',
  'task attach': 'tasks',
  'task cancel': 'tasks',
  'schedule show': 'schedules',
  'schedule pause': 'schedules',
  'schedule resume': 'schedules',
  'schedule remove': 'schedules',
  'schedule run': 'schedules',
  explain: 'codes',
  import: 'files',
  'worktree show': 'worktrees',
  'worktree adopt': 'worktrees',
  'worktree remove': 'worktrees',
};

/** @param words all after the name of the program; the last one is being typed, and may be empty */
export function completionOf(program: Command, given: readonly string[]): Completion {
  const words = given.flatMap(optionAndValue);
  const typed = words.at(-1) ?? '';
  let command = program;
  let path: readonly string[] = [];
  let waiting: Option | undefined;
  let home: string | undefined;
  let args = 0;
  for (const word of words.slice(0, -1)) {
    if (waiting !== undefined) {
      if (waiting.long === '--home') home = word;
      waiting = undefined;
    } else if (word === '--') return { candidates: [], values: 'files', typed, home };
    else if (word.startsWith('-')) waiting = valueOption(command, word);
    else {
      const child: Command | undefined = command.commands.find((each) => each.name() === word);
      if (child === undefined) args += 1;
      else [command, path] = [child, [...path, word]];
    }
  }
  const rest = { typed, home };
  // A value that may be left out does not have to come.
  if (waiting !== undefined && !(waiting.optional && typed.startsWith('-'))) return { ...valuesOf(waiting), ...rest };
  if (typed.startsWith('-')) return { candidates: optionsOf(command, typed), ...rest };
  if (command.commands.length > 0) return { candidates: commandsOf(command, typed), ...rest };
  const kind = args === 0 ? (ARGUMENT_VALUES[path.join(' ')] ?? fileArgument(command)) : undefined;
  const candidates = kind === undefined && typed === '' ? optionsOf(command, typed) : [];
  return { candidates, ...(kind === undefined ? {} : { values: kind }), ...rest };
}

/** `--agent=REVIEWER` says the same as `--agent REVIEWER`; the shell keeps what stands before the value. */
function optionAndValue(word: string): readonly string[] {
  const [, option, value] = /^(--[\w-]+)=([^]*)$/.exec(word) ?? [];
  return option === undefined || value === undefined ? [word] : [option, value];
}

function valueOption(command: Command, word: string): Option | undefined {
  const found = allOptions(command).find(({ long, short }) => word === long || word === short);
  return found === undefined || found.isBoolean() || !(found.required || found.optional) ? undefined : found;
}

function valuesOf({ argChoices, long }: Option): Pick<Completion, 'candidates' | 'values'> {
  if (argChoices !== undefined) return { candidates: argChoices.map((value) => ({ value, description: '' })) };
  const values = OPTION_VALUES[long ?? ''];
  return { candidates: [], ...(values === undefined ? {} : { values }) };
}

function fileArgument({ registeredArguments }: Command): ValueKind | undefined {
  return registeredArguments[0]?.name() === 'file' ? 'files' : undefined;
}

function optionsOf(command: Command, typed: string): Candidate[] {
  return allOptions(command)
    .flatMap(({ long, description, hidden }) =>
      typeof long !== 'string' || hidden ? [] : [{ value: long, description }],
    )
    .concat({ value: '--help', description: 'show help' })
    .filter(({ value }) => value.startsWith(typed));
}

function commandsOf(command: Command, typed: string): Candidate[] {
  return command.commands
    .map((child) => ({ value: child.name(), description: child.description() }))
    .filter(({ value }) => value.startsWith(typed));
}

/** Those of the program too, which every command takes. */
function allOptions(command: Command): readonly Option[] {
  return command.parent === null ? command.options : [...command.options, ...allOptions(command.parent)];
}
