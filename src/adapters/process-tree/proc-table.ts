/**
 * Reads processes through Linux' /proc.
 *
 * /proc is no snapshot: processes come and go while it is read. So a check ends only when a fresh listing shows none
 * that has not been read; one that forks during the check is caught by its child being listed. The reads are
 * synchronous, ten times cheaper than through the thread pool, and taken in slices so that the event loop is never held
 * for long.
 */
import { closeSync, openSync, readFileSync, readSync, readdirSync, statSync } from 'node:fs';
import type { ProcessUse } from '../../actors/task/process-tree.ts';
import { isProcessOver, processFields } from '../../machines/task/process-stat.ts';
import { ProcessSnapshot } from './process-table.ts';
import type { ProcessEntry, ProcessTable, ProcessUsage, TableRequest } from './process-table.ts';
import { parseEnvironmentTags } from './tags.ts';

const SLICE_MS = 3;
/** Listings of one check. More are needed only where processes come faster than they can be read. */
const MAX_LISTINGS = 50;
/** Readings of an environment that is empty because its process is between two programs. */
const MAX_UNSETTLED_CHECKS = 5;

export function createProcTable(): ProcessTable {
  /** Members of any tree, by pid: who has begun with a tag keeps it, even if a later program hides its environment. */
  const tagged = new Map<number, ProcessEntry>();
  return {
    kind: 'proc',
    startTolerance: 0,
    read: (request) => new ProcCheck(request, tagged).read(),
    check: readStat,
    identityOf,
    stillThere: (entries) => entries.filter((entry) => readStat(entry.pid)?.startTime === entry.startTime),
    usageOf: (entries) =>
      Promise.resolve(new Map(entries.flatMap(({ pid }) => [[pid, readUsage(pid)] as const]).filter(isTold))),
    outputsOf: (pid) => [1, 2].flatMap((descriptor) => streamName(`/proc/${pid}/fd/${descriptor}`) ?? []),
    holdersOf: async (outputs, candidates) => {
      const wanted = new Set(outputs);
      const holders: ProcessEntry[] = [];
      for (const candidate of candidates) {
        if (holdsOneOf(candidate.pid, wanted)) holders.push(candidate);
        await nextTurn();
      }
      return holders;
    },
  };
}

class ProcCheck {
  readonly #request: TableRequest;
  readonly #tagged: Map<number, ProcessEntry>;
  readonly #entries = new Map<number, ProcessEntry>();
  readonly #done = new Set<number>();
  /** How often each was found without an environment, which it has while one program replaces another. */
  readonly #unsettled = new Map<number, number>();

  constructor(request: TableRequest, tagged: Map<number, ProcessEntry>) {
    this.#request = request;
    this.#tagged = tagged;
  }

  async read(): Promise<ProcessSnapshot> {
    let sliceEnd = performance.now() + SLICE_MS;
    for (let listing = 0; listing < MAX_LISTINGS; listing += 1) {
      const pids = listPids().filter((pid) => !this.#done.has(pid));
      if (pids.length === 0) break;
      for (const pid of pids) {
        this.#readOne(pid);
        if (performance.now() < sliceEnd) continue;
        await nextTurn();
        sliceEnd = performance.now() + SLICE_MS;
      }
      if (this.#unsettled.size > 0) await nextTurn();
    }
    for (const pid of this.#tagged.keys()) if (!this.#entries.has(pid)) this.#tagged.delete(pid);
    return new ProcessSnapshot(this.#entries);
  }

  #readOne(pid: number): void {
    this.#done.add(pid);
    const stat = readStat(pid);
    if (stat === undefined) {
      this.#entries.delete(pid);
      return;
    }
    const entry = this.#withTags(stat);
    this.#entries.set(pid, entry);
    this.#request.onEntry?.(entry);
  }

  #withTags(entry: ProcessEntry): ProcessEntry {
    const before = this.#tagged.get(entry.pid);
    if (before?.startTime === entry.startTime) return { ...entry, tags: before.tags };
    // Threads of the kernel have no session and no environment.
    if (entry.startTime < this.#request.startedSince || entry.state === 'dead' || entry.session === 0) return entry;
    const environment = readEnvironment(entry.pid);
    if (environment === undefined) return entry;
    if (environment.length === 0) this.#readAgain(entry.pid);
    const tags = parseEnvironmentTags(environment);
    if (tags.length === 0) return entry;
    const found = { ...entry, tags };
    this.#tagged.set(entry.pid, found);
    return found;
  }

  #readAgain(pid: number): void {
    const checks = (this.#unsettled.get(pid) ?? 0) + 1;
    this.#unsettled.set(pid, checks);
    if (checks < MAX_UNSETTLED_CHECKS) this.#done.delete(pid);
  }
}

const nextTurn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

function listPids(): number[] {
  return readdirSync('/proc').map(Number).filter(Number.isInteger);
}

/** Longer than any line of /proc/<pid>/stat: its name has 16 characters at most, the rest are some 50 numbers. */
const statBuffer = Buffer.alloc(2048);

/**
 * Set when a process begins to exit, before it closes what it has open. Source: PF_EXITING in include/linux/sched.h.
 */
const EXITING_FLAG = 0x4;

/** What /proc/<pid>/stat tells; undefined when there is no such process. See proc_pid_stat(5). */
export function readStat(pid: number): ProcessEntry | undefined {
  const text = readShort(`/proc/${pid}/stat`);
  if (text === undefined) return undefined;
  const fields = processFields(text);
  const numberAt = (index: number): number => Number(fields[index] ?? 0);
  return {
    pid,
    parent: numberAt(1),
    group: numberAt(2),
    session: numberAt(3),
    startTime: numberAt(19),
    state: isProcessOver(fields) ? 'dead' : fields[0] === 'T' ? 'stopped' : 'alive',
    isExiting: (numberAt(6) & EXITING_FLAG) !== 0,
    tags: [],
    residentLimit: numberAt(22),
  };
}

/** Of /proc/<pid>/stat, which counts time in hundredths of a second (USER_HZ) on every machine that Node runs on. */
const MS_PER_TICK = 10;

/** Start times count from the boot of the machine. @see proc_stat(5), btime; proc_pid_cmdline(5) */
function identityOf({ pid, startTime }: ProcessEntry): Pick<ProcessUse, 'startedAtMs' | 'commandLine'> {
  try {
    const { bootedAt } = /^btime (?<bootedAt>\d+)$/m.exec(readFileSync('/proc/stat', 'latin1'))?.groups ?? {};
    const words = readFileSync(`/proc/${pid}/cmdline`, 'utf8')
      .split('\0')
      .filter((word) => word !== '');
    return {
      ...(bootedAt === undefined ? {} : { startedAtMs: Number(bootedAt) * 1_000 + startTime * MS_PER_TICK }),
      ...(words.length === 0 ? {} : { commandLine: words }),
    };
  } catch {
    return {};
  }
}

/** @see proc_pid_stat(5), utime and stime; proc_pid_status(5), Name and VmRSS */
function readUsage(pid: number): ProcessUsage | undefined {
  const [stat, status] = [readShort(`/proc/${pid}/stat`), readShort(`/proc/${pid}/status`)];
  if (stat === undefined || status === undefined) return undefined;
  const fields = processFields(stat);
  const { name } = /^Name:\s*(?<name>.*)$/m.exec(status)?.groups ?? {};
  const { kilobytes } = /^VmRSS:\s*(?<kilobytes>\d+) kB$/m.exec(status)?.groups ?? {};
  return {
    name,
    processorMs: (Number(fields[11] ?? 0) + Number(fields[12] ?? 0)) * MS_PER_TICK,
    ...(kilobytes === undefined ? {} : { residentBytes: Number(kilobytes) * 1024 }),
  };
}

function isTold(entry: readonly [number, ProcessUsage | undefined]): entry is readonly [number, ProcessUsage] {
  return entry[1] !== undefined;
}

function readShort(path: string): string | undefined {
  try {
    const file = openSync(path, 'r');
    try {
      return statBuffer.toString('latin1', 0, readSync(file, statBuffer));
    } finally {
      closeSync(file);
    }
  } catch {
    // It has ended in between.
    return undefined;
  }
}

/** Undefined when it is not ours to read. */
function readEnvironment(pid: number): Buffer | undefined {
  try {
    return readFileSync(`/proc/${pid}/environ`);
  } catch {
    return undefined;
  }
}

function holdsOneOf(pid: number, names: ReadonlySet<string>): boolean {
  try {
    return readdirSync(`/proc/${pid}/fd`).some((descriptor) =>
      names.has(streamName(`/proc/${pid}/fd/${descriptor}`) ?? ''),
    );
  } catch {
    return false;
  }
}

/** Which pipe or socket it is; a file on disk is no evidence of anything. */
function streamName(path: string): string | undefined {
  try {
    const stats = statSync(path);
    return stats.isFIFO() || stats.isSocket() ? `${stats.dev}:${stats.ino}` : undefined;
  } catch {
    return undefined;
  }
}
