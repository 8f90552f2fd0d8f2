/** The end of what a task has put out, read from its log file by any process over the home. */
import { open, stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { TaskOutput, TaskOutputs } from '../../actors/inspection/session-processes.ts';
import type { RecordedTask } from '../../actors/task/task-logs.ts';
import { hasCode, unlessCode } from '../system/error-codes.ts';
import { namesIn } from '../system/whole-files.ts';
import { fileNameOf, taggedLogName } from './log-file-name.ts';

/** Far more than the lines that are shown: one of them may be a bar that was drawn again and again. */
const MOST_BYTES = 65_536;
/** Clocks of disks are coarser than ours. */
const TOLERANCE_MS = 1_000;
const MOST_LINES = 12;

/** @param directory where the logs of tasks lie; it need not be there */
export function createTaskOutputs(directory: string): TaskOutputs {
  return {
    async newest(task): Promise<TaskOutput | undefined> {
      if (task.hasLogFile === false) return undefined;
      const names = await namesIn(directory);
      const { base, sinceMs } = logOf(names, task);
      const newest = tailFiles(names, base).at(-1)?.name ?? (names.includes(base) ? base : undefined);
      return newest === undefined ? undefined : endOf(join(directory, newest), sinceMs);
    },
  };
}

/** The path of its log; undefined: there is none. */
export async function findTaskLog(directory: string, task: RecordedTask): Promise<string | undefined> {
  if (task.hasLogFile === false) return undefined;
  const { base, sinceMs } = logOf(await namesIn(directory), task);
  const path = join(directory, base);
  const found = await stat(path).catch(unlessCode('ENOENT'));
  return found === undefined || found.birthtimeMs < sinceMs ? undefined : path;
}

/** Ids are counted from one in each process: the file that carries the tag is this task's, where there is one. */
function logOf(
  names: readonly string[],
  { taskId, tag, startedAt }: RecordedTask,
): { readonly base: string; readonly sinceMs: number } {
  const own = taggedLogName(taskId, tag);
  if (names.includes(own)) return { base: own, sinceMs: 0 };
  return {
    base: `${fileNameOf(taskId)}.log`,
    sinceMs: startedAt === undefined ? 0 : Date.parse(startedAt) - TOLERANCE_MS,
  };
}

/** What did not fit in the head of a log goes to files that are named by their first lines. */
export function tailFiles(
  names: readonly string[],
  base: string,
): readonly { readonly name: string; readonly firstLine: number }[] {
  return names
    .filter((name) => name.startsWith(`${base}.`) && /^\d+$/.test(name.slice(base.length + 1)))
    .map((name) => ({ name, firstLine: Number(name.slice(base.length + 1)) }))
    .toSorted((one, other) => one.firstLine - other.firstLine);
}

async function endOf(path: string, sinceMs: number): Promise<TaskOutput | undefined> {
  try {
    const file = await open(path);
    try {
      const { size, mtimeMs, birthtimeMs } = await file.stat();
      if (birthtimeMs < sinceMs) return undefined;
      const from = Math.max(0, size - MOST_BYTES);
      const { buffer, bytesRead } = await file.read(Buffer.alloc(Math.min(size, MOST_BYTES)), { position: from });
      const lines = buffer
        .toString('utf8', 0, bytesRead)
        .split('\n')
        .slice(from > 0 ? 1 : 0);
      return {
        lines: lines.filter((line) => line !== '').slice(-MOST_LINES),
        writtenAt: new Date(mtimeMs).toISOString(),
      };
    } finally {
      await file.close();
    }
  } catch (error) {
    // It was removed meanwhile.
    if (hasCode(error, 'ENOENT')) return undefined;
    throw error;
  }
}
