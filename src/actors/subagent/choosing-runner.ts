/**
 * One runner out of two: each job runs in a process of its own, or in this one, as its request says; one that asked for
 * a worktree only in a worktree.
 */
import { runOf } from '../../machines/subagent/subagent-request.ts';
import { BackgroundTaskError } from '../../machines/task/task-error.ts';
import type { SubagentJobStart, SubagentRunner } from './subagent-runner.ts';

export interface ChoosingRunnerOptions {
  readonly process?: SubagentRunner | undefined;
  readonly inProcess?: SubagentRunner | undefined;
  /** For a job that does not say, where there is such a runner. Default `process`. */
  readonly preferred?: 'process' | 'in-process' | undefined;
}

export function createChoosingSubagentRunner({
  process,
  inProcess,
  preferred = 'process',
}: ChoosingRunnerOptions): SubagentRunner {
  const usual = preferred === 'process' ? (process ?? inProcess) : (inProcess ?? process);
  return {
    start(start) {
      requireWorktree(start);
      const wanted = runOf(start.request);
      const runner = wanted === 'in-process' ? inProcess : wanted === 'process' ? process : usual;
      if (runner !== undefined) return runner.start(start);
      throw new BackgroundTaskError(
        'validation',
        `job ${start.jobId} is to run ${wanted === 'in-process' ? 'in this process' : 'in a process of its own'}, and there is no runner for that`,
        {
          code: 'SUBAGENT_NO_RUNNER',
          hint: 'Leave `run` out, or give the runtime such a runner.',
        },
      );
    },
  };
}

/** A job that asked for a worktree must not work in the folder of its caller. */
function requireWorktree({ jobId, request }: SubagentJobStart): void {
  if (request.isolation !== 'worktree' || request.worktreePath !== undefined) return;
  throw new BackgroundTaskError('validation', `job ${jobId} is to work in a git worktree, and there are none here`, {
    code: 'SUBAGENT_NO_WORKTREES',
    hint: 'Give the runtime a keeper of worktrees (`subagents.worktrees`), or leave `isolation` out.',
  });
}
