/**
 * Makes the ids whole that a command was given by their first characters, before it is run: in one place, so that every
 * command takes them.
 */
import type { Command } from 'commander';
import type { CommandContext } from '../context.ts';
import { idNamed, isShortId, sessionNamed } from './named-id.ts';

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
