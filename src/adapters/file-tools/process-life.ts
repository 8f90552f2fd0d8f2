/** Whether a process that has left its name still lives: a number alone is given to another one in time. */
import { readFileSync, readlinkSync } from 'node:fs';
import { hostname } from 'node:os';
import { processStat } from '../../machines/task/process-stat.ts';
import type { ProcessStat } from '../../machines/task/process-stat.ts';
import { systemCodeOf } from './file-errors.ts';

let own: string | undefined;
let system: string | undefined;

/** When this process began, in ticks since its system did; `-` where that is not told. */
export function ownLife(): string {
  return (own ??= lifeOf(process.pid)?.began ?? '-');
}

/** The system, and where there are several on it the namespace, in which the number of a process means something. */
export function systemName(): string {
  return (system ??= nameOfSystem());
}

/** Undefined where nobody can tell. @param began as `ownLife` has told it there */
export function livesStill(pid: number, began: string): boolean | undefined {
  const seen = lifeOf(pid);
  if (seen !== undefined && began !== '-') return seen.began === began && !seen.isOver;
  return isNobody(pid) ? false : undefined;
}

function lifeOf(pid: number): ProcessStat | undefined {
  try {
    return processStat(readFileSync(`/proc/${pid}/stat`, 'utf8'));
  } catch {
    return undefined;
  }
}

function isNobody(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return false;
  } catch (error) {
    return systemCodeOf(error) === 'ESRCH';
  }
}

function nameOfSystem(): string {
  try {
    return `${readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim()}/${readlinkSync('/proc/self/ns/pid')}`;
  } catch {
    return hostname().replaceAll(/\s/g, '-');
  }
}
