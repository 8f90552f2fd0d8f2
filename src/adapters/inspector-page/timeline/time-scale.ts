/**
 * The scale of a session's timeline: places on it are milliseconds, of which long pauses take fewer than they lasted. A
 * session works for seconds and rests for days; what it did could not be seen beside its rests.
 */
import type { BarPart, SessionBar } from '../../../machines/inspection-log/session-bar.ts';
import { clockTime, duration } from '../model/words.ts';
import { timeMarks } from '../time/time-marks.ts';
import type { Mark } from '../time/time-marks.ts';

/** Milliseconds since the epoch. */
export interface Stretch {
  readonly from: number;
  readonly to: number;
}

interface Piece extends Stretch {
  /** Where it begins and ends on the scale. */
  readonly at: number;
  readonly end: number;
  readonly isShortened: boolean;
}

/** Of the time at work, all shortened pauses together take so much. */
const SHARE_OF_PAUSES = 0.5;
const LABEL_PIXELS = 64;
const MARK_PIXELS = 110;

export type ScaleMark = Mark & { readonly isPause: boolean };

/** Labels that stand apart from one another. */
class Marks {
  readonly #first: number;
  readonly #last: number;
  readonly #pixels: number;
  readonly all: ScaleMark[] = [];

  constructor(first: number, last: number, pixels: number) {
    this.#first = first;
    this.#last = last;
    this.#pixels = pixels;
  }

  pixelsOf(place: number): number {
    return ((place - this.#first) / (this.#last - this.#first)) * this.#pixels;
  }

  add(place: number, text: string, isPause: boolean): void {
    const at = this.pixelsOf(place);
    const before = (this.all.at(-1)?.at ?? -Infinity) * this.#pixels;
    const margin = LABEL_PIXELS / 2;
    if (at >= margin && at <= this.#pixels - margin && at - before >= LABEL_PIXELS)
      this.all.push({ at: at / this.#pixels, text, isPause });
  }

  /** All times with seconds, where some have them. */
  get even(): readonly ScaleMark[] {
    const hasSeconds = this.all.some(({ text, isPause }) => !isPause && text.length >= SECONDS);
    return this.all.map((mark) =>
      hasSeconds && !mark.isPause && /^\d\d:\d\d$/.test(mark.text) ? { ...mark, text: `${mark.text}:00` } : mark,
    );
  }
}

/** Of `14:03:22.125`, without its fraction. */
const SECONDS = 8;

export class TimeScale {
  readonly #pieces: readonly Piece[];

  /** @param busy in order, none within another @param isShort long pauses between those are shortened */
  constructor(whole: Stretch, busy: readonly Stretch[], isShort: boolean) {
    const pieces: Piece[] = [];
    const add = (from: number, to: number, most: number): void => {
      if (to <= from) return;
      const at = pieces.at(-1)?.end ?? 0;
      pieces.push({ from, to, at, end: at + Math.min(to - from, most), isShortened: to - from > most });
    };
    const pauses = gapsIn(whole, busy).map(({ from, to }) => to - from);
    const most = isShort ? longestPause(pauses, lengthOf(whole, busy)) : Infinity;
    let time = whole.from;
    for (const each of busy) {
      add(time, Math.min(each.from, whole.to), most);
      add(Math.max(time, each.from), Math.min(each.to, whole.to), Infinity);
      time = Math.max(time, each.to);
    }
    add(time, whole.to, most);
    // What took no time at all has a scale too.
    if (pieces.length === 0) add(whole.from, whole.from + 1, Infinity);
    this.#pieces = pieces;
  }

  /** The last place. */
  get length(): number {
    return this.#pieces.at(-1)?.end ?? 1;
  }

  placeOf(time: number): number {
    const piece = this.#pieceWhere(({ from }) => from <= time);
    const within = (time - piece.from) / (piece.to - piece.from);
    return piece.at + Math.max(0, Math.min(1, within)) * (piece.end - piece.at);
  }

  timeAt(place: number): number {
    const piece = this.#pieceWhere(({ at }) => at <= place);
    const within = (place - piece.at) / (piece.end - piece.at);
    return piece.from + Math.max(0, Math.min(1, within)) * (piece.to - piece.from);
  }

  /** Those that are shortened, as far as they are between two places. */
  pausesIn(first: number, last: number): readonly Piece[] {
    return this.#pieces.filter(({ isShortened, at, end }) => isShortened && end > first && at < last);
  }

  /** What is written along it: times, and how long pauses are. @param pixels of all that is between the two places */
  marksIn(first: number, last: number, pixels: number): readonly ScaleMark[] {
    const marks = new Marks(first, last, pixels);
    for (const { from, to, at, end, isShortened } of this.#pieces) {
      const [begin, stop] = [Math.max(at, first), Math.min(end, last)];
      const width = marks.pixelsOf(stop) - marks.pixelsOf(begin);
      if (stop <= begin || width < LABEL_PIXELS / 4) continue;
      if (isShortened) marks.add((begin + stop) / 2, duration(to - from), true);
      else
        for (const { at: within, text } of timeMarks(
          this.timeAt(begin),
          stop === end ? to : this.timeAt(stop),
          Math.max(1, Math.floor(width / MARK_PIXELS)),
        ))
          marks.add(begin + within * (stop - begin), text, false);
    }
    if (marks.all.length > 0) return marks.even;
    // Everything is shorter than a label.
    for (let at = MARK_PIXELS / 2; at < pixels; at += MARK_PIXELS) {
      const place = first + (at / pixels) * (last - first);
      marks.add(place, clockTime(this.timeAt(place)).slice(0, SECONDS), false);
    }
    return marks.all;
  }

  #pieceWhere(isBefore: (piece: Piece) => boolean): Piece {
    let [low, high] = [0, this.#pieces.length];
    while (low < high) {
      const middle = Math.floor((low + high) / 2);
      if (isBefore(this.#pieces[middle] as Piece)) low = middle + 1;
      else high = middle;
    }
    return this.#pieces[Math.max(0, low - 1)] as Piece;
  }
}

/** What is no pause: the session, or one that works for it, was at work. Merged and in order. */
export function busyIn(root: SessionBar, beside: readonly SessionBar[], now: number): readonly Stretch[] {
  const all = [root, ...beside].flatMap(({ parts, to = now }) =>
    parts.flatMap(({ from, is }: BarPart, index) =>
      is === 'working' ? [{ from, to: Math.max(from, parts[index + 1]?.from ?? to) }] : [],
    ),
  );
  const merged: { from: number; to: number }[] = [];
  for (const { from, to } of all.toSorted((one, other) => one.from - other.from)) {
    const before = merged.at(-1);
    if (before !== undefined && from <= before.to) before.to = Math.max(before.to, to);
    else merged.push({ from, to });
  }
  return merged;
}

function gapsIn({ from, to }: Stretch, busy: readonly Stretch[]): readonly Stretch[] {
  const edges = [from, ...busy.flatMap((each) => [each.from, each.to]), to];
  return Array.from({ length: edges.length / 2 }, (_, gap) => ({
    from: edges[gap * 2] ?? 0,
    to: Math.min(to, edges[gap * 2 + 1] ?? 0),
  }));
}

function lengthOf(whole: Stretch, busy: readonly Stretch[]): number {
  return busy.reduce((sum, { from, to }) => sum + Math.max(0, Math.min(to, whole.to) - from), 0);
}

/** So that all together take their share of the time at work. Where nothing took any time, pauses are all there is. */
function longestPause(pauses: readonly number[], worked: number): number {
  if (worked <= 0) return Infinity;
  const share = worked * SHARE_OF_PAUSES;
  const long = pauses.filter((pause) => pause > share / pauses.length).length;
  return share / Math.max(1, long);
}
