/**
 * Makes the ids whole that a command was given by their first characters, before it is run: in one place, so that every
 * command takes them.
 */
import type { Command } from 'commander';
import type { Sessions } from '../../actors/session/sessions.ts';
import { RuntimeError } from '../../machines/errors.ts';
import { sessionId } from '../../machines/ids.ts';
import type { CommandContext } from '../context.ts';

/** Options that take the id of a session. */
const SESSION_OPTIONS = ['session', 'parent', 'acceptLoss'] as const;

/** @throws RuntimeError ID_AMBIGUOUS, SESSION_NOT_FOUND */
export async function completeIds(command: Command, contextOf: () => Promise<CommandContext>): Promise<void> {
  const [argument] = command.processedArgs as readonly unknown[];
  if (command.parent?.name() === 'worktree' && typeof argument === 'string')
    command.processedArgs[0] = await worktreeNamed(await contextOf(), argument);
  // A recording has sessions of its own.
  if (command.name() === 'inspect' && argument !== undefined) return;
  for (const option of SESSION_OPTIONS) {
    const typed: unknown = command.getOptionValue(option);
    if (typeof typed === 'string' && isShortId(typed))
      command.setOptionValue(option, await wholeSessionId(await contextOf(), typed));
  }
  const session: unknown = command.getOptionValue('session');
  const request: unknown = command.getOptionValue('request');
  if (typeof session === 'string' && typeof request === 'string' && isShortId(request))
    command.setOptionValue('request', await wholeRequestId(await contextOf(), { session, request }));
}

// Each loads what it needs when it is needed: a command that was given whole ids waits for nothing.

async function wholeSessionId(context: CommandContext, typed: string): Promise<string> {
  const { withSessions } = await import('./stores.ts');
  return withSessions(context, ({ sessions }) => sessionNamed(sessions, typed));
}

/** One that does not wait is told of by the command itself. */
async function wholeRequestId(
  context: CommandContext,
  { session, request }: { readonly session: string; readonly request: string },
): Promise<string> {
  const { withSessions } = await import('./stores.ts');
  return withSessions(context, async ({ sessions }) => {
    const state = await sessions.status(session).catch(() => undefined);
    const ids = state?.pendingActions.map(({ requestId }) => requestId) ?? [];
    return idNamed({ typed: request, what: 'request', ids });
  });
}

/** A worktree is found by its job too. */
async function worktreeNamed(context: CommandContext, typed: string): Promise<string> {
  const { withWorktrees } = await import('../worktree/worktrees.ts');
  return withWorktrees(context, async (keeper) => {
    const ids = (await keeper.list()).map(({ id }) => id);
    return idNamed({ typed, what: 'worktree', ids });
  });
}

// Ids that a person types: whole, or their first characters where those name one thing and no other.

/** Of an id, this many characters have to be typed: fewer name something by accident. */
export const MIN_ID_CHARACTERS = 4;

/** More candidates than these do not help. */
const MAX_SHOWN = 8;

interface TypedId {
  readonly typed: string;
  /** `session`, `job`. */
  readonly what: string;
  readonly ids: readonly string[];
}

/** The id that begins so; what was typed where none does. @throws RuntimeError ID_AMBIGUOUS */
export function idNamed({ typed, what, ids }: TypedId): string {
  if (ids.includes(typed) || typed.length < MIN_ID_CHARACTERS) return typed;
  const found = ids.filter((id) => id.startsWith(typed.toLowerCase()));
  const [only] = found;
  if (only === undefined) return typed;
  if (found.length === 1) return only;
  const newest = found.slice(-MAX_SHOWN).reverse();
  const others = found.length - newest.length;
  throw new RuntimeError('ID_AMBIGUOUS', `${found.length} ids of a ${what} begin with "${typed}"`, {
    category: 'validation',
    hint: `Type more of the one that you mean${others === 0 ? '' : `, such as one of the newest`}:\n${newest.join('\n')}`,
  });
}

/** What could be the beginning of the id of a session or request, and is not all of one. */
export function isShortId(typed: string): boolean {
  return /^[0-9a-f-]+$/i.test(typed) && typed.length >= MIN_ID_CHARACTERS && !sessionId.safeParse(typed).success;
}

/** Inside `withSessions`, so that the error names the sessions that exist. @throws RuntimeError SESSION_NOT_FOUND */
export async function sessionNamed(sessions: Pick<Sessions, 'list'>, typed: string): Promise<string> {
  if (!isShortId(typed)) return typed;
  const found = idNamed({ typed, what: 'session', ids: (await sessions.list()).map((each) => each.sessionId) });
  if (sessionId.safeParse(found).success) return found;
  throw new RuntimeError('SESSION_NOT_FOUND', `there is no session whose id begins with ${JSON.stringify(typed)}`, {
    category: 'not_found',
  });
}
