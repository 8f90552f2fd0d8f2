/** Follows one task of another process: its log while it grows, from the disk where it is there, and then its end. */
import { RuntimeError } from '../../machines/errors.ts';
import { BackgroundTaskError } from '../../machines/task/task-error.ts';
import type { BackgroundTaskLogPage } from '../../machines/task/task-state.ts';
import type { Clock } from '../clock/clock.ts';
import { pause } from '../clock/waiting.ts';
import type { TaskElsewhere } from './task-elsewhere.ts';
import type { TaskLogFiles, TaskLogLines, TaskLogReader } from './task-logs.ts';

export interface FollowTaskOptions {
  /** Index of the first line that is wanted. Default 0. */
  readonly from?: number | undefined;
  /** False: only what is there now is told, and not how it ends. Default true. */
  readonly untilEnd?: boolean | undefined;
  /**
   * Also tells what has no line end yet, such as a prompt, as it grows. Its process is asked for that again and again.
   * Default false.
   */
  readonly unfinished?: boolean | undefined;
  readonly signal?: AbortSignal | undefined;
}

export type FollowedTaskNews =
  /** `offset` is the index of the first of them: after a gap lines were not kept. */
  | ({ readonly type: 'lines' } & TaskLogLines)
  /** Lines that have no end yet, one of each stream at most; `offset` is the index that the next line will have. */
  | ({ readonly type: 'unfinished' } & TaskLogLines)
  /** Its process lives and does not answer, as one does that was stopped. What comes next comes when it goes on. */
  | { readonly type: 'silent' }
  | { readonly type: 'ended'; readonly task: TaskElsewhere };

export interface EndElsewhere {
  readonly task: TaskElsewhere;
  /** Of a log without a file. */
  readonly rest?: TaskLogLines | undefined;
}

/** What its process is asked for. */
interface AskedProcess {
  readonly clock: Clock;
  readonly logs: Pick<TaskLogFiles, 'open'>;
  /** @param from the line from which on its log is wanted, while it is not read from the disk */
  end(signal: AbortSignal, from: () => number | undefined): Promise<EndElsewhere>;
  page(offset: number): Promise<{ readonly page: BackgroundTaskLogPage; readonly logPath?: string | undefined }>;
  /** Whether it answers now, and with what its log ends. */
  liveness(signal: AbortSignal): Promise<TaskLiveness>;
}

export interface TaskLiveness {
  readonly isSilent: boolean;
  /** The last page of its log, without lines. */
  readonly page?: BackgroundTaskLogPage | undefined;
}

/** How long a new line may take to be seen. */
const CHECK_MS = 100;
/** How long nothing may come before its process is asked whether it still answers. */
const QUIET_MS = 3_000;

export async function* followTask(
  task: TaskElsewhere,
  { from = 0, untilEnd = true, unfinished = false, signal }: FollowTaskOptions,
  asked: AskedProcess,
): AsyncGenerator<FollowedTaskNews, void, undefined> {
  const log = new GrowingLog(task, from, asked);
  if (!untilEnd) return yield* toldNow(log);
  const left = new AbortController();
  const owner = new WatchedOwner(task, asked, { from, tellsUnfinished: unfinished });
  await log.onDisk();
  const end = new KnownEnd(asked.end(left.signal, () => log.wanted));
  const woken = AbortSignal.any([end.signal, ...(signal === undefined ? [] : [signal])]);
  try {
    if (owner.isSilent) yield { type: 'silent' };
    while (signal?.aborted !== true) {
      // Before the reading: what was logged before the end is read by then.
      const { isThere } = end;
      const lines = await log.next();
      if (lines !== undefined) {
        owner.heardOf(lines);
        yield { type: 'lines', ...lines };
      } else if (isThere) {
        const ended = await end.end;
        const rest = await log.rest(ended);
        if (rest === undefined) return yield { type: 'ended', task: ended.task };
        yield { type: 'lines', ...rest };
      } else {
        const news = await owner.news(woken);
        if (news === undefined) await pause({ clock: asked.clock, timeoutMs: CHECK_MS, signal: woken });
        else yield news;
      }
    }
  } finally {
    left.abort();
  }
}

async function* toldNow(log: GrowingLog): AsyncGenerator<FollowedTaskNews, void, undefined> {
  for (let lines = await log.next(); lines !== undefined; lines = await log.next()) yield { type: 'lines', ...lines };
}

class KnownEnd {
  readonly end: Promise<EndElsewhere>;
  readonly #there = new AbortController();

  constructor(end: Promise<EndElsewhere>) {
    this.end = end;
    const settle = (): void => this.#there.abort();
    end.then(settle, settle);
  }

  /** Aborted when it is there, or is known not to come. */
  get signal(): AbortSignal {
    return this.#there.signal;
  }

  get isThere(): boolean {
    return this.signal.aborted;
  }
}

/** The process of the task while its log says nothing. */
class WatchedOwner {
  readonly #asked: Pick<AskedProcess, 'clock' | 'liveness'>;
  readonly #tellsUnfinished: boolean;
  #askAt = 0;
  #isSilent: boolean;
  /** The line that comes next in the log. */
  #next: number;
  #told = '';

  constructor(
    { process: { reach } }: TaskElsewhere,
    asked: AskedProcess,
    { from, tellsUnfinished }: { readonly from: number; readonly tellsUnfinished: boolean },
  ) {
    this.#asked = asked;
    this.#tellsUnfinished = tellsUnfinished;
    this.#isSilent = reach === 'silent';
    this.#next = from;
    this.#rest();
  }

  get isSilent(): boolean {
    return this.#isSilent;
  }

  heardOf({ offset, lines }: TaskLogLines): void {
    this.#next = offset + lines.length;
    this.#told = '';
    this.#rest();
  }

  #rest(): void {
    this.#askAt = this.#asked.clock.steadyNow() + (this.#tellsUnfinished ? CHECK_MS : QUIET_MS);
  }

  /** Undefined: nothing is new. An abort of `signal` ends the question. */
  async news(signal: AbortSignal): Promise<FollowedTaskNews | undefined> {
    const { clock } = this.#asked;
    if (clock.steadyNow() < this.#askAt) return undefined;
    const { isSilent, page } = await this.#asked.liveness(signal);
    this.#rest();
    if (signal.aborted) return undefined;
    const wasSilent = this.#isSilent;
    this.#isSilent = isSilent;
    if (isSilent) return wasSilent ? undefined : { type: 'silent' };
    return this.#tellsUnfinished ? this.#unfinished(page) : undefined;
  }

  /** Not before the lines that come before it. */
  #unfinished(page: BackgroundTaskLogPage | undefined): FollowedTaskNews | undefined {
    const { unfinished: lines = [], cursor: { offset = 0 } = {} } = page ?? {};
    const told = lines.join('\n');
    if (told === this.#told || offset !== this.#next) return undefined;
    this.#told = told;
    return lines.length === 0 ? undefined : { type: 'unfinished', offset, lines };
  }
}

/** A log of which it turns out where it is when the task has begun. */
class GrowingLog {
  readonly #asked: AskedProcess;
  readonly #task: TaskElsewhere;
  #reader: TaskLogReader | undefined;
  #offset: number;
  #isUnknown = false;
  /** What is not on the disk here is asked for. */
  #isElsewhere = false;

  constructor(task: TaskElsewhere, from: number, asked: AskedProcess) {
    this.#asked = asked;
    this.#offset = from;
    this.#task = task;
  }

  /** The line that comes next; undefined: it is read from the disk. */
  get wanted(): number | undefined {
    return this.#reader === undefined ? this.#offset : undefined;
  }

  /** Undefined: nothing more is there now. @throws BackgroundTaskError TASK_LOG_REMOVED */
  async next(): Promise<TaskLogLines | undefined> {
    const reader = await this.onDisk();
    if (reader !== undefined) {
      const lines = await reader.next();
      if (lines === undefined && reader.isRemoved) throw removed(this.#task);
      return lines;
    }
    if (this.#isUnknown) return undefined;
    try {
      const { page, logPath } = await this.#asked.page(this.#offset);
      const found = await this.onDisk(logPath);
      if (found !== undefined) return await found.next();
      return this.#told({ offset: page.cursor?.offset ?? this.#offset, lines: page.lines });
    } catch (error) {
      // It keeps none, or was forgotten, which its end says.
      if (!RuntimeError.is(error)) throw error;
      this.#isUnknown = true;
      return undefined;
    }
  }

  /** Of a log that was not known to be on the disk before the end what is there, or else what came with the end. */
  async rest({ task: { logPath, result }, rest }: EndElsewhere): Promise<TaskLogLines | undefined> {
    if (this.#reader !== undefined) return undefined;
    const found = await this.onDisk(logPath ?? result?.logPath);
    if (found !== undefined) return found.next();
    if (rest === undefined) return undefined;
    const known = Math.max(0, this.#offset - rest.offset);
    return this.#told({ offset: rest.offset + known, lines: rest.lines.slice(known) });
  }

  /** Undefined: it is not on the disk, or not to be seen there from here. */
  async onDisk(path = this.#task.logPath): Promise<TaskLogReader | undefined> {
    if (this.#reader === undefined && path !== undefined && !this.#isElsewhere) {
      this.#reader = await this.#asked.logs.open(path, this.#offset);
      this.#isElsewhere = this.#reader === undefined;
    }
    return this.#reader;
  }

  #told({ offset, lines }: TaskLogLines): TaskLogLines | undefined {
    if (lines.length === 0) return undefined;
    this.#offset = offset + lines.length;
    return { offset, lines };
  }
}

function removed({ id, taskId }: TaskElsewhere): BackgroundTaskError {
  return new BackgroundTaskError('storage', `the log of task ${id} was removed while it was read`, {
    code: 'TASK_LOG_REMOVED',
    hint: `What came after cannot be shown. How the task stands: wakechart task show ${id}.`,
    details: { taskId },
  });
}
