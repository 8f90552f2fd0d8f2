/** Which process owns a worktree, as that is stored, and whether it still runs. */
import { hostname } from 'node:os';
import type { HostLife } from '../../actors/host/host-life.ts';
import type { WorktreeOwner } from '../../machines/subagent/worktree-record.ts';
import { livenessOf as livenessOfProcess, systemHere, thisProcess } from '../system/process-life.ts';
import type { Liveness } from '../system/process-life.ts';

/** This process. The host name stands in front: two machines may share a folder of worktrees. */
export function readOwner(): WorktreeOwner {
  const { pid, began } = thisProcess();
  const system = systemHere();
  return { pid, startTime: began, system: system === undefined ? hostname() : `${hostname()}/${system}` };
}

export function isSameOwner(one: WorktreeOwner, other: WorktreeOwner): boolean {
  return one.pid === other.pid && one.startTime === other.startTime && one.system === other.system;
}

/** Nothing is taken from one of which it is `unknown`, unless a person says that it is gone. */
export function livenessOf(
  { pid, startTime, system, token }: WorktreeOwner,
  life: HostLife | undefined,
): Promise<Liveness> {
  const [host, ...inHost] = system.split('/');
  return livenessOfProcess(
    { pid, began: startTime, system: inHost.length === 0 ? system : inHost.join('/'), host, token },
    life,
  );
}
