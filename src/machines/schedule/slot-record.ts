/**
 * What is written down about a schedule: the plan in force, and for every slot what became of it.
 *
 * A slot is one nominal time of a schedule, and `(scheduleId, slot)` is its key. The first record of a slot decides who
 * has it and the
 * rest of its life is closed: claimed → fired | refused | interrupted, or skipped, or missed, with queued as a possible step before.
 * These records are stored for good, so their names and fields are API and change only with a new version.
 */
import * as z from 'zod';
import { RuntimeError } from '../errors.ts';
import { overlapPolicy } from '../task/task-request.ts';

/** An instant in UTC with milliseconds, as `Date.prototype.toISOString` writes it. */
export const instant = z.iso.datetime({ precision: 3 });
const text = z.string().min(1);

const common = {
  /** Version of the record. */
  v: z.literal(1),
  /** When it was decided, from the injected clock. */
  at: instant,
};

const ofSlot = {
  ...common,
  /** The nominal time. */
  slot: instant,
  /** Names the run of the schedule that decided: one for each start, never used again. */
  owner: text,
};

export const missedReason = z.enum([
  /** No runtime was there. */
  'down',
  /** The runtime was there and noticed too late: the machine slept, or its clock was set forward. */
  'late',
  'paused',
  /** It belonged to a plan that has been replaced since. */
  'plan-changed',
]);

export const skippedReason = z.enum([
  /** The fire before it still ran, and the policy is `skip`. */
  'overlap',
  /** The fire before it still ran, and the line behind it was full. */
  'queue-full',
  /** It stood in line, and a newer slot took its place under `cancel-previous`. */
  'superseded',
]);

const replacedFire = z.strictObject({ slot: instant, childTaskId: text.optional() });

const RECORDS = [
  /** From `at` on this plan is in force, and no other. */
  z.strictObject({ ...common, type: z.literal('schedule.planned'), cronExpression: text, timezone: text }),
  z.strictObject({ ...common, type: z.literal('schedule.paused') }),
  z.strictObject({ ...common, type: z.literal('schedule.resumed') }),
  /** It will be fired when its turn comes. */
  z.strictObject({ ...ofSlot, type: z.literal('slot.queued') }),
  /** Only the owner fires it, now; no other worker ever will. */
  z.strictObject({ ...ofSlot, type: z.literal('slot.claimed') }),
  z.strictObject({
    ...ofSlot,
    type: z.literal('slot.fired'),
    childTaskId: text,
    cancelledPrevious: replacedFire.optional(),
  }),
  /** Its task could not be started. The slot is spent: the schedule goes on with the next one. */
  z.strictObject({
    ...ofSlot,
    type: z.literal('slot.refused'),
    error: z.strictObject({ code: text, category: text, message: z.string() }),
  }),
  /** The owner ended between claim and fire. Whether it fired is unknown, so it is never fired again. */
  z.strictObject({ ...ofSlot, type: z.literal('slot.interrupted') }),
  z.strictObject({
    ...ofSlot,
    type: z.literal('slot.skipped'),
    reason: skippedReason,
    overlap: overlapPolicy,
    runningSlot: instant.optional(),
  }),
  z.strictObject({ ...ofSlot, type: z.literal('slot.missed'), reason: missedReason }),
  /**
   * Every slot of the plan in force in (after, upTo] that no earlier record names, when they are too many to be named
   * one by one.
   */
  z.strictObject({
    ...common,
    type: z.literal('slots.missed'),
    owner: text,
    after: instant,
    upTo: instant,
    reason: missedReason,
  }),
] as const;

export const slotRecord = z.discriminatedUnion('type', RECORDS);

export type ScheduleRecord = Readonly<z.output<typeof slotRecord>>;
export type ScheduleRecordType = ScheduleRecord['type'];
export type RecordOf<Type extends ScheduleRecordType> = Extract<ScheduleRecord, { readonly type: Type }>;
export type MissedReason = z.output<typeof missedReason>;
export type SkippedReason = z.output<typeof skippedReason>;

/** A cron expression and the time zone it is read in. */
export interface SchedulePlan {
  readonly cronExpression: string;
  /** IANA name, always present: a plan means the same on every machine. */
  readonly timezone: string;
}

export function isSamePlan(one: SchedulePlan, other: SchedulePlan): boolean {
  return one.cronExpression === other.cronExpression && one.timezone === other.timezone;
}

/** Epoch milliseconds as records write them. */
export function instantOf(epochMs: number): string {
  return new Date(epochMs).toISOString();
}

/** Epoch milliseconds of a recorded instant. */
export function epochMsOf(recorded: string): number {
  return Date.parse(recorded);
}

/** From its JSON. @throws RuntimeError SCHEDULE_STORE_VERSION: to pass over a record could fire a slot twice */
export function storedRecord<Schema extends z.ZodType>(schema: Schema, body: string): z.output<Schema> {
  const parsed = schema.safeParse(JSON.parse(body));
  if (parsed.success) return parsed.data;
  throw new RuntimeError(
    'SCHEDULE_STORE_VERSION',
    `a schedule record is of a kind this version does not know: ${z.prettifyError(parsed.error)}`,
    {
      category: 'storage',
      hint: 'It was written by a newer version of wakechart; run that one, or a newer one still.',
    },
  );
}
