/** Which process on which boot of which system a record belongs to. */
import { readlinkSync } from 'node:fs';
import * as z from 'zod';
import type { HostLife } from '../../actors/host/host-life.ts';
import { BackgroundTaskError } from '../../machines/task/task-error.ts';
import { systemHere } from '../system/process-life.ts';
import type { ProcessEntry, ProcessTable } from './process-table.ts';
import { isSameStart } from './membership.ts';

export const hostIdentity = z.object({
  pid: z.number().int().positive(),
  startTime: z.number(),
  /** Differs when the system was started again, or when pids mean other processes. */
  boot: z.string(),
  /** What its start times were read from. */
  seenThrough: z.enum(['proc', 'ps']),
  /** By which it is known in every namespace of its machine. Absent where there can be none. */
  token: z.string().optional(),
});
export type HostIdentity = Readonly<z.output<typeof hostIdentity>>;

export interface Host extends HostIdentity {
  /** Its group and its session: its children may share them, so being in them is evidence of nothing. */
  readonly leaders: readonly number[];
}

/** This process. @throws BackgroundTaskError category `process` when the system does not show it */
export async function readHost(table: ProcessTable): Promise<Host> {
  const [own, first] = await Promise.all([table.check(process.pid), table.check(1)]);
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
 * Linux names its boots. Elsewhere the start of the first process stands for it. The pid namespace is part of it: a
 * restarted container has the old boot and the old pids, and none of the old processes.
 */
function bootIdentity(first: ProcessEntry | undefined): string {
  // Rounded by far more than two readings may differ.
  return systemHere() ?? `first-process/${Math.round((first?.startTime ?? 0) / 60)}`;
}

/** This process as its records name it. A token is made only for one that records something, not for one that reads. */
export async function recordedHost({
  host: { leaders: _leaders, ...host },
  life,
  records,
}: RecordingHost): Promise<HostIdentity> {
  const token = records === undefined ? undefined : await life?.token();
  return { ...host, ...(token === undefined ? {} : { token }) };
}

interface RecordingHost {
  readonly host: Host;
  readonly life: HostLife | undefined;
  readonly records: object | undefined;
}

/** Where the processes of a host are, as seen from this one. */
export type HostReach =
  /** Its pids mean the same processes here. */
  | 'here'
  /** It ran on another boot: nothing of it is left. */
  | 'earlier_boot'
  /**
   * Another pid namespace of this boot, such as a container: its processes have other pids here, or are not to be seen
   * at all.
   */
  | 'elsewhere';

export function reachOf(there: Pick<HostIdentity, 'boot'>, here: Pick<HostIdentity, 'boot'>): HostReach {
  if (there.boot === here.boot) return 'here';
  return there.boot.includes('/pid:') && there.boot.split('/')[0] === here.boot.split('/')[0]
    ? 'elsewhere'
    : 'earlier_boot';
}

/** The namespace that all others are in. Source: PROC_PID_INIT_INO in include/linux/proc_ns.h. */
const FIRST_NAMESPACE = 'pid:[4026531836]';

/**
 * Whether no process in the namespace of a dead `host` can be hidden from here: it was the first process there, with
 * which all others end, or one in it is to be seen, or everything is.
 */
export function isSeenInto(host: Pick<HostIdentity, 'boot' | 'pid'>, pids: Iterable<number>): boolean {
  if (host.pid === 1 || (process.geteuid?.() === 0 && namespaceOf('self') === FIRST_NAMESPACE)) return true;
  const namespace = host.boot.split('/')[1];
  for (const pid of pids) if (namespaceOf(pid) === namespace) return true;
  return false;
}

function namespaceOf(pid: number | 'self'): string | undefined {
  try {
    return readlinkSync(`/proc/${pid}/ns/pid`);
  } catch {
    return undefined;
  }
}

/**
 * Whether `host` still runs. One that is on its way out does not: its lock may be free already, and it ends nothing of
 * what it started.
 */
export async function isAlive(host: Pick<HostIdentity, 'pid' | 'startTime'>, table: ProcessTable): Promise<boolean> {
  const entry = await table.check(host.pid);
  return (
    entry !== undefined &&
    entry.state !== 'dead' &&
    entry.isExiting !== true &&
    isSameStart(entry.startTime, host.startTime, table.startTolerance)
  );
}
