/** Characters that are written one by one with the same signs between them: `Z,x,8`, `Z-x-8`, `"Z", "x", "8"`. */
import type { ReadBytes } from './unescaped.ts';

/** Bytes that may stand between two characters. */
const MAX_SIGNS = 4;
/** As many characters make a row. */
const MIN_CHARACTERS = 4;

/** Whatever is no letter and no digit. White space alone separates nothing: it is passed over everywhere. */
const IS_SIGN = new Uint8Array(256);
for (let byte = 0x21; byte < 0x7f; byte += 1) IS_SIGN[byte] = /[A-Za-z0-9]/.test(String.fromCharCode(byte)) ? 0 : 1;

export interface Row extends ReadBytes {
  /** It goes to the end of the bytes, and may go on after it. */
  readonly isLast: boolean;
}

/** Each row once, though its characters may stand in several: in `"Z","x","8"` as `Zx8` and as `Z,x,8`. */
export function spelledOut(bytes: Uint8Array, onRow: (row: Row) => void): void {
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
      onRow(rowOf(bytes, at, until, period));
    }
  }
}

/** Where its last character stands. */
function endOfRow(bytes: Uint8Array, from: number, period: number): number {
  let at = from;
  for (; at + period < bytes.length; at += period) {
    for (let sign = 1; sign < period; sign += 1) if (bytes[at + sign] !== bytes[from + sign]) return at;
  }
  return at;
}

function rowOf(bytes: Uint8Array, from: number, until: number, period: number): Row {
  const count = (until - from) / period + 1;
  const row = { bytes: new Uint8Array(count), starts: new Uint32Array(count), ends: new Uint32Array(count) };
  for (let index = 0, at = from; index < count; index += 1, at += period) {
    row.bytes[index] = bytes[at] as number;
    row.starts[index] = at;
    row.ends[index] = at + 1;
  }
  return { ...row, isLast: until + period >= bytes.length };
}
