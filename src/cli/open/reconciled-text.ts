/** What was found of an earlier run that was killed, in one line for people. */
import type { ReconciledWorktree } from '../../actors/subagent/worktree-adapter.ts';
import type { ReconciledProcessTree } from '../../actors/task/process-tree.ts';
import type { Reconciliation } from '../../runtime.ts';
import { nextCommand } from '../context.ts';
import type { CommandContext } from '../context.ts';

export interface ReconciledTextOptions {
  readonly context: CommandContext;
  /** Worktrees that were known before to wait for a person. */
  readonly known: ReadonlySet<string>;
}

/** A line for each thing that the user may want to know of. */
export function reconciledTexts(
  { processTrees, jobs, worktrees }: Reconciliation,
  { context, known }: ReconciledTextOptions,
): string[] {
  const news = worktrees.filter(({ id }) => !known.has(id));
  const lines = [
    ...processTrees.map(reconciledText),
    ...jobs.map(jobText),
    ...news.map((worktree) => worktreeText(worktree, context)),
  ];
  return lines.filter((line) => line !== undefined);
}

function jobText({ jobId, action, reason }: Reconciliation['jobs'][number]): string | undefined {
  const because = reason === undefined ? '' : `: ${reason}`;
  if (action === 'settled') return `job ${jobId} of an earlier run was cut off with it, and counts as failed`;
  if (action === 'finished') return `job ${jobId} of an earlier run had ended, which is known now`;
  if (action === 'failed') return `could not settle job ${jobId} of an earlier run${because}`;
  return action === 'unreadable' ? `the record of job ${jobId} cannot be read${because}` : undefined;
}

function worktreeText({ id, jobId, action }: ReconciledWorktree, context: CommandContext): string | undefined {
  if (action === 'removed') return `removed the worktree of ${jobId} of an earlier run: nothing in it could be lost`;
  return action === 'preserved'
    ? `an earlier run left work in the worktree of ${jobId}; see: ${nextCommand(context, 'worktree', 'show', id)}`
    : undefined;
}

/** Undefined when there is nothing to say: the work was gone already, or belongs to a process that lives. */
export function reconciledText({ action, reason, taskId, pid, survivors }: ReconciledProcessTree): string | undefined {
  const what = `what ${taskId ?? 'a task'} of an earlier run left running${pid === undefined ? '' : ` (pid ${pid})`}`;
  if (action === 'killed') return `ended ${what}`;
  if (action === 'left' && reason === 'not_ended')
    return `could not end ${what}; still there: ${survivors.map((survivor) => survivor.pid).join(', ')}`;
  if (action === 'left' && reason === 'unreadable')
    return 'set a record of an earlier run aside that could not be read';
  return undefined;
}
