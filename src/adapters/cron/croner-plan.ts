/**
 * Cron expressions read by croner: five fields, six with seconds in front, seven with a year at the end; names, ranges,
 * steps, `L`, `W`, `#`, `+` and nicknames such as `@daily`; or a date and time such as `2030-01-23T09:00:00`, which is
 * one slot.
 *
 * Only croner's arithmetic is used. Its timers cannot be driven by another clock, and its `protect` drops overlapping
 * runs without a trace: both are done by the schedule (see machines/schedule/overlap.ts).
 *
 * Clock changes follow Vixie cron. Where neither the seconds, the minutes nor the hours have a `*` or a step, the job
 * has fixed times of day: one that a change leaves out fires at the first instant after the gap, one that a change
 * repeats fires the first time only. Any other job runs by intervals: it keeps its rhythm through a repeated hour, and
 * has nothing to do in a missing one.
 */
import { Cron } from 'croner';
import type { CronPlan, CronTimes } from '../../actors/schedule/cron-plan.ts';
import { messageOf } from '../../machines/errors.ts';
import type { NominalTimes } from '../../machines/schedule/due-slots.ts';
import { BackgroundTaskError } from '../../machines/task/task-error.ts';

const MAX_EXPRESSION_CHARACTERS = 1_000;

interface CronerPlanOptions {
  /** Used where a schedule names no time zone. Default: the one this process runs in. */
  readonly timezone?: string | undefined;
}

/** @throws BackgroundTaskError category `validation` for a default time zone that does not exist */
export function createCronerPlan(options: CronerPlanOptions = {}): CronPlan {
  let fallback = options.timezone === undefined ? undefined : checkedTimezone(options.timezone);
  // Not before a schedule asks: the system's time zones take ten milliseconds to load.
  const ofProcess = (): string => (fallback ??= checkedTimezone(Intl.DateTimeFormat().resolvedOptions().timeZone));
  return {
    read({ cronExpression, timezone }): CronTimes {
      const plan = { cronExpression, timezone: timezone === undefined ? ofProcess() : checkedTimezone(timezone) };
      const cron = parsed(plan.cronExpression, plan.timezone);
      const once = cron.getOnce();
      return { plan, ...(once === null ? recurring(cron) : single(once.getTime())) };
    },
  };
}

function recurring(cron: Cron): NominalTimes {
  return {
    next: (epochMs) => cron.nextRun(new Date(epochMs))?.getTime(),
    previous: (epochMs) => cron.previousRuns(1, new Date(epochMs))[0]?.getTime(),
  };
}

function single(slotMs: number): NominalTimes {
  return {
    next: (epochMs) => (epochMs < slotMs ? slotMs : undefined),
    previous: (epochMs) => (epochMs > slotMs ? slotMs : undefined),
  };
}

function parsed(expression: string, timezone: string): Cron {
  if (expression.length > MAX_EXPRESSION_CHARACTERS)
    throw invalid(
      `the cron expression has ${expression.length} characters, at most ${MAX_EXPRESSION_CHARACTERS} are read`,
    );
  if (/^\s*\d{4}-/.test(expression)) checkDate(expression);
  try {
    const cron = new Cron(expression, { timezone, paused: true, fixedTimeRule: 'no-wildcard' });
    // Some faults show only when a time is asked for.
    cron.nextRun(new Date(0));
    return cron;
  } catch (thrown) {
    throw invalid(
      `cannot read the cron expression "${expression}": ${messageOf(thrown).replace(/^Cron\w*: /, '')}`,
      thrown,
    );
  }
}

const DATE_TIME = /^(?<dateTime>\d{4}-\d\d-\d\dT\d\d:\d\d(?::\d\d)?)(?:Z|[+-]\d\d:\d\d)?$/;

/**
 * croner takes the 30th of February for the 2nd of March, and drops fractions of a second, which would make a slot
 * early.
 */
function checkDate(expression: string): void {
  const dateTime = DATE_TIME.exec(expression)?.groups?.['dateTime'];
  const normalized = dateTime === undefined ? undefined : new Date(`${dateTime}Z`);
  const isReal =
    normalized !== undefined &&
    !Number.isNaN(normalized.getTime()) &&
    normalized.toISOString().startsWith(dateTime ?? '');
  if (!isReal) throw invalid(`"${expression}" is not a date and time of the form 2030-01-23T09:00:00`);
}

function checkedTimezone(timezone: string): string {
  try {
    Intl.DateTimeFormat('en', { timeZone: timezone });
    // As it was typed: canonical names change with the release of the time zone data, and the plan would seem to have
    // changed.
    return timezone;
  } catch (cause) {
    throw new BackgroundTaskError('validation', `there is no time zone "${timezone}"`, {
      code: 'SCHEDULE_TIMEZONE',
      hint: 'Use an IANA name such as "Europe/Berlin" or "America/New_York", or "UTC".',
      cause,
    });
  }
}

function invalid(message: string, cause?: unknown): BackgroundTaskError {
  return new BackgroundTaskError('validation', message, {
    code: 'SCHEDULE_EXPRESSION',
    hint: 'Examples: "*/5 * * * *" every five minutes, "30 2 * * *" at 02:30 each day, "0 9 * * MON-FRI" at nine on weekdays, "0 0 L * *" on the last day of each month.',
    cause,
  });
}
