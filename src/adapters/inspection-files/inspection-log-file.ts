/**
 * Writes what is recorded into a file as it happens: an inspection log, compressed where the file is named `*.gz`.
 *
 * Nothing is kept for a slow disk: it is read from the recorder as fast as it can be written, and what has fallen out
 * there meanwhile is missing here, which the numbers of the records say.
 */
import { open } from 'node:fs/promises';
import type { FileHandle } from 'node:fs/promises';
import { PassThrough } from 'node:stream';
import type { Transform } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { constants, createGzip } from 'node:zlib';
import type { InspectionRecording } from '../../actors/inspection/inspection-source.ts';
import { RuntimeError, messageOf } from '../../machines/errors.ts';
import type { InspectionRecord } from '../../machines/inspection-log/inspection-record.ts';
import { hasCode } from '../system/error-codes.ts';

export interface InspectionLogFileOptions {
  /** Absolute. It must not be there yet. */
  readonly path: string;
  readonly recording: Pick<InspectionRecording, 'header' | 'range' | 'records' | 'follow'>;
  /** What else goes into it: lines that are no records. */
  readonly beside?: LinesBeside | undefined;
  /** Told once why nothing more can be written. What was written until then stays. */
  readonly onTrouble: (error: RuntimeError) => void;
}

export interface LinesBeside {
  /** From now on what it has may be written: a whole line each. `write` resolves when more can be taken. */
  begin(write: (line: string) => Promise<void>): void;
  /** Told of records after they were written. */
  see(records: readonly InspectionRecord[]): void;
  /** Writes what is left. */
  end(): Promise<void>;
}

export interface WrittenLog {
  readonly records: number;
  /** Records that were gone before they could be written. */
  readonly missing: number;
}

const MODE = 0o600;

/**
 * Makes the file, which only its owner reads, and writes until it is closed. @throws RuntimeError
 * INSPECTION_LOG_EXISTS, STORAGE_FAILED
 */
export async function writeInspectionLog(options: InspectionLogFileOptions): Promise<InspectionLogFile> {
  return new InspectionLogFile(options, await made(options.path));
}

/** Whatever is at that path, a link too, stays what it is. */
async function made(path: string): Promise<FileHandle> {
  try {
    return await open(path, 'wx', MODE);
  } catch (cause) {
    if (hasCode(cause, 'EEXIST')) {
      throw new RuntimeError(
        'INSPECTION_LOG_EXISTS',
        `expected ${path} to be a new file; there is something of that name`,
        {
          category: 'conflict',
          hint: 'Name another file, or move that one away: a recording never writes over anything.',
          cause,
        },
      );
    }
    throw new RuntimeError('STORAGE_FAILED', `could not make the recording ${path}: ${messageOf(cause)}`, {
      category: 'storage',
      hint: 'Name a file in a folder that is there and can be written.',
      cause,
    });
  }
}

export class InspectionLogFile {
  readonly #options: InspectionLogFileOptions;
  readonly #input: Transform;
  readonly #written: Promise<void>;
  readonly #leave: () => void;
  #next: number;
  #records = 0;
  #missing = 0;
  #writing: Promise<void> | undefined;
  #isWriting = false;
  /** Something came since it was checked last. */
  #isBehind = false;
  #hasFailed = false;
  #closing: Promise<WrittenLog> | undefined;

  constructor(options: InspectionLogFileOptions, handle: FileHandle) {
    const { path, recording } = options;
    this.#options = options;
    // What was given to it goes to the file at once: of a process that is killed only the last moment is missing.
    this.#input = path.endsWith('.gz') ? createGzip({ flush: constants.Z_SYNC_FLUSH }) : new PassThrough();
    this.#written = written(this.#input, handle);
    this.#written.catch((error: unknown) => this.#fail(error));
    this.#next = recording.range().first;
    this.#input.write(`${JSON.stringify(recording.header)}\n`);
    options.beside?.begin((line) => this.#write(`${line}\n`));
    this.#leave = recording.follow(() => this.#goOn());
    this.#goOn();
  }

  /**
   * Writes what there is still, and ends the file. Never rejects: what goes wrong is told to `onTrouble`. Idempotent.
   */
  close(): Promise<WrittenLog> {
    return (this.#closing ??= this.#close());
  }

  /** Writes what there is, and what else goes into it to its end. Never rejects. Idempotent. */
  async endBeside(): Promise<void> {
    this.#goOn();
    await this.#writing;
    await this.#options.beside?.end();
  }

  async #close(): Promise<WrittenLog> {
    this.#leave();
    await this.endBeside();
    // Records of the meantime.
    this.#goOn();
    await this.#writing;
    this.#input.end();
    await this.#written.catch(() => undefined);
    return { records: this.#records, missing: this.#missing };
  }

  #goOn(): void {
    this.#isBehind = true;
    if (this.#isWriting || this.#hasFailed) return;
    this.#isWriting = true;
    this.#writing = this.#writeAll().catch((error: unknown) => this.#fail(error));
  }

  async #writeAll(): Promise<void> {
    while (this.#isBehind && !this.#hasFailed) {
      this.#isBehind = false;
      for await (const page of this.#options.recording.records(this.#next)) {
        if (this.#hasFailed) return;
        const [oldest, newest] = [page[0], page.at(-1)];
        if (oldest === undefined || newest === undefined) continue;
        this.#missing += oldest.s - this.#next;
        this.#next = newest.s + 1;
        this.#records += page.length;
        await this.#write(`${page.map((record) => JSON.stringify(record)).join('\n')}\n`);
        this.#options.beside?.see(page);
      }
    }
    // In the same turn as the last check: what comes from now on begins anew.
    this.#isWriting = false;
  }

  /** Resolves when more can be taken, or never will be. */
  async #write(text: string): Promise<void> {
    const input = this.#input;
    if (this.#hasFailed) return;
    if (input.write(text) || input.destroyed) return;
    await new Promise<void>((resolve) => {
      const goOn = (): void => {
        input.off('drain', goOn).off('close', goOn);
        resolve();
      };
      input.on('drain', goOn).on('close', goOn);
    });
  }

  #fail(cause: unknown): void {
    if (this.#hasFailed) return;
    this.#hasFailed = true;
    this.#leave();
    this.#input.destroy();
    const { path, onTrouble } = this.#options;
    onTrouble(
      new RuntimeError('STORAGE_FAILED', `the recording ${path} ends early: ${messageOf(cause)}`, {
        category: 'storage',
        hint: 'What was recorded until then is in it.',
        cause,
      }),
    );
  }
}

/** Writes whatever comes, and sees to it that it is on the disk in the end. */
async function written(input: Transform, handle: FileHandle): Promise<void> {
  try {
    await pipeline(input, async (chunks: AsyncIterable<Uint8Array>) => {
      for await (const chunk of chunks) await handle.writeFile(chunk);
    });
    await handle.sync();
  } finally {
    await handle.close();
  }
}
