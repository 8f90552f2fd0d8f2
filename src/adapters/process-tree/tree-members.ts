/** What is known of one tree's members, and checks of the system that find them and add to it. */
import { findMembers, isSameStart } from './membership.ts';
import { isOfTag } from './process-table.ts';
import type { ProcessEntry, ProcessSnapshot, ProcessTable } from './process-table.ts';
import type { SharedChecks } from './shared-checks.ts';

export interface TreeMembersOptions {
  readonly tag: string;
  /** No member started earlier. */
  readonly startedSince: number;
  /** Groups and sessions that members may share with others. */
  readonly sharedLeaders: ReadonlySet<number>;
  readonly table: ProcessTable;
  readonly checks: SharedChecks;
}

export interface TreeCheck {
  readonly snapshot: ProcessSnapshot;
  /** Who lives. */
  readonly members: readonly ProcessEntry[];
}

export interface TreeCheckOptions {
  /** Also finds who merely holds the root's output open. */
  readonly includeOutputHolders?: boolean | undefined;
  /** Kills members the moment they are seen, and calls back for each. */
  readonly onKill?: ((member: ProcessEntry) => void) | undefined;
}

export class TreeMembers {
  readonly #options: TreeMembersOptions;
  readonly #known = new Map<number, number>();
  #startedSince: number;
  /** The pipes that the root writes to. */
  #outputs: readonly string[] = [];

  constructor(options: TreeMembersOptions) {
    this.#options = options;
    this.#startedSince = options.startedSince;
  }

  /** The process is a member, whatever its environment says. */
  add({ pid, startTime }: { readonly pid: number; readonly startTime: number }): void {
    this.#known.set(pid, startTime);
  }

  /** The process is the root: no member started before it, and its output is the tree's. */
  setRoot(root: { readonly pid: number; readonly startTime: number }): void {
    this.add(root);
    this.#startedSince = root.startTime;
  }

  setOutputs(outputs: readonly string[]): void {
    this.#outputs = outputs;
  }

  async check({ includeOutputHolders = false, onKill }: TreeCheckOptions = {}): Promise<TreeCheck> {
    const onEntry = onKill === undefined ? undefined : (entry: ProcessEntry) => this.#killOnSight(entry, onKill);
    const snapshot = await this.#options.checks.check({ startedSince: this.#startedSince, onEntry });
    let members = this.#find(snapshot);
    if (includeOutputHolders && this.#outputs.length > 0) {
      for (const holder of await this.#outputHolders(snapshot, members)) this.add(holder);
      members = this.#find(snapshot);
    }
    this.#remember(snapshot, members);
    return { snapshot, members };
  }

  /** Some fork and end faster than a check and what follows it take: they are caught while it lasts. */
  #killOnSight(entry: ProcessEntry, onKill: (member: ProcessEntry) => void): void {
    if (entry.pid === process.pid || entry.state === 'dead' || entry.startTime < this.#startedSince) return;
    const isKnown = this.#known.get(entry.pid) === entry.startTime;
    if (!isKnown && !isOfTag(entry, this.#options.tag)) return;
    if (signalProcess(entry.pid, 'SIGKILL')) onKill(entry);
  }

  #find(snapshot: ProcessSnapshot): readonly ProcessEntry[] {
    const { tag, sharedLeaders, table } = this.#options;
    return findMembers(
      snapshot,
      {
        tag,
        known: this.#known,
        startedSince: this.#startedSince,
        startTolerance: table.startTolerance,
        sharedLeaders,
      },
      process.pid,
    );
  }

  #outputHolders(snapshot: ProcessSnapshot, members: readonly ProcessEntry[]): Promise<readonly ProcessEntry[]> {
    const found = new Set(members.map(({ pid }) => pid));
    const lineage = snapshot.lineage(process.pid);
    const candidates = [...snapshot.entries.values()].filter(
      ({ pid, state, startTime }) =>
        state !== 'dead' && startTime >= this.#startedSince && !found.has(pid) && !lineage.has(pid),
    );
    return this.#options.table.holdersOf(this.#outputs, candidates);
  }

  /** Keeps the processes that were found, and forgets those that are gone: a pid may come back as another process. */
  #remember(snapshot: ProcessSnapshot, members: readonly ProcessEntry[]): void {
    for (const [pid, startTime] of this.#known) {
      const entry = snapshot.entries.get(pid);
      if (entry === undefined || !isSameStart(entry.startTime, startTime, this.#options.table.startTolerance))
        this.#known.delete(pid);
    }
    for (const member of members) this.add(member);
  }
}

// Sends signals to members of a tree, and to no other process.

interface SignalRequest {
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
function signalProcess(pid: number, signal: NodeJS.Signals): boolean {
  try {
    return process.kill(pid, signal);
  } catch {
    return false;
  }
}
