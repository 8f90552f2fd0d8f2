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
