/** Why a text that an edit looks for is not there: what a model needs to get it right the next time. */
import { beginningOf } from '../../cut-text.ts';

/** Lines of the file that are compared. */
const MAX_COMPARED_LINES = 50_000;

/** Characters of a line that are compared and shown. */
const MAX_COMPARED_CHARACTERS = 300;

/** How much of a line must be the same to be worth naming. */
const LIKE_ENOUGH = 0.5;

/** One sentence. */
export function describeMiss(text: string, wanted: string): string {
  const lines = text.split('\n', MAX_COMPARED_LINES);
  const wantedLines = wanted.split('\n').map(squeezed);
  const whole = trimEmpty(wantedLines);
  const squeezedLines = lines.map(squeezed);
  const at =
    whole.length === 0
      ? -1
      : squeezedLines.findIndex((_, start) => whole.every((line, offset) => squeezedLines[start + offset] === line));
  if (at !== -1) return `Line ${at + 1} differs only in white space: it is ${quoted(lines[at] ?? '')}.`;
  const first = whole[0] ?? '';
  const nearest = nearestLine(squeezedLines, first);
  return nearest === undefined
    ? 'No line of the file is like it.'
    : `The line nearest to its first one is line ${nearest + 1}: ${quoted(lines[nearest] ?? '')}.`;
}

function nearestLine(lines: readonly string[], wanted: string): number | undefined {
  let best = LIKE_ENOUGH;
  let nearest: number | undefined;
  for (const [index, line] of lines.entries()) {
    const likeness = likenessOf(line, wanted);
    if (likeness > best) {
      best = likeness;
      nearest = index;
    }
  }
  return nearest;
}

/** How much of both is the same at the beginning and at the end, from 0 to 1. */
function likenessOf(one: string, other: string): number {
  const shorter = Math.min(one.length, other.length);
  const longer = Math.max(one.length, other.length);
  if (longer === 0) return 0;
  let head = 0;
  while (head < shorter && one[head] === other[head]) head += 1;
  let tail = 0;
  while (tail < shorter - head && one[one.length - 1 - tail] === other[other.length - 1 - tail]) tail += 1;
  return (head + tail) / longer;
}

/** A line with every run of white space as one space, and none around it. */
function squeezed(line: string): string {
  return beginningOf(line, MAX_COMPARED_CHARACTERS).replaceAll(/\s+/g, ' ').trim();
}

function trimEmpty(lines: readonly string[]): readonly string[] {
  const start = lines.findIndex((line) => line !== '');
  return start === -1 ? [] : lines.slice(start, lines.findLastIndex((line) => line !== '') + 1);
}

function quoted(line: string): string {
  return JSON.stringify(beginningOf(line, MAX_COMPARED_CHARACTERS));
}
