/** Round times along a span, in the time zone of the reader. */

export interface Mark {
  /** From 0 to 1. */
  readonly at: number;
  readonly text: string;
}

const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;
const STEPS = [
  1,
  5,
  10,
  50,
  100,
  500,
  SECOND,
  2 * SECOND,
  5 * SECOND,
  10 * SECOND,
  15 * SECOND,
  30 * SECOND,
  MINUTE,
  2 * MINUTE,
  5 * MINUTE,
  10 * MINUTE,
  15 * MINUTE,
  30 * MINUTE,
  HOUR,
  2 * HOUR,
  3 * HOUR,
  6 * HOUR,
  12 * HOUR,
  DAY,
  7 * DAY,
  30 * DAY,
  365 * DAY,
];

/** At most `most` of them, from `from` to `to`, in milliseconds since the epoch. */
export function timeMarks(from: number, to: number, most: number): readonly Mark[] {
  const span = to - from;
  if (span <= 0 || most < 1) return [];
  const step = STEPS.find((each) => span / each <= most) ?? span;
  const zone = new Date(from).getTimezoneOffset() * MINUTE;
  const marks: Mark[] = [];
  for (let time = Math.ceil((from - zone) / step) * step + zone; time <= to && marks.length <= most; time += step)
    marks.push({ at: (time - from) / span, text: textOf(time, step) });
  return marks;
}

function textOf(ms: number, step: number): string {
  const time = new Date(ms);
  if (step >= DAY) return time.toLocaleDateString(undefined, { month: 'short', day: 'numeric' });
  const clock = time.toTimeString().slice(0, step < MINUTE ? 8 : 5);
  return step < SECOND ? `${clock}.${String(time.getMilliseconds()).padStart(3, '0')}` : clock;
}
