/** One tree: tagged, on record, and ended until a check of the whole system finds no member. */
import { BackgroundTaskError } from '../../machines/task/task-error.ts';
import { messageOf } from '../../machines/errors.ts';
import { DEFAULT_KILL_GRACE_MS } from '../../machines/task/task-settings.ts';
import type { Clock } from '../../actors/clock/clock.ts';
import type { HostLife } from '../../actors/host/host-life.ts';
import type {
  EndProcessTreeOptions,
  EndedProcessTree,
  LivingProcess,
  ProcessLaunch,
  ReconciledProcessTree,
  TrackedProcessTree,
} from '../../actors/task/process-tree.ts';
import type { Host } from './host-identity.ts';
import { launchIn } from './launch.ts';
import type { ProcessEntry, ProcessTable } from './process-table.ts';
import type { ProcessRecord, ProcessRecords } from './records.ts';
import type { SharedChecks } from './shared-checks.ts';
import { signalMembers, TreeMembers } from './tree-members.ts';
import type { TreeCheck } from './tree-members.ts';

/** Pauses between checks double from the first on: most trees are gone at once, few take long. */
const FIRST_PAUSE_MS = 1;
/** While members may still end by themselves, and while the killed are on their way out. */
const LONGEST_PAUSE_MS = 50;
const LONGEST_KILL_PAUSE_MS = 10;

export interface TreeSurroundings {
  readonly table: ProcessTable;
  readonly checks: SharedChecks;
  readonly clock: Clock;
  readonly host: Host;
  /** Tells of hosts in other namespaces whether they live. */
  readonly life: HostLife | undefined;
  /** Undefined when nothing is kept on disk. */
  readonly records: ProcessRecords | undefined;
  /** After SIGKILL, how long to wait for the last member to go. */
  readonly proofTimeoutMs: number;
}

export class TrackedTree implements TrackedProcessTree {
  readonly tag: string;
  readonly #around: TreeSurroundings;
  readonly #members: TreeMembers;
  readonly #sharedLeaders: ReadonlySet<number>;
  #record: ProcessRecord;
  #recorded: Promise<void> = Promise.resolve();
  #ending: Promise<EndedProcessTree> | undefined;
  /** A caller has lost patience with an end that runs. */
  #isUrgent = false;
  #hurry: (() => void) | undefined;

  constructor(record: ProcessRecord, around: TreeSurroundings) {
    const { tag, startedSince, root } = record;
    const { table, checks, host } = around;
    this.tag = tag;
    this.#around = around;
    this.#record = record;
    this.#sharedLeaders = new Set([...record.sharedLeaders, ...host.leaders]);
    this.#members = new TreeMembers({ tag, startedSince, table, checks, sharedLeaders: this.#sharedLeaders });
    if (root !== undefined) this.#members.add(root);
  }

  /** Puts the record on disk. @throws BackgroundTaskError category `storage` */
  async writeRecord(): Promise<void> {
    try {
      await this.#around.records?.write(this.#record);
    } catch (cause) {
      throw new BackgroundTaskError(
        'storage',
        `the process record of task ${this.#record.taskId} could not be written: ${messageOf(cause)}`,
        {
          code: 'PROCESS_RECORD_UNWRITABLE',
          hint: 'Processes are started only when a crash could not leave them behind unrecorded: make the directory writable, or free some space.',
          cause,
        },
      );
    }
  }

  launch(launch: ProcessLaunch): ProcessLaunch {
    return launchIn(this.tag, launch);
  }

  attach(pid: number): Promise<void> {
    const { table } = this.#around;
    this.#members.setOutputs(table.outputsOf(pid));
    const checked = table.check(pid);
    this.#recorded =
      checked instanceof Promise ? checked.then((entry) => this.#attached(entry)) : this.#attached(checked);
    // The caller that ends the tree waits for this too and must not hear of the failure a second time.
    this.#recorded.catch(() => undefined);
    return this.#recorded;
  }

  async survivors(): Promise<readonly ReconciledProcessTree['survivors'][number][]> {
    const { members } = await this.#members.check();
    return members.map(({ pid, startTime }) => ({ pid, startTime: String(startTime) }));
  }

  /** The same, with what each of them uses. */
  async living(): Promise<readonly LivingProcess[]> {
    return livingOf((await this.#members.check()).members, this.#around.table);
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
    this.#members.setRoot(root);
    this.#record = { ...this.#record, root, startedSince: root.startTime };
    await this.writeRecord();
  }

  async #end({
    lingerMs = 0,
    graceMs = DEFAULT_KILL_GRACE_MS,
    includeOutputHolders = false,
  }: EndProcessTreeOptions): Promise<EndedProcessTree> {
    // The record must not be written after it has been removed.
    await this.#recorded.catch(() => undefined);
    const signalled = new Set<string>();
    let check = await this.#members.check({ includeOutputHolders });
    if (check.members.length > 0 && lingerMs > 0) check = await this.#waitUntilGone(check, lingerMs);
    if (check.members.length > 0 && graceMs > 0 && !this.#isUrgent) {
      await this.#signal(check, 'SIGTERM', signalled);
      check = await this.#waitUntilGone(check, graceMs);
    }
    if (check.members.length > 0) await this.#kill(check, signalled);
    // One that cannot be removed tells the next host of a tree that is gone: it will see for itself.
    await this.#around.records?.remove(this.tag).catch(() => undefined);
    return { ended: signalled.size };
  }

  /** Checks again and again until no member is left, or the time is up, or a caller hurries. */
  async #waitUntilGone(first: TreeCheck, durationMs: number): Promise<TreeCheck> {
    const { clock } = this.#around;
    let check = first;
    let isOver = this.#isUrgent;
    let wake: (() => void) | undefined;
    this.#hurry = () => {
      isOver = true;
      wake?.();
    };
    const deadline = clock.setTimeout(this.#hurry, durationMs);
    try {
      for (
        let pauseMs = FIRST_PAUSE_MS;
        check.members.length > 0 && !isOver;
        pauseMs = Math.min(pauseMs * 2, LONGEST_PAUSE_MS)
      ) {
        // The pause is the system's, whatever clock measures the deadline: processes die in real time.
        await new Promise<void>((resolve) => {
          const timer = setTimeout(resolve, pauseMs);
          wake = () => {
            clearTimeout(timer);
            resolve();
          };
        });
        check = await this.#members.check();
      }
    } finally {
      clock.clearTimeout(deadline);
    }
    return check;
  }

  /** Kills until a check finds no member: what was forked during one round is found by the next. */
  async #kill(first: TreeCheck, signalled: Set<string>): Promise<void> {
    const deadline = performance.now() + this.#around.proofTimeoutMs;
    let check = first;
    for (
      let pauseMs = FIRST_PAUSE_MS;
      check.members.length > 0;
      pauseMs = Math.min(pauseMs * 2, LONGEST_KILL_PAUSE_MS)
    ) {
      if (performance.now() > deadline) throw this.#notEnded(check.members);
      await this.#signal(check, 'SIGKILL', signalled);
      await new Promise((resolve) => setTimeout(resolve, pauseMs));
      check = await this.#members.check({ onKill: (member) => signalled.add(keyOf(member)) });
    }
  }

  async #signal(
    { members, snapshot }: TreeCheck,
    signal: 'SIGTERM' | 'SIGKILL',
    signalled: Set<string>,
  ): Promise<void> {
    const there = await this.#around.table.stillThere(members);
    signalMembers({ members: there, snapshot, signal, spared: this.#sharedLeaders });
    for (const member of there) signalled.add(keyOf(member));
  }

  #notEnded(members: readonly ProcessEntry[]): BackgroundTaskError {
    const { taskId } = this.#record;
    const pids = members.map(({ pid }) => pid);
    const what =
      pids.length === 1
        ? `process ${pids[0]} of task ${taskId} is`
        : `processes ${pids.join(', ')} of task ${taskId} are`;
    return new BackgroundTaskError('process', `${what} still running ${this.#around.proofTimeoutMs} ms after SIGKILL`, {
      code: 'PROCESS_TREE_SURVIVES',
      hint: 'They may belong to another user, or hang in the kernel: end them by hand, or cancel again.',
      details: { taskId, tag: this.tag, pids },
    });
  }
}

/** What each of `entries` uses, of those that live still. */
export async function livingOf(
  entries: readonly ProcessEntry[],
  table: ProcessTable,
): Promise<readonly LivingProcess[]> {
  const usage = await table.usageOf(entries);
  return entries.map(({ pid, parent, startTime, state }) => ({
    pid,
    startTime: String(startTime),
    parentPid: parent,
    ...usage.get(pid),
    ...(state === 'stopped' ? { isSuspended: true as const } : {}),
  }));
}

function keyOf({ pid, startTime }: ProcessEntry): string {
  return `${pid}/${startTime}`;
}
