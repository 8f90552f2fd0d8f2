/**
 * Lines that a person types, one at a time, when they are asked for: what was typed before a question is no answer to
 * it.
 */
import { StringDecoder } from 'node:string_decoder';
import { setTimeout as pause } from 'node:timers/promises';

/** How long is listened for what was typed before, in milliseconds. */
const DROP_MS = 50;

/** Characters of one answer; terminals hold less in a line. */
const MAX_LINE_CHARACTERS = 1_000_000;

export class LineInput {
  readonly #stream: NodeJS.ReadableStream;
  #hasEnded = false;

  constructor(stream: NodeJS.ReadableStream) {
    this.#stream = stream;
    stream.pause();
  }

  /** Takes what was typed until now and forgets it. */
  async drop(): Promise<void> {
    const ignore = (): void => undefined;
    const end = this.#whenEnded();
    this.#stream.on('data', ignore);
    this.#stream.resume();
    await pause(DROP_MS);
    this.#stream.off('data', ignore);
    this.#stream.pause();
    end();
  }

  /** The next line that is typed, without its end; undefined when the signal aborts, or the input has ended. */
  line(signal: AbortSignal): Promise<string | undefined> {
    if (signal.aborted || this.#hasEnded) return Promise.resolve(undefined);
    return new Promise((resolve) => {
      const decoder = new StringDecoder('utf8');
      let text = '';
      const settle = (line: string | undefined): void => {
        this.#stream.off('data', take);
        this.#stream.off('end', finish);
        this.#stream.off('error', finish);
        signal.removeEventListener('abort', finish);
        this.#stream.pause();
        resolve(line);
      };
      const take = (chunk: string | Uint8Array): void => {
        text += typeof chunk === 'string' ? chunk : decoder.write(Buffer.from(chunk));
        const end = text.search(/[\r\n]/);
        // What comes after the line was typed before the next question.
        if (end >= 0) settle(text.slice(0, end));
        else if (text.length > MAX_LINE_CHARACTERS) settle(undefined);
      };
      const finish = (): void => {
        this.#hasEnded ||= !signal.aborted;
        settle(undefined);
      };
      this.#stream.on('data', take);
      this.#stream.on('end', finish);
      this.#stream.on('error', finish);
      signal.addEventListener('abort', finish, { once: true });
      this.#stream.resume();
    });
  }

  #whenEnded(): () => void {
    const end = (): void => {
      this.#hasEnded = true;
    };
    this.#stream.on('end', end);
    this.#stream.on('error', end);
    return () => {
      this.#stream.off('end', end);
      this.#stream.off('error', end);
    };
  }
}
