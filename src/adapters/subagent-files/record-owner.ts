/** Which process a record belongs to, and whether that lives: by its pid where that means something here, else by its token where that can be asked. */
import { readFileSync, readlinkSync } from 'node:fs';
import { hostname } from 'node:os';
import { z } from 'zod';
import type { HostLife } from '../../actors/host/host-life.ts';
import { processStat } from '../../machines/task/process-stat.ts';
import type { ProcessStat } from '../../machines/task/process-stat.ts';

export const recordOwner = z.object({
  pid: z.number().int().positive(),
  /** When the process began, as its system tells; empty where it does not. */
  began: z.string(),
  /** The boot of the system, and where there are several on it the namespace, in which the pid means something. */
  system: z.string(),
  /** By which it is known in every namespace of its machine. Absent where there can be none. */
  token: z.string().optional(),
});

export type RecordOwner = Readonly<z.output<typeof recordOwner>>;

export function thisProcess(): RecordOwner {
  return { pid: process.pid, began: beginOf(process.pid)?.began ?? '', system: systemName() };
}

export function isSameOwner(a: RecordOwner, b: RecordOwner): boolean {
  return a.pid === b.pid && a.began === b.began && a.system === b.system;
}

/** Of one about whom it cannot be told, true: it may work in another container. */
export async function isAlive(owner: RecordOwner, life: HostLife | undefined): Promise<boolean> {
  const isHere = owner.system === systemName();
  // Exact, and true even when somebody has removed the sockets.
  if (isHere && owner.began !== '') return isSeen(owner);
  const answer = owner.token === undefined ? undefined : await life?.isAlive(owner.token);
  if (answer !== undefined) return answer;
  if (isHere) return isSomebody(owner.pid);
  // A record without a token is of this machine: an earlier version wrote it, or the file system, which has no sockets, is its own.
  return owner.token !== undefined || isSameBoot(owner.system);
}

function isSeen({ pid, began }: RecordOwner): boolean {
  const seen = beginOf(pid);
  return seen?.began === began && !seen.isOver;
}

/** One in another pid namespace of it cannot be seen from here, and may be alive. */
function isSameBoot(system: string): boolean {
  return system.split('/')[0] === systemName().split('/')[0];
}

/** Undefined when the system does not show it. */
function beginOf(pid: number): ProcessStat | undefined {
  try {
    return processStat(readFileSync(`/proc/${pid}/stat`, 'utf8'));
  } catch {
    return undefined;
  }
}

function isSomebody(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return error instanceof Error && 'code' in error && error.code === 'EPERM';
  }
}

function systemName(): string {
  try {
    return `${readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim()}/${readlinkSync('/proc/self/ns/pid')}`;
  } catch {
    return hostname();
  }
}
