/** Times, ages, amounts and states as people read them. */
import { leavesOfValue } from '../../../machines/inspection-log/actor-outcome.ts';
import type { InspectedValue } from '../../../machines/inspection-log/inspection-record.ts';

const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;
/** Making one takes long. */
const WHOLE_TIME = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeStyle: 'long' });

/** `12 ms`, `3.4 s`, `5 min`, `2 h`, `3 d`. Never negative: clocks differ. */
export function duration(ms: number): string {
  const span = Math.max(0, ms);
  if (span < SECOND) return `${Math.round(span)} ms`;
  if (span < 10 * SECOND) return `${(span / SECOND).toFixed(1)} s`;
  if (span < MINUTE) return `${Math.floor(span / SECOND)} s`;
  if (span < HOUR) return `${Math.floor(span / MINUTE)} min`;
  if (span < DAY) return `${Math.floor(span / HOUR)} h`;
  return `${Math.floor(span / DAY)} d`;
}

/** How long until something happens: what is a second short of seven days is seven days. */
export function left(ms: number): string {
  return duration(ms < DAY ? ms : Math.round(ms / DAY) * DAY);
}

/** `14:03:22.125`, in the time zone of the reader. */
export function clockTime(ms: number): string {
  const time = new Date(ms);
  if (Number.isNaN(time.getTime())) return '?';
  const two = (value: number): string => String(value).padStart(2, '0');
  return `${two(time.getHours())}:${two(time.getMinutes())}:${two(time.getSeconds())}.${String(time.getMilliseconds()).padStart(3, '0')}`;
}

/** With the day, and the zone. */
export function wholeTime(ms: number): string {
  const time = new Date(ms);
  return Number.isNaN(time.getTime()) ? 'no time' : WHOLE_TIME.format(time);
}

/** Of an ISO time; undefined where it is none. */
export function instant(iso: string | undefined): number | undefined {
  const ms = iso === undefined ? Number.NaN : Date.parse(iso);
  return Number.isNaN(ms) ? undefined : ms;
}

export function amount(count: number): string {
  return count.toLocaleString('en');
}

/** `12 MB`. */
export function bytes(count: number): string {
  const megabytes = count / 1_048_576;
  return megabytes < 10 ? `${megabytes.toFixed(1)} MB` : `${amount(Math.round(megabytes))} MB`;
}

export function counted(count: number, one: string, many = `${one}s`): string {
  return `${amount(count)} ${count === 1 ? one : many}`;
}

/** A state in one line. */
export function stateText(value: InspectedValue | undefined): string {
  return leavesOfValue(value).join(' · ');
}
