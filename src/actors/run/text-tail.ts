/** The end of a text that may never end: what a program last said on its error output. */
import type { PieceRedaction, SecretRedaction } from '../../machines/vault/secret-redaction.ts';

/** What is needed of a stream of bytes. */
export interface TextSource {
  setEncoding(encoding: 'utf8'): unknown;
  on(event: 'data', listener: (chunk: string) => void): unknown;
  on(event: 'error', listener: (error: Error) => void): unknown;
}

const TAIL_CHARACTERS = 2_000;

export class TextTail {
  /** Before anything is cut off. */
  readonly #pieces: PieceRedaction<string>;
  readonly #maxCharacters: number;
  #text = '';
  #isCut = false;

  constructor(
    redaction: Pick<SecretRedaction, 'pieces'>,
    { maxCharacters = TAIL_CHARACTERS }: { readonly maxCharacters?: number } = {},
  ) {
    this.#pieces = redaction.pieces();
    this.#maxCharacters = maxCharacters;
  }

  /** Takes in all that the stream has, for as long as it lasts. */
  follow(stream: TextSource): void {
    stream.setEncoding('utf8');
    stream.on('data', (chunk: string) => this.#add(this.#pieces.add(chunk)));
    // It ends like any other; what has been read stays.
    stream.on('error', () => undefined);
  }

  /** Redacted. Empty when nothing was said. */
  toString(): string {
    this.#add(this.#pieces.end());
    const isCut = this.#isCut || this.#text.length > this.#maxCharacters;
    const tail = this.#text.slice(-this.#maxCharacters).trim();
    return isCut && tail !== '' ? `…${tail}` : tail;
  }

  #add(told: string): void {
    this.#text += told;
    // Cut seldom: each cut copies.
    if (this.#text.length <= this.#maxCharacters * 4) return;
    this.#text = this.#text.slice(-this.#maxCharacters);
    this.#isCut = true;
  }
}
