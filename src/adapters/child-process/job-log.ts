/** Writes down what a worker says and does: whole lines of its text and its output, the messages, and notes of ours. */
import type { Readable } from 'node:stream';
import { TextTail } from '../../actors/run/text-tail.ts';
import type { SecretRedaction } from '../../machines/vault/secret-redaction.ts';
import { LineSplitter } from './line-splitter.ts';
import type { JobTranscript } from './job-transcript.ts';

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
