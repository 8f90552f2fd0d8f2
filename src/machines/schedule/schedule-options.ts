/** What can be said to schedules from outside, checked: the limits of all of them, and the change of one. */
import * as z from 'zod';
import { BackgroundTaskError } from '../task/task-error.ts';
import { overlapPolicy } from '../task/task-request.ts';

const count = z.number().int().positive();
const durationMs = z
  .number()
  .int()
  .positive()
  .max(2 ** 31 - 1);

/** All have defaults. */
const scheduleLimits = z.strictObject({
  /** Slots that may stand in line under the overlap policy `queue`; what comes beyond is skipped, and recorded so. */
  maxLine: count.max(10_000).default(100),
  /** Tasks of ended fires that stay readable in the manager; older ones are closed. */
  maxKeptFires: count.default(100),
  /** Missed slots that get a record each; older ones of the same gap share one. */
  maxNamedMissed: count.max(10_000).default(1_000),
  /**
   * The wall clock is checked this often while a schedule waits. Steady time stands still while a machine sleeps and
   * knows nothing of a clock that is set, so this bounds how late a slot is noticed after either.
   */
  checkIntervalMs: durationMs.default(60_000),
  /**
   * A slot noticed within this time counts as on time. Longer than `checkIntervalMs`, or a short sleep would cost a
   * slot.
   */
  punctualMs: durationMs.default(90_000),
  /** Pause before records that could not be written are tried again; doubles up to `maxStoreRetryMs`. */
  storeRetryMs: durationMs.default(1_000),
  maxStoreRetryMs: durationMs.default(60_000),
  /** Memory for the newest lines of a schedule's log. */
  logLimitBytes: count.default(256 * 1024),
});

export type ScheduleLimits = Readonly<z.output<typeof scheduleLimits>>;
export type ScheduleLimitsInput = z.input<typeof scheduleLimits>;

const text = z.string().min(1);

/** What is left out stays as it is. */
const planChange = z.strictObject({
  cronExpression: text.optional(),
  timezone: text.optional(),
  overlap: overlapPolicy.optional(),
});
export type PlanChange = Readonly<z.output<typeof planChange>>;

/** @throws BackgroundTaskError category `validation` */
export function checkedScheduleLimits(limits: unknown): ScheduleLimits {
  return checked(scheduleLimits, limits, 'limits of schedules');
}

/**
 * Checks the form only; whether an expression can be read is the plan's to say. @throws BackgroundTaskError category
 * `validation`
 */
export function checkedPlanChange(changes: unknown): PlanChange {
  return checked(planChange, changes, 'change of a schedule');
}

function checked<Schema extends z.ZodType>(schema: Schema, value: unknown, what: string): z.output<Schema> {
  const parsed = schema.safeParse(value);
  if (parsed.success) return parsed.data;
  throw new BackgroundTaskError('validation', `invalid ${what}: ${z.prettifyError(parsed.error)}`, {
    code: 'SCHEDULE_OPTIONS',
  });
}
