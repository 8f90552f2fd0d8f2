/**
 * Carries the output of a process to its log and its captures, as fast as it comes and no faster than a listener
 * allows.
 */
import type { ByteRedaction } from '../../actors/environment/session-secrets.ts';
import { messageOf } from '../../machines/errors.ts';
import { createLimitedOutputCapture } from '../../machines/task/output-capture.ts';
import { quietPeriod } from './deadline.ts';
import type { OutputSource } from './output-source.ts';
import type { TaskLog } from './task-log.ts';

interface ShellOutputChunk {
  readonly taskId: string;
  readonly source: 'stdout' | 'stderr';
  /** Raw bytes, the listener's to keep; may begin or end inside a line or a character. */
  readonly chunk: Uint8Array;
}

/** Hears all output as it comes. While a promise it returned is pending, that stream is not read: the process waits. */
export type OnShellOutput = (output: ShellOutputChunk) => void | Promise<void>;

export interface ShellOutputOptions {
  readonly taskId: string;
  readonly stdout: OutputSource;
  readonly stderr: OutputSource;
  readonly log: TaskLog;
  readonly limitBytes: number;
  readonly onOutput: OnShellOutput | undefined;
  /**
   * Takes secrets out of one stream, before anything of it is kept or told. Without it, and where it gives undefined,
   * there are none.
   */
  readonly redaction?: (() => ByteRedaction | undefined) | undefined;
  /** Something was written, whatever it was. */
  readonly onActivity: () => void;
}

/** Output that has stopped for this long, with no writer left, has been read to its end. */
const QUIET_MS = 50;
/** What a pipe holds is read in far less than this many such periods; what still writes then is another process. */
const MAX_PERIODS = 40;

export class ShellOutput {
  readonly head: ReturnType<typeof createLimitedOutputCapture>;
  readonly tail: ReturnType<typeof createLimitedOutputCapture>;
  readonly #options: ShellOutputOptions;
  #onOutput: OnShellOutput | undefined;
  /** Both streams have ended. */
  readonly #ended: Promise<void>;
  #hasEnded = false;
  #receivedBytes = 0;
  /** How many things each stream is paused for. */
  readonly #holds = new Map<OutputSource, number>();

  constructor(options: ShellOutputOptions) {
    this.#options = options;
    this.#onOutput = options.onOutput;
    this.head = createLimitedOutputCapture(options.limitBytes);
    this.tail = createLimitedOutputCapture(options.limitBytes, { keep: 'tail' });
    this.#ended = Promise.all([this.#carry('stdout', options.stdout), this.#carry('stderr', options.stderr)]).then(
      () => {
        this.#hasEnded = true;
      },
    );
  }

  /**
   * Once no writer is left: reads what is still on its way, at the listener's pace unless a caller is in a hurry. False
   * when the streams do not end although they are silent, or go on for long.
   */
  async settle(isHurried: () => boolean): Promise<boolean> {
    for (let periods = 0; !this.#hasEnded && periods < MAX_PERIODS;) {
      const before = this.#receivedBytes;
      await Promise.race([this.#ended, quietPeriod(QUIET_MS)]);
      if (this.#isHeld && !isHurried()) continue;
      periods += 1;
      if (this.#receivedBytes === before && !this.#isHeld) break;
    }
    return this.#hasEnded;
  }

  /** Stops reading, even while a process holds the other end. */
  async close(): Promise<void> {
    this.#options.stdout.destroy();
    this.#options.stderr.destroy();
    await this.#ended;
  }

  get #isHeld(): boolean {
    return [...this.#holds.values()].some((holds) => holds > 0);
  }

  async #carry(source: 'stdout' | 'stderr', stream: OutputSource): Promise<void> {
    const { log, onActivity, redaction } = this.#options;
    const secrets = redaction?.();
    stream.start((chunk) => {
      this.#receivedBytes += chunk.length;
      onActivity();
      this.#take(source, stream, secrets === undefined ? chunk : secrets.add(chunk));
    });
    await stream.closed;
    if (secrets !== undefined) this.#take(source, stream, secrets.end());
    log.endSource(source);
  }

  #take(source: 'stdout' | 'stderr', stream: OutputSource, chunk: Uint8Array): void {
    if (chunk.length === 0) return;
    this.#hold(stream, this.#options.log.append(source, chunk));
    this.head.append(chunk, source);
    this.tail.append(chunk, source);
    if (this.#onOutput !== undefined) this.#tell(this.#onOutput, source, stream, chunk);
  }

  #tell(listener: OnShellOutput, source: 'stdout' | 'stderr', stream: OutputSource, chunk: Uint8Array): void {
    try {
      this.#hold(
        stream,
        listener({ taskId: this.#options.taskId, source, chunk: chunk.slice() })?.catch((error: unknown) =>
          this.#drop(error),
        ),
      );
    } catch (error) {
      this.#drop(error);
    }
  }

  /** Does not read the stream while `wait` is pending. It may be held for several reasons at once. */
  #hold(stream: OutputSource, wait: Promise<void> | undefined): void {
    if (wait === undefined) return;
    stream.pause();
    this.#holds.set(stream, (this.#holds.get(stream) ?? 0) + 1);
    void wait.finally(() => {
      const left = (this.#holds.get(stream) ?? 1) - 1;
      this.#holds.set(stream, left);
      if (left === 0) stream.resume();
    });
  }

  /** A listener that fails is not called again; the task goes on. */
  #drop(error: unknown): void {
    if (this.#onOutput === undefined) return;
    this.#onOutput = undefined;
    this.#options.log.system(`the output listener failed and hears no more: ${messageOf(error)}`);
  }
}
