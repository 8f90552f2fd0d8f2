/** Sizes in pixels of all that is drawn, and how large a text gets. */
import type { Row, Tone } from './diagram-plan.ts';
import { textWidth } from './text-width.ts';

export const NAME_SIZE = 13;
export const ROW_SIZE = 12;
export const TITLE_SIZE = 16;
export const NAME_HEIGHT = 18;
export const ROW_HEIGHT = 17;
export const TITLE_HEIGHT = 26;
/** An icon with the gap behind it. */
export const ICON_WIDTH = 16;
/** Around the text of a state. */
export const PADDING_X = 12;
export const PADDING_Y = 7;
export const LABEL_PADDING_X = 5;
export const LABEL_PADDING_Y = 2;
/** Around the whole picture. */
export const MARGIN = 16;
/** The widest that a page of documentation shows without making the text smaller. */
export const PAGE_WIDTH = 900;
/** The dot from which the first state is entered, and the signs of history and of `anywhere`. */
export const DOT_SIZE = 12;
export const SIGN_SIZE = 24;

const BOLD_TONES: ReadonlySet<Tone> = new Set(['name', 'event', 'mark']);

export function isBoldTone(tone: Tone): boolean {
  return BOLD_TONES.has(tone);
}

export function rowWidth({ icon, parts, indent }: Row): number {
  const text = parts.reduce(
    (width, part) => width + textWidth(part.text, { size: ROW_SIZE, isBold: isBoldTone(part.tone) }),
    0,
  );
  return indent + (icon === undefined ? 0 : ICON_WIDTH) + text;
}

export function widestOf(rows: readonly Row[]): number {
  return rows.reduce((width, row) => Math.max(width, rowWidth(row)), 0);
}

/** What a name with rows under it needs, with the space around. */
export function blockSize(name: string, rows: readonly Row[]): { readonly width: number; readonly height: number } {
  const text = Math.max(textWidth(name, { size: NAME_SIZE, isBold: true }), widestOf(rows));
  return { width: Math.ceil(text + 2 * PADDING_X), height: NAME_HEIGHT + rows.length * ROW_HEIGHT + 2 * PADDING_Y };
}

export function labelSize(rows: readonly Row[]): { readonly width: number; readonly height: number } {
  return {
    width: Math.ceil(widestOf(rows) + 2 * LABEL_PADDING_X),
    height: rows.length * ROW_HEIGHT + 2 * LABEL_PADDING_Y,
  };
}
