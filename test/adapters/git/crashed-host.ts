/** The identity of a process of this system that has ended: what a record names after a crash. */
import type { WorktreeOwner } from '../../../src/machines/subagent/worktree-record.ts';

/** The same pid at another time: whoever compares only pids takes it for alive. */
export function getCrashedHost(host: WorktreeOwner): WorktreeOwner {
  return { ...host, startTime: '1' };
}
