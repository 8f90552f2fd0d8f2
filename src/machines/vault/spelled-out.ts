/** Characters that are written one by one with the same signs between them: `Z,x,8`, `Z-x-8`, `"Z", "x", "8"`. */
import type { Placed } from './visible-text.ts';

/** Bytes that may stand between two characters. */
const MAX_SIGNS = 4;
/** As many characters make a row. */
const MIN_CHARACTERS = 6;

/**
 * Whatever is no letter and no digit, also beyond ASCII. White space alone separates nothing: it is passed over
 * everywhere.
 */
const IS_SIGN = new Uint8Array(256);
for (let byte = 0x21; byte <= 0xff; byte += 1)
  IS_SIGN[byte] = /[A-Za-z0-9]/.test(String.fromCharCode(byte)) && byte < 0x80 ? 0 : 1;

export interface Row extends Placed {
  /** It goes to the end of the bytes, and may go on after it. */
  readonly isLast: boolean;
}

/** Each row once, though its characters may stand in several: in `"Z","x","8"` as `Zx8` and as `Z,x,8`. */
export function spelledOut(read: Placed, onRow: (row: Row) => void): void {
  const { bytes } = read;
  // By how far characters are apart, and by the rest of their place: until where they were read.
  const readUntil = Array.from({ length: MAX_SIGNS + 2 }, (_, period) => new Uint32Array(period));
  const last = bytes.length - 2 * MIN_CHARACTERS + 1;
  for (let at = 0; at <= last; at += 1) {
    const sign = bytes[at + 1] as number;
    if (IS_SIGN[sign] === 0) continue;
    for (let period = 2; period <= MAX_SIGNS + 1; period += 1) {
      if (bytes[at + 1 + period] !== sign || bytes[at + 1 + 2 * period] !== sign) continue;
      // A line of nothing but signs.
      if (bytes[at] === sign && bytes[at + period] === sign) continue;
      const known = readUntil[period] as Uint32Array;
      if (at < (known[at % period] as number)) continue;
      const until = endOfRow(bytes, at, period);
      if ((until - at) / period < MIN_CHARACTERS - 1) continue;
      known[at % period] = until;
      onRow(rowOf(read, at, until, period));
    }
  }
}

/** Where its last character stands. */
function endOfRow(bytes: Uint8Array, from: number, period: number): number {
  let at = from;
  for (;;) {
    const signs = at + sizeOf(bytes[at] as number);
    for (let sign = 0; sign < period - 1; sign += 1) if (bytes[signs + sign] !== bytes[from + 1 + sign]) return at;
    if (signs + period - 1 >= bytes.length) return at;
    at = signs + period - 1;
  }
}

/** Bytes of a character, by the first of them. */
function sizeOf(byte: number): number {
  return byte < 0xc0 ? 1 : byte < 0xe0 ? 2 : byte < 0xf0 ? 3 : 4;
}

function rowOf(read: Placed, from: number, until: number, period: number): Row {
  const { bytes } = read;
  const end = Math.min(bytes.length, until + sizeOf(bytes[until] as number));
  const row: number[] = [];
  const places: number[] = [];
  for (let at = from; at < end; at += period - 1) {
    for (let left = sizeOf(bytes[at] as number); left > 0 && at < end; left -= 1, at += 1) {
      row.push(bytes[at] as number);
      places.push(at);
    }
  }
  return {
    bytes: Uint8Array.from(row),
    source: { of: read, places: { of: (index) => places[index] as number }, isWritten: false },
    isLast: end + period - 1 >= bytes.length,
  };
}
