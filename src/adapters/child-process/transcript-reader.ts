/**
 * Pages of a transcript. Where every so-manieth line begins is remembered, so that a page costs what is on it however
 * long the file is, and what was appended since the last page is scanned once.
 */
import { open } from 'node:fs/promises';
import type { FileHandle } from 'node:fs/promises';
import * as z from 'zod';
import { beginningOf } from '../../machines/cut-text.ts';
import { DEFAULT_LOG_PAGE_LINES, clampLogOffset, logPage, prefixedLogLine } from '../../machines/task/log-pages.ts';
import type { BackgroundTaskLogCursor, BackgroundTaskLogPage } from '../../machines/task/task-state.ts';
import { hasCode } from '../system/error-codes.ts';
import { READING_NO_LINK } from '../system/own-files.ts';

const CHUNK_BYTES = 65_536;
const NEWLINE = 0x0a;
/** Lines between two remembered places. */
const STRIDE_LINES = 256;
const MAX_SHOWN_CHARACTERS = 2_000;

const entry = z.object({ type: z.string(), data: z.record(z.string(), z.unknown()).optional() });

export class TranscriptReader {
  readonly #jobId: string;
  readonly #path: string;
  /** Where lines 0, STRIDE_LINES, 2 * STRIDE_LINES ... begin. */
  readonly #places: number[] = [0];
  /** Whole lines found so far, and where the next one begins. */
  #lines = 0;
  #end = 0;
  #checking: Promise<unknown> = Promise.resolve();

  constructor({ jobId, path }: { readonly jobId: string; readonly path: string }) {
    this.#jobId = jobId;
    this.#path = path;
  }

  /**
   * A line that is not finished yet, or was torn at the end by a crash, is on no page. A file that is not there has no
   * lines.
   */
  page(cursor?: BackgroundTaskLogCursor): Promise<BackgroundTaskLogPage> {
    // One after the other: two that scan the same new lines would count them twice.
    const page = this.#checking.then(() => this.#page(cursor));
    this.#checking = page.catch(() => undefined);
    return page;
  }

  async #page(cursor: BackgroundTaskLogCursor | undefined): Promise<BackgroundTaskLogPage> {
    const file = await open(this.#path, READING_NO_LINK).catch((error: unknown) => {
      if (hasCode(error, 'ENOENT')) return undefined;
      throw error;
    });
    if (file === undefined) return logPage({ taskId: this.#jobId, offset: 0, lines: [], end: 0 });
    try {
      await this.#scan(file);
      const offset = clampLogOffset(cursor?.offset, { first: 0, end: this.#lines });
      const lines = await this.#read(file, offset, Math.min(DEFAULT_LOG_PAGE_LINES, this.#lines - offset));
      return logPage({ taskId: this.#jobId, offset, lines, end: this.#lines });
    } finally {
      await file.close();
    }
  }

  /** Finds the lines that are new. */
  async #scan(file: FileHandle): Promise<void> {
    let position = this.#end;
    for await (const chunk of chunksFrom(file, position)) {
      for (let at = chunk.indexOf(NEWLINE); at !== -1; at = chunk.indexOf(NEWLINE, at + 1)) {
        this.#lines += 1;
        this.#end = position + at + 1;
        if (this.#lines % STRIDE_LINES === 0) this.#places.push(this.#end);
      }
      position += chunk.length;
    }
  }

  async #read(file: FileHandle, offset: number, count: number): Promise<readonly string[]> {
    if (count <= 0) return [];
    const stride = Math.floor(offset / STRIDE_LINES);
    const wanted = offset - stride * STRIDE_LINES + count;
    const parts: Buffer[] = [];
    let found = 0;
    for await (const chunk of chunksFrom(file, this.#places[stride] ?? 0)) {
      parts.push(Buffer.from(chunk));
      for (let at = chunk.indexOf(NEWLINE); at !== -1 && found < wanted; at = chunk.indexOf(NEWLINE, at + 1))
        found += 1;
      if (found >= wanted) break;
    }
    return Buffer.concat(parts)
      .toString('utf8')
      .split('\n')
      .slice(wanted - count, wanted)
      .map(shownLine);
  }
}

async function* chunksFrom(file: FileHandle, start: number): AsyncGenerator<Buffer> {
  const buffer = Buffer.alloc(CHUNK_BYTES);
  for (let position = start; ;) {
    const { bytesRead } = await file.read(buffer, 0, CHUNK_BYTES, position);
    if (bytesRead === 0) return;
    yield buffer.subarray(0, bytesRead);
    position += bytesRead;
  }
}

/** As people read it. */
function shownLine(line: string): string {
  const parsed = entry.safeParse(jsonOf(line));
  if (!parsed.success)
    return prefixedLogLine('system', `a line that cannot be read: ${beginningOf(line, MAX_SHOWN_CHARACTERS)}`);
  const { type, data = {} } = parsed.data;
  const text = data['text'];
  const shown = typeof text === 'string' ? text : JSON.stringify(data);
  return prefixedLogLine(type, beginningOf(shown, MAX_SHOWN_CHARACTERS).replace(/\r?\n/g, ' ⏎ '));
}

function jsonOf(line: string): unknown {
  try {
    return JSON.parse(line);
  } catch {
    return undefined;
  }
}
