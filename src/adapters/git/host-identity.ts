/** Which process on which boot of which system has a worktree in hand, and whether it still runs. */
import { readFileSync, readlinkSync } from 'node:fs';
import { hostname } from 'node:os';
import type { HostLife } from '../../actors/host/host-life.ts';
import type { WorktreeOwner } from '../../machines/subagent/worktree-record.ts';
import { processStat } from '../../machines/task/process-stat.ts';
import type { ProcessStat } from '../../machines/task/process-stat.ts';

/** This process. */
export function readOwner(): WorktreeOwner {
  return { pid: process.pid, startTime: beginOf(process.pid)?.began ?? '', system: systemName() };
}

export function isSameOwner(one: WorktreeOwner, other: WorktreeOwner): boolean {
  return one.pid === other.pid && one.startTime === other.startTime && one.system === other.system;
}

/** `unknown`: it may live, on another machine or in another container. Nothing is taken from such a one unless a person says that it is gone. */
export type OwnerStanding = 'alive' | 'gone' | 'unknown';

/** By its pid where that means something here, else by its token where that can be asked. */
export async function standingOf(owner: WorktreeOwner, life: HostLife | undefined): Promise<OwnerStanding> {
  const here = systemName();
  const isHere = owner.system === here;
  // Exact, and true even when somebody has removed the sockets.
  if (isHere && owner.startTime !== '') return isSeen(owner) ? 'alive' : 'gone';
  if (owner.token !== undefined && life !== undefined) {
    const isAlive = await life.isAlive(owner.token);
    if (isAlive !== undefined) return isAlive ? 'alive' : 'gone';
    if (!isHere) return 'unknown';
  }
  if (isHere) return canBeSignaled(owner.pid) ? 'alive' : 'gone';
  return isEarlierBoot(owner.system, here) ? 'gone' : 'unknown';
}

function isSeen({ pid, startTime }: WorktreeOwner): boolean {
  const seen = beginOf(pid);
  return seen?.began === startTime && !seen.isOver;
}

/** Undefined when the system does not show it. */
function beginOf(pid: number): ProcessStat | undefined {
  try {
    return processStat(readFileSync(`/proc/${pid}/stat`, 'utf8'));
  } catch {
    return undefined;
  }
}

/** Host name, boot and namespace: a pid means something only where all three are the same. */
function systemName(): string {
  try {
    return `${hostname()}/${readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim()}/${readlinkSync('/proc/self/ns/pid')}`;
  } catch {
    return hostname();
  }
}

/** The same machine at another time. A container of another namespace on the same boot may well be alive. */
function isEarlierBoot(system: string, here: string): boolean {
  const [host, boot] = system.split('/');
  const [hostHere, bootHere] = here.split('/');
  return host === hostHere && boot !== bootHere;
}

function canBeSignaled(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return !(error instanceof Error && 'code' in error && error.code === 'ESRCH');
  }
}
