/** What a task manager can be told, with its defaults; checked before anything is built. */
import { z } from 'zod';
import type { InspectionEvent } from 'xstate';
import { BackgroundTaskError } from '../../machines/task/task-error.ts';
import type { WatchdogDefaults } from '../../machines/task/watchdog.ts';
import type { Clock } from '../clock/clock.ts';
import type { OnListenerError } from '../streams/listener-errors.ts';
import type { BackgroundTaskListener } from './task-event-hub.ts';
import type { BackgroundTaskRunners } from './task-runner.ts';

/** Counts may be unlimited: `Infinity` is a choice somebody types. */
const count = (minimum: number): z.ZodType<number> =>
  z.union([z.number().int().min(minimum), z.literal(Infinity)], { error: `expected a whole number of at least ${minimum}, or Infinity` }) as z.ZodType<number>;
/** Milliseconds, characters or bytes; 0 turns the limit off. */
const limit = z.number().nonnegative().finite();

const numbers = z.strictObject({
  maxConcurrent: count(1).default(4),
  maxPending: count(0).default(100_000),
  maxDepth: count(0).default(1),
  agentIdleTimeoutMs: limit.default(240_000),
  agentMaxRuntimeMs: limit.default(0),
  agentOutputLimitBytes: limit.default(256_000),
  agentMaxTextDeltas: limit.default(20_000),
  repetitionWindow: limit.int().max(1_000_000).default(800),
  repetitionThreshold: limit.int().default(8),
  cancelDeadlineMs: limit.default(10_000),
});

export interface BackgroundTaskManagerOptions extends z.input<typeof numbers> {
  /** One runner for each kind of task that may be spawned. */
  readonly runners?: BackgroundTaskRunners | undefined;
  /** Wall-clock time for stamps: milliseconds since the epoch, a Date, or an ISO string. Default: the clock's. */
  readonly now?: (() => number | Date | string) | undefined;
  /** Default: the system clock. */
  readonly clock?: Clock | undefined;
  /** Default: `task_<n>`. Ids are unique as long as their record is kept, and safe as file names. */
  readonly idFactory?: (() => string) | undefined;
  /** Hears every event before any listener. */
  readonly eventSink?: BackgroundTaskListener | undefined;
  /** Hears XState's inspection events of the supervisor and of every task. */
  readonly inspect?: ((event: InspectionEvent) => void) | undefined;
  /** Told what listeners, subscribers, the event sink and the inspector throw. Default: writes to the console. */
  readonly onListenerError?: OnListenerError | undefined;
}

export interface TaskManagerSettings extends Readonly<z.output<typeof numbers>>, WatchdogDefaults {
  readonly inspect: ((event: InspectionEvent) => void) | undefined;
}

/** The numbers among the options, checked and completed. @throws BackgroundTaskError category `validation` */
export function checkedNumbers(options: BackgroundTaskManagerOptions): z.output<typeof numbers> {
  const given = Object.fromEntries(Object.keys(numbers.shape).map((key) => [key, options[key as keyof typeof numbers.shape]]));
  const parsed = numbers.safeParse(given);
  if (parsed.success) return parsed.data;
  throw new BackgroundTaskError('validation', `invalid task manager options: ${z.prettifyError(parsed.error)}`, { code: 'TASK_OPTIONS_INVALID' });
}
