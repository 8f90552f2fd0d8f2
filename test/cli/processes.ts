/** Checks processes by what the system says about them. */
import { readFileSync } from 'node:fs';

/** Whether a process lives: one that waits for its parent to read how it ended does not. */
export function isAlive(pid: number): boolean {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    return !['Z', 'X'].includes(stat.slice(stat.lastIndexOf(')') + 2, stat.lastIndexOf(')') + 3));
  } catch {
    return false;
  }
}

/** The process ids that scripts wrote into a file, one per line. */
export function pidsIn(path: string): number[] {
  try {
    return readFileSync(path, 'utf8').split('\n').filter(Boolean).map(Number);
  } catch {
    return [];
  }
}
