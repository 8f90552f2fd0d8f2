/** The text that a person is writing, and what each key does to it. It may have several lines. */
import type { Key } from './keys.ts';
import { displayWidth, graphemesOf } from './text-width.ts';
import { printable } from './text.ts';

export interface Draft {
  readonly text: string;
  /** Before which character what is typed goes; never inside of one. */
  readonly cursor: number;
}

export const EMPTY: Draft = { text: '', cursor: 0 };

/** With the cursor at its end. */
export function draftOf(text: string): Draft {
  return { text, cursor: text.length };
}

/** Characters of a draft; more belongs into a file. */
const MAX_CHARACTERS = 1_000_000;

/** Everything that moves cursors and colors screens, but for line ends and tabs. */
const CONTROLS = /(?![\t\n])\p{Cc}/gu;

export function inserted({ text, cursor }: Draft, added: string): Draft {
  const clean = added.replaceAll(CONTROLS, '').slice(0, Math.max(0, MAX_CHARACTERS - text.length));
  return { text: text.slice(0, cursor) + clean + text.slice(cursor), cursor: cursor + clean.length };
}

type Edit = (draft: Draft) => Draft;

const EDITS: Readonly<Record<string, Edit>> = {
  left: (draft) => moved(draft, before(draft)),
  right: (draft) => moved(draft, after(draft)),
  home: (draft) => moved(draft, lineStart(draft)),
  end: (draft) => moved(draft, lineEnd(draft)),
  backspace: (draft) => without(draft, before(draft), draft.cursor),
  delete: (draft) => without(draft, draft.cursor, after(draft)),
  'ctrl+a': (draft) => moved(draft, lineStart(draft)),
  'ctrl+e': (draft) => moved(draft, lineEnd(draft)),
  'ctrl+b': (draft) => moved(draft, before(draft)),
  'ctrl+f': (draft) => moved(draft, after(draft)),
  'ctrl+h': (draft) => without(draft, before(draft), draft.cursor),
  'ctrl+d': (draft) => without(draft, draft.cursor, after(draft)),
  'ctrl+k': (draft) => without(draft, draft.cursor, lineEnd(draft)),
  'ctrl+u': (draft) => without(draft, lineStart(draft), draft.cursor),
  'ctrl+w': (draft) => without(draft, wordStart(draft), draft.cursor),
  'meta+backspace': (draft) => without(draft, wordStart(draft), draft.cursor),
  'meta+d': (draft) => without(draft, draft.cursor, wordEnd(draft)),
  'meta+b': (draft) => moved(draft, wordStart(draft)),
  'meta+f': (draft) => moved(draft, wordEnd(draft)),
  'ctrl+left': (draft) => moved(draft, wordStart(draft)),
  'ctrl+right': (draft) => moved(draft, wordEnd(draft)),
  'meta+left': (draft) => moved(draft, wordStart(draft)),
  'meta+right': (draft) => moved(draft, wordEnd(draft)),
  'meta+return': (draft) => inserted(draft, '\n'),
  // Ctrl-J, and what some terminals send for Shift-Enter.
  enter: (draft) => inserted(draft, '\n'),
  'ctrl+j': (draft) => inserted(draft, '\n'),
};

/** `ctrl+a`, `meta+return`, `up`. */
export function keyName({ name, ctrl, meta }: Pick<Key, 'name' | 'ctrl' | 'meta'>): string {
  return `${ctrl ? 'ctrl+' : ''}${meta ? 'meta+' : ''}${name}`;
}

/** The draft after a key; undefined when the key is none that edits. */
export function edited(draft: Draft, key: Key): Draft | undefined {
  const edit = EDITS[keyName(key)];
  if (edit !== undefined) return edit(draft);
  return key.text === '' || key.name === 'return' || key.name === 'tab' || key.name === 'escape'
    ? undefined
    : inserted(draft, key.text);
}

/** The same place one line up or down; undefined where there is none. */
export function movedByLine(draft: Draft, by: -1 | 1): Draft | undefined {
  const start = lineStart(draft);
  const column = draft.cursor - start;
  if (by === -1) {
    if (start === 0) return undefined;
    const above = lineStart({ text: draft.text, cursor: start - 1 });
    return moved(draft, onCharacter(draft.text, Math.min(above + column, start - 1)));
  }
  const end = lineEnd(draft);
  if (end === draft.text.length) return undefined;
  const below = { text: draft.text, cursor: end + 1 };
  return moved(draft, onCharacter(draft.text, Math.min(below.cursor + column, lineEnd(below))));
}

export interface DrawnDraft {
  readonly rows: readonly string[];
  /** Where the cursor is: row, and places from its left. */
  readonly cursor: { readonly row: number; readonly column: number };
}

/** The draft in rows of at most `width` places. */
export function drawnDraft({ text, cursor }: Draft, width: number): DrawnDraft {
  const rows = [''];
  let used = 0;
  let place = { row: 0, column: 0 };
  const put = (shown: string, places: number): void => {
    if (used + places > width && used > 0) {
      rows.push('');
      used = 0;
    }
    rows[rows.length - 1] += shown;
    used += places;
  };
  for (const { segment, index } of graphemesOf(text)) {
    if (index === cursor) place = placeOf(rows, used, width);
    if (segment === '\n') {
      rows.push('');
      used = 0;
    } else {
      const shown = segment === '\t' ? '  ' : printable(segment);
      put(shown, displayWidth(shown));
    }
  }
  if (cursor >= text.length) place = placeOf(rows, used, width);
  if (place.row === rows.length) rows.push('');
  return { rows, cursor: place };
}

/** At the end of a full row the cursor is at the beginning of the next. */
function placeOf(rows: readonly string[], used: number, width: number): DrawnDraft['cursor'] {
  return used >= width ? { row: rows.length, column: 0 } : { row: rows.length - 1, column: used };
}

function moved({ text }: Draft, cursor: number): Draft {
  return { text, cursor };
}

function without({ text }: Draft, from: number, to: number): Draft {
  return { text: text.slice(0, from) + text.slice(to), cursor: from };
}

function lineStart({ text, cursor }: Draft): number {
  return cursor === 0 ? 0 : text.lastIndexOf('\n', cursor - 1) + 1;
}

function lineEnd({ text, cursor }: Draft): number {
  const end = text.indexOf('\n', cursor);
  return end < 0 ? text.length : end;
}

/** Where the character before the cursor begins. */
function before({ text, cursor }: Draft): number {
  return cursor === 0 ? 0 : (graphemesOf(text).containing(cursor - 1)?.index ?? 0);
}

function after({ text, cursor }: Draft): number {
  const at = graphemesOf(text).containing(cursor);
  return at === undefined ? text.length : at.index + at.segment.length;
}

function wordStart({ text, cursor }: Draft): number {
  return /\S*\s*$/u.exec(text.slice(0, cursor))?.index ?? 0;
}

function wordEnd({ text, cursor }: Draft): number {
  return cursor + (/^\s*\S*/u.exec(text.slice(cursor))?.[0].length ?? 0);
}

function onCharacter(text: string, at: number): number {
  return graphemesOf(text).containing(at)?.index ?? at;
}
