/** What can be typed in a chat with a slash before it. */
import { closestName } from '../../machines/closest-name.ts';
import { usageError } from '../usage.ts';

export interface ChatCommand {
  /** What it takes, for people; empty for nothing. */
  readonly takes: string;
  readonly does: string;
}

export const CHAT_COMMANDS = {
  help: { takes: '', does: 'this list' },
  status: { takes: '', does: 'where the session stands, what it has used and where its files are' },
  why: { takes: '', does: 'what it works on or waits for, and what would move it on' },
  sessions: { takes: '', does: 'the sessions of the home' },
  resume: { takes: '[ID]', does: 'go on with another session; without an id with the newest' },
  new: { takes: '', does: 'begin a new session of the same agent' },
  agent: { takes: '[NAME]', does: 'begin a new session of that agent; without a name, list the agents' },
  answer: { takes: '', does: 'put again what was put off' },
  expand: { takes: '[N]', does: 'show all of what is folded under that number; without one, of the last' },
  interrupt: { takes: '', does: 'cut short what the agent does, as Ctrl-C' },
  exit: { takes: '', does: 'leave, as Ctrl-D; the session stays' },
} as const satisfies Readonly<Record<string, ChatCommand>>;

export type ChatCommandName = keyof typeof CHAT_COMMANDS;

export interface TypedCommand {
  readonly name: ChatCommandName;
  /** Empty where nothing follows. */
  readonly word: string;
}

const NAMES = Object.keys(CHAT_COMMANDS) as readonly ChatCommandName[];

/** Undefined for a message. @throws a usage error */
export function typedCommand(line: string): TypedCommand | undefined {
  const found = /^\/(?<name>\S*)\s*(?<word>[^]*)$/u.exec(line)?.groups;
  if (found === undefined) return undefined;
  const { name = '', word = '' } = found;
  const known = NAMES.find((each) => each === (name === 'quit' ? 'exit' : name));
  if (known !== undefined) return { name: known, word: word.trim() };
  const meant = closestName(name, NAMES);
  throw usageError(
    `there is no command /${name}`,
    `${meant === undefined ? '' : `Did you mean /${meant}? `}/help lists what there is. A message that begins with a slash is typed with a space before it.`,
  );
}

/** Lines that what is typed can become. */
export function completions(line: string): readonly string[] {
  if (!/^\/\S*$/u.test(line)) return [];
  return NAMES.filter((name) => `/${name}`.startsWith(line)).map(
    (name) => `/${name}${CHAT_COMMANDS[name].takes === '' ? '' : ' '}`,
  );
}

export const KEYS_HELP = [
  ['Enter', 'send; while the agent works, its next step reads it'],
  ['Alt-Enter, \\ Enter', 'a new line'],
  ['Up, Down', 'what was typed before'],
  ['Ctrl-C', 'cut short what the agent does; twice: leave'],
  ['Ctrl-D', 'leave; the session stays'],
] as const;
