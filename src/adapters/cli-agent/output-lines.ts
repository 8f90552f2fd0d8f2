/** Listens to what a program says until it has ended: line by line, bounded, with an eye on what is unreadable. */
import { setImmediate } from 'node:timers/promises';
import { beginningOf } from '../../machines/cut-text.ts';
import type { ProgramExit } from '../../machines/run/program-end.ts';
import { LineReader } from '../../machines/run/line-reader.ts';
import type { Line } from '../../machines/run/line-reader.ts';
import type { SecretRedaction } from '../../machines/vault/secret-redaction.ts';
import type { TrackedProgram } from '../system/tracked-program.ts';
import { pause, within } from '../system/waiting.ts';
import type { CliFact, CliReading } from './dialect.ts';

/** For one message. */
const MAX_LINE_BYTES = 16 * 1024 * 1024;
/** Lines that are no messages; a program that has more of them speaks another language. */
const MAX_NOISE_LINES = 10_000;
/** Of a line that cannot be read. */
const SAMPLE_CHARACTERS = 200;
/** After the end of the program, how long its last words may take to arrive: a grandchild may hold its output open. */
const LAST_WORDS_MS = 250;
/** After the end of its output, how long a program may take to end. */
const LAST_STEPS_MS = 2_000;

export interface OutputLinesOptions {
  readonly read: (line: string) => CliReading;
  readonly redaction: SecretRedaction;
  readonly onFacts: (facts: readonly CliFact[]) => void;
  /** A message came that means something. One that merely keeps a connection alive says nothing about the program. */
  readonly onSign: () => void;
  /** It cannot be listened to any longer. */
  readonly onBroken: (message: string) => void;
  /** Nothing more comes. Absent: it has closed its output and lives on. */
  readonly onEnd: (exit: ProgramExit | undefined) => void;
  readonly onNews: (message: string) => void;
}

export class OutputLines {
  readonly #options: OutputLinesOptions;
  readonly #lines = new LineReader(MAX_LINE_BYTES);
  #bytes = 0;
  #noiseCount = 0;
  #lastNoise = '';
  #unknownCount = 0;
  #hasMessages = false;
  #isBroken = false;

  constructor(process: TrackedProgram, options: OutputLinesOptions) {
    this.#options = options;
    const { stdout, stderr, exited } = process;
    stdout.on('data', (chunk: Buffer) => {
      this.#bytes += chunk.length;
      this.#take(this.#lines.add(chunk));
    });
    stdout.once('end', () => this.#take(this.#lines.end()));
    const closed = [stdout, stderr].map((stream) => new Promise<void>((resolve) => stream.once('close', resolve)));
    void exited.then(async (exit) => {
      await Promise.race([Promise.all(closed), this.#quiet()]);
      options.onEnd(exit);
    });
    stdout.once('end', () => {
      void within(exited, LAST_STEPS_MS, { keepsAlive: false }).then(
        (exit) => exit === undefined && options.onEnd(undefined),
      );
    });
  }

  /** What else came, as half a sentence; undefined when nothing did. */
  get noise(): string | undefined {
    if (this.#noiseCount === 0) return undefined;
    const sample = beginningOf(this.#options.redaction.text(this.#lastNoise), SAMPLE_CHARACTERS);
    return `${this.#noiseCount} lines of its output are no messages, the last is: ${sample}`;
  }

  /** Whether anything that came was a message. */
  get hasMessages(): boolean {
    return this.#hasMessages;
  }

  /** Tells people what was passed over. */
  report(): void {
    const { noise } = this;
    if (noise !== undefined) this.#options.onNews(noise);
    if (this.#unknownCount > 0)
      this.#options.onNews(`${this.#unknownCount} messages of kinds that are not known here were passed over`);
  }

  #take(lines: readonly Line[]): void {
    for (const line of lines) {
      if (this.#isBroken) return;
      if (line.kind === 'line') this.#readLine(line.text);
      else this.#break(`a line of its output is longer than ${MAX_LINE_BYTES} bytes`);
    }
  }

  #readLine(line: string): void {
    const reading = this.#understand(line);
    if (reading === 'noise') return this.#countNoise(line);
    this.#hasMessages = true;
    if (reading === 'unknown') {
      this.#unknownCount += 1;
      return;
    }
    this.#options.onSign();
    this.#options.onFacts(reading);
  }

  /** A message may be nested more deeply than the stack. */
  #understand(line: string): CliReading {
    try {
      return this.#options.read(line);
    } catch {
      return 'noise';
    }
  }

  #countNoise(line: string): void {
    this.#noiseCount += 1;
    this.#lastNoise = line.slice(0, SAMPLE_CHARACTERS * 2 + this.#options.redaction.longest);
    if (this.#noiseCount > MAX_NOISE_LINES) this.#break(this.noise ?? '');
  }

  #break(message: string): void {
    this.#isBroken = true;
    this.#options.onBroken(message);
  }

  /** Resolves when the output has rested for a while. */
  async #quiet(): Promise<void> {
    let before: number;
    do {
      before = this.#bytes;
      await pause(LAST_WORDS_MS, { keepsAlive: false });
      // A timer that is late comes before what has arrived in the meantime.
      await setImmediate();
    } while (this.#bytes !== before);
  }
}
