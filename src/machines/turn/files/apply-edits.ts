/** Replaces texts in a text, exactly: all of the changes or none. */
import { RuntimeError } from '../../errors.ts';
import type { TextEdit } from './edit-file.ts';
import { describeMiss } from './edit-miss.ts';
import { MAX_EDIT_BYTES } from './file-limits.ts';
import { lineEndingsOf, withLineEndings } from './line-endings.ts';

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
      `${which} looks for a text that was found 0 times. ${describeMiss(text, edit.oldText)}`,
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
    `${which} looks for a text that was found ${times} times, on lines ${places}`,
    'Take in more of the lines around it so that it is found once, or set replaceAll.',
  );
}

function failed(code: string, message: string, hint: string): RuntimeError {
  return new RuntimeError(code, message, { category: 'validation', hint });
}
