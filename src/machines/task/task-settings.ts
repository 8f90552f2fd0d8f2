/** The numbers a task manager runs by, with their defaults. */
import * as z from 'zod';
import { parsedOrRefused } from './task-validation.ts';

/**
 * Between SIGTERM and SIGKILL of a process that is to end, in milliseconds: of tasks, jobs, hooks and programs of backends
 * and MCP servers alike, where their options say nothing else.
 */
export const DEFAULT_KILL_GRACE_MS = 2_000;

/** Counts may be unlimited: `Infinity` is a choice that a user types. */
const count = (minimum: number) =>
  z.union([z.int().min(minimum), z.literal(Infinity)], {
    error: `expected a whole number of at least ${minimum}, or Infinity`,
  });

/** Milliseconds, characters or bytes; 0 turns the limit off. */
const limit = z.number().nonnegative();

const settings = z.strictObject({
  /** Tasks that hold a slot at one time, of all kinds together. */
  maxConcurrent: count(1).default(4),
  /** Tasks that may wait for a slot. */
  maxPending: count(0).default(100_000),
  /** How deep tasks may nest. */
  maxDepth: count(0).default(1),
  agentIdleTimeoutMs: limit.default(240_000),
  agentMaxRuntimeMs: limit.default(0),
  agentOutputLimitBytes: limit.default(256_000),
  agentMaxTextDeltas: limit.default(20_000),
  repetitionWindow: z.int().nonnegative().max(1_000_000).default(800),
  repetitionThreshold: z.int().nonnegative().default(8),
  /** How long a stop may take before the task ends anyway and says what is left. 0: for ever. */
  cancelDeadlineMs: limit.default(10_000),
});

export type TaskSettingsInput = z.input<typeof settings>;
export type TaskSettings = Readonly<z.output<typeof settings>>;

/**
 * The settings, checked and completed. @throws BackgroundTaskError category `validation`, also for a name that is none
 */
export function checkedSettings(given: TaskSettingsInput): TaskSettings {
  return parsedOrRefused(settings, given, { what: 'task manager options', code: 'TASK_OPTIONS_INVALID' });
}
