/** Finds what a shell says of its exported variables in the stream that only the shell itself writes, and reads it. */
import { MARK_BYTE } from './shell-script.ts';
import { MAX_EXPORT_REPORT_BYTES } from './shell-limits.ts';

/** Values by name. */
export type ExportedVariables = ReadonlyMap<string, string>;

export class ExportReportReader {
  #pieces: Uint8Array[] = [];
  #length = 0;
  #hasBegun = false;

  /** A script begins: what was said before is of no use any more. */
  expect(): void {
    this.#pieces = [];
    this.#length = 0;
    this.#hasBegun = false;
  }

  /** @returns what is no report, such as a word of whatever starts the shell; it may share memory with the chunk */
  push(chunk: Uint8Array): Uint8Array {
    const from = this.#hasBegun ? 0 : chunk.indexOf(MARK_BYTE);
    if (from === -1) return chunk;
    this.#hasBegun = true;
    // One that is longer is taken in to its end, and counts for none. A copy: the chunk's memory is used again.
    const kept = chunk.slice(Math.max(from, this.#length > MAX_EXPORT_REPORT_BYTES ? chunk.length - END_BYTES : from));
    this.#pieces.push(kept);
    this.#length += chunk.length - from;
    if (this.#length > MAX_EXPORT_REPORT_BYTES) this.#pieces = [joined(this.#pieces).slice(-END_BYTES)];
    return chunk.subarray(0, from);
  }

  /** `pending` as long as it is not all there. Undefined for one that cannot be read, or is too long. */
  report(nonce: string): ExportedVariables | 'pending' | undefined {
    const bytes = joined(this.#pieces);
    this.#pieces = [bytes];
    const isWhole = bytes.at(-1) === 0;
    if (this.#length > MAX_EXPORT_REPORT_BYTES) return isWhole ? undefined : 'pending';
    const text = new TextDecoder().decode(bytes);
    const mark = `${String.fromCharCode(MARK_BYTE)}${nonce} `;
    const at = text.lastIndexOf(mark);
    const end = at === -1 ? -1 : text.indexOf('\0', at);
    return end === -1 ? 'pending' : readExports(text.slice(at + mark.length, end));
  }
}

/** Of a report that is too long: enough to see its end. */
const END_BYTES = 1;

function joined(pieces: readonly Uint8Array[]): Uint8Array {
  const [first] = pieces;
  if (pieces.length === 1 && first !== undefined) return first;
  const all = new Uint8Array(pieces.reduce((length, piece) => length + piece.length, 0));
  let at = 0;
  for (const piece of pieces) {
    all.set(piece, at);
    at += piece.length;
  }
  return all;
}

const LINE_BEGIN = /(?:export|declare -\w*x\w*|typeset -\w*x\w*) (?<name>[A-Za-z_][A-Za-z0-9_]*)(?<assigned>=?)/y;
const PLAIN = /[^\s'"\\$`]+/y;
const IN_SINGLE = /'(?<text>[^']*)'/y;
const IN_DOUBLE = /"(?<text>(?:[^"\\]|\\[\s\S])*)"/y;
const IN_DOLLAR = /\$'(?<text>(?:[^'\\]|\\[\s\S])*)'/y;
const ESCAPED = /\\(?<text>[\s\S])/y;

/**
 * What `export -p` says, as the shells quote it. One without a value is left out. Undefined for what is no such thing.
 */
export function readExports(text: string): ExportedVariables | undefined {
  const found = new Map<string, string>();
  for (let at = 0; at < text.length;) {
    const begin = matchAt(LINE_BEGIN, text, at);
    const name = begin?.groups?.['name'];
    if (begin === undefined || name === undefined) return undefined;
    at += begin[0].length;
    if (begin.groups?.['assigned'] === '=') {
      const word = readWord(text, at);
      found.set(name, word.value);
      at = word.end;
    }
    if (at < text.length && text[at] !== '\n') return undefined;
    at += 1;
  }
  return found;
}

/** Up to what is no part of a word. */
function readWord(text: string, from: number): { readonly value: string; readonly end: number } {
  let value = '';
  for (let at = from; ;) {
    const part = partAt(text, at);
    if (part === undefined) return { value, end: at };
    value += part.value;
    at += part.length;
  }
}

function partAt(text: string, at: number): { readonly value: string; readonly length: number } | undefined {
  switch (text.charAt(at)) {
    case "'":
      return partOf(matchAt(IN_SINGLE, text, at), (inner) => inner);
    case '"':
      return partOf(matchAt(IN_DOUBLE, text, at), (inner) => inner.replaceAll(/\\([$`"\\])|\\\n/g, '$1'));
    case '$':
      return partOf(matchAt(IN_DOLLAR, text, at), ansiText);
    case '\\':
      return partOf(matchAt(ESCAPED, text, at), (inner) => inner);
    default: {
      const plain = matchAt(PLAIN, text, at);
      return plain === undefined ? undefined : { value: plain[0], length: plain[0].length };
    }
  }
}

function partOf(
  match: RegExpExecArray | undefined,
  read: (inner: string) => string,
): { readonly value: string; readonly length: number } | undefined {
  return match === undefined ? undefined : { value: read(match.groups?.['text'] ?? ''), length: match[0].length };
}

function matchAt(pattern: RegExp, text: string, at: number): RegExpExecArray | undefined {
  pattern.lastIndex = at;
  return pattern.exec(text) ?? undefined;
}

const ANSI: Readonly<Record<string, string>> = {
  a: '\u0007',
  b: '\b',
  e: '\u001b',
  E: '\u001b',
  f: '\f',
  n: '\n',
  r: '\r',
  t: '\t',
  v: '\v',
};
const ANSI_ESCAPE =
  /(?<bytes>(?:\\[0-7]{1,3}|\\x[0-9A-Fa-f]{1,2})+)|\\u(?<unicode>[0-9A-Fa-f]{1,4})|\\(?<other>[\s\S])/g;

/** A character may be said byte by byte. */
function ansiText(inner: string): string {
  return inner.replaceAll(ANSI_ESCAPE, (_, bytes?: string, unicode?: string, other?: string) => {
    if (bytes !== undefined) return new TextDecoder().decode(Uint8Array.from(bytes.split('\\').slice(1), byteOf));
    return unicode === undefined
      ? (ANSI[other ?? ''] ?? other ?? '')
      : String.fromCharCode(Number.parseInt(unicode, 16));
  });
}

function byteOf(escape: string): number {
  return escape.startsWith('x') ? Number.parseInt(escape.slice(1), 16) : Number.parseInt(escape, 8);
}
