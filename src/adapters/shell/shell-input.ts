/** The input of a running process: written with backpressure, closed once, and never a reason for the host to fail. */
import type { Writable } from 'node:stream';
import { BackgroundTaskError } from '../../machines/task/task-error.ts';

export interface ShellInputOptions {
  readonly taskId: string;
  /** Undefined when the process was started without an input. */
  readonly stream: Writable | undefined;
  /** Most bytes that may wait for a process which does not read. */
  readonly limitBytes: number;
}

export class ShellInput {
  readonly #options: ShellInputOptions;
  #waitingBytes = 0;
  /** Why nothing can be written any more. */
  #closed: string | undefined;

  constructor(options: ShellInputOptions) {
    this.#options = options;
    const { stream } = options;
    if (stream === undefined) this.#closed = 'it was started without an input';
    // The reader may go away at any time (EPIPE): a caller that waits for a write hears of it, no other has to.
    stream?.on('error', () => {
      this.#closed ??= 'the process has closed its input';
    });
    stream?.on('close', () => {
      this.#closed ??= 'the process has closed its input';
    });
  }

  /**
   * Resolves when the process's side has taken the text. Several writes keep their order.
   * @throws BackgroundTaskError category `runner` when the input is closed, or closes before it is all taken;
   * `capacity` when too much waits
   */
  async write(text: string, { end }: { readonly end: boolean }): Promise<void> {
    const { taskId, stream, limitBytes } = this.#options;
    if (this.#closed !== undefined || stream === undefined) throw this.#refusal();
    const bytes = Buffer.byteLength(text);
    if (this.#waitingBytes + bytes > limitBytes) {
      throw new BackgroundTaskError(
        'capacity',
        `task ${taskId} would have ${this.#waitingBytes + bytes} bytes of input waiting, at most ${limitBytes} may`,
        {
          code: 'TASK_INPUT_FULL',
          hint: 'The process reads more slowly than it is written to: wait for earlier sends, or pass a file.',
          details: { waitingBytes: this.#waitingBytes, limitBytes },
        },
      );
    }
    this.#waitingBytes += bytes;
    try {
      await new Promise<void>((resolve, reject) => {
        stream.write(text, (error) => {
          // A stream that is torn down under a write reports it as done.
          if (error || stream.destroyed) reject(error ?? new Error('the input was torn down'));
          else resolve();
        });
        if (end) {
          this.#closed = 'it was closed by an earlier write';
          stream.end();
        }
      });
    } catch (cause) {
      throw this.#refusal(cause);
    } finally {
      this.#waitingBytes -= bytes;
    }
  }

  /**
   * Nothing more can be written. The process does not notice: it must not end by itself because it is about to be
   * ended.
   */
  refuse(reason: string): void {
    this.#closed ??= reason;
  }

  /** The process is gone: what still waits is given up. */
  close(reason: string): void {
    this.refuse(reason);
    this.#options.stream?.destroy();
  }

  #refusal(cause?: unknown): BackgroundTaskError {
    const reason = this.#closed ?? 'the process has closed its input';
    return new BackgroundTaskError('runner', `task ${this.#options.taskId} takes no input: ${reason}`, {
      code: 'TASK_INPUT_CLOSED',
      hint: 'Send with end: false to keep the input open, and run commands that read input in background mode.',
      cause,
    });
  }
}
