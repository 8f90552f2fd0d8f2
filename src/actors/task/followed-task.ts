/** Follows one task of another process: its log while it grows, from the disk where it is there, and then its end. */
import { RuntimeError } from '../../machines/errors.ts';
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
  readonly signal?: AbortSignal | undefined;
}

export type FollowedTaskNews =
  /** `offset` is the index of the first of them: after a gap lines were not kept. */
  ({ readonly type: 'lines' } & TaskLogLines) | { readonly type: 'ended'; readonly task: TaskElsewhere };

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
}

/** How long a new line may take to be seen. */
const CHECK_MS = 100;

export async function* followTask(
  task: TaskElsewhere,
  { from = 0, untilEnd = true, signal }: FollowTaskOptions,
  asked: AskedProcess,
): AsyncGenerator<FollowedTaskNews, void, undefined> {
  if (!untilEnd) return yield* toldNow(new GrowingLog(task.logPath, from, asked));
  const left = new AbortController();
  const log = new GrowingLog(task.logPath, from, asked);
  await log.onDisk();
  const end = new KnownEnd(asked.end(left.signal, () => log.wanted));
  const woken = AbortSignal.any([end.signal, ...(signal === undefined ? [] : [signal])]);
  try {
    while (signal?.aborted !== true) {
      // Before the reading: what was logged before the end is read by then.
      const { isThere } = end;
      const lines = await log.next();
      if (lines !== undefined) yield { type: 'lines', ...lines };
      else if (isThere) {
        const ended = await end.end;
        const rest = await log.rest(ended);
        if (rest === undefined) return yield { type: 'ended', task: ended.task };
        yield { type: 'lines', ...rest };
      } else await pause({ clock: asked.clock, timeoutMs: CHECK_MS, signal: woken });
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

/** A log of which it turns out where it is when the task has begun. */
class GrowingLog {
  readonly #asked: AskedProcess;
  readonly #path: string | undefined;
  #reader: TaskLogReader | undefined;
  #offset: number;
  #isUnknown = false;
  /** What is not on the disk here is asked for. */
  #isElsewhere = false;

  constructor(path: string | undefined, from: number, asked: AskedProcess) {
    this.#asked = asked;
    this.#offset = from;
    this.#path = path;
  }

  /** The line that comes next; undefined: it is read from the disk. */
  get wanted(): number | undefined {
    return this.#reader === undefined ? this.#offset : undefined;
  }

  /** Undefined: nothing more is there now. */
  async next(): Promise<TaskLogLines | undefined> {
    const reader = await this.onDisk();
    if (reader !== undefined) return reader.next();
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
  async onDisk(path = this.#path): Promise<TaskLogReader | undefined> {
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
