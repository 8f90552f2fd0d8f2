/** Cuts a text that comes in pieces into its lines, and keeps no more of a line than is asked for. */

export interface SplitLine {
  /** Without its line break; the first characters of it, when it is longer than what is kept. */
  readonly text: string;
  /** Characters of the line itself. */
  readonly characters: number;
  /** Empty for the last line of a text that does not end in a line break. */
  readonly ending: '\n' | '\r\n' | '';
}

export class LineSplitter {
  readonly #maxCharacters: number;
  /**
   * The beginning of the line that has not ended yet, one character beyond what is kept, for the first half of a CRLF.
   */
  #text = '';
  #characters = 0;
  #endsInReturn = false;

  constructor({ maxCharacters }: { readonly maxCharacters: number }) {
    this.#maxCharacters = maxCharacters;
  }

  /** The lines that end in this piece. */
  *push(piece: string): Generator<SplitLine> {
    let start = 0;
    for (let end = piece.indexOf('\n'); end !== -1; end = piece.indexOf('\n', start)) {
      this.#add(piece, start, end);
      yield this.#take(this.#endsInReturn ? '\r\n' : '\n');
      start = end + 1;
    }
    this.#add(piece, start, piece.length);
  }

  /** The line that no line break ends, if there is one. */
  end(): SplitLine | undefined {
    return this.#characters === 0 ? undefined : this.#take('');
  }

  #add(piece: string, start: number, end: number): void {
    if (end === start) return;
    const room = this.#maxCharacters + 1 - this.#text.length;
    if (room > 0) this.#text += piece.slice(start, Math.min(end, start + room));
    this.#characters += end - start;
    this.#endsInReturn = piece[end - 1] === '\r';
  }

  #take(ending: SplitLine['ending']): SplitLine {
    const characters = this.#characters - (ending === '\r\n' ? 1 : 0);
    const text = this.#text.slice(0, Math.min(characters, this.#maxCharacters));
    this.#text = '';
    this.#characters = 0;
    this.#endsInReturn = false;
    return { text, characters, ending };
  }
}
