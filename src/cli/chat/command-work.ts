/** What the commands of a chat do. */
import { RuntimeError } from '../../machines/errors.ts';
import { sessionId } from '../../machines/ids.ts';
import { listAgents } from '../agent/agent.ts';
import { MIN_ID_CHARACTERS, isShortId, sessionNamed } from '../open/short-ids.ts';
import { listSessions, showStatus } from '../session/session.ts';
import { explainSession } from '../session/why.ts';
import type { Output } from '../terminal/output.ts';
import { wrapped } from '../terminal/text-width.ts';
import { checkedAgentName, usageError } from '../usage.ts';
import type { Conversation } from './conversation.ts';
import type { CommandContext } from '../context.ts';
import type { Runtime } from '../../runtime.ts';
import type { SessionState } from '../../machines/session/session-state.ts';
import { CHAT_COMMANDS, KEYS_HELP } from './commands.ts';
import type { ChatCommandName, TypedCommand } from './commands.ts';
import { unfoldedLines } from './folds.ts';
import { newestSession } from './opening.ts';

/** What a command can do to the chat. */
export interface CommandedChat {
  readonly context: CommandContext;
  readonly runtime: Pick<Runtime, 'sessions'>;
  /** Undefined before the first message. */
  readonly conversation: Conversation | undefined;
  readonly agentId: string;
  beginWith(agentId: string): Promise<void>;
  goOnWith(state: SessionState): Promise<void>;
  leave(): void;
}

type Work = (chat: CommandedChat, word: string) => Promise<unknown> | void;

const WORK: { readonly [Name in ChatCommandName]: Work } = {
  help: async ({ context: { out } }) => {
    const commands = Object.entries(CHAT_COMMANDS).map(
      ([name, { takes, does }]) => [`/${name}${takes === '' ? '' : ` ${takes}`}`, does] as const,
    );
    for (const line of [...commands, ...KEYS_HELP].flatMap((pair) => helpLines(pair, out))) await out.line(line);
  },
  status: async (chat) => showStatus(chat.context, sessionOf(chat)),
  why: async (chat) => explainSession(chat.context, sessionOf(chat), { isInChat: true }),
  sessions: async ({ context }) => listSessions(context),
  resume: async (chat, word) => {
    const { sessions } = chat.runtime;
    await chat.goOnWith(word === '' ? await newestSession(sessions, chat.agentId) : await sessionTyped(sessions, word));
  },
  new: async (chat) => chat.beginWith(chat.agentId),
  agent: async (chat, word) => (word === '' ? listAgents(chat.context) : chat.beginWith(checkedAgentName(word))),
  answer: async (chat) => {
    if (chat.conversation?.answerAgain() !== true) await chat.context.out.line('Nothing is put off.');
  },
  expand: async (chat, word) => {
    const { context, runtime, conversation } = chat;
    const size = conversation?.folds.size ?? 0;
    const fold = conversation?.folds.get(word === '' ? undefined : Number(word));
    if (fold === undefined)
      throw usageError(
        `expected the number of something that is folded, received ${JSON.stringify(word)}`,
        size === 0 ? 'Nothing is folded yet.' : `The numbers go from 1 to ${size}, and stand at the ends of lines.`,
      );
    const { out } = context;
    const { styles, columns } = out;
    for (const line of await unfoldedLines(fold, { sessions: runtime.sessions, styles, columns })) await out.line(line);
  },
  interrupt: async (chat) => {
    if (chat.conversation?.interrupt() !== true) await chat.context.out.line('The agent is not at work.');
  },
  exit: (chat) => chat.leave(),
};

export async function runChatCommand(chat: CommandedChat, { name, word }: TypedCommand): Promise<void> {
  await WORK[name](chat, word);
}

const KEYS_WIDTH = 20;

function helpLines([typed, does]: readonly [string, string], { styles, columns }: Output): string[] {
  const isNarrow = columns < KEYS_WIDTH * 3;
  const indent = isNarrow ? 4 : KEYS_WIDTH;
  const lines = wrapped(does, columns - 1 - indent);
  const first = isNarrow ? [] : [`${styles.cyan(typed.padEnd(KEYS_WIDTH))}${lines.shift() ?? ''}`];
  return [...(isNarrow ? [styles.cyan(typed)] : first), ...lines.map((line) => `${' '.repeat(indent)}${line}`)];
}

const LISTS_THEM = '/sessions lists them.';

async function sessionTyped(sessions: Runtime['sessions'], word: string): Promise<SessionState> {
  if (!isShortId(word) && !sessionId.safeParse(word).success)
    throw usageError(
      `expected the id of a session, or at least ${MIN_ID_CHARACTERS} characters that it begins with, received ${JSON.stringify(word)}`,
      LISTS_THEM,
    );
  try {
    return await sessions.status(await sessionNamed(sessions, word));
  } catch (error) {
    if (!RuntimeError.is(error) || error.code !== 'SESSION_NOT_FOUND') throw error;
    const { message, category } = error;
    throw new RuntimeError('SESSION_NOT_FOUND', message, { category, hint: LISTS_THEM, cause: error });
  }
}

function sessionOf({ conversation }: CommandedChat): string {
  if (conversation !== undefined) return conversation.sessionId;
  throw usageError('expected a session; it is made with the first message', 'Say something first, or /resume one.');
}
