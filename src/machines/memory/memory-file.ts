/**
 * MEMORY.md: a file of people with one section in it that Wakechart keeps. Everything outside of the section stays as
 * it is, byte for byte, whatever it is; where it cannot be told what the section is, nothing is changed.
 *
 *   <!-- wakechart:memory begin -->
 *   … entries …
 *   <!-- wakechart:memory end -->
 */
import { RuntimeError } from '../errors.ts';
import { entryLines, isEntryId, readEntries } from './memory-entry.ts';
import type { MemoryEntry } from './memory-entry.ts';

export const BEGIN = '<!-- wakechart:memory begin -->';
export const END = '<!-- wakechart:memory end -->';

/** Whatever was once a marker, or is meant to be one. */
const MARKER_LIKE = /<!-*\s*wakechart\s*:\s*memory|wakechart\s*:\s*memory\s+(?:begin|end)/i;

const MAX_MEMORY_ENTRIES = 1_000;

export interface MemoryDocument {
  /** What comes before the section, and after it: never changed. */
  readonly before: Uint8Array;
  readonly after: Uint8Array;
  /** Whether there is a section. */
  readonly hasSection: boolean;
  readonly lineEnd: '\n' | '\r\n';
  /** In the order in which they were promoted. */
  readonly entries: readonly MemoryEntry[];
}

/** @throws RuntimeError MEMORY_DAMAGED saying what is wrong with the section, and where */
export function readMemory(bytes: Uint8Array): MemoryDocument {
  // One character a byte: what is outside of the section need not be readable text.
  const text = latin1(bytes);
  if (/^(?:\u00fe\u00ff|\u00ff\u00fe)/.test(text) || text.includes('\0')) throw damaged(1, 'it is not UTF-8 text');
  const lines = linesOf(text);
  const markers = lines.filter(({ content }) => MARKER_LIKE.test(content));
  const [begin, end, extra] = markers;
  if (begin === undefined)
    return { before: bytes, after: new Uint8Array(0), hasSection: false, lineEnd: lineEndOf(lines), entries: [] };
  if (begin.content !== BEGIN) throw damaged(begin.number, `expected "${BEGIN}" alone on its line`);
  if (end === undefined) throw damaged(begin.number, `the section has no line "${END}"`);
  if (end.content !== END) throw damaged(end.number, `expected "${END}" alone on its line`);
  if (extra !== undefined) throw damaged(extra.number, 'the markers of the section are there more than once');
  return {
    before: bytes.subarray(0, begin.start),
    after: bytes.subarray(end.start + END.length),
    hasSection: true,
    lineEnd: begin.ending === '\r\n' ? '\r\n' : '\n',
    entries: entriesOf(bytes.subarray(begin.start + BEGIN.length + begin.ending.length, end.start), begin.number),
  };
}

/**
 * The file with these entries in its section, which is put at the end of a file that has none. @throws RuntimeError
 * MEMORY_FULL, MEMORY_ENTRY_INVALID
 */
export function writeMemory(document: MemoryDocument, entries: readonly MemoryEntry[]): Uint8Array {
  const { before, after, hasSection, lineEnd } = document;
  // A file without a section stays without one until there is something to put there.
  if (!hasSection && entries.length === 0) return before;
  if (entries.length > MAX_MEMORY_ENTRIES) throw full();
  const unfit = entries.find(({ learningId, at }) => !isEntryId(learningId) || Number.isNaN(Date.parse(at)));
  if (unfit !== undefined)
    throw new RuntimeError(
      'MEMORY_ENTRY_INVALID',
      `expected an id without spaces and a time, received ${JSON.stringify([unfit.learningId, unfit.at])}`,
      { category: 'validation', hint: 'Take the id of a learning, and a time in the form 2030-01-23T09:00:00Z.' },
    );
  const section = [
    BEGIN,
    ...entries.flatMap((entry) => ['', ...entryLines(entry)]),
    ...(entries.length === 0 ? [] : ['']),
    END,
  ].join(lineEnd);
  const lead = hasSection || before.length === 0 ? '' : separation(before, lineEnd);
  return joined([before, encode(lead + section), hasSection ? after : encode(lineEnd)]);
}

/** With entries that are not in it yet behind those that are. */
export function withEntries(document: MemoryDocument, added: readonly MemoryEntry[]): Uint8Array {
  const known = new Set(document.entries.map(({ learningId }) => learningId));
  return writeMemory(document, [...document.entries, ...added.filter(({ learningId }) => !known.has(learningId))]);
}

/** Undefined when no entry has this id. */
export function withoutEntry(document: MemoryDocument, learningId: string): Uint8Array | undefined {
  const left = document.entries.filter((entry) => entry.learningId !== learningId);
  return left.length === document.entries.length ? undefined : writeMemory(document, left);
}

interface Line {
  /** From 1. */
  readonly number: number;
  /** Of its first byte, behind a byte order mark. */
  readonly start: number;
  readonly content: string;
  readonly ending: string;
}

/** A byte order mark in UTF-8, as three characters. */
const BYTE_ORDER_MARK = '\u00ef\u00bb\u00bf';

function linesOf(text: string): Line[] {
  const lines: Line[] = [];
  const first = text.startsWith(BYTE_ORDER_MARK) ? BYTE_ORDER_MARK.length : 0;
  for (let start = first; start < text.length;) {
    const lineFeed = text.indexOf('\n', start);
    const stop = lineFeed === -1 ? text.length : lineFeed;
    const hasReturn = lineFeed !== -1 && stop > start && text[stop - 1] === '\r';
    const ending = lineFeed === -1 ? '' : hasReturn ? '\r\n' : '\n';
    lines.push({ number: lines.length + 1, start, content: text.slice(start, hasReturn ? stop - 1 : stop), ending });
    start = stop + 1;
  }
  return lines;
}

function lineEndOf(lines: readonly Line[]): '\n' | '\r\n' {
  return lines[0]?.ending === '\r\n' ? '\r\n' : '\n';
}

function entriesOf(bytes: Uint8Array, beginLine: number): readonly MemoryEntry[] {
  let text: string;
  try {
    text = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    throw damaged(beginLine + 1, 'the section is not UTF-8 text');
  }
  const reading = readEntries(text.split('\n').map((line) => line.replace(/\r$/, '')));
  if (reading.kind === 'damaged') throw damaged(beginLine + reading.line, reading.problem);
  return reading.entries;
}

/** One empty line between what people wrote and the section. */
function separation(before: Uint8Array, lineEnd: string): string {
  const last = latin1(before.subarray(Math.max(0, before.length - 4)));
  if (/(?:\r\n|\n)\r?\n$/.test(last)) return '';
  return last.endsWith('\n') ? lineEnd : lineEnd + lineEnd;
}

function damaged(line: number, problem: string): RuntimeError {
  return new RuntimeError(
    'MEMORY_DAMAGED',
    `the managed section of MEMORY.md cannot be told apart, line ${line}: ${problem}`,
    {
      category: 'validation',
      hint: `Put the section right by hand: one line "${BEGIN}", entries, one line "${END}"; or remove all of it. Nothing was changed.`,
      details: { line },
    },
  );
}

function full(): RuntimeError {
  return new RuntimeError(
    'MEMORY_FULL',
    `expected at most ${MAX_MEMORY_ENTRIES} entries in the managed section of MEMORY.md`,
    {
      category: 'capacity',
      hint: 'Take out what is not needed any more (wakechart memory forget).',
      details: { maxEntries: MAX_MEMORY_ENTRIES },
    },
  );
}

const CHUNK = 8_192;

function latin1(bytes: Uint8Array): string {
  let text = '';
  for (let start = 0; start < bytes.length; start += CHUNK)
    text += String.fromCharCode(...bytes.subarray(start, start + CHUNK));
  return text;
}

function encode(text: string): Uint8Array {
  return new TextEncoder().encode(text);
}

function joined(parts: readonly Uint8Array[]): Uint8Array {
  const whole = new Uint8Array(parts.reduce((sum, { length }) => sum + length, 0));
  let at = 0;
  for (const part of parts) {
    whole.set(part, at);
    at += part.length;
  }
  return whole;
}
