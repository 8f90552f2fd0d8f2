/** Reads the log files of a task from any process, while they are being written too. */
import { lstat, open } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import type { TaskLogFiles, TaskLogLines, TaskLogReader } from '../../actors/task/task-logs.ts';
import { hasCode, unlessCode } from '../system/error-codes.ts';
import { namesIn } from '../system/whole-files.ts';
import { MISSING_LINES } from './disk-log.ts';
import { findTaskLog, tailFiles } from './log-tail.ts';

/** @param directory where the logs of tasks lie; it need not be there */
export function createTaskLogFiles(directory: string): TaskLogFiles {
  return {
    find: (task) => findTaskLog(directory, task),
    open: (path, from) => openLog(directory, { path, from }),
  };
}

/**
 * Another process may see the home under another path: what it says counts only as the name of a file in the folder of
 * logs, as it is to be seen from here.
 */
async function openLog(
  directory: string,
  { path, from }: { readonly path: string; readonly from: number },
): Promise<TaskLogReader | undefined> {
  if (basename(dirname(path)) !== basename(directory)) return undefined;
  const here = join(directory, basename(path));
  const found = await lstat(here).catch(unlessCode('ENOENT'));
  return found?.isFile() === true ? new LogReader(here, from) : undefined;
}

const CHUNK_BYTES = 262_144;
/** Before a file has that many bytes there is none after it. */
const MIN_FILE_BYTES = 524_288;
const LINE_END = 10;

class LogReader implements TaskLogReader {
  /** Of the first file, after which the others are named. */
  readonly #head: string;
  readonly #from: number;
  /** The file that is read, where in it, and the number of the line there. */
  #path: string;
  #at = 0;
  #line = 0;
  /** What was read of a line that is not whole yet. */
  #rest: Buffer = Buffer.alloc(0);
  /** Lines that were read, in rows without a gap. */
  readonly #rows: { readonly offset: number; readonly lines: string[] }[] = [];
  #isRemoved = false;

  constructor(path: string, from: number) {
    this.#head = path;
    this.#path = path;
    this.#from = from;
  }

  get isRemoved(): boolean {
    return this.#isRemoved;
  }

  async next(): Promise<TaskLogLines | undefined> {
    while (this.#rows.length === 0) {
      // Before the reading: a file after this one means that this one is complete.
      const after = this.#at < MIN_FILE_BYTES ? undefined : await this.#fileAfter();
      const bytes = await readAt(this.#path, this.#at);
      if (bytes !== undefined && bytes.length > 0) {
        this.#at += bytes.length;
        this.#take(bytes);
        continue;
      }
      // One that is gone was the oldest, and had to make way.
      const next = after ?? (bytes === undefined ? await this.#fileAfter() : undefined);
      this.#isRemoved = bytes === undefined && next === undefined;
      if (next === undefined) return undefined;
      this.#goTo(next);
    }
    return this.#rows.shift();
  }

  /** The lines that `bytes` complete, as far as they are asked for. */
  #take(bytes: Buffer): void {
    const all = Buffer.concat([this.#rest, bytes]);
    const end = all.lastIndexOf(LINE_END) + 1;
    this.#rest = all.subarray(end);
    for (const line of end === 0 ? [] : all.toString('utf8', 0, end - 1).split('\n')) {
      const missing = MISSING_LINES.exec(line)?.[1];
      if (missing === undefined) this.#add(line);
      else this.#line += Number(missing);
    }
  }

  #add(line: string): void {
    const offset = this.#line;
    this.#line += 1;
    if (offset < this.#from) return;
    const row = this.#rows.at(-1);
    if (row !== undefined && row.offset + row.lines.length === offset) row.lines.push(line);
    else this.#rows.push({ offset, lines: [line] });
  }

  #goTo({ name, firstLine }: TailFile): void {
    this.#path = join(dirname(this.#head), name);
    this.#at = 0;
    this.#line = firstLine;
    this.#rest = Buffer.alloc(0);
  }

  async #fileAfter(): Promise<TailFile | undefined> {
    const base = basename(this.#head);
    const read = this.#path === this.#head ? -1 : Number(this.#path.slice(this.#head.length + 1));
    return tailFiles(await namesIn(dirname(this.#head)), base).find(({ firstLine }) => firstLine > read);
  }
}

type TailFile = ReturnType<typeof tailFiles>[number];

/** Undefined: it is not there. */
async function readAt(path: string, at: number): Promise<Buffer | undefined> {
  try {
    const file = await open(path);
    try {
      const { buffer, bytesRead } = await file.read(Buffer.allocUnsafe(CHUNK_BYTES), { position: at });
      return buffer.subarray(0, bytesRead);
    } finally {
      await file.close();
    }
  } catch (error) {
    if (hasCode(error, 'ENOENT')) return undefined;
    throw error;
  }
}
