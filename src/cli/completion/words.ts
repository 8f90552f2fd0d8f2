/** `wakechart completion words`: what a shell asks for at each press of its key. It never fails: then there is nothing. */
import type { Command } from 'commander';
import { chosenHome } from '../home.ts';
import type { CommandContext } from '../context.ts';
import { EXIT_SUCCESS } from '../failure.ts';
import { explainedCodes } from '../explain/explain.ts';
import { environmentsOf } from '../open/environments.ts';
import { withAgents, withSessions } from '../open/stores.ts';
import { withSchedules } from '../schedule/schedules.ts';
import { statusText, withTasks } from '../task/tasks.ts';
import { oneLine } from '../terminal/text.ts';
import { withWorktrees } from '../worktree/worktrees.ts';
import { completionOf } from './completion.ts';
import type { Candidate, ValueKind } from './completion.ts';
import { FILES_MARK, FOLDERS_MARK } from './scripts.ts';

/** More do not help, and take time to be read. */
const MAX_SESSIONS = 200;
const MAX_DESCRIPTION = 70;

export async function completeWords(
  context: CommandContext,
  program: Command,
  words: readonly string[],
): Promise<number> {
  const { candidates, values, typed, home } = completionOf(program, words);
  const at = home === undefined ? context : { ...context, home: chosenHome({ given: home, environment: {} }) };
  const found = values === undefined ? [] : await valuesOf(values, at).catch(() => []);
  for (const { value, description } of [...candidates, ...found])
    if (value.startsWith(typed) || value === FILES_MARK || value === FOLDERS_MARK)
      await context.out.line(`${value}\t${oneLine(description, MAX_DESCRIPTION)}`.replace(/\t$/, ''));
  return EXIT_SUCCESS;
}

async function valuesOf(kind: ValueKind, context: CommandContext): Promise<readonly Candidate[]> {
  switch (kind) {
    case 'files':
      return [{ value: FILES_MARK, description: '' }];
    case 'folders':
      return [{ value: FOLDERS_MARK, description: '' }];
    case 'agents':
      return withAgents(context, async ({ agents }) =>
        (await agents.list()).map((listing) => ({
          value: listing.agentId,
          description: 'definition' in listing ? (listing.definition.description ?? '') : 'invalid',
        })),
      );
    case 'sessions':
      return withSessions(context, async ({ sessions }) =>
        (await sessions.list({ newest: MAX_SESSIONS }))
          .toReversed()
          .map(({ sessionId, agentId, title, summary = title }) => ({
            value: sessionId,
            description: `${agentId}${summary === undefined ? '' : `: ${summary}`}`,
          })),
      );
    case 'environments':
      return (await environmentsOf(context).list()).map(({ environmentId }) => ({
        value: environmentId,
        description: '',
      }));
    case 'tasks':
      return withTasks(context, async (tasks) =>
        (await tasks.list()).map((task) => ({ value: task.id, description: `${statusText(task)}: ${task.label}` })),
      );
    case 'schedules':
      return withSchedules(context, async (registry) =>
        (await registry.list()).map(({ id }) => ({ value: id, description: '' })),
      );
    case 'codes':
      return (await explainedCodes()).map((value) => ({ value, description: '' }));
    case 'worktrees':
      return withWorktrees(context, async (keeper) =>
        (await keeper.list()).map(({ id, branchName }) => ({ value: id, description: branchName })),
      );
  }
}
