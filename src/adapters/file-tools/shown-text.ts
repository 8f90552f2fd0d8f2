/** The text of a file as a model may read it: without secrets, before any line or page of it is cut. */
import { TextDecoder } from 'node:util';
import type { SessionSecrets } from '../../actors/environment/session-secrets.ts';

export interface ShownTextOptions {
  /** Absent where there are none to take out. */
  readonly secrets: SessionSecrets | undefined;
  /** Whether a byte order mark is a part of the text. */
  readonly hasMark: boolean;
}

export class ShownText {
  readonly #redaction: ReturnType<SessionSecrets['bytes']>;
  readonly #decoder: TextDecoder;

  constructor({ secrets, hasMark }: ShownTextOptions) {
    this.#redaction = secrets?.bytes({ keepsLines: true });
    this.#decoder = new TextDecoder('utf-8', { ignoreBOM: hasMark });
  }

  push(chunk: Uint8Array): string {
    return this.#decoder.decode(this.#redaction?.add(chunk) ?? chunk, { stream: true });
  }

  end(): string {
    return this.#decoder.decode(this.#redaction?.end());
  }
}
