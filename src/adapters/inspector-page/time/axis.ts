/**
 * The line on which all that was recorded stands: by time, or, where long pauses would take all of it, by record.
 * Places on it are from 0 to 1; it is cut into slices, each of which says how much happened in it.
 */
import type { InspectionTimeline } from '../../../machines/inspection-log/inspection-timeline.ts';
import type { InspectedMoment } from '../../../machines/inspection-log/inspected-actor.ts';
import { indexOf, placeAfter } from '../model/record-index.ts';
import type { RecordIndex } from '../model/record-index.ts';
import { clockTime, duration } from '../model/words.ts';
import { timeMarks } from './time-marks.ts';
import type { Mark } from './time-marks.ts';

export type AxisKind = 'time' | 'records';

export interface Slice {
  /** From 0 to 1: how much happened, of the most that happened in any. */
  readonly height: number;
  readonly hasFailure: boolean;
  /** Something of the chosen actor is in it. */
  readonly isOfActor: boolean;
}

export interface AxisOptions {
  readonly timeline: InspectionTimeline;
  readonly kind: AxisKind;
  readonly slices: number;
  /** How many labels there is space for. */
  readonly marks: number;
  readonly actor: string | undefined;
}

export class Axis {
  readonly kind: AxisKind;
  readonly slices: readonly Slice[];
  readonly marks: readonly Mark[];
  /** Where nothing happened for long; by record only, by time one sees it. */
  readonly pauses: readonly Mark[];
  readonly #timeline: InspectionTimeline;
  readonly #first: InspectedMoment;
  readonly #last: InspectedMoment;

  private constructor(
    { timeline, kind, slices, marks, actor }: AxisOptions,
    first: InspectedMoment,
    last: InspectedMoment,
  ) {
    this.kind = kind;
    this.#timeline = timeline;
    this.#first = first;
    this.#last = last;
    const index = indexOf(timeline);
    // By record, a slice without one would say that nothing happened there.
    this.slices = this.#sliced(
      Math.max(1, kind === 'time' ? slices : Math.min(slices, last.s - first.s + 1)),
      index,
      actor,
    );
    this.pauses = kind === 'time' ? [] : this.#pausesOf(index, marks);
    this.marks = kind === 'time' ? timeMarks(first.t, last.t, marks) : this.#recordMarks(marks);
  }

  /** Undefined: nothing was recorded. */
  static of(options: AxisOptions): Axis | undefined {
    const { first, last } = options.timeline;
    return first === undefined || last === undefined ? undefined : new Axis(options, first, last);
  }

  /** The number of the record at a place. */
  recordAt(place: number): number {
    const within = Math.max(0, Math.min(1, place));
    if (this.kind === 'records') return Math.round(this.#first.s + within * (this.#last.s - this.#first.s));
    return this.#timeline.atTime(this.#first.t + within * (this.#last.t - this.#first.t)).moment?.s ?? this.#first.s;
  }

  /** @param seq number of a record */
  placeOf(seq: number): number {
    if (this.kind === 'records') return fraction(seq, this.#first.s, this.#last.s);
    return fraction(this.#timeline.at(seq).moment?.t ?? this.#first.t, this.#first.t, this.#last.t);
  }

  #sliced(count: number, { failures }: RecordIndex, actor: string | undefined): readonly Slice[] {
    const ends = Array.from({ length: count }, (_, slice) => this.recordAt((slice + 1) / count));
    const amounts = ends.map((end, slice) => this.#amountIn(ends[slice - 1] ?? this.#first.s - 1, end));
    const most = Math.max(...amounts, Number.MIN_VALUE);
    return ends.map((end, slice) => {
      const begin = ends[slice - 1] ?? this.#first.s - 1;
      return {
        height: Math.sqrt((amounts[slice] ?? 0) / most),
        hasFailure: placeAfter(failures, end) > placeAfter(failures, begin),
        isOfActor:
          actor !== undefined &&
          end > begin &&
          this.#timeline.records({ actor, from: begin + 1, to: end, limit: 1 }).length > 0,
      };
    });
  }

  /**
   * By time: records. By record there are equally many in each, so it is how fast they came, tamed: some come a
   * thousand times as fast as others.
   */
  #amountIn(begin: number, end: number): number {
    if (this.kind === 'time' || end <= begin) return Math.max(0, end - begin);
    const took = (this.#timeline.at(end).moment?.t ?? 0) - (this.#timeline.at(begin).moment?.t ?? this.#first.t);
    return Math.log1p((1_000 * (end - begin)) / Math.max(1, took)) ** 2;
  }

  #pausesOf({ pauses }: RecordIndex, most: number): readonly Mark[] {
    const marks = pauses.map(({ s, ms }) => ({ at: this.placeOf(s), text: duration(ms), ms }));
    // The longest are told, where there is no space for all.
    const told = new Set(
      apart(
        marks.toSorted((one, other) => other.ms - one.ms),
        1 / Math.max(1, most),
      ),
    );
    return marks.slice(-MOST_PAUSES).map((mark) => ({ at: mark.at, text: told.has(mark) ? mark.text : '' }));
  }

  #recordMarks(count: number): readonly Mark[] {
    const all = Math.max(1, Math.min(count, this.#last.s - this.#first.s));
    const marks = Array.from({ length: all }, (_, mark) => {
      const at = (mark + 0.5) / all;
      return { at, text: clockTime(this.#timeline.at(this.recordAt(at)).moment?.t ?? 0) };
    });
    // Seconds are enough where they tell the marks apart.
    const length = new Set(marks.map(({ text }) => text.slice(0, SECONDS))).size === all ? SECONDS : undefined;
    return marks.map(({ at, text }, mark) => ({
      at,
      text: text === marks[mark - 1]?.text ? '' : text.slice(0, length),
    }));
  }
}

const MOST_PAUSES = 500;
/** Of `14:03:22.125`, without its fraction. */
const SECONDS = 8;

/** Those that stand at least `distance` from all before them in the list. */
function apart<Each extends { readonly at: number }>(marks: readonly Each[], distance: number): readonly Each[] {
  const kept: Each[] = [];
  for (const mark of marks.slice(0, MOST_PAUSES))
    if (kept.every(({ at }) => Math.abs(at - mark.at) >= distance)) kept.push(mark);
  return kept;
}

function fraction(value: number, from: number, to: number): number {
  return to <= from ? 1 : Math.max(0, Math.min(1, (value - from) / (to - from)));
}

/** Sessions pause for hours between what they do, and so does what is asked for nothing. */
export function fittingKind(timeline: InspectionTimeline, isSession: boolean): AxisKind {
  const { first, last } = timeline;
  if (first === undefined || last === undefined || isSession) return 'records';
  return indexOf(timeline).pausedMs > (last.t - first.t) / 2 ? 'records' : 'time';
}
