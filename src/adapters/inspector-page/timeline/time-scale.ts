/**
 * The scale of a session's timeline: places on it are milliseconds, of which long pauses take fewer than they lasted. A
 * session works for seconds and rests for days; what it did could not be seen beside its rests.
 */
import type { BarPart, SessionBar } from '../../../machines/inspection-log/session-bar.ts';
import { duration } from '../model/words.ts';
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

  /** What is written along it: times, and how long pauses are. At most `pixels` wide. */
  marksIn(first: number, last: number, pixels: number): readonly (Mark & { readonly isPause: boolean })[] {
    const marks: (Mark & { readonly isPause: boolean })[] = [];
    const room = (at: number): number => ((at - first) / (last - first)) * pixels;
    const add = (at: number, text: string, isPause: boolean): void => {
      const before = marks.at(-1)?.at ?? -Infinity;
      const place = room(at) / pixels;
      const margin = LABEL_PIXELS / 2 / pixels;
      if (place < margin || place > 1 - margin || (place - before) * pixels < LABEL_PIXELS) return;
      marks.push({ at: place, text, isPause });
    };
    for (const { from, to, at, end, isShortened } of this.#pieces) {
      const [begin, stop] = [Math.max(at, first), Math.min(end, last)];
      const width = room(stop) - room(begin);
      if (stop <= begin || width < LABEL_PIXELS / 4) continue;
      if (isShortened) add((begin + stop) / 2, duration(to - from), true);
      else {
        const span = { from: this.timeAt(begin), to: begin === at && stop === end ? to : this.timeAt(stop) };
        for (const { at: within, text } of timeMarks(span.from, span.to, Math.max(1, Math.floor(width / MARK_PIXELS))))
          add(begin + within * (stop - begin), text, false);
      }
    }
    return marks;
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
