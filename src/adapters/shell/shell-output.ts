/** Carries the output of a process to its log and its captures, as fast as it comes and no faster than a listener allows. */
import type { Readable } from 'node:stream';
import { messageOf } from '../../machines/errors.ts';
import { createLimitedOutputCapture } from '../../machines/task/output-capture.ts';
import type { LimitedOutputCapture } from '../../machines/task/output-capture.ts';
import { quietPeriod } from './deadline.ts';
import type { TaskLog } from './task-log.ts';

export interface ShellOutputChunk {
  readonly taskId: string;
  readonly source: 'stdout' | 'stderr';
  /** Raw bytes; may begin or end inside a line or a character. Must not be changed. */
  readonly chunk: Uint8Array;
}

/** Hears all output as it comes. While a promise it returned is pending, that stream is not read: the process waits. */
export type OnShellOutput = (output: ShellOutputChunk) => void | Promise<void>;

export interface ShellOutputOptions {
  readonly taskId: string;
  readonly stdout: Readable;
  readonly stderr: Readable;
  readonly log: TaskLog;
  readonly limitBytes: number;
  readonly onOutput: OnShellOutput | undefined;
}

/** Output that has stopped for this long, with nobody left to write it, has been read to its end. */
const QUIET_MS = 50;
/** How long a listener that keeps a stream waiting is waited for once the process is gone. */
const MAX_QUIET_PERIODS = 100;

export class ShellOutput {
  readonly head: LimitedOutputCapture;
  readonly tail: LimitedOutputCapture;
  readonly #options: ShellOutputOptions;
  #onOutput: OnShellOutput | undefined;
  /** Both streams have ended. */
  readonly #ended: Promise<void>;
  #hasEnded = false;
  #receivedBytes = 0;
  #waitingListeners = 0;

  constructor(options: ShellOutputOptions) {
    this.#options = options;
    this.#onOutput = options.onOutput;
    this.head = createLimitedOutputCapture(options.limitBytes);
    this.tail = createLimitedOutputCapture(options.limitBytes, { keep: 'tail' });
    this.#ended = Promise.all([this.#carry('stdout', options.stdout), this.#carry('stderr', options.stderr)]).then(() => {
      this.#hasEnded = true;
    });
  }

  /** Once nobody is left to write: reads what is still on its way. False when the streams do not end although they are silent. */
  async settle(): Promise<boolean> {
    for (let periods = 0; !this.#hasEnded && periods < MAX_QUIET_PERIODS; periods += 1) {
      const before = this.#receivedBytes;
      await Promise.race([this.#ended, quietPeriod(QUIET_MS)]);
      if (this.#receivedBytes === before && this.#waitingListeners === 0) break;
    }
    return this.#hasEnded;
  }

  /** Stops reading, whoever still holds the other end. */
  async close(): Promise<void> {
    this.#options.stdout.destroy();
    this.#options.stderr.destroy();
    await this.#ended;
  }

  #carry(source: 'stdout' | 'stderr', stream: Readable): Promise<void> {
    const { log } = this.#options;
    stream.on('data', (chunk: Uint8Array) => {
      this.#receivedBytes += chunk.length;
      log.append(source, chunk);
      this.head.append(chunk, source);
      this.tail.append(chunk, source);
      if (this.#onOutput !== undefined) this.#tell(this.#onOutput, source, stream, chunk);
    });
    return new Promise((resolve) => {
      // A stream that fails is closed next.
      stream.on('error', () => undefined);
      stream.once('close', () => {
        log.endSource(source);
        resolve();
      });
    });
  }

  #tell(listener: OnShellOutput, source: 'stdout' | 'stderr', stream: Readable, chunk: Uint8Array): void {
    try {
      const taken = listener({ taskId: this.#options.taskId, source, chunk });
      if (taken === undefined) return;
      stream.pause();
      this.#waitingListeners += 1;
      taken
        .catch((error: unknown) => this.#drop(error))
        .finally(() => {
          this.#waitingListeners -= 1;
          stream.resume();
        });
    } catch (error) {
      this.#drop(error);
    }
  }

  /** A listener that fails is not called again; the task goes on. */
  #drop(error: unknown): void {
    if (this.#onOutput === undefined) return;
    this.#onOutput = undefined;
    this.#options.log.system(`the output listener failed and hears no more: ${messageOf(error)}`);
  }
}
