/** Jobs in worktrees without processes and git: what runs them and what makes the worktrees are played. */
import { createSimulatedClock } from '../../../src/actors/clock/simulated-clock.ts';
import type { SimulatedClock } from '../../../src/actors/clock/simulated-clock.ts';
import { SubagentManager } from '../../../src/actors/subagent/subagent-manager.ts';
import { createWorktreeSubagentRunner } from '../../../src/actors/subagent/worktree-subagent-runner.ts';
import type {
  WorktreeSubagentRunner,
  WorktreeSubagentRunnerOptions,
} from '../../../src/actors/subagent/worktree-subagent-runner.ts';
import { settled } from '../../support/manual-runner.ts';
import {
  createMemoryLog,
  createMemoryRecords,
  createMemoryWorktrees,
  createScriptedRunner,
  jobRequest,
} from '../../support/scripted-subagents.ts';
import type { MemoryLog, MemoryRecords, MemoryWorktrees, ScriptedRunner } from '../../support/scripted-subagents.ts';

/** Shut down after each test, by the file that opens them. */
export const managers: SubagentManager[] = [];

export interface WorktreeStage {
  readonly clock: SimulatedClock;
  /** What runs the work of the jobs. */
  readonly inner: ScriptedRunner;
  readonly worktrees: MemoryWorktrees;
  readonly records: MemoryRecords;
  readonly log: MemoryLog;
  readonly runner: WorktreeSubagentRunner;
  readonly manager: SubagentManager;
}

export function worktreeStage(options: Partial<WorktreeSubagentRunnerOptions> = {}): WorktreeStage {
  const clock = createSimulatedClock();
  const inner = createScriptedRunner();
  const worktrees = createMemoryWorktrees();
  const records = createMemoryRecords();
  const log = createMemoryLog();
  const runner = createWorktreeSubagentRunner({ runner: inner, worktreeAdapter: worktrees, clock, ...options });
  const manager = new SubagentManager({ runner, records, log, clock, agentIdleTimeoutMs: 60_000, cancelDeadlineMs: 0 });
  managers.push(manager);
  return { clock, inner, worktrees, records, log, runner, manager };
}

export const isolated = (changes: Parameters<typeof jobRequest>[0] = {}): ReturnType<typeof jobRequest> =>
  jobRequest({ isolation: 'worktree', ...changes });

export async function settledDeep(): Promise<void> {
  for (let turn = 0; turn < 5; turn += 1) await settled();
}
