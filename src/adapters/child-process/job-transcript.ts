/** What happened in one job, as lines of JSON that are only ever appended: `{time, type, data}`. One writer; whoever reads needs nothing of it. */
import { mkdir, open } from 'node:fs/promises';
import type { FileHandle } from 'node:fs/promises';
import { dirname } from 'node:path';
import type { Clock } from '../../actors/clock/clock.ts';
import { messageOf } from '../../machines/errors.ts';
import type { Redaction } from '../../machines/run/redaction.ts';
import { BackgroundTaskError } from '../../machines/task/task-error.ts';

const PRIVATE_FOLDER = 0o700;
const PRIVATE_FILE = 0o600;
const NEWLINE = 0x0a;
/** Longer texts keep their two ends. */
const MAX_TEXT_CHARACTERS = 16_384;
/** What may wait to be written before sources that can wait are made to. */
const COMFORTABLE_BACKLOG_BYTES = 1_048_576;

export interface JobTranscriptOptions {
  readonly path: string;
  readonly clock: Clock;
  readonly redaction: Redaction;
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
      await mkdir(dirname(options.path), { recursive: true, mode: PRIVATE_FOLDER });
      const file = await open(options.path, 'a+', PRIVATE_FILE);
      const { size } = await file.stat();
      const transcript = new JobTranscript(options, file, size);
      if (size > 0 && !(await endsItsLine(file, size))) transcript.#append('\n');
      return transcript;
    } catch (cause) {
      throw new BackgroundTaskError('storage', `the transcript ${options.path} cannot be opened: ${messageOf(cause)}`, { code: 'TRANSCRIPT_UNWRITABLE', hint: 'Make logsDir writable, or leave it out.', cause });
    }
  }

  write(type: string, data: Readonly<Record<string, unknown>>): void {
    if (this.#bytesLeft <= 0) return;
    const { clock, redaction } = this.#options;
    const line = `${JSON.stringify({ time: new Date(clock.now()).toISOString(), type, data: redaction.json(data, MAX_TEXT_CHARACTERS) })}\n`;
    this.#bytesLeft -= Buffer.byteLength(line);
    if (this.#bytesLeft > 0) {
      this.#append(line);
      return;
    }
    this.trouble ??= `it is longer than ${this.#options.maxBytes} bytes`;
    this.#append(`${JSON.stringify({ time: new Date(clock.now()).toISOString(), type: 'system', data: { text: `The transcript ends here: ${this.trouble}.` } })}\n`);
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

async function endsItsLine(file: FileHandle, size: number): Promise<boolean> {
  const last = Buffer.alloc(1);
  await file.read(last, 0, 1, size - 1);
  return last[0] === NEWLINE;
}
