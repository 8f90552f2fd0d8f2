/** Text for people: what came from elsewhere made harmless, long things cut, times and durations as one reads them. */
import { displayWidth, fitted } from './text-width.ts';

/** What could move the cursor, recolor the screen or turn the order of letters around. Tabs and line ends may stay. */
const UNPRINTABLE = /(?![\t\n])\p{Cc}|[\u2028-\u202E\u2066-\u2069]/gu;

/** First of the Unicode pictures of control characters, in the order of the characters. */
const CONTROL_PICTURES = 0x2400;
const DELETE = 0x7f;
const DELETE_PICTURE = '\u2421';
const REPLACEMENT = '\uFFFD';

/**
 * `text` with its control characters shown instead of obeyed: a log must not be able to drive the terminal of its
 * reader.
 */
export function printable(text: string): string {
  return text.replaceAll('\r\n', '\n').replaceAll(UNPRINTABLE, (character) => {
    const code = character.charCodeAt(0);
    if (code < 0x20) return String.fromCharCode(CONTROL_PICTURES + code);
    return code === DELETE ? DELETE_PICTURE : REPLACEMENT;
  });
}

/** `text` printable and on one line, at most `width` places of a terminal long. */
export function oneLine(text: string, width = Infinity): string {
  return fitted(printable(text.trim()).replaceAll(/\s+/gu, ' '), width);
}

/** How many places a text takes, as near as one can tell without asking the terminal. */
export function widthOf(text: string): number {
  return displayWidth(text);
}

/** The first and the last lines of a text that are not empty, and how many between them were left out. */
export function outerLines(
  text: string,
  { head, tail }: { readonly head: number; readonly tail: number },
): { readonly first: readonly string[]; readonly omitted: number; readonly last: readonly string[] } {
  const lines = printable(text)
    .split('\n')
    .filter((line) => line.trim() !== '');
  // One line left out would be replaced by one that says so.
  if (lines.length <= head + tail + 1) return { first: lines, omitted: 0, last: [] };
  return {
    first: lines.slice(0, head),
    omitted: lines.length - head - tail,
    last: tail === 0 ? [] : lines.slice(-tail),
  };
}

/** The last lines of a text that are not empty, and how many came before them. */
export function lastLines(
  text: string,
  count: number,
): { readonly lines: readonly string[]; readonly omitted: number } {
  const lines = printable(text)
    .split('\n')
    .filter((line) => line.trim() !== '');
  const kept = count === 0 ? [] : lines.slice(-count);
  return { lines: kept, omitted: lines.length - kept.length };
}

/** In seconds: below it hours tell more than days. */
const TWO_DAYS = 172_800;

/** `0.3 s`, `12 s`, `3 min 20 s`, `2 h 1 min`, `7 days 3 h`. */
export function durationText(durationMs: number): string {
  const seconds = Math.max(0, durationMs) / 1000;
  if (seconds < 10) return `${seconds.toFixed(1)} s`;
  if (seconds < 60) return `${Math.round(seconds)} s`;
  const whole = Math.round(seconds);
  if (whole < 3600) return `${Math.floor(whole / 60)} min ${whole % 60} s`;
  if (whole < TWO_DAYS) return `${Math.floor(whole / 3600)} h ${Math.floor((whole % 3600) / 60)} min`;
  const hours = Math.floor((whole % 86_400) / 3600);
  return `${Math.floor(whole / 86_400)} days${hours === 0 ? '' : ` ${hours} h`}`;
}

/** An ISO-8601 time as `2026-03-01 14:05:09`, in the time zone of the reader. */
export function localTime(iso: string): string {
  const at = new Date(iso);
  if (Number.isNaN(at.getTime())) return oneLine(iso);
  const two = (value: number): string => String(value).padStart(2, '0');
  const day = `${at.getFullYear()}-${two(at.getMonth() + 1)}-${two(at.getDate())}`;
  return `${day} ${two(at.getHours())}:${two(at.getMinutes())}:${two(at.getSeconds())}`;
}

/** `1 session`, `3 sessions`. */
export function counted(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? '' : 's'}`;
}

/** `words` as a POSIX shell reads them back. */
export function shellQuoted(words: readonly string[]): string {
  return words
    .map((word) => (/^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", String.raw`'\''`)}'`))
    .join(' ');
}
