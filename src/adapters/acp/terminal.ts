/** One command of an agent's terminals: its output, how it ended, and the end of its whole process tree. */
import type { ProgramExit } from '../../machines/run/program-end.ts';
import { shortened } from '../../machines/vault/shortened.ts';
import { within } from '../system/waiting.ts';
import type { TrackedProgram } from '../system/tracked-program.ts';
import { TerminalOutput } from './terminal-output.ts';

const MAX_SHOWN_CHARACTERS = 30_000;
/** After the end of a command, how long its last words may take to arrive: a grandchild may hold its output open. */
const LAST_WORDS_MS = 250;

export interface TerminalOptions {
  readonly program: TrackedProgram<undefined>;
  readonly outputLimitBytes: number;
  /** Between SIGTERM and SIGKILL, in milliseconds. */
  readonly killGraceMs: number;
  readonly onOutput: () => void;
}

export interface TerminalExit {
  readonly exitCode: number | null;
  readonly signal: string | null;
}

export class Terminal {
  readonly #options: TerminalOptions;
  readonly #output: TerminalOutput;
  #exit: TerminalExit | undefined;
  #isEnded = false;
  /** Resolves when the command has ended and said its last words. */
  readonly exited: Promise<TerminalExit>;

  constructor(options: TerminalOptions) {
    this.#options = options;
    this.#output = new TerminalOutput(options.outputLimitBytes);
    const { stdout, stderr, exited } = options.program;
    for (const stream of [stdout, stderr]) {
      stream.on('data', (chunk: Buffer) => {
        this.#output.add(chunk);
        options.onOutput();
      });
    }
    const closed = Promise.all(
      [stdout, stderr].map((stream) => new Promise<void>((resolve) => stream.once('close', resolve))),
    );
    this.exited = exited.then(async (exit) => {
      await within(closed, LAST_WORDS_MS);
      this.#exit = exitOf(exit);
      return this.#exit;
    });
  }

  /** Whether it has been ended. */
  get wasEnded(): boolean {
    return this.#isEnded;
  }

  read(): { readonly output: string; readonly truncated: boolean; readonly exit: TerminalExit | undefined } {
    return { ...this.#output.read(this.#exit !== undefined), exit: this.#exit };
  }

  /**
   * Resolves when the command and all that it started are gone. Once it has ended by itself this ends what it left
   * behind.
   */
  async end(): Promise<void> {
    this.#isEnded ||= this.#exit === undefined;
    await this.#options.program.end({ graceMs: this.#options.killGraceMs });
  }

  /** How it went, for people. */
  shown(): object {
    const { output, exit } = this.read();
    return {
      exitCode: exit?.exitCode ?? null,
      ...(exit?.signal === null || exit === undefined ? {} : { signal: exit.signal }),
      output: shortened(output, MAX_SHOWN_CHARACTERS),
    };
  }
}

function exitOf({ code, signal }: ProgramExit): TerminalExit {
  return { exitCode: code ?? null, signal: signal ?? null };
}
