/**
 * Runs the commands that print secrets: directly, alone in a process group, for a limited time, with what they complain
 * about going nowhere.
 */
import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import type { Clock } from '../../actors/clock/clock.ts';
import type { SecretCommand, SecretCommandEnd } from '../../actors/run/secret-reader.ts';
import { systemCodeOf } from '../system/error-codes.ts';

const DEFAULT_TIME_LIMIT_MS = 10_000;

/** No secret is as long. */
const MAX_OUTPUT_BYTES = 65_536;

/**
 * What a program wrote last may come a moment after its end; whom it left behind with its output open is not waited for
 * longer.
 */
const LINGER_MS = 500;

export interface KeychainCommandOptions {
  readonly clock: Pick<Clock, 'setTimeout' | 'clearTimeout'>;
  /** What the commands get. */
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** In milliseconds. Default 10,000. */
  readonly timeLimitMs?: number | undefined;
}

export function createKeychainCommand(options: KeychainCommandOptions): SecretCommand {
  return (command, { signal }) => new KeychainRun(options).run(command, signal);
}

/** One run: it resolves once, with whatever ends it first, and the program is gone by then. */
class KeychainRun {
  readonly #options: KeychainCommandOptions;
  readonly #chunks: Buffer[] = [];
  #bytes = 0;
  /** Why it was ended by us. */
  #because: string | undefined;

  constructor(options: KeychainCommandOptions) {
    this.#options = options;
  }

  async run([program = '', ...words]: readonly string[], signal: AbortSignal): Promise<SecretCommandEnd> {
    if (signal.aborted) return { kind: 'failed', because: 'was not run: no caller waits for it any more' };
    const { clock, environment, timeLimitMs = DEFAULT_TIME_LIMIT_MS } = this.#options;
    let child: ChildProcess;
    try {
      child = spawn(program, words, { env: { ...environment }, detached: true, stdio: ['ignore', 'pipe', 'ignore'] });
    } catch (error) {
      return { kind: 'failed', because: `could not be started: ${reasonOf(error)}` };
    }
    const stop = (because: string): void => this.#stop(child, because);
    const giveUp = (): void => stop('was ended: no caller waits for it any more');
    const timer = clock.setTimeout(() => stop(`did not end within ${timeLimitMs} ms`), timeLimitMs);
    signal.addEventListener('abort', giveUp, { once: true });
    child.stdout?.on('data', (chunk: Buffer) => this.#keep(chunk, stop));
    try {
      return await this.#ended(child);
    } finally {
      clock.clearTimeout(timer);
      signal.removeEventListener('abort', giveUp);
      child.stdout?.destroy();
    }
  }

  #keep(chunk: Buffer, stop: (because: string) => void): void {
    this.#bytes += chunk.length;
    if (this.#bytes > MAX_OUTPUT_BYTES) stop(`has printed more than ${MAX_OUTPUT_BYTES} bytes`);
    else this.#chunks.push(chunk);
  }

  #stop(child: ChildProcess, because: string): void {
    this.#because ??= because;
    killGroup(child);
  }

  #ended(child: ChildProcess): Promise<SecretCommandEnd> {
    const { clock } = this.#options;
    return new Promise((resolve) => {
      child.once('error', (error) => {
        if (child.pid === undefined) resolve({ kind: 'failed', because: `could not be started: ${reasonOf(error)}` });
      });
      child.once('exit', (code, signalName) => {
        // Ended for being slow: what it started is ended with it, also what it started at the last moment.
        if (this.#because !== undefined) killGroup(child);
        const settle = (): void => {
          clock.clearTimeout(linger);
          resolve(this.#endOf(code, signalName));
        };
        const linger = clock.setTimeout(settle, LINGER_MS);
        child.once('close', settle);
      });
    });
  }

  #endOf(code: number | null, signalName: NodeJS.Signals | null): SecretCommandEnd {
    if (this.#because !== undefined) return { kind: 'failed', because: this.#because };
    if (code === null) return { kind: 'failed', because: `was ended by ${String(signalName)}` };
    if (code !== 0) return { kind: 'failed', because: `ended with exit code ${code}` };
    return { kind: 'printed', text: Buffer.concat(this.#chunks).toString('utf8') };
  }
}

/** Not politely: it reads a secret, it has nothing to put in order. */
function killGroup(child: ChildProcess): void {
  if (child.pid === undefined) return;
  try {
    if (process.platform === 'win32') child.kill('SIGKILL');
    else process.kill(-child.pid, 'SIGKILL');
  } catch {
    // It is gone.
  }
}

/** In our words: those of Node might quote the environment. */
function reasonOf(error: unknown): string {
  switch (systemCodeOf(error)) {
    case 'ENOENT':
      return 'there is no such program';
    case 'EACCES':
      return 'it may not be executed';
    case 'ERR_INVALID_ARG_VALUE':
      return 'its arguments or its environment cannot be given to a program';
    case 'E2BIG':
      return 'its arguments and its environment are too long for the system';
    case undefined:
    default:
      return 'the system refused it';
  }
}
