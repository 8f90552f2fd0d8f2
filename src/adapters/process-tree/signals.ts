/** Sends signals to members of a tree, and to no other process. */
import type { ProcessEntry, ProcessSnapshot } from './process-table.ts';

export interface SignalRequest {
  /** Just verified. */
  readonly members: readonly ProcessEntry[];
  readonly snapshot: ProcessSnapshot;
  readonly signal: 'SIGTERM' | 'SIGKILL';
  /** Groups never to be signalled as such: the host's. */
  readonly spared: ReadonlySet<number>;
}

/**
 * Signals whole groups where all of a group belongs to the tree: that reaches even a child being forked at this moment.
 * The others get theirs one by one.
 */
export function signalMembers({ members, snapshot, signal, spared }: SignalRequest): void {
  const pids = new Set(members.map(({ pid }) => pid));
  const isWhole = (group: number): boolean =>
    group > 1 &&
    !spared.has(group) &&
    snapshot.inGroup(group).every(({ pid, state }) => pids.has(pid) || state === 'dead');
  const groups = new Set(members.map(({ group }) => group).filter(isWhole));
  for (const group of groups) signalProcess(-group, signal);
  for (const { pid, group } of members) if (!groups.has(group)) signalProcess(pid, signal);
  if (signal !== 'SIGTERM') return;
  // A stopped process cannot act on SIGTERM before it goes on.
  for (const { pid, state } of members) if (state === 'stopped') signalProcess(pid, 'SIGCONT');
}

/** False when there is no process to signal, or we may not; the next check tells which. */
export function signalProcess(pid: number, signal: NodeJS.Signals): boolean {
  try {
    return process.kill(pid, signal);
  } catch {
    return false;
  }
}
