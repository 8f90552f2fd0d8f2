/** The port that reads cron expressions. */
import type { NominalTimes } from '../../machines/schedule/due-slots.ts';
import type { SchedulePlan } from '../../machines/schedule/slot-record.ts';
import { BackgroundTaskError } from '../../machines/task/task-error.ts';

export interface CronPlan {
  /**
   * Reads an expression in a time zone. Without a time zone the plan's default applies; the answer names the one that
   * was used.
   * @throws BackgroundTaskError category `validation` that says which part is wrong and shows an expression that is
   * right
   */
  read(plan: { readonly cronExpression: string; readonly timezone?: string | undefined }): CronTimes;
}

/**
 * The nominal times of one plan. A time that a clock change leaves out or repeats is the plan's business; every answer
 * is an instant that exists, `next` and `previous` agree on which ones there are, and both move strictly.
 */
export interface CronTimes extends NominalTimes {
  readonly plan: SchedulePlan;
}

/** @throws BackgroundTaskError category `validation`, SCHEDULE_NEVER_FIRES */
export function requireFutureTime(times: CronTimes, nowMs: number): void {
  if (times.next(nowMs) !== undefined) return;
  const { plan } = times;
  throw new BackgroundTaskError(
    'validation',
    `"${plan.cronExpression}" in ${plan.timezone} has no time after ${new Date(nowMs).toISOString()}`,
    {
      code: 'SCHEDULE_NEVER_FIRES',
      hint: 'Check its day, month and year: it names a date that does not exist or has passed.',
    },
  );
}
