/** The end of what a task has put out, read from its log file by any process over the home. */
import { open } from 'node:fs/promises';
import { join } from 'node:path';
import type { TaskOutput, TaskOutputs } from '../../actors/inspection/session-processes.ts';
import { hasCode } from '../system/error-codes.ts';
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
    async newest({ taskId, tag, startedAt }): Promise<TaskOutput | undefined> {
      const names = await namesIn(directory);
      // Ids are counted from one in each process: the file that carries the tag is this task's, where there is one.
      const own = taggedLogName(taskId, tag);
      const base = names.includes(own) ? own : `${fileNameOf(taskId)}.log`;
      const files = names.filter((name) => name === base || isTailOf(name, base));
      const newest = files.toSorted((one, other) => firstLineOf(one, base) - firstLineOf(other, base)).at(-1);
      const sinceMs = base === own || startedAt === undefined ? 0 : Date.parse(startedAt) - TOLERANCE_MS;
      return newest === undefined ? undefined : endOf(join(directory, newest), sinceMs);
    },
  };
}

/** What did not fit in the head of a log goes to files that are named by their first lines. */
function isTailOf(name: string, base: string): boolean {
  return name.startsWith(`${base}.`) && /^\d+$/.test(name.slice(base.length + 1));
}

function firstLineOf(name: string, base: string): number {
  return name === base ? 0 : Number(name.slice(base.length + 1));
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
