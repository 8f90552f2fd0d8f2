/**
 * Bytes as a reader sees them: without what shows nothing (white space, color codes, characters of no width), in small
 * letters, each with the place where it was read. A secret then stands in them in one piece, however a page, a terminal
 * or an editor has wrapped it.
 */

/**
 * Where each byte of what was read stands in what it was read from. Most follow each other there too: only where they
 * do not is noted.
 */
export class Places {
  readonly #from: number[] = [];
  readonly #shifts: number[] = [];
  #shift = 0;

  /** In order. */
  note(index: number, place: number): void {
    if (place - index === this.#shift) return;
    this.#shift = place - index;
    this.#from.push(index);
    this.#shifts.push(this.#shift);
  }

  of(index: number): number {
    let [low, high] = [0, this.#from.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((this.#from[middle] as number) <= index) low = middle + 1;
      else high = middle;
    }
    return index + (low === 0 ? 0 : (this.#shifts[low - 1] as number));
  }
}

/** Bytes that were read out of others. */
export interface Placed {
  readonly bytes: Uint8Array;
  /** Absent: they are the text itself. */
  readonly source?:
    | { readonly of: Placed; readonly places: Pick<Places, 'of'>; readonly isWritten: boolean }
    | undefined;
}

/** In the text itself. */
export function startOf({ source }: Placed, index: number): number {
  return source === undefined ? index : startOf(source.of, source.places.of(index));
}

/** In the text itself: behind it. What was written in another way takes all that is there before the next. */
export function endOf({ source }: Placed, index: number): number {
  if (source === undefined) return index + 1;
  return endOf(source.of, source.isWritten ? source.places.of(index + 1) - 1 : source.places.of(index));
}

/** Stands for `…`, also in brackets: here a text was cut. */
export const CUT = 0x01;
/**
 * Stands for more white space than any line end and indentation is: what comes after it has nothing to do with what
 * came before.
 */
const BREAK = 0x20;

/** Bytes that show nothing and may stand between two characters of a secret. */
const MAX_GAP = 64;

const ESCAPE = 0x1b;
const DELETE = 0x7f;

/**
 * Begins what may show nothing: controls and the space, color codes, and the first bytes of characters beyond ASCII
 * that take no room.
 */
const MAY_BE_GAP = new Uint8Array(256);
for (let byte = 0; byte <= 0x20; byte += 1) MAY_BE_GAP[byte] = 1;
for (const byte of [DELETE, 0xc2, 0xcd, 0xd8, 0xe1, 0xe2, 0xe3, 0xef, 0xf0, 0xf3]) MAY_BE_GAP[byte] = 1;

/**
 * From and to, in UTF-8: no-break and other spaces, soft hyphens, fillers, marks of direction and of byte order,
 * joiners, selectors, tags.
 */
const SHOWS_NOTHING: readonly (readonly [number, number])[] = [
  [0xc280, 0xc2a0],
  [0xc2ad, 0xc2ad],
  [0xcd8f, 0xcd8f],
  [0xd89c, 0xd89c],
  [0xe1859f, 0xe185a0],
  [0xe19a80, 0xe19a80],
  [0xe19eb4, 0xe19eb5],
  [0xe1a08b, 0xe1a08f],
  [0xe28080, 0xe2808f],
  [0xe280a8, 0xe280af],
  [0xe2819f, 0xe281af],
  [0xe2a080, 0xe2a080],
  [0xe38080, 0xe38080],
  [0xe385a4, 0xe385a4],
  [0xefb880, 0xefb88f],
  [0xefbbbf, 0xefbbbf],
  [0xefbea0, 0xefbea0],
  [0xefbfb0, 0xefbfbb],
  [0xf09bb2a0, 0xf09bb2a3],
  [0xf09d85b3, 0xf09d85ba],
  [0xf3a08080, 0xf3a0bfbf],
];
const ELLIPSIS = 0xe280a6;

const FOLDED = Uint8Array.from({ length: 256 }, (_, byte) => (byte >= 0x41 && byte <= 0x5a ? byte + 0x20 : byte));

/** @param isWhole nothing comes after it: otherwise what has begun at its end, and may show nothing, is left out */
export function visible(read: Placed, isWhole: boolean): Placed {
  const { bytes } = read;
  const out = new Uint8Array(bytes.length);
  const places = new Places();
  let length = 0;
  let gap = 0;
  for (let at = 0; at < bytes.length; at += 1) {
    const byte = bytes[at] as number;
    if (MAY_BE_GAP[byte] === 0) {
      if (gap > 0) places.note(length, at);
      gap = 0;
      out[length] = FOLDED[byte] as number;
      length += 1;
      continue;
    }
    const size = byte <= 0x20 && byte !== ESCAPE ? 1 : sizeOfGap(bytes, at, isWhole);
    if (size > 0) {
      gap += size;
      // Once for each gap.
      if (gap > MAX_GAP && gap - size <= MAX_GAP) {
        places.note(length, at);
        out[length] = BREAK;
        length += 1;
      }
      at += size - 1;
      continue;
    }
    const isCut = size < 0;
    // Its brackets belong to it.
    if (isCut && out[length - 1] === 0x5b) length -= 1;
    places.note(length, at);
    out[length] = isCut ? CUT : (FOLDED[byte] as number);
    length += 1;
    if (isCut) at += bytes[at + 3] === 0x5d ? 3 : 2;
    gap = isCut ? 1 : 0;
  }
  return { bytes: out.subarray(0, length), source: { of: read, places, isWritten: false } };
}

/** Bytes of what shows nothing; 0 where something shows; -1 where it says that a text was cut. */
function sizeOfGap(bytes: Uint8Array, at: number, isWhole: boolean): number {
  const byte = bytes[at] as number;
  if (byte === ESCAPE) return sizeOfCode(bytes, at);
  if (byte === DELETE) return 1;
  const size = byte < 0xe0 ? 2 : byte < 0xf0 ? 3 : 4;
  if (at + size > bytes.length) return isWhole ? 0 : bytes.length - at;
  let character = byte;
  for (let index = at + 1; index < at + size; index += 1) character = character * 256 + (bytes[index] as number);
  if (character === ELLIPSIS) return -1;
  return SHOWS_NOTHING.some(([first, last]) => character >= first && character <= last) ? size : 0;
}

/** Of `ESC [ 31 m`, as terminals are told colors, and `ESC ( B`. Titles and links may hold a secret: they are text. */
function sizeOfCode(bytes: Uint8Array, at: number): number {
  const kind = bytes[at + 1];
  if (kind === 0x28 || kind === 0x29) return Math.min(3, bytes.length - at);
  if (kind !== 0x5b) return 1;
  let end = at + 2;
  while (end < bytes.length && end - at < MAX_GAP && (bytes[end] as number) >= 0x20 && (bytes[end] as number) < 0x40)
    end += 1;
  return Math.min(end + 1, bytes.length) - at;
}
