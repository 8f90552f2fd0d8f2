/** Process trees of this system: through /proc on Linux, through `ps` on other POSIX systems. */
import { randomUUID } from 'node:crypto';
import { existsSync } from 'node:fs';
import * as z from 'zod';
import { beginningOf } from '../../machines/cut-text.ts';
import { BackgroundTaskError } from '../../machines/task/task-error.ts';
import type { Clock } from '../../actors/clock/clock.ts';
import type { HostLife } from '../../actors/host/host-life.ts';
import type {
  ProcessUse,
  ProcessTree,
  ReconcileOptions,
  ReconciledProcessTree,
  TrackedProcessTree,
} from '../../actors/task/process-tree.ts';
import { readHost, recordedHost } from './host-identity.ts';
import type { ProcessTable, ProcessTableKind } from './process-table.ts';
import { createProcTable } from './proc-table.ts';
import { createPsTable } from './ps-table.ts';
import { lostTrees, reconcileRecords } from './reconcile.ts';
import { ProcessRecords } from './records.ts';
import { SharedChecks } from './shared-checks.ts';
import { TrackedTree, livingOf } from './tracked-tree.ts';
import type { TreeSurroundings } from './tracked-tree.ts';

interface ProcessTreeOptions {
  readonly clock: Clock;
  /**
   * Where records of running trees are kept, such as `<home>/processes`. One directory serves any number of hosts of
   * one system. Default: no records, and nothing to reconcile after a crash.
   */
  readonly directory?: string | undefined;
  /** Where records go that were reconciled, for a day, such as `<home>/lost-tasks`. Default: nowhere. */
  readonly lostDirectory?: string | undefined;
  /**
   * Tells of hosts in other pid namespaces, such as containers, whether they live. Default: what they left is left
   * alone until the system starts again.
   */
  readonly hostLife?: HostLife | undefined;
  /** How long to wait, after SIGKILL, for the last member to go. Default 5000. */
  readonly proofTimeoutMs?: number | undefined;
  /** How to read processes. Default: `proc` where /proc shows them, `ps` elsewhere. */
  readonly scan?: ProcessTableKind | undefined;
}

const DEFAULT_PROOF_TIMEOUT_MS = 5000;
/** Of a command, in records. */
const PREVIEW_CHARACTERS = 120;

const numbers = z.object({ proofTimeoutMs: z.number().nonnegative().default(DEFAULT_PROOF_TIMEOUT_MS) });

/** @throws BackgroundTaskError category `validation` for bad options, `process` on a system without POSIX processes */
export function createProcessTree(options: ProcessTreeOptions): ProcessTree {
  const parsed = numbers.safeParse({ proofTimeoutMs: options.proofTimeoutMs });
  if (!parsed.success)
    throw new BackgroundTaskError('validation', `invalid process tree options: ${z.prettifyError(parsed.error)}`);
  if (process.platform === 'win32') {
    throw new BackgroundTaskError('process', 'process trees need a POSIX system, this is Windows', {
      hint: 'Run Wakechart in the Windows Subsystem for Linux.',
    });
  }
  return new SystemProcessTree(options, parsed.data.proofTimeoutMs);
}

class SystemProcessTree implements ProcessTree {
  readonly #table: ProcessTable;
  readonly #checks: SharedChecks;
  readonly #clock: Clock;
  readonly #life: HostLife | undefined;
  readonly #records: ProcessRecords | undefined;
  readonly #proofTimeoutMs: number;
  readonly #adopted = new Map<string, TrackedProcessTree>();
  #surroundings: Promise<TreeSurroundings> | undefined;

  constructor({ clock, directory, lostDirectory, hostLife, scan }: ProcessTreeOptions, proofTimeoutMs: number) {
    this.#table = (scan ?? defaultTable()) === 'proc' ? createProcTable() : createPsTable();
    this.#checks = new SharedChecks(this.#table);
    this.#clock = clock;
    this.#life = hostLife;
    this.#records = directory === undefined ? undefined : new ProcessRecords(directory, lostDirectory);
    this.#proofTimeoutMs = proofTimeoutMs;
  }

  async prepare({
    taskId,
    sessionId,
    limitMs,
    hasLogFile,
    commandPreview,
  }: Parameters<ProcessTree['prepare']>[0]): Promise<TrackedProcessTree> {
    const around = await this.#around();
    const { leaders } = around.host;
    const record = ProcessRecords.newRecord({
      tag: randomUUID(),
      taskId,
      ...(sessionId === undefined ? {} : { sessionId }),
      ...(limitMs === undefined ? {} : { limitMs }),
      ...(hasLogFile === undefined ? {} : { hasLogFile }),
      commandPreview: beginningOf(commandPreview, PREVIEW_CHARACTERS),
      startedAt: new Date(this.#clock.now()).toISOString(),
      host: await recordedHost(around),
      startedSince: around.host.startTime,
      sharedLeaders: [...leaders],
    });
    const tree = new TrackedTree(record, around);
    await tree.writeRecord();
    return tree;
  }

  async reconcile(options: ReconcileOptions = {}): Promise<readonly ReconciledProcessTree[]> {
    if (this.#records === undefined) return [];
    return reconcileRecords({
      around: await this.#around(),
      records: this.#records,
      options,
      adopt: (tree) => this.#adopted.set(tree.tag, tree),
    });
  }

  async lost(): Promise<readonly ReconciledProcessTree[]> {
    return this.#records === undefined ? [] : lostTrees(this.#records);
  }

  async usageOf(pid: number): Promise<ProcessUse | undefined> {
    const entry = await this.#table.check(pid);
    if (entry === undefined || entry.state === 'dead') return undefined;
    const [living] = await livingOf([entry], this.#table);
    return { ...living, ...this.#table.identityOf?.(entry) };
  }

  adopted(tag: string): TrackedProcessTree | undefined {
    return this.#adopted.get(tag);
  }

  /** Found out on first use, and asked again if that failed. */
  #around(): Promise<TreeSurroundings> {
    this.#surroundings ??= this.#readSurroundings().catch((error: unknown) => {
      this.#surroundings = undefined;
      throw error;
    });
    return this.#surroundings;
  }

  async #readSurroundings(): Promise<TreeSurroundings> {
    const host = await readHost(this.#table);
    return {
      table: this.#table,
      checks: this.#checks,
      clock: this.#clock,
      life: this.#life,
      records: this.#records,
      proofTimeoutMs: this.#proofTimeoutMs,
      host,
    };
  }
}

function defaultTable(): ProcessTableKind {
  return existsSync('/proc/self/stat') ? 'proc' : 'ps';
}
