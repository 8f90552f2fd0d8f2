/** The port of the logs that tasks leave on the disk, of whichever process over the home. */

/** Lines in a row; `offset` is the index of the first, counted from the first line ever logged. */
export interface TaskLogLines {
  readonly offset: number;
  readonly lines: readonly string[];
}

export interface TaskLogReader {
  /** Its file was removed, and there is none after it: more may have been in it, or come into it unseen. */
  readonly isRemoved: boolean;
  /** What comes next; undefined: nothing more is there now. Lines that are not kept are passed over. */
  next(): Promise<TaskLogLines | undefined>;
}

/** How a task is known that is on record. */
export interface RecordedTask {
  readonly taskId: string;
  readonly tag: string;
  /** ISO-8601; a log that is older is another task's. */
  readonly startedAt?: string | undefined;
  /** False: it has none, and a file of its name is another task's. */
  readonly hasLogFile?: boolean | undefined;
}

export interface TaskLogFiles {
  /** The path of its log; undefined: there is none. */
  find(task: RecordedTask): Promise<string | undefined>;
  /** Begins with line `from`. Undefined: there is no such log here, whatever its process calls it. */
  open(path: string, from: number): Promise<TaskLogReader | undefined>;
}
