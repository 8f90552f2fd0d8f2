/** Writes down what a worker says and does: whole lines of its text and its output, the messages, and notes of ours. */
import type { Readable } from 'node:stream';
import { TextTail } from '../../actors/run/text-tail.ts';
import type { SecretRedaction } from '../../machines/vault/secret-redaction.ts';
import type { JobTranscript } from './job-transcript.ts';

/** Makes lines of text that comes in pieces. Empty ones are left out, and what has no end is cut. */

const MAX_LINE_CHARACTERS = 8_192;

export class LineSplitter {
  readonly #onLine: (line: string) => void;
  /** Pieces of the line that is not finished yet: joined once, however many they are. */
  #pieces: string[] = [];
  #characters = 0;

  constructor(onLine: (line: string) => void) {
    this.#onLine = onLine;
  }

  add(text: string): void {
    let from = 0;
    for (let at = text.indexOf('\n'); at !== -1; at = text.indexOf('\n', from)) {
      this.#keep(text.slice(from, at));
      this.end();
      from = at + 1;
    }
    this.#keep(text.slice(from));
  }

  /** What there is counts as a line. */
  end(): void {
    const line = this.#pieces.join('').replace(/\r$/, '');
    this.#pieces = [];
    this.#characters = 0;
    if (line !== '') this.#onLine(line);
  }

  #keep(text: string): void {
    let rest = text;
    while (this.#characters + rest.length >= MAX_LINE_CHARACTERS) {
      const cut = wholeCharacters(rest, MAX_LINE_CHARACTERS - this.#characters);
      this.#pieces.push(rest.slice(0, cut));
      this.end();
      rest = rest.slice(cut);
    }
    if (rest === '') return;
    this.#pieces.push(rest);
    this.#characters += rest.length;
  }
}

/** Up to `length` units of `text`, not ending in the middle of a surrogate pair. */
function wholeCharacters(text: string, length: number): number {
  const last = text.charCodeAt(length - 1);
  return length > 1 && last >= 0xd800 && last < 0xdc00 ? length - 1 : length;
}

export class JobLog {
  /** Absent: nothing is written. */
  readonly #transcript: JobTranscript | undefined;
  readonly #redaction: SecretRedaction;
  readonly #text = new LineSplitter((text) => this.#write('text', { text }));
  readonly #errors: TextTail;

  constructor({
    transcript,
    redaction,
  }: {
    readonly transcript: JobTranscript | undefined;
    readonly redaction: SecretRedaction;
  }) {
    this.#transcript = transcript;
    this.#redaction = redaction;
    this.#errors = new TextTail(redaction);
  }

  /** What the agent says, in pieces. */
  text(delta: string): void {
    this.#text.add(delta);
  }

  entry(type: string, data: Readonly<Record<string, unknown>>): void {
    // Text that was said before stands before, also where its line is not finished.
    this.#text.end();
    this.#write(type, data);
  }

  system(text: string): void {
    this.entry('system', { text });
  }

  /** Follows what the worker prints, no faster than it can be written. */
  follow({ stdout, stderr }: { readonly stdout: Readable; readonly stderr: Readable }): void {
    this.#errors.follow(stderr);
    stdout.setEncoding('utf8');
    this.#followLines(stdout, 'stdout');
    this.#followLines(stderr, 'stderr');
  }

  /** The end of what it printed to its error output, redacted. */
  get lastErrors(): string {
    return this.#errors.toString();
  }

  async close(): Promise<void> {
    this.#text.end();
    await this.#transcript?.close();
  }

  get trouble(): string | undefined {
    return this.#transcript?.trouble;
  }

  #followLines(stream: Readable, source: 'stdout' | 'stderr'): void {
    // Before lines are cut: a cut could go through a secret.
    const pieces = this.#redaction.pieces();
    const lines = new LineSplitter((text) => this.#write(source, { text }));
    stream.on('data', (chunk: string) => {
      lines.add(pieces.add(chunk));
      const pressure = this.#transcript?.pressure;
      if (pressure === undefined) return;
      stream.pause();
      void pressure.then(() => stream.resume());
    });
    stream.on('close', () => {
      lines.add(pieces.end());
      lines.end();
    });
  }

  #write(type: string, data: Readonly<Record<string, unknown>>): void {
    this.#transcript?.write(type, data);
  }
}
