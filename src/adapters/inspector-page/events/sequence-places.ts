/** Where the parts of a sequence diagram are, in pixels. */
import { OTHERS } from './sequence.ts';
import type { Lifeline, SequenceRow } from './sequence.ts';

export const TIME_WIDTH = 64;
export const SEQUENCE_ROW = 32;
const EDGE = 8;
/** Of a letter of the labels, on the average. */
const LETTER = 6.3;
const NARROWEST = 84;
const MOST_LIFELINES = 8;

export function lifelinesFor(width: number): number {
  return Math.min(MOST_LIFELINES, Math.max(4, Math.floor((width - TIME_WIDTH) / NARROWEST)));
}

export function columnWidth(width: number, count: number): number {
  return (width - TIME_WIDTH - EDGE) / Math.max(1, count);
}

/** The middle of a column. */
export function columnMiddle(width: number, count: number, index: number): number {
  return TIME_WIDTH + columnWidth(width, count) * (index + 0.5);
}

export interface LabelPlace {
  readonly x: number;
  readonly text: string;
}

/**
 * A label in the middle between two places, moved as far as needed to stand within the picture, and cut where even that
 * is not enough.
 */
export function labelBetween(text: string, one: number, other: number, width: number): LabelPlace {
  const letters = Math.floor((width - TIME_WIDTH - EDGE) / LETTER);
  const cut = text.length > letters ? `${text.slice(0, Math.max(1, letters - 1))}…` : text;
  const half = (cut.length * LETTER) / 2;
  return { x: Math.min(width - EDGE - half, Math.max(TIME_WIDTH + half, (one + other) / 2)), text: cut };
}

/** A label beside a mark: to its right, or to its left where there is more space. */
export function labelBeside(text: string, x: number, width: number): LabelPlace & { readonly anchor: 'start' | 'end' } {
  const right = width - EDGE - (x + 10);
  const left = x - 10 - TIME_WIDTH;
  const isRight = text.length * LETTER <= right || right >= left;
  const letters = Math.max(1, Math.floor((isRight ? right : left) / LETTER));
  return {
    x: isRight ? x + 10 : x - 10,
    anchor: isRight ? 'start' : 'end',
    text: text.length > letters ? `${text.slice(0, Math.max(1, letters - 1))}…` : text,
  };
}

/** Whether the line of an actor runs through the upper and the lower half of a row. */
export function linesIn(
  { key, begins, ends }: Lifeline,
  { seq }: SequenceRow,
): { readonly above: boolean; readonly below: boolean } {
  if (key === OTHERS) return { above: true, below: true };
  const above = (begins === undefined || begins < seq) && (ends === undefined || ends >= seq);
  const below = (begins === undefined || begins <= seq) && (ends === undefined || ends > seq);
  return { above, below };
}
