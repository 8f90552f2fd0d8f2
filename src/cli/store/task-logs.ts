/** Logs that tasks of a home have left: old ones, whose task runs in no process any more. */
import { readdir, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { createSystemClock } from '../../actors/clock/system-clock.ts';
import { HOSTS_FOLDER, createHostLife } from '../../adapters/host-life/socket-host-life.ts';
import { createProcessTree } from '../../adapters/process-tree/process-tree.ts';
import { fileNameOf } from '../../adapters/shell/log-file-name.ts';
import { systemCodeOf } from '../../adapters/system/error-codes.ts';
import { PROCESSES_FOLDER, TASK_LOGS_FOLDER } from '../../node/tasks.ts';

export interface OldTaskLogs {
  readonly paths: readonly string[];
  readonly bytes: number;
}

/** @param beforeMs when they have to have been written last, in milliseconds since the epoch */
export async function oldTaskLogs(home: string, beforeMs: number): Promise<OldTaskLogs> {
  const folder = join(home, TASK_LOGS_FOLDER);
  const names = await readdir(folder).catch((error: unknown) => {
    if (systemCodeOf(error) === 'ENOENT') return [];
    throw error;
  });
  const running = await runningTasks(home);
  const found: { readonly path: string; readonly bytes: number }[] = [];
  for (const name of names) {
    // A task that runs may be silent for as long as it likes.
    if (running.some((task) => name.startsWith(`${task}.`))) continue;
    const path = join(folder, name);
    const stats = await stat(path).catch(() => undefined);
    if (stats?.isFile() === true && stats.mtimeMs < beforeMs) found.push({ path, bytes: stats.size });
  }
  return { paths: found.map(({ path }) => path), bytes: found.reduce((sum, { bytes }) => sum + bytes, 0) };
}

export async function removeTaskLogs({ paths }: OldTaskLogs): Promise<void> {
  for (const path of paths) await rm(path, { force: true });
}

/** By the beginning of their files. Ids count from one in each process, so this may keep more than one. */
async function runningTasks(home: string): Promise<readonly string[]> {
  const tree = createProcessTree({
    clock: createSystemClock(),
    directory: join(home, PROCESSES_FOLDER),
    hostLife: createHostLife({ directory: join(home, HOSTS_FOLDER) }),
  });
  const records = await tree.reconcile({ policy: 'report' });
  return records.flatMap(({ taskId }) => (taskId === undefined ? [] : [fileNameOf(taskId)]));
}
