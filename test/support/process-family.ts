/** A process with all that came from it: its children, theirs, and whoever is in its group. */
import { readdirSync, readFileSync } from 'node:fs';
import { setTimeout as pause } from 'node:timers/promises';
import { readStat } from '../../src/adapters/process-tree/proc-table.ts';
import type { ProcessEntry } from '../../src/adapters/process-tree/process-table.ts';

const POLL_MS = 10;

export type Member = Pick<ProcessEntry, 'pid' | 'startTime'>;

/** Those that live with `variable` as it is in their environment, as they were started. */
export function startedWith(variable: string): Member[] {
  return livingProcesses().filter(({ pid }) => environmentOf(pid).includes(variable));
}

/** The roots, their descendants and their groups. */
export function familyOf(roots: readonly Member[]): Member[] {
  const all = livingProcesses();
  const pids = new Set(roots.map(({ pid }) => pid));
  const groups = new Set(all.filter(({ pid, group }) => pids.has(pid) && group === pid).map(({ group }) => group));
  for (let size = -1; size !== pids.size;) {
    size = pids.size;
    for (const { pid, parent, group } of all) if (pids.has(parent) || groups.has(group)) pids.add(pid);
  }
  return all.filter(({ pid }) => pids.has(pid));
}

export function livingOf(members: readonly Member[]): Member[] {
  return members.filter(({ pid, startTime }) => {
    const entry = readStat(pid);
    return entry !== undefined && entry.state !== 'dead' && entry.startTime === startTime;
  });
}

/** Those that still live when the time is up; none, as soon as all have ended. */
export async function outliving(members: readonly Member[], limitMs: number): Promise<Member[]> {
  const deadline = performance.now() + limitMs;
  for (;;) {
    const living = livingOf(members);
    if (living.length === 0 || performance.now() > deadline) return living;
    await pause(POLL_MS);
  }
}

function livingProcesses(): ProcessEntry[] {
  const pids = readdirSync('/proc').map(Number).filter(Number.isInteger);
  return pids.flatMap((pid) => readStat(pid) ?? []).filter(({ state }) => state !== 'dead');
}

/** Empty when it has ended or belongs to somebody else. */
function environmentOf(pid: number): string[] {
  try {
    return readFileSync(`/proc/${pid}/environ`, 'utf8').split('\0');
  } catch {
    return [];
  }
}
