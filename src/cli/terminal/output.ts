/**
 * A stream of this process as a place to write to: as fast as its reader reads, and at peace with a reader that leaves.
 */
import { RuntimeError, messageOf } from '../../machines/errors.ts';
import { stylesFor } from './styles.ts';
import type { Styles } from './styles.ts';

/** How much may wait for a slow reader before the writer has to wait too. */
const MAX_WAITING_BYTES = 1_048_576;

export class Output {
  readonly styles: Styles;
  readonly isTerminal: boolean;
  /** Whether what stands on the last line can be taken back. */
  readonly canRedraw: boolean;
  readonly #stream: NodeJS.WriteStream;
  readonly #onClosed = new Set<() => void>();
  #isClosed = false;
  #isUnbounded = false;
  #failure: Error | undefined;
  #room: Promise<void> | undefined;
  #makeRoom: (() => void) | undefined;

  constructor(stream: NodeJS.WriteStream, environment: Readonly<Record<string, string | undefined>>) {
    this.#stream = stream;
    this.isTerminal = isTerminal(stream);
    this.canRedraw = this.isTerminal && environment['TERM'] !== 'dumb';
    this.styles = stylesFor({ isTerminal: this.isTerminal, environment });
    stream.on('error', (error: NodeJS.ErrnoException) => this.#close(error));
    stream.on('drain', () => this.#freeRoom());
  }

  /** The reader is gone, or nothing can be written. What is written from now on goes nowhere. */
  get isClosed(): boolean {
    return this.#isClosed;
  }

  /** Characters of a line of the terminal; Infinity where lines are not broken. */
  get columns(): number {
    return this.isTerminal ? this.#stream.columns || 80 : Infinity;
  }

  /** Lines of the terminal; Infinity where there is none. */
  get rows(): number {
    return this.isTerminal ? this.#stream.rows || 24 : Infinity;
  }

  /** Calls `listener` once, when the reader has left. */
  onClosed(listener: () => void): void {
    if (this.#isClosed) listener();
    else this.#onClosed.add(listener);
  }

  /** Writes at once. A promise means: wait for it before writing more, since the reader is slow. */
  push(content: string | Uint8Array): Promise<void> | undefined {
    if (this.#isClosed) return undefined;
    this.#stream.write(content);
    if (this.#isUnbounded || this.#isClosed || this.#stream.writableLength <= MAX_WAITING_BYTES) return undefined;
    this.#room ??= new Promise((resolve) => {
      this.#makeRoom = resolve;
    });
    return this.#room;
  }

  /** From here on no writer has to wait: little is left to come. */
  unbound(): void {
    this.#isUnbounded = true;
    this.#freeRoom();
  }

  async write(content: string | Uint8Array): Promise<void> {
    await this.push(content);
  }

  async line(text = ''): Promise<void> {
    await this.push(`${text}\n`);
  }

  /** One JSON document, for programs; laid out, because people check it too. */
  async document(value: unknown): Promise<void> {
    await this.push(`${JSON.stringify(value, undefined, 2)}\n`);
  }

  /** One line of newline-delimited JSON. */
  async record(value: unknown): Promise<void> {
    await this.push(`${JSON.stringify(value)}\n`);
  }

  /**
   * Resolves when everything is written or the reader has left. @throws RuntimeError OUTPUT_FAILED when it could not be
   * written
   */
  async flush(): Promise<void> {
    if (!this.#isClosed) {
      await new Promise<void>((resolve) => {
        this.onClosed(resolve);
        this.#stream.write('', () => resolve());
      });
    }
    if (this.#failure === undefined) return;
    throw new RuntimeError('OUTPUT_FAILED', `the output could not be written: ${messageOf(this.#failure)}`, {
      category: 'storage',
      hint: 'Check where the output goes, such as the space on that disk.',
      cause: this.#failure,
    });
  }

  #close(error: NodeJS.ErrnoException): void {
    // What fails after the first failure is its consequence.
    if (this.#isClosed) return;
    this.#isClosed = true;
    // A reader that has seen enough is how `| head` works.
    if (error.code !== 'EPIPE') this.#failure = error;
    this.#freeRoom();
    for (const listener of this.#onClosed) listener();
    this.#onClosed.clear();
  }

  #freeRoom(): void {
    this.#makeRoom?.();
    this.#makeRoom = undefined;
    this.#room = undefined;
  }
}

/** The mark of a terminal is absent, not false, on other streams. */
function isTerminal({ isTTY = false }: { readonly isTTY?: boolean }): boolean {
  return isTTY;
}
