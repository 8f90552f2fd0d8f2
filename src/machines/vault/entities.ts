/** Characters as HTML and XML write them: by number, or by the few names that everybody uses. */

const NAMED: ReadonlyMap<string, number> = new Map([
  ['amp', 0x26],
  ['lt', 0x3c],
  ['gt', 0x3e],
  ['quot', 0x22],
  ['apos', 0x27],
]);
const MAX_NAME = 4;
const MAX_DIGITS = 8;
const LAST_CHARACTER = 0x10ffff;

const HASH = 0x23;
const SEMICOLON = 0x3b;
const LETTER_X = 0x78;

/** @param from where the `&` stands @returns what it stands for; `more` when it may still become one; `none` when it is none */
export function entityIn(bytes: Uint8Array, from: number, until: number): number | 'more' | 'none' {
  const isEnded = bytes[until - 1] === SEMICOLON;
  const end = isEnded ? until - 1 : until;
  if (bytes[from + 1] === HASH) return numbered(bytes, from + 2, end, isEnded);
  if (end - from - 1 > MAX_NAME) return 'none';
  for (let at = from + 1; at < end; at += 1) if (!isSmallLetter(bytes[at] as number)) return 'none';
  return isEnded ? (NAMED.get(String.fromCharCode(...bytes.subarray(from + 1, end))) ?? 'none') : 'more';
}

function numbered(bytes: Uint8Array, from: number, end: number, isEnded: boolean): number | 'more' | 'none' {
  const isHex = ((bytes[from] ?? 0) | 0x20) === LETTER_X && from < end;
  const base = isHex ? 16 : 10;
  const digitsFrom = isHex ? from + 1 : from;
  if (end - digitsFrom > MAX_DIGITS) return 'none';
  let code = 0;
  for (let at = digitsFrom; at < end; at += 1) {
    const digit = digitOf(bytes[at] as number);
    if (digit >= base) return 'none';
    code = code * base + digit;
  }
  if (!isEnded) return 'more';
  return end > digitsFrom && code <= LAST_CHARACTER ? code : 'none';
}

function digitOf(byte: number): number {
  if (byte >= 0x30 && byte <= 0x39) return byte - 0x30;
  const lower = byte | 0x20;
  return isSmallLetter(lower) ? lower - 0x57 : Number.POSITIVE_INFINITY;
}

function isSmallLetter(byte: number): boolean {
  return byte >= 0x61 && byte <= 0x7a;
}
