/**
 * Rows of 32-bit words, as many as come, in pieces that are never copied. A million of them are a few thousand objects
 * to the collector, and the next row costs what the first one did.
 */

/** Rows of one piece; a power of two. */
const PIECE_ROWS = 256;
const PIECE_SHIFT = 8;
const WORD = 0x1_0000_0000;

export class WordRows {
  readonly #width: number;
  #pieces: Uint32Array[] = [];
  #size = 0;

  /** @param width words of one row */
  constructor(width: number) {
    this.#width = width;
  }

  get size(): number {
    return this.#size;
  }

  /** Adds a row of zeros. Gives its number, from 0. */
  add(): number {
    const row = this.#size;
    if ((row & (PIECE_ROWS - 1)) === 0) this.#pieces.push(new Uint32Array(PIECE_ROWS * this.#width));
    this.#size = row + 1;
    return row;
  }

  get(row: number, column: number): number {
    return this.#pieces[row >>> PIECE_SHIFT]?.[(row & (PIECE_ROWS - 1)) * this.#width + column] ?? 0;
  }

  set(row: number, column: number, word: number): void {
    const piece = this.#pieces[row >>> PIECE_SHIFT];
    if (piece !== undefined) piece[(row & (PIECE_ROWS - 1)) * this.#width + column] = word;
  }

  /** A number of up to 53 bits, which lies in this column and the next. */
  getLong(row: number, column: number): number {
    return this.get(row, column) + this.get(row, column + 1) * WORD;
  }

  setLong(row: number, column: number, value: number): void {
    this.set(row, column, value % WORD);
    this.set(row, column + 1, Math.floor(value / WORD));
  }

  clear(): void {
    this.#pieces = [];
    this.#size = 0;
  }
}
