/** Replaces texts in a text, exactly: all of the changes or none. */
import { beginningOf } from '../../cut-text.ts';
import { RuntimeError } from '../../errors.ts';
import type { TextEdit } from './edit-file.ts';
import { MAX_EDIT_BYTES } from './file-limits.ts';
import { lineEndingsOf, withLineEndings } from './line-endings.ts';

// Why a text that an edit searches for is not there: what a model needs to get it right the next time.

/** Lines of the file that are compared. */
const MAX_COMPARED_LINES = 50_000;

/** Characters of a line that are compared and shown. */
const MAX_COMPARED_CHARACTERS = 300;

/** How much of a line must be the same to be worth naming. */
const LIKE_ENOUGH = 0.5;

/** One sentence. */
function describeMiss(text: string, wanted: string): string {
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

/** How often a text is counted before it is only said to be found more often. */
const MAX_COUNTED = 1_000;

/** Places that an error names. */
const MAX_NAMED_PLACES = 5;

export interface EditedText {
  readonly text: string;
  /** Places that were changed. */
  readonly replacements: number;
}

/**
 * Each edit works on what the one before it left. Line breaks of an edit are taken as the file has them.
 * @throws RuntimeError EDIT_NOT_FOUND, EDIT_AMBIGUOUS, EDIT_CHANGES_NOTHING, FILE_TOO_LARGE
 */
export function applyEdits(text: string, edits: readonly TextEdit[]): EditedText {
  let edited: EditedText = { text, replacements: 0 };
  for (const [index, edit] of edits.entries()) {
    const which = edits.length === 1 ? 'the edit' : `edit ${index + 1} of ${edits.length}`;
    const { text: next, replacements } = applyEdit(edited.text, edit, which);
    edited = { text: next, replacements: edited.replacements + replacements };
  }
  return edited;
}

function applyEdit(text: string, edit: TextEdit, which: string): EditedText {
  const { oldText, newText } = fitted(text, edit);
  if (oldText === newText)
    throw failed(
      'EDIT_CHANGES_NOTHING',
      `${which} replaces a text by itself`,
      'Give the text that is to be there instead as newText.',
    );
  const first = text.indexOf(oldText);
  if (first === -1) {
    throw failed(
      'EDIT_NOT_FOUND',
      `${which} searches for a text that was found 0 times. ${describeMiss(text, edit.oldText)}`,
      'Read the file again and give oldText exactly as it is there.',
    );
  }
  if (edit.replaceAll === true) return replaceEverywhere(text, { oldText, newText }, which);
  const second = text.indexOf(oldText, first + 1);
  if (second !== -1) throw ambiguous(text, oldText, which);
  return { text: text.slice(0, first) + newText + text.slice(first + oldText.length), replacements: 1 };
}

/** The edit with line breaks as the file has them. A file that has both kinds is first taken at its word. */
function fitted(text: string, { oldText, newText }: TextEdit): TextEdit {
  const endings = lineEndingsOf(text);
  const isVerbatim = endings === 'none' || (endings === 'mixed' && text.includes(oldText));
  const wanted = endings === 'mixed' ? 'crlf' : endings;
  return isVerbatim
    ? { oldText, newText }
    : { oldText: withLineEndings(oldText, wanted), newText: withLineEndings(newText, wanted) };
}

function replaceEverywhere(text: string, { oldText, newText }: TextEdit, which: string): EditedText {
  let replacements = 0;
  for (let at = text.indexOf(oldText); at !== -1; at = text.indexOf(oldText, at + oldText.length)) replacements += 1;
  const length = text.length + replacements * (newText.length - oldText.length);
  if (length > MAX_EDIT_BYTES) {
    throw new RuntimeError(
      'FILE_TOO_LARGE',
      `${which} would make a text of ${length} characters; expected ${MAX_EDIT_BYTES} at most`,
      { category: 'capacity', details: { length, maxCharacters: MAX_EDIT_BYTES } },
    );
  }
  // As a function: in a text, "$&" and the like would mean something.
  return { text: text.replaceAll(oldText, () => newText), replacements };
}

function ambiguous(text: string, oldText: string, which: string): RuntimeError {
  const lines: number[] = [];
  let count = 0;
  let line = 1;
  let counted = 0;
  for (let at = text.indexOf(oldText); at !== -1 && count < MAX_COUNTED; at = text.indexOf(oldText, at + 1)) {
    count += 1;
    if (lines.length === MAX_NAMED_PLACES) continue;
    for (; counted < at; counted += 1) if (text[counted] === '\n') line += 1;
    lines.push(line);
  }
  const times = count === MAX_COUNTED ? `more than ${MAX_COUNTED - 1}` : String(count);
  const places = `${lines.join(', ')}${count > lines.length ? ', …' : ''}`;
  return failed(
    'EDIT_AMBIGUOUS',
    `${which} searches for a text that was found ${times} times, on lines ${places}`,
    'Take in more of the lines around it so that it is found once, or set replaceAll.',
  );
}

function failed(code: string, message: string, hint: string): RuntimeError {
  return new RuntimeError(code, message, { category: 'validation', hint });
}
