/** One reading of all processes of the system: what is read of each, and how to find one's relatives. */
import type { LivingProcess, ProcessUse } from '../../actors/task/process-tree.ts';
import { isOfTree, residentLimitOf } from '../../machines/task/resident-limit.ts';

export interface ProcessEntry {
  readonly pid: number;
  readonly parent: number;
  readonly group: number;
  /** 0 where the system does not tell. */
  readonly session: number;
  /** In the table's unit; grows with time. */
  readonly startTime: number;
  /** `dead`: a zombie that waits to be collected. */
  readonly state: 'alive' | 'stopped' | 'dead';
  /**
   * On its way out: it runs no more of its program, and has released some of what it held. Absent where the system does
   * not tell.
   */
  readonly isExiting?: boolean | undefined;
  /**
   * The tags of the trees it was started in, outermost first; empty when it has none or does not show its environment.
   */
  readonly tags: readonly string[];
  /** Soft limit of its resident set, in bytes. Absent where the system does not tell. */
  readonly residentLimit?: number | undefined;
}

export interface TableRequest {
  /** Processes that started before cannot belong to the asker's tree: their environment is not read. */
  readonly startedSince: number;
  /** Called with each entry the moment it is read, by tables that read one by one: it can hardly have changed yet. */
  readonly onEntry?: ((entry: ProcessEntry) => void) | undefined;
}

/** For people: what is not told is absent. */
export type ProcessUsage = Pick<LivingProcess, 'name' | 'processorMs' | 'residentBytes'>;

export type ProcessTableKind = 'proc' | 'ps';

/** A way to read processes. */
export interface ProcessTable {
  /** Start times mean something only among tables of one kind. */
  readonly kind: ProcessTableKind;
  /** How much two readings of one start time may differ. */
  readonly startTolerance: number;
  /** All processes: each that lived when the check ended, and did not start after it, is in. */
  read(request: TableRequest): Promise<ProcessSnapshot>;
  /** The identity of one process, now and synchronously where the system allows; its tags may be left out. */
  check(pid: number): Promise<ProcessEntry | undefined> | ProcessEntry | undefined;
  /** Those of `entries` who are still the same processes, as late as can be before they are signalled. */
  stillThere(entries: readonly ProcessEntry[]): Promise<readonly ProcessEntry[]> | readonly ProcessEntry[];
  /** What each of `entries` uses; none of those that have ended since. */
  usageOf(entries: readonly ProcessEntry[]): Promise<ReadonlyMap<number, ProcessUsage>>;
  /** When it started, and what it is; absent where the system does not tell. */
  identityOf?(entry: ProcessEntry): Pick<ProcessUse, 'startedAtMs' | 'commandLine'>;
  /** Names of the pipes or sockets that are the output of `pid`; none where the system does not tell. */
  outputsOf(pid: number): readonly string[];
  /** Which of `candidates` hold one of `outputs` open. */
  holdersOf(outputs: readonly string[], candidates: readonly ProcessEntry[]): Promise<readonly ProcessEntry[]>;
}

export class ProcessSnapshot {
  readonly entries: ReadonlyMap<number, ProcessEntry>;
  readonly #byParent: ReadonlyMap<number, readonly ProcessEntry[]>;
  readonly #bySession: ReadonlyMap<number, readonly ProcessEntry[]>;
  readonly #byGroup: ReadonlyMap<number, readonly ProcessEntry[]>;
  readonly #byTag: ReadonlyMap<string, readonly ProcessEntry[]>;
  readonly #byLimit: ReadonlyMap<number, readonly ProcessEntry[]>;

  constructor(entries: ReadonlyMap<number, ProcessEntry>) {
    this.entries = entries;
    const all = [...entries.values()];
    this.#byParent = indexed(all, (entry) => [entry.parent]);
    this.#bySession = indexed(all, (entry) => (entry.session > 0 ? [entry.session] : []));
    this.#byGroup = indexed(all, (entry) => [entry.group]);
    this.#byTag = indexed(all, (entry) => entry.tags);
    this.#byLimit = indexed(all, ({ residentLimit }) =>
      residentLimit !== undefined && isOfTree(residentLimit) ? [residentLimit] : [],
    );
  }

  childrenOf(pid: number): readonly ProcessEntry[] {
    return this.#byParent.get(pid) ?? [];
  }

  inSession(session: number): readonly ProcessEntry[] {
    return this.#bySession.get(session) ?? [];
  }

  inGroup(group: number): readonly ProcessEntry[] {
    return this.#byGroup.get(group) ?? [];
  }

  /** Those that show in one way or another that they were started in the tree. */
  ofTree(tag: string): readonly ProcessEntry[] {
    return [...(this.#byTag.get(tag) ?? []), ...(this.#byLimit.get(residentLimitOf(tag) ?? 0) ?? [])];
  }

  /** The process and those above it, up to the first that is not to be seen. */
  lineage(pid: number): ReadonlySet<number> {
    const pids = new Set<number>();
    for (
      let at: number | undefined = pid;
      at !== undefined && at > 0 && !pids.has(at);
      at = this.entries.get(at)?.parent
    )
      pids.add(at);
    return pids;
  }
}

function indexed<Key>(
  entries: readonly ProcessEntry[],
  keysOf: (entry: ProcessEntry) => readonly Key[],
): Map<Key, ProcessEntry[]> {
  const index = new Map<Key, ProcessEntry[]>();
  for (const entry of entries) {
    for (const key of keysOf(entry)) {
      const found = index.get(key);
      if (found === undefined) index.set(key, [entry]);
      else found.push(entry);
    }
  }
  return index;
}

/**
 * Whether a process shows that it was started in the tree: by its environment, or by the limit that it cannot have from
 * elsewhere.
 */
export function isOfTag({ tags, residentLimit }: ProcessEntry, tag: string): boolean {
  return tags.includes(tag) || (residentLimit !== undefined && residentLimit === residentLimitOf(tag));
}
