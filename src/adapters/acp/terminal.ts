/** One command of an agent's terminals: its output, how it ended, and the end of its whole process tree. */
import type { ProgramExit } from '../../machines/run/program-end.ts';
import { shortened } from '../../machines/vault/shortened.ts';
import type { TrackedProgram } from '../system/tracked-program.ts';
import { within } from '../system/waiting.ts';

/** The end of what a command has written, in as many bytes as are kept, cut between characters. */

export class TerminalOutput {
  readonly #limitBytes: number;
  #parts: Buffer[] = [];
  #bytes = 0;
  #isTruncated = false;

  constructor(limitBytes: number) {
    this.#limitBytes = limitBytes;
  }

  add(chunk: Buffer): void {
    this.#parts.push(chunk);
    this.#bytes += chunk.length;
    // Cut seldom: each cut copies.
    if (this.#bytes > this.#limitBytes * 2 + 65_536) this.#shrink();
  }

  /** @param isWhole nothing more comes: half a character at the end stays one */
  read(isWhole: boolean): { readonly output: string; readonly truncated: boolean } {
    this.#shrink();
    const bytes = Buffer.concat(this.#parts);
    const shown = isWhole ? bytes : bytes.subarray(0, bytes.length - unfinishedBytes(bytes));
    return { output: shown.toString('utf8'), truncated: this.#isTruncated };
  }

  #shrink(): void {
    if (this.#bytes <= this.#limitBytes) return;
    const all = Buffer.concat(this.#parts);
    let start = all.length - this.#limitBytes;
    // In the middle of a character: the rest of it goes too.
    while (start < all.length && isContinuation(all[start])) start += 1;
    const kept = Buffer.from(all.subarray(start));
    this.#parts = [kept];
    this.#bytes = kept.length;
    this.#isTruncated = true;
  }
}

function isContinuation(byte: number | undefined): boolean {
  return byte !== undefined && (byte & 0xc0) === 0x80;
}

/** Bytes at the end that are the beginning of a character. */
function unfinishedBytes(bytes: Buffer): number {
  for (let back = 1; back <= Math.min(4, bytes.length); back += 1) {
    const byte = bytes[bytes.length - back] ?? 0;
    if (isContinuation(byte)) continue;
    const length = byte >= 0xf0 ? 4 : byte >= 0xe0 ? 3 : byte >= 0xc0 ? 2 : 1;
    return length > back ? back : 0;
  }
  return 0;
}

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
