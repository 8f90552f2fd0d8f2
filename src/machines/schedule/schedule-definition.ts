/** A schedule that exists without a program: what fires when, as it is kept on disk and run by any worker. */
import * as z from 'zod';
import { sessionId } from '../ids.ts';
import { MAX_MESSAGE_CHARACTERS } from '../session/limits.ts';
import { catchUpPolicy, overlapPolicy } from '../task/task-request.ts';
import { parseOrThrow } from '../validate.ts';
import { instant } from './slot-record.ts';

const MAX_COMMAND_CHARACTERS = 100_000;
const MAX_PATH_CHARACTERS = 4_096;
const MAX_ENVIRONMENT_NAMES = 100;
const MAX_EXPRESSION_CHARACTERS = 1_000;
const MAX_TIMER_MS = 2 ** 31 - 1;
/** More runs than a schedule of every second has in thirty years. */
const MAX_RUNS = 1_000_000_000;

/** Names a file too, so it is kept to what every file system takes and nothing that can climb out of a folder. */
export const scheduleId = z
  .string()
  .regex(
    /^[a-z0-9](?:[a-z0-9_-]{0,62}[a-z0-9])?$/,
    'a lower-case name of letters, digits, "-" and "_", at most 64 characters, such as nightly-report',
  );

const noNul = /^[^\0]*$/;

const sessionTarget = z.strictObject({
  kind: z.literal('session'),
  sessionId,
  /** The message that each slot sends. */
  text: z.string().min(1, 'expected a text that is not empty').max(MAX_MESSAGE_CHARACTERS),
  delivery: z.enum(['queue', 'steer', 'interrupt']).optional(),
});

const commandTarget = z.strictObject({
  kind: z.literal('command'),
  /** A line for the shell. */
  command: z
    .string()
    .min(1)
    .max(MAX_COMMAND_CHARACTERS)
    .regex(noNul, 'a command without NUL characters')
    .regex(/\S/, 'a command that is not empty'),
  /** Absolute: a worker may run anywhere. */
  cwd: z
    .string()
    .max(MAX_PATH_CHARACTERS)
    .regex(noNul, 'a path without NUL characters')
    .regex(/^(?:\/|[A-Za-z]:[\\/]|\\\\)/, 'an absolute path'),
  timeoutMs: z.number().int().positive().max(MAX_TIMER_MS).optional(),
  /** Variables that the command needs, by name: their values are those of the worker and are never kept. */
  env: z
    .array(z.string().regex(/^[A-Za-z_][A-Za-z0-9_]*$/, 'the name of a variable, without a value'))
    .max(MAX_ENVIRONMENT_NAMES)
    .readonly()
    .optional(),
});

const scheduleTarget = z.discriminatedUnion('kind', [sessionTarget, commandTarget]);

const scheduleEnds = z.strictObject({
  /** It ends after this many runs. */
  maxRuns: z.number().int().positive().max(MAX_RUNS).optional(),
  /** No slot after this instant fires. */
  until: instant.optional(),
  /** So many failures in a row park it. */
  maxFailures: z.number().int().positive().max(1_000).default(10),
});

const common = {
  id: scheduleId,
  cron: z.string().min(1).max(MAX_EXPRESSION_CHARACTERS),
  target: scheduleTarget,
  /** What becomes of slots that passed while no worker ran. */
  catchUp: catchUpPolicy.default('latest'),
  /** What becomes of a slot that comes due while the run before it still goes on. */
  overlap: overlapPolicy.default('skip'),
  limits: scheduleEnds.prefault({}),
};

const newSchedule = z.strictObject({ ...common, timezone: z.string().min(1).optional() });

export const scheduleDefinition = z.strictObject({
  v: z.literal(1),
  ...common,
  /** IANA name, always present: a plan means the same to every worker. */
  timezone: z.string().min(1),
  createdAt: instant,
  /** Tells a schedule from an earlier one of the same id: slots of that one are not its own. */
  series: z.uuid(),
});

/**
 * What callers pass: fields with defaults may be left out; without a time zone it is that of the process that adds the
 * schedule.
 */
export type NewSchedule = z.input<typeof newSchedule>;
export type ScheduleDefinition = Readonly<z.output<typeof scheduleDefinition>>;
export type ScheduleTarget = ScheduleDefinition['target'];
export type SessionTarget = Extract<ScheduleTarget, { readonly kind: 'session' }>;
export type CommandTarget = Extract<ScheduleTarget, { readonly kind: 'command' }>;

/** Wrong input of a caller. */
const INVALID = 'SCHEDULE_INVALID';

/** @throws RuntimeError SCHEDULE_INVALID */
export function checkedNewSchedule(value: unknown): z.output<typeof newSchedule> {
  return parseOrThrow(newSchedule, value, { what: 'schedule', code: INVALID });
}

/** @throws RuntimeError SCHEDULE_INVALID */
export function checkedScheduleId(value: unknown): string {
  return parseOrThrow(scheduleId, value, { what: 'schedule id', code: INVALID });
}

/** The name under which the slots of a schedule are recorded. */
export function slotsKeyOf({ id, series }: Pick<ScheduleDefinition, 'id' | 'series'>): string {
  return `${id}/${series}`;
}

/** The same for every worker and every try, so that a slot is sent only once. */
export function sendKeyOf(id: string, slot: string): string {
  return `schedule:${id}:${slot}`;
}
