/**
 * Makes runners of forked workers for a composition root: with worktrees of their own, where it has an adapter for
 * them.
 */
import type { SubagentRunner } from '../../actors/subagent/subagent-runner.ts';
import { createWorktreeSubagentRunner } from '../../actors/subagent/worktree-subagent-runner.ts';
import { ChildProcessSubagentRunner } from './child-process-runner.ts';
import { checkedRunnerOptions } from './runner-options.ts';
import type { ChildProcessSubagentRunnerOptions } from './runner-options.ts';

/** Makes runners, and closes those that it made. */
type ChildProcessSubagentRunnerFactory = (() => SubagentRunner) & { close(reason?: string): Promise<void> };

/**
 * With a worktree adapter, jobs that ask for a worktree of their own get one, unless `worktreeIsolation` is false.
 * @throws RuntimeError SUBAGENT_RUNNER_OPTIONS_INVALID, PROVIDER_PROFILE_INVALID, SUBAGENT_WORKER_MISSING
 */
export function createChildProcessSubagentRunnerFactory(
  options: ChildProcessSubagentRunnerOptions,
): ChildProcessSubagentRunnerFactory {
  const { worktreeIsolation, worktreeAdapter } = checkedRunnerOptions(options);
  const made = new Set<ChildProcessSubagentRunner>();
  const make = (): SubagentRunner => {
    const runner = new ChildProcessSubagentRunner(options);
    made.add(runner);
    return worktreeIsolation && worktreeAdapter !== undefined
      ? createWorktreeSubagentRunner({ runner, worktreeAdapter })
      : runner;
  };
  return Object.assign(make, {
    close: async (reason?: string): Promise<void> => {
      await Promise.all([...made].map((runner) => runner.close(reason)));
    },
  });
}
