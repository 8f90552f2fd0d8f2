/** Which process a record belongs to, and whether that lives. Records are for processes of one system: after a restart of it, none of the old ones does. */
import { readFileSync, readlinkSync } from 'node:fs';
import { hostname } from 'node:os';
import { z } from 'zod';

export const recordOwner = z.object({
  pid: z.number().int().positive(),
  /** When the process began, as its system tells; empty where it does not. */
  began: z.string(),
  /** The boot of the system, and where there are several on it the namespace, in which the pid means something. */
  system: z.string(),
});

export type RecordOwner = Readonly<z.output<typeof recordOwner>>;

export function thisProcess(): RecordOwner {
  return { pid: process.pid, began: beginOf(process.pid)?.began ?? '', system: systemName() };
}

export function isSameOwner(a: RecordOwner, b: RecordOwner): boolean {
  return a.pid === b.pid && a.began === b.began && a.system === b.system;
}

export function isAlive({ pid, began, system }: RecordOwner): boolean {
  if (system !== systemName()) return false;
  if (began === '') return isSomebody(pid);
  const seen = beginOf(pid);
  return seen?.began === began && !seen.isOver;
}

/** What Linux says of a process: when it began, in ticks since the system did, and whether only its name is left. */
function beginOf(pid: number): { readonly began: string; readonly isOver: boolean } | undefined {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, 'utf8');
    // The name of the program, in parentheses, may hold anything.
    const fields = text.slice(text.lastIndexOf(')') + 2).split(' ');
    const [state = '', began = ''] = [fields[0], fields[19]];
    return { began, isOver: state === 'Z' || state === 'X' };
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
