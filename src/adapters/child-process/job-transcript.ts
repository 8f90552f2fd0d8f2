/**
 * What happened in one job, as lines of JSON that are only ever appended: `{time, type, data}`. One writer; a reader
 * needs nothing of it.
 */
import { constants } from 'node:fs';
import { mkdir, open, realpath } from 'node:fs/promises';
import type { FileHandle } from 'node:fs/promises';
import { basename, dirname, join, relative, sep } from 'node:path';
import type { Clock } from '../../actors/clock/clock.ts';
import { messageOf } from '../../machines/errors.ts';
import type { SecretRedaction } from '../../machines/vault/secret-redaction.ts';
import { BackgroundTaskError } from '../../machines/task/task-error.ts';
import { unlessCode } from '../system/error-codes.ts';

const PRIVATE_FOLDER = 0o700;
const PRIVATE_FILE = 0o600;
const NEWLINE = 0x0a;
/** Longer texts keep their two ends. */
const MAX_TEXT_CHARACTERS = 16_384;
/** What may wait to be written before sources that can wait are made to. */
const COMFORTABLE_BACKLOG_BYTES = 1_048_576;

/** A process that knows the names of jobs to come may have put a link or a pipe there. */
const APPEND_TO_A_FILE =
  constants.O_RDWR | constants.O_APPEND | constants.O_CREAT | constants.O_NOFOLLOW | constants.O_NONBLOCK;

export interface JobTranscriptOptions {
  readonly path: string;
  /**
   * The folder of transcripts: links above it are its owner's, none below it is followed. Default: that of the file.
   */
  readonly root?: string | undefined;
  readonly clock: Clock;
  readonly redaction: SecretRedaction;
  readonly maxBytes: number;
}

export class JobTranscript {
  readonly path: string;
  /** Why it is not complete, where it is not. A job goes on without. */
  trouble: string | undefined;
  readonly #options: JobTranscriptOptions;
  readonly #file: FileHandle;
  #bytesLeft: number;
  #waiting = '';
  #writing: Promise<void> | undefined;

  private constructor(options: JobTranscriptOptions, file: FileHandle, bytes: number) {
    this.path = options.path;
    this.#options = options;
    this.#file = file;
    this.#bytesLeft = options.maxBytes - bytes;
  }

  /** Goes on with one that is there, on a line of its own. @throws BackgroundTaskError category `storage` */
  static async open(options: JobTranscriptOptions): Promise<JobTranscript> {
    try {
      const file = await openedFile(options);
      const { size } = await file.stat();
      const transcript = new JobTranscript(options, file, size);
      if (size > 0 && !(await endsItsLine(file, size))) transcript.#append('\n');
      return transcript;
    } catch (cause) {
      throw new BackgroundTaskError('storage', `the transcript ${options.path} cannot be opened: ${messageOf(cause)}`, {
        code: 'TRANSCRIPT_UNWRITABLE',
        hint: 'Make logsDir writable, or leave it out.',
        cause,
      });
    }
  }

  write(type: string, data: Readonly<Record<string, unknown>>): void {
    if (this.#bytesLeft <= 0) return;
    const { clock, redaction } = this.#options;
    const line = `${JSON.stringify({ time: new Date(clock.now()).toISOString(), type, data: redaction.json(data, { maxCharacters: MAX_TEXT_CHARACTERS }) })}\n`;
    this.#bytesLeft -= Buffer.byteLength(line);
    if (this.#bytesLeft > 0) {
      this.#append(line);
      return;
    }
    this.trouble ??= `it is longer than ${this.#options.maxBytes} bytes`;
    this.#append(
      `${JSON.stringify({ time: new Date(clock.now()).toISOString(), type: 'system', data: { text: `The transcript ends here: ${this.trouble}.` } })}\n`,
    );
  }

  /** Undefined when there is no need to wait: else a source is to stop until it resolves. */
  get pressure(): Promise<void> | undefined {
    return this.#waiting.length > COMFORTABLE_BACKLOG_BYTES ? this.#writing : undefined;
  }

  /** Resolves when all is in the file. Never rejects: see `trouble`. */
  async close(): Promise<void> {
    await this.#writing;
    await this.#file.close().catch(() => undefined);
  }

  #append(text: string): void {
    this.#waiting += text;
    this.#writing ??= this.#writeAll();
  }

  async #writeAll(): Promise<void> {
    // What comes in the same turn goes into one write.
    await Promise.resolve();
    while (this.#waiting !== '') {
      const text = this.#waiting;
      this.#waiting = '';
      try {
        await this.#file.appendFile(text);
      } catch (error) {
        this.trouble ??= `it could not be written: ${messageOf(error)}`;
        this.#bytesLeft = 0;
        this.#waiting = '';
      }
    }
    this.#writing = undefined;
  }
}

/** @throws Error when something else than a file of its own is there, or on the way there */
async function openedFile({ path, root = dirname(path) }: JobTranscriptOptions): Promise<FileHandle> {
  const folder = dirname(path);
  await mkdir(root, { recursive: true, mode: PRIVATE_FOLDER });
  // The folders below are made one after the other, each checked before anything is made in it.
  let real = await realpath(root);
  for (const name of relative(root, folder)
    .split(sep)
    .filter((part) => part !== '')) {
    await mkdir(join(real, name), { mode: PRIVATE_FOLDER }).catch(unlessCode('EEXIST'));
    const expected = join(real, name);
    real = await realpath(expected);
    if (real !== expected) throw new Error(`expected a folder at ${expected}, found a link`);
  }
  const file = await open(join(real, basename(path)), APPEND_TO_A_FILE, PRIVATE_FILE);
  const stats = await file.stat();
  if (stats.isFile() && stats.nlink === 1) return file;
  await file.close();
  throw new Error('expected a file of its own, found something else under its name');
}

async function endsItsLine(file: FileHandle, size: number): Promise<boolean> {
  const last = Buffer.alloc(1);
  await file.read(last, 0, 1, size - 1);
  return last[0] === NEWLINE;
}
