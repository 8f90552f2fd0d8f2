/** A task's log: the newest lines in memory, and more of them on disk where a directory was given. */
import { DEFAULT_LOG_PAGE_LINES, clampLogOffset, logPage } from '../../machines/task/log-pages.ts';
import type { LogSource } from '../../machines/task/log-pages.ts';
import { LogRing } from '../../machines/task/log-ring.ts';
import { messageOf } from '../../machines/errors.ts';
import type { BackgroundTaskLogCursor, BackgroundTaskLogPage } from '../../machines/task/task-state.ts';
import { DiskLog, LOG_BEGINNING, isFallingBehind } from './disk-log.ts';
import { within } from './deadline.ts';
import { openLogFile } from './log-file-name.ts';

export interface TaskLogOptions {
  readonly taskId: string;
  readonly memoryLimitBytes: number;
  /** Whether a file will be opened. */
  readonly hasFile: boolean;
}

export interface DiskLogPlace {
  readonly directory: string;
  readonly limitBytes: number;
  /** Sets files of tasks with the same id apart. */
  readonly unique: string;
}

/** A disk that takes longer is treated as one that fails: no task waits for a log. */
const DISK_PATIENCE_MS = 2000;

/** Lines wait in memory until they are written: one read of each stream must fit in half of it. */
const MIN_WRITE_BUFFER_BYTES = 524_288;

export class TaskLog {
  readonly #taskId: string;
  readonly #ring: LogRing;
  #disk: DiskLog | undefined;
  #opening: Promise<void> | undefined;
  #finished: Promise<void> | undefined;
  #hasReportedDisk = false;

  constructor({ taskId, memoryLimitBytes, hasFile }: TaskLogOptions) {
    this.#taskId = taskId;
    this.#ring = new LogRing({
      limitBytes: hasFile ? Math.max(memoryLimitBytes, MIN_WRITE_BUFFER_BYTES) : memoryLimitBytes,
    });
  }

  /** Absent while there is no file. */
  get path(): string | undefined {
    return this.#disk?.path;
  }

  /**
   * @returns what to wait for before more is appended, so that the beginning of the file is complete; undefined:
   * nothing
   */
  append(source: LogSource, chunk: Uint8Array): Promise<void> | undefined {
    this.#ring.append(source, chunk);
    this.#disk?.wake();
    if (this.#disk !== undefined) return this.#disk.pressure();
    return this.#opening !== undefined && isFallingBehind(this.#ring, LOG_BEGINNING) ? this.#opening : undefined;
  }

  /** A line of the runtime's own. */
  system(text: string): void {
    this.#ring.appendText('system', text);
    this.#disk?.wake();
  }

  endSource(source: LogSource): void {
    this.#ring.endSource(source);
    this.#disk?.wake();
  }

  /**
   * Begins the file; everything logged so far goes there too. Never rejects: a log that cannot be written is reported
   * in memory.
   */
  openFile(place: DiskLogPlace): Promise<void> {
    this.#opening = this.#open(place).finally(() => {
      this.#opening = undefined;
    });
    return this.#opening;
  }

  /** No more will come. Resolves when the file is complete, or its disk has been given up on. */
  finish(): Promise<void> {
    this.#finished ??= this.#finish();
    return this.#finished;
  }

  async page(cursor?: BackgroundTaskLogCursor): Promise<BackgroundTaskLogPage> {
    const offset = clampLogOffset(cursor?.offset, { first: 0, end: this.#ring.endLine });
    if (offset < this.#ring.firstLine && this.#disk !== undefined) {
      const found = await this.#disk.read(offset, DEFAULT_LOG_PAGE_LINES);
      if (found !== undefined && found.lines.length > 0 && found.offset < this.#ring.firstLine) {
        return logPage({ taskId: this.#taskId, ...found, end: this.#ring.endLine });
      }
    }
    return this.#ring.page(this.#taskId, { offset });
  }

  async #finish(): Promise<void> {
    // A command may be over before its file is open.
    await this.#opening;
    const finishing = this.#disk?.finish();
    try {
      if (finishing !== undefined) await within(finishing, DISK_PATIENCE_MS, 'writing the rest');
    } catch (error) {
      this.#reportDisk(error);
    }
    this.#ring.compact();
  }

  async #open({ directory, limitBytes, unique }: DiskLogPlace): Promise<void> {
    const opening = openLogFile({ directory, taskId: this.#taskId, unique });
    try {
      const opened = await within(opening, DISK_PATIENCE_MS, 'opening it');
      this.#disk = new DiskLog({
        ring: this.#ring,
        limitBytes,
        onFailure: (error) => this.#reportDisk(error),
        ...opened,
      });
      this.#disk.wake();
    } catch (error) {
      opening.then(({ file }) => file.close()).catch(() => undefined);
      this.#reportDisk(error);
    }
  }

  #reportDisk(error: unknown): void {
    if (this.#hasReportedDisk) return;
    this.#hasReportedDisk = true;
    this.#ring.appendText(
      'system',
      `the log file could not be written, the log goes on in memory: ${messageOf(error)}`,
    );
  }
}
