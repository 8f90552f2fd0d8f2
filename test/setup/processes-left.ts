/**
 * Finds the processes that a test file started and did not end, by what they cannot shed easily: parent, TMPDIR,
 * working folder.
 */
import { readFileSync, readdirSync, readlinkSync } from 'node:fs';

export interface LeftProcess {
  readonly pid: number;
  /** As it was started, for people. */
  readonly command: string;
}

/** Ended, and only waiting for somebody to read how. */
const ENDED_STATES: ReadonlySet<string> = new Set(['Z', 'X']);

/**
 * Living processes other than this one that are its children, or have `temporaryFolder` as TMPDIR or around their
 * working folder. Finds nothing on systems without /proc.
 *
 * @param before those that ran when there was no such folder yet, which spares reading them: a number is given again
 *   only after all others
 */
export function processesLeft(temporaryFolder: string, before: ReadonlySet<number> = new Set()): LeftProcess[] {
  return runningPids().flatMap((pid) => {
    if (before.has(pid)) return [];
    const stat = read(pid, 'stat');
    // The name in parentheses may hold spaces and parentheses itself; the state and the parent come after the last one.
    const [state = 'X', parent] = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    if (pid === process.pid || ENDED_STATES.has(state)) return [];
    const isOurs =
      Number(parent) === process.pid ||
      read(pid, 'environ').split('\0').includes(`TMPDIR=${temporaryFolder}`) ||
      `${workingFolder(pid)}/`.startsWith(`${temporaryFolder}/`);
    return isOurs ? [{ pid, command: read(pid, 'cmdline').replaceAll('\0', ' ').trim() }] : [];
  });
}

export function runningPids(): number[] {
  try {
    return readdirSync('/proc').map(Number).filter(Number.isInteger);
  } catch {
    return [];
  }
}

/** Empty when the process has ended or belongs to somebody else. */
function read(pid: number, file: string): string {
  try {
    return readFileSync(`/proc/${pid}/${file}`, 'utf8');
  } catch {
    return '';
  }
}

function workingFolder(pid: number): string {
  try {
    return readlinkSync(`/proc/${pid}/cwd`);
  } catch {
    return '';
  }
}
