/**
 * Ends the commands of a task manager without asking them: those that run, and those of which it turns out a moment
 * later that they do.
 */
import type { BackgroundTaskManager } from '../../actors/task/background-task-manager.ts';

/**
 * What is left of a process group after this shows within a moment, and its task's own end follows. Calling it again
 * does no harm.
 */
export function taskKiller(tasks: Pick<BackgroundTaskManager, 'list' | 'subscribe'>): () => void {
  const killed = new Set<number>();
  const killNew = (): void => {
    for (const { pid } of tasks.list({ kind: 'process', status: 'running' })) {
      if (pid === undefined || killed.has(pid)) continue;
      killed.add(pid);
      killGroup(pid);
    }
  };
  let isWatching = false;
  return () => {
    killNew();
    // A command runs before it is known as which process: its task says so when it is.
    if (!isWatching) tasks.subscribe(killNew);
    isWatching = true;
  };
}

/** Ends the process group that `pid` leads, without asking it. */
function killGroup(pid: number): void {
  try {
    process.kill(-pid, 'SIGKILL');
  } catch {
    // It has ended already.
  }
}
