/**
 * How many jobs there may be at once, how deep they may nest and how wide they may fan out: named numbers, and the
 * refusals of what is beyond them.
 */
import * as z from 'zod';
import { BackgroundTaskError } from '../task/task-error.ts';
import { parsedOrRefused } from '../task/task-validation.ts';

/** Counts may be unlimited: `Infinity` is a choice that a user types. */
const count = (minimum: number) =>
  z.union([z.int().min(minimum), z.literal(Infinity)], {
    error: `expected a whole number of at least ${minimum}, or Infinity`,
  });

const limits = z.strictObject({
  /** How many jobs may stand above a job. */
  maxDepth: count(0).default(3),
  /** Jobs that run at one time. */
  maxConcurrent: count(1).default(4),
  /** Jobs that may wait for their turn. */
  maxPending: count(0).default(100_000),
  /** Living jobs of one parent: of a job, or of a session where no job stands between. */
  maxJobsPerParent: count(1).default(16),
  /** Living jobs in all. */
  maxJobs: count(1).default(256),
});

export type SubagentLimitsInput = z.input<typeof limits>;
export type SubagentLimits = Readonly<z.output<typeof limits>>;

/**
 * The limits, checked and completed. @throws BackgroundTaskError category `validation`, also for a name that is none
 */
export function checkedSubagentLimits(given: SubagentLimitsInput): SubagentLimits {
  const named = Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined));
  return Object.freeze(parsedOrRefused(limits, named, { what: 'subagent limits', code: 'SUBAGENT_LIMITS_INVALID' }));
}

const duration = z.union([z.number().positive(), z.literal(Infinity)], {
  error: 'expected a number of milliseconds above 0, or Infinity',
});

const worktreeLimits = z.strictObject({
  /** How long one hook may take that does not say itself. */
  hookTimeoutMs: duration.default(60_000),
  /** How long an adapter may take to answer once there is a worktree. */
  adapterTimeoutMs: duration.default(300_000),
});

export type WorktreeLimits = Readonly<z.output<typeof worktreeLimits>>;

/** @throws BackgroundTaskError category `validation` */
export function checkedWorktreeLimits(given: z.input<typeof worktreeLimits>): WorktreeLimits {
  return parsedOrRefused(worktreeLimits, given, { what: 'worktree runner options', code: 'SUBAGENT_OPTIONS_INVALID' });
}

export function tooDeep(depth: number, maxDepth: number): BackgroundTaskError {
  return new BackgroundTaskError('capacity', `a subagent job at depth ${depth} is beyond the limit of ${maxDepth}`, {
    code: 'SUBAGENT_TOO_DEEP',
    hint: 'Let the parent do the work itself, or raise maxDepth.',
    details: { depth, maxDepth },
  });
}

export function tooManyJobs(live: number, maxJobs: number): BackgroundTaskError {
  return new BackgroundTaskError(
    'capacity',
    `there are ${live} living subagent jobs, and no more than ${maxJobs} are allowed`,
    {
      code: 'SUBAGENT_TOO_MANY',
      hint: 'Wait for one to end and try again, or raise maxJobs.',
      details: { live, maxJobs },
    },
  );
}

export function tooManyOfParent(parent: string, live: number, maxJobsPerParent: number): BackgroundTaskError {
  return new BackgroundTaskError(
    'capacity',
    `${parent} has ${live} living subagent jobs, and no more than ${maxJobsPerParent} are allowed for one parent`,
    {
      code: 'SUBAGENT_FAN_OUT',
      hint: 'Wait for one of them to end and try again, or raise maxJobsPerParent.',
      details: { parent, live, maxJobsPerParent },
    },
  );
}

export function tooManyPending(pending: number, maxPending: number): BackgroundTaskError {
  return new BackgroundTaskError('capacity', `${pending} of ${maxPending} subagent jobs are waiting for their turn`, {
    code: 'SUBAGENT_QUEUE_FULL',
    hint: 'Wait for one to end and try again, or raise maxPending.',
    details: { pending, maxPending },
  });
}
