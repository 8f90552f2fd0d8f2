/** The end of a text that may never end: what a program last said on its error output. */

/** What takes secrets out of it. */
export interface TailRedaction {
  /** Of a secret as it may show in the text, in characters. */
  readonly longest: number;
  text(text: string): string;
}

/** What is needed of a stream of bytes. */
export interface TextSource {
  setEncoding(encoding: 'utf8'): unknown;
  on(event: 'data', listener: (chunk: string) => void): unknown;
  on(event: 'error', listener: (error: Error) => void): unknown;
}

const TAIL_CHARACTERS = 2_000;

export class TextTail {
  readonly #redaction: TailRedaction;
  readonly #maxCharacters: number;
  readonly #keptCharacters: number;
  #text = '';
  #isCut = false;

  constructor(redaction: TailRedaction, { maxCharacters = TAIL_CHARACTERS }: { readonly maxCharacters?: number } = {}) {
    this.#redaction = redaction;
    this.#maxCharacters = maxCharacters;
    this.#keptCharacters = maxCharacters + redaction.longest;
  }

  /** Takes in all that the stream has, for as long as it lasts. */
  follow(stream: TextSource): void {
    stream.setEncoding('utf8');
    stream.on('data', (chunk: string) => this.#add(chunk));
    // It ends like any other; what has been read stays.
    stream.on('error', () => undefined);
  }

  /** Redacted. Empty when nothing was said. */
  toString(): string {
    const redacted = this.#redaction.text(this.#text);
    // The cut may have gone through a secret, whose rest could not be recognized: it lies in what is dropped here.
    const whole = this.#isCut ? redacted.slice(this.#redaction.longest) : redacted;
    const isCut = this.#isCut || whole.length > this.#maxCharacters;
    const tail = whole.slice(-this.#maxCharacters).trim();
    return isCut && tail !== '' ? `…${tail}` : tail;
  }

  #add(chunk: string): void {
    this.#text += chunk;
    // Cut seldom: each cut copies.
    if (this.#text.length <= this.#keptCharacters * 4) return;
    this.#text = this.#text.slice(-this.#keptCharacters);
    this.#isCut = true;
  }
}
