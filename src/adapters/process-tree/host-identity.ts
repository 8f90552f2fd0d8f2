/** Which process on which boot of which system a record belongs to. */
import { readFileSync, readlinkSync } from 'node:fs';
import { z } from 'zod';
import { BackgroundTaskError } from '../../machines/task/task-error.ts';
import type { ProcessEntry, ProcessTable } from './process-table.ts';
import { isSameStart } from './membership.ts';

export const hostIdentity = z.object({
  pid: z.number().int().positive(),
  startTime: z.number(),
  /** Differs when the system was started again, or when pids mean other processes. */
  boot: z.string(),
  /** What its start times were read from. */
  seenThrough: z.enum(['proc', 'ps']),
});
export type HostIdentity = Readonly<z.output<typeof hostIdentity>>;

export interface Host extends HostIdentity {
  /** Its group and its session: its children may share them, so being in them is evidence of nothing. */
  readonly leaders: readonly number[];
}

/** This process. @throws BackgroundTaskError category `process` when the system does not show it */
export async function readHost(table: ProcessTable): Promise<Host> {
  const [own, first] = await Promise.all([table.look(process.pid), table.look(1)]);
  if (own === undefined) {
    throw new BackgroundTaskError('process', `process ${process.pid} cannot see itself in the list of processes`, {
      code: 'PROCESS_TABLE_UNREADABLE',
      hint: 'Process trees are followed through /proc or ps: make one of them available.',
    });
  }
  const { pid, startTime, group, session } = own;
  return { pid, startTime, boot: bootIdentity(first), seenThrough: table.kind, leaders: [group, session] };
}

/**
 * Linux names its boots. Elsewhere the start of the first process stands for it. The pid namespace is part of it: a restarted
 * container has the old boot and the old pids, and none of the old processes.
 */
function bootIdentity(first: ProcessEntry | undefined): string {
  try {
    return `${readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim()}/${readlinkSync('/proc/self/ns/pid')}`;
  } catch {
    // Rounded by far more than two readings may differ.
    return `first-process/${Math.round((first?.startTime ?? 0) / 60)}`;
  }
}

/** Whether `host` still runs. One that is on its way out does not: its lock may be free already, and it ends nothing of what it started. */
export async function isAlive(host: Pick<HostIdentity, 'pid' | 'startTime'>, table: ProcessTable): Promise<boolean> {
  const entry = await table.look(host.pid);
  return entry !== undefined && entry.state !== 'dead' && entry.isExiting !== true && isSameStart(entry.startTime, host.startTime, table.startTolerance);
}
