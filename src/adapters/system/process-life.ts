/**
 * Which process something belongs to that is written down for others, and whether that lives. A pid means something
 * only in one pid namespace of one boot, and is given to another process in time: so the beginning of the process
 * stands beside it. One that cannot be seen from here is asked by its token, and one of which nothing can be told is
 * `unknown`: nothing may be taken from it.
 */
import { readFileSync, readlinkSync } from 'node:fs';
import { hostname } from 'node:os';
import type { HostLife } from '../../actors/host/host-life.ts';
import { processStat } from '../../machines/task/process-stat.ts';
import type { ProcessStat } from '../../machines/task/process-stat.ts';
import { hasCode } from './error-codes.ts';

export interface ProcessName {
  readonly pid: number;
  /** When the process began, as its system tells; empty where it does not. */
  readonly began: string;
  /** `boot/namespace`, in which the pid means something; where the system does not name these, its host name. */
  readonly system: string;
}

export interface NamedProcess extends ProcessName {
  /** By which it is known in every namespace of its machine. Absent where there can be none. */
  readonly token?: string | undefined;
  /** Name of its machine, where what carries the name may lie on a disk that machines share. */
  readonly host?: string | undefined;
}

export type Liveness = 'alive' | 'gone' | 'unknown';

const LINUX_BOOT_ID = '/proc/sys/kernel/random/boot_id';

let own: ProcessName | undefined;

export function thisProcess(): ProcessName {
  return (own ??= {
    pid: process.pid,
    began: beginOf(process.pid)?.began ?? '',
    system: systemHere() ?? hostname().replaceAll(/\s/g, '-'),
  });
}

export function isThisProcess({ pid, began, system }: ProcessName): boolean {
  const self = thisProcess();
  return pid === self.pid && began === self.began && system === self.system;
}

/**
 * The boot of the system and the pid namespace, by which a process of another boot or of another container is told;
 * undefined where the system names none.
 */
export function systemHere(): string | undefined {
  try {
    const boot = bootHere();
    return boot === undefined ? undefined : `${boot}/${readlinkSync('/proc/self/ns/pid')}`;
  } catch {
    return undefined;
  }
}

/** The boot of the system, which all containers of a machine share; undefined where it is not named. */
export function bootHere(): string | undefined {
  try {
    return readFileSync(LINUX_BOOT_ID, 'utf8').trim() || undefined;
  } catch {
    return undefined;
  }
}

/**
 * By its pid where that means something here, which is exact even when the sockets were removed; else by its token
 * where that can be asked.
 */
export async function livenessOf(name: NamedProcess, life: HostLife | undefined): Promise<Liveness> {
  const liveness = livenessHere(name);
  if (liveness !== 'unknown') return liveness;
  if (name.token !== undefined && life !== undefined) {
    const answer = await life.isAlive(name.token);
    return answer === undefined ? 'unknown' : answer ? 'alive' : 'gone';
  }
  return isOfEarlierBoot(name) ? 'gone' : 'unknown';
}

/**
 * As its pid tells. `unknown` of one in another container, on another machine, or where the system does not say when
 * processes began.
 */
export function livenessHere({ pid, began, system }: ProcessName): Liveness {
  if (system !== thisProcess().system) return 'unknown';
  const seen = beginOf(pid);
  if (seen !== undefined && began !== '') return seen.began === began && !seen.isOver ? 'alive' : 'gone';
  return isFree(pid) ? 'gone' : 'unknown';
}

/** Whether no process has this number here. */
export function isFree(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return false;
  } catch (error) {
    return hasCode(error, 'ESRCH');
  }
}

/** Undefined when the system does not show it. */
function beginOf(pid: number): ProcessStat | undefined {
  try {
    return processStat(readFileSync(`/proc/${pid}/stat`, 'utf8'));
  } catch {
    return undefined;
  }
}

/**
 * The same machine at another time. One that names neither its host nor a token is of this machine: it lies on a file
 * system that takes no sockets.
 */
function isOfEarlierBoot({ system, host, token }: NamedProcess): boolean {
  return (
    bootOf(system) !== bootOf(thisProcess().system) && (host === undefined ? token === undefined : host === hostname())
  );
}

function bootOf(system: string): string | undefined {
  return system.split('/')[0];
}
