/** One tree: what is known of it, how its members are found, ended and proven gone. */
import { BackgroundTaskError } from '../../machines/task/task-error.ts';
import type { Clock } from '../../actors/clock/clock.ts';
import type { EndProcessTreeOptions, EndedProcessTree, ProcessIdentity, TrackedProcessTree } from '../../actors/task/process-tree.ts';
import type { Host } from './host-identity.ts';
import { findMembers, isSameStart } from './membership.ts';
import type { ProcessEntry, ProcessSnapshot, ProcessTable } from './process-table.ts';
import { ProcessRecords } from './records.ts';
import type { ProcessRecord } from './records.ts';
import type { SharedLooks } from './shared-looks.ts';
import { signalMembers, signalProcess } from './signals.ts';
import { TAG_VARIABLE, nestedTag } from './tags.ts';

export const DEFAULT_GRACE_MS = 2000;
/** Pauses between looks grow from the first to the second: most trees are gone at once, few take long. */
const FIRST_PAUSE_MS = 1;
const LONGEST_PAUSE_MS = 50;

export interface TreeSurroundings {
  readonly table: ProcessTable;
  readonly looks: SharedLooks;
  readonly clock: Clock;
  readonly host: Host;
  /** Undefined when nothing is kept on disk. */
  readonly records: ProcessRecords | undefined;
  /** After SIGKILL, how long to wait for the last member to go. */
  readonly proofTimeoutMs: number;
}

interface Look {
  readonly snapshot: ProcessSnapshot;
  readonly members: readonly ProcessEntry[];
}

export class TrackedTree implements TrackedProcessTree {
  readonly tag: string;
  readonly environment: Readonly<Record<string, string>>;
  readonly #around: TreeSurroundings;
  readonly #sharedLeaders: ReadonlySet<number>;
  #record: ProcessRecord;
  readonly #known = new Map<number, number>();
  #startedSince: number;
  /** The pipes that the root writes to. */
  #outputs: readonly string[] = [];
  #recorded: Promise<void> = Promise.resolve();
  #ending: Promise<EndedProcessTree> | undefined;
  /** Somebody has lost patience with an end that runs. */
  #isUrgent = false;
  #hurry: (() => void) | undefined;

  constructor(record: ProcessRecord, around: TreeSurroundings) {
    this.tag = record.tag;
    this.environment = { [TAG_VARIABLE]: nestedTag(process.env[TAG_VARIABLE], record.tag) };
    this.#around = around;
    this.#record = record;
    this.#sharedLeaders = new Set([...record.sharedLeaders, ...around.host.leaders]);
    this.#startedSince = record.startedSince;
    if (record.root !== undefined) this.#known.set(record.root.pid, record.root.startTime);
  }

  /** Puts the record on disk. @throws BackgroundTaskError category `storage` */
  async writeRecord(): Promise<void> {
    try {
      await this.#around.records?.write(this.#record);
    } catch (cause) {
      throw new BackgroundTaskError('storage', `the process record of task ${this.#record.taskId} could not be written: ${messageOfCause(cause)}`, {
        code: 'PROCESS_RECORD_UNWRITABLE',
        hint: 'Processes are started only when a crash could not leave them behind unrecorded: make the directory writable, or free some space.',
        cause,
      });
    }
  }

  attach(pid: number): Promise<void> {
    const { table } = this.#around;
    this.#outputs = table.outputsOf(pid);
    const looked = table.look(pid);
    this.#recorded = looked instanceof Promise ? looked.then((entry) => this.#attached(entry)) : this.#attached(looked);
    // Whoever ends the tree waits for this too and must not hear of the failure a second time.
    this.#recorded.catch(() => undefined);
    return this.#recorded;
  }

  async survivors(): Promise<readonly ProcessIdentity[]> {
    return (await this.#look()).members.map(identityOf);
  }

  end(options: EndProcessTreeOptions = {}): Promise<EndedProcessTree> {
    if (this.#ending !== undefined && options.graceMs === 0) {
      this.#isUrgent = true;
      this.#hurry?.();
    }
    this.#ending ??= this.#end(options).finally(() => {
      this.#ending = undefined;
      this.#isUrgent = false;
    });
    return this.#ending;
  }

  async #attached(entry: ProcessEntry | undefined): Promise<void> {
    if (entry === undefined) return;
    const root = { pid: entry.pid, startTime: entry.startTime };
    this.#known.set(root.pid, root.startTime);
    this.#startedSince = root.startTime;
    this.#record = { ...this.#record, root, startedSince: root.startTime };
    await this.writeRecord();
  }

  async #end({ lingerMs = 0, graceMs = DEFAULT_GRACE_MS, includeOutputHolders = false }: EndProcessTreeOptions): Promise<EndedProcessTree> {
    await this.#recorded.catch(() => undefined);
    const signalled = new Set<string>();
    let look = await this.#look({ includeOutputHolders });
    if (look.members.length > 0 && lingerMs > 0) look = await this.#waitUntilGone(look, lingerMs);
    if (look.members.length > 0 && graceMs > 0 && !this.#isUrgent) {
      await this.#signal(look, 'SIGTERM', signalled);
      look = await this.#waitUntilGone(look, graceMs);
    }
    if (look.members.length > 0) await this.#kill(look, signalled);
    // A record that cannot be removed tells the next host of a tree that is gone: it will see for itself.
    await this.#around.records?.remove(this.tag).catch(() => undefined);
    return { ended: signalled.size };
  }

  /** Looks again and again until nobody is left, or the time is up, or somebody hurries. */
  async #waitUntilGone(first: Look, durationMs: number): Promise<Look> {
    let look = first;
    let isOver = false;
    let wake: (() => void) | undefined;
    const finish = (): void => {
      isOver = true;
      wake?.();
    };
    const deadline = this.#around.clock.setTimeout(finish, durationMs);
    this.#hurry = finish;
    try {
      for (let pauseMs = FIRST_PAUSE_MS; look.members.length > 0 && !isOver && !this.#isUrgent; pauseMs = Math.min(pauseMs * 2, LONGEST_PAUSE_MS)) {
        // The pause is the system's, whatever clock measures the deadline: processes die in real time.
        await new Promise<void>((resolve) => {
          const timer = setTimeout(resolve, pauseMs);
          wake = () => {
            clearTimeout(timer);
            resolve();
          };
        });
        look = await this.#look();
      }
    } finally {
      this.#around.clock.clearTimeout(deadline);
    }
    return look;
  }

  /** Kills until a look finds nobody: what was forked during one round is found by the next. */
  async #kill(first: Look, signalled: Set<string>): Promise<void> {
    const deadline = performance.now() + this.#around.proofTimeoutMs;
    let look = first;
    for (let pauseMs = FIRST_PAUSE_MS; look.members.length > 0; pauseMs = Math.min(pauseMs * 2, LONGEST_PAUSE_MS)) {
      if (performance.now() > deadline) throw this.#notEnded(look.members);
      await this.#signal(look, 'SIGKILL', signalled);
      await new Promise((resolve) => setTimeout(resolve, pauseMs));
      look = await this.#look({ onSight: (entry) => this.#killOnSight(entry, signalled) });
    }
  }

  /** Some fork and end faster than a look and what follows it take: they are caught while it lasts. */
  #killOnSight(entry: ProcessEntry, signalled: Set<string>): void {
    if (entry.pid === process.pid || entry.state === 'dead' || entry.startTime < this.#startedSince) return;
    const isKnown = this.#known.get(entry.pid) === entry.startTime;
    if (!isKnown && !entry.tags.includes(this.tag)) return;
    if (signalProcess(entry.pid, 'SIGKILL')) signalled.add(keyOf(entry));
  }

  async #signal({ members, snapshot }: Look, signal: 'SIGTERM' | 'SIGKILL', signalled: Set<string>): Promise<void> {
    const there = await this.#around.table.stillThere(members);
    signalMembers({ members: there, snapshot, signal, spared: this.#sharedLeaders });
    for (const member of there) signalled.add(keyOf(member));
  }

  async #look(options: { readonly includeOutputHolders?: boolean; readonly onSight?: (entry: ProcessEntry) => void } = {}): Promise<Look> {
    const snapshot = await this.#around.looks.look({ startedSince: this.#startedSince, onEntry: options.onSight });
    let members = this.#find(snapshot);
    if (options.includeOutputHolders === true && this.#outputs.length > 0) {
      for (const holder of await this.#outputHolders(snapshot, members)) this.#known.set(holder.pid, holder.startTime);
      members = this.#find(snapshot);
    }
    this.#remember(snapshot, members);
    return { snapshot, members };
  }

  #find(snapshot: ProcessSnapshot): readonly ProcessEntry[] {
    const evidence = {
      tag: this.tag,
      known: this.#known,
      startedSince: this.#startedSince,
      startTolerance: this.#around.table.startTolerance,
      sharedLeaders: this.#sharedLeaders,
    };
    return findMembers(snapshot, evidence, process.pid);
  }

  #outputHolders(snapshot: ProcessSnapshot, members: readonly ProcessEntry[]): Promise<readonly ProcessEntry[]> {
    const found = new Set(members.map(({ pid }) => pid));
    const lineage = snapshot.lineage(process.pid);
    const candidates = [...snapshot.entries.values()].filter(
      ({ pid, state, startTime }) => state !== 'dead' && startTime >= this.#startedSince && !found.has(pid) && !lineage.has(pid),
    );
    return this.#around.table.holdersOf(this.#outputs, candidates);
  }

  /** Keeps who was found, and forgets who is gone: a pid may come back as somebody else. */
  #remember(snapshot: ProcessSnapshot, members: readonly ProcessEntry[]): void {
    for (const [pid, startTime] of this.#known) {
      const entry = snapshot.entries.get(pid);
      if (entry === undefined || !isSameStart(entry.startTime, startTime, this.#around.table.startTolerance)) this.#known.delete(pid);
    }
    for (const { pid, startTime } of members) this.#known.set(pid, startTime);
  }

  #notEnded(members: readonly ProcessEntry[]): BackgroundTaskError {
    const pids = members.map(({ pid }) => pid);
    const what = pids.length === 1 ? `process ${pids[0]} of task ${this.#record.taskId} is` : `processes ${pids.join(', ')} of task ${this.#record.taskId} are`;
    return new BackgroundTaskError('process', `${what} still running ${this.#around.proofTimeoutMs} ms after SIGKILL`, {
      code: 'PROCESS_TREE_SURVIVES',
      hint: 'They may belong to another user, or hang in the kernel: end them by hand, or cancel again.',
      details: { taskId: this.#record.taskId, tag: this.tag, pids },
    });
  }
}

export function identityOf({ pid, startTime }: ProcessEntry): ProcessIdentity {
  return { pid, startTime: String(startTime) };
}

function keyOf({ pid, startTime }: ProcessEntry): string {
  return `${pid}/${startTime}`;
}

function messageOfCause(cause: unknown): string {
  return cause instanceof Error ? cause.message : String(cause);
}
