/**
 * Dumps, as od, xxd and hexdump print them, without what stands before and after the bytes of each line: a secret that
 * goes on in the next line then goes on at once.
 */
import { Places } from './visible-text.ts';
import type { Placed } from './visible-text.ts';

const LINE_END = 0x0a;
const SPACE = 0x20;
const COLON = 0x3a;
/** A dump of more columns is none that a program prints by itself. */
const MAX_LINE_BYTES = 256;
const MIN_OFFSET_DIGITS = 6;
const MAX_OFFSET_DIGITS = 16;

const IS_HEX = new Uint8Array(256);
for (const digit of '0123456789abcdefABCDEF') IS_HEX[digit.charCodeAt(0)] = 1;

/** Where the text of a line begins that shows the same bytes as characters, and where it ends: `|…|`, `>…<`. */
const TEXT_SIGNS: ReadonlyMap<number, number> = new Map([
  [0x7c, 0x7c],
  [0x3e, 0x3c],
]);

/** Undefined where there is no line of a dump. */
export function dumped(bytes: Uint8Array): Placed | undefined {
  const lines: (readonly [number, number])[] = [];
  let other: readonly [number, number] | undefined;
  for (let from = 0; from < bytes.length;) {
    const until = endOfLine(bytes, from);
    const line = until - from <= MAX_LINE_BYTES ? bytesOfLine(bytes, from, until) : undefined;
    if (line !== undefined) {
      // The first line of a dump may stand after something that did not end its own.
      if (other !== undefined) lines.push(other);
      lines.push(line);
    }
    const end = Math.max(from, until - MAX_LINE_BYTES);
    other = line === undefined && until > from ? [end, signAfter(bytes, end, until)] : undefined;
    from = until + 1;
  }
  return lines.length === 0 ? undefined : together(bytes, lines);
}

/** Where the line ends that a byte stands in; the length of the bytes where it has not ended. */
export function endOfLine(bytes: Uint8Array, from: number): number {
  const end = bytes.indexOf(LINE_END, from);
  return end < 0 ? bytes.length : end;
}

/** From where to where the bytes of a line stand; undefined for what is no line of a dump. */
function bytesOfLine(bytes: Uint8Array, from: number, until: number): readonly [number, number] | undefined {
  let at = from;
  while (IS_HEX[bytes[at] as number] === 1 && at < until) at += 1;
  const digits = at - from;
  if (digits === 0) return bytes[from] === SPACE ? withoutOffset(bytes, from, until) : undefined;
  if (digits < MIN_OFFSET_DIGITS || digits > MAX_OFFSET_DIGITS) return undefined;
  const hasColon = bytes[at] === COLON;
  if (hasColon) at += 1;
  if (bytes[at] !== SPACE || at >= until) return undefined;
  return [at, hasColon ? doubleSpaceAfter(bytes, at + 1, until) : signAfter(bytes, at, until)];
}

/** `od -An` with characters beside its bytes. Without them nothing stands between the bytes. */
function withoutOffset(bytes: Uint8Array, from: number, until: number): readonly [number, number] | undefined {
  const isPair =
    IS_HEX[bytes[from + 1] as number] === 1 && IS_HEX[bytes[from + 2] as number] === 1 && bytes[from + 3] === SPACE;
  return isPair ? [from, signAfter(bytes, from, until)] : undefined;
}

function doubleSpaceAfter(bytes: Uint8Array, from: number, until: number): number {
  for (let at = from + 1; at + 1 < until; at += 1) if (bytes[at] === SPACE && bytes[at + 1] === SPACE) return at;
  return until;
}

/** In `od -c` such a sign may be one of the bytes: there it stands alone. */
function signAfter(bytes: Uint8Array, from: number, until: number): number {
  for (let at = from + 2; at < until; at += 1) {
    const end = TEXT_SIGNS.get(bytes[at] as number);
    if (end === undefined || bytes[at - 1] !== SPACE || bytes[at - 2] !== SPACE) continue;
    // At the end of what has come so far it cannot be told yet.
    if (at + 1 === until ? until === bytes.length : bytes[at + 1] !== SPACE || bytes[until - 1] === end) return at;
  }
  return until;
}

function together(bytes: Uint8Array, lines: readonly (readonly [number, number])[]): Placed {
  const read = new Uint8Array(lines.reduce((sum, [from, until]) => sum + until - from, 0));
  const places = new Places();
  let length = 0;
  for (const [from, until] of lines) {
    places.note(length, from);
    read.set(bytes.subarray(from, until), length);
    length += until - from;
  }
  return { bytes: read, source: { of: { bytes }, places, isWritten: false } };
}
