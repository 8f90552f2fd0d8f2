/** Takes secrets out of a text that comes in pieces of characters. */
import type { ByteRedaction } from '../environment/session-secrets.ts';

export class TextPieces {
  readonly #redaction: ByteRedaction;
  readonly #encoder = new TextEncoder();
  /** Pieces of bytes may end within a character. */
  #decoder = new TextDecoder();
  /** Half of a character, whose other half comes with the next piece. */
  #half = '';

  constructor(redaction: ByteRedaction) {
    this.#redaction = redaction;
  }

  /** What can be told of it so far. May be empty. */
  add(piece: string): string {
    const text = this.#half + piece;
    this.#half = /[\uD800-\uDBFF]$/.exec(text)?.[0] ?? '';
    const whole = text.slice(0, text.length - this.#half.length);
    return this.#decoder.decode(this.#redaction.add(this.#encoder.encode(whole)), { stream: true });
  }

  /** What was kept back: no more pieces come. */
  end(): string {
    const rest = this.#decoder.decode(this.#redaction.end()) + this.#half;
    this.#decoder = new TextDecoder();
    this.#half = '';
    return rest;
  }
}
