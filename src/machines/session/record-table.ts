/**
 * The records of a log by number: the id of each one's first event, its place, and a way to find it by that id. Ids are
 * UUIDs and grow with time, so a new one is known to be new without a search, and an old one is searched only among the
 * records of its millisecond.
 */
import { WordRows } from './word-rows.ts';

/** Where the events of a record lie. */
export interface RecordPlace {
  readonly firstSeq: number;
  readonly count: number;
}

const ID_WORDS = 4;
const FIRST_SEQ = 4;
const COUNT = 6;
const ROW_WORDS = 7;

/** Records of which one range is kept. */
const RANGE_ROWS = 256;
const UUID_LENGTH = 36;
const HALF_WORD = 0x1_0000;

const HEX_DIGITS: Int8Array = new Int8Array(128).fill(-1);
for (let value = 0; value < 16; value += 1) HEX_DIGITS[value.toString(16).charCodeAt(0)] = value;

/** The id that was read last, as words. One record is asked for several times in a row. */
const words = new Uint32Array(ID_WORDS);
let wordsOf: string | undefined;

/** The time that a range of records spans, in milliseconds. */
interface TimeRange {
  least: number;
  greatest: number;
}

export class RecordTable {
  readonly #rows = new WordRows(ROW_WORDS);
  readonly #ranges: TimeRange[] = [];
  /** The greatest UUID. All of them have one length, so they sort as text as they do as numbers. */
  #greatest = '';
  /** Ids that are no UUIDs, and their records. */
  readonly #others = new Map<string, number>();

  /** Number of records. */
  get size(): number {
    return this.#rows.size;
  }

  /** Adds a record behind the others. Gives its number, from 0. */
  add(id: string, { firstSeq, count }: RecordPlace): number {
    const row = this.#rows.add();
    this.#rows.setLong(row, FIRST_SEQ, firstSeq);
    this.#rows.set(row, COUNT, count);
    if (readWords(id)) this.#addWords(id, row);
    else this.#others.set(id, row);
    return row;
  }

  /** Number of the record that begins with the event of this id. */
  find(id: string): number | undefined {
    if (id > this.#greatest || !readWords(id)) return this.#others.get(id);
    return this.#search();
  }

  placeAt(row: number): RecordPlace {
    return { firstSeq: this.#rows.getLong(row, FIRST_SEQ), count: this.#rows.get(row, COUNT) };
  }

  idAt(row: number): string {
    for (const [id, other] of this.#others) if (other === row) return id;
    const hex = Array.from({ length: ID_WORDS }, (_, column) =>
      this.#rows.get(row, column).toString(16).padStart(8, '0'),
    ).join('');
    return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20)}`;
  }

  /** Number of the record that holds event `seq`, or of the nearest one, among those from `low` on. */
  numberOf(seq: number, low = 0): number {
    let high = this.size - 1;
    while (low < high) {
      const middle = (low + high + 1) >>> 1;
      if (this.#rows.getLong(middle, FIRST_SEQ) <= seq) low = middle;
      else high = middle - 1;
    }
    return low;
  }

  #addWords(id: string, row: number): void {
    if (id > this.#greatest) this.#greatest = id;
    for (let column = 0; column < ID_WORDS; column += 1) this.#rows.set(row, column, words[column] ?? 0);
    const time = timeOfWords();
    const range = (this.#ranges[Math.floor(row / RANGE_ROWS)] ??= { least: time, greatest: time });
    if (time < range.least) range.least = time;
    if (time > range.greatest) range.greatest = time;
  }

  /** The newest first: what is repeated is mostly young. */
  #search(): number | undefined {
    const time = timeOfWords();
    for (let number = this.#ranges.length - 1; number >= 0; number -= 1) {
      const range = this.#ranges[number];
      if (range === undefined || time < range.least || time > range.greatest) continue;
      const first = number * RANGE_ROWS;
      for (let row = Math.min(first + RANGE_ROWS, this.size) - 1; row >= first; row -= 1)
        if (this.#isAt(row)) return row;
    }
    return undefined;
  }

  #isAt(row: number): boolean {
    for (let column = ID_WORDS - 1; column >= 0; column -= 1)
      if (this.#rows.get(row, column) !== words[column]) return false;
    return true;
  }
}

/** The milliseconds that a UUIDv7 begins with. */
function timeOfWords(): number {
  return (words[0] ?? 0) * HALF_WORD + ((words[1] ?? 0) >>> 16);
}

/** Reads an id that is a UUID in lower case into `words`: there is one text for each. False for any other. */
function readWords(id: string): boolean {
  if (id === wordsOf) return true;
  if (id.length !== UUID_LENGTH) return false;
  wordsOf = undefined;
  let word = 0;
  let digits = 0;
  for (let index = 0; index < UUID_LENGTH; index += 1) {
    const code = id.charCodeAt(index);
    if (index === 8 || index === 13 || index === 18 || index === 23) {
      if (code !== 0x2d) return false;
      continue;
    }
    const digit = HEX_DIGITS[code] ?? -1;
    if (digit === -1) return false;
    word = (word << 4) | digit;
    digits += 1;
    if ((digits & 7) === 0) words[(digits >>> 3) - 1] = word;
  }
  wordsOf = id;
  return true;
}
