/** The port that reads cron expressions. */
import type { NominalTimes } from '../../machines/schedule/due-slots.ts';
import type { SchedulePlan } from '../../machines/schedule/slot-record.ts';

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
