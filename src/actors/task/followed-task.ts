/** Follows one task of another process: its log while it grows, from the disk where it is there, and then its end. */
import { RuntimeError } from '../../machines/errors.ts';
import type { BackgroundTaskLogPage } from '../../machines/task/task-state.ts';
import type { Clock } from '../clock/clock.ts';
import { waitFor } from '../clock/waiting.ts';
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

/** What its process is asked for. */
interface AskedProcess {
  readonly clock: Clock;
  readonly logs: Pick<TaskLogFiles, 'open'>;
  end(signal: AbortSignal): Promise<TaskElsewhere>;
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
  const end = new KnownEnd(asked.end(left.signal));
  try {
    while (signal?.aborted !== true) {
      // Before the reading: what was logged before the end is read by then.
      const { isThere } = end;
      const lines = await log.next();
      if (lines !== undefined) yield { type: 'lines', ...lines };
      else if (isThere) {
        const ended = await end.task;
        const rest = log.isOpen ? undefined : await log.rest(ended);
        if (rest === undefined) return yield { type: 'ended', task: ended };
        yield { type: 'lines', ...rest };
      } else await waitFor(end.settled, { clock: asked.clock, timeoutMs: CHECK_MS, signal });
    }
  } finally {
    left.abort();
  }
}

async function* toldNow(log: GrowingLog): AsyncGenerator<FollowedTaskNews, void, undefined> {
  for (let lines = await log.next(); lines !== undefined; lines = await log.next()) yield { type: 'lines', ...lines };
}

class KnownEnd {
  isThere = false;
  readonly task: Promise<TaskElsewhere>;
  /** Never rejects. */
  readonly settled: Promise<unknown>;

  constructor(task: Promise<TaskElsewhere>) {
    this.task = task;
    const settle = (): void => void (this.isThere = true);
    this.settled = task.then(settle, settle);
  }
}

/** A log of which it turns out where it is when the task has begun. */
class GrowingLog {
  readonly #asked: AskedProcess;
  #reader: TaskLogReader | undefined;
  #offset: number;
  #isUnknown = false;

  constructor(path: string | undefined, from: number, asked: AskedProcess) {
    this.#asked = asked;
    this.#offset = from;
    if (path !== undefined) this.#reader = asked.logs.open(path, from);
  }

  get isOpen(): boolean {
    return this.#reader !== undefined;
  }

  /** Undefined: nothing more is there now. */
  async next(): Promise<TaskLogLines | undefined> {
    if (this.#reader !== undefined) return this.#reader.next();
    if (this.#isUnknown) return undefined;
    try {
      const { page, logPath } = await this.#asked.page(this.#offset);
      if (logPath !== undefined) {
        this.#reader = this.#asked.logs.open(logPath, this.#offset);
        return await this.#reader.next();
      }
      return this.#told(page);
    } catch (error) {
      // It keeps none, or was forgotten, which its end says.
      if (!RuntimeError.is(error)) throw error;
      this.#isUnknown = true;
      return undefined;
    }
  }

  /** What is on the disk of a log that was not known to be there before the end. */
  async rest({ logPath, result }: TaskElsewhere): Promise<TaskLogLines | undefined> {
    const path = logPath ?? result?.logPath;
    if (path === undefined) return undefined;
    this.#reader = this.#asked.logs.open(path, this.#offset);
    return this.#reader.next();
  }

  #told({ cursor, lines }: BackgroundTaskLogPage): TaskLogLines | undefined {
    const offset = cursor?.offset ?? this.#offset;
    if (lines.length === 0) return undefined;
    this.#offset = offset + lines.length;
    return { offset, lines };
  }
}
