/** The schedules that a home keeps: fired here once a worker asks for it, and released before the store closes. */
import type { Clock } from '../actors/clock/clock.ts';
import type { HostLife } from '../actors/host/host-life.ts';
import { ScheduleRegistry } from '../actors/schedule/durable-registry.ts';
import { DurableSchedules } from '../actors/schedule/durable-schedules.ts';
import { createSlotOwners } from '../actors/schedule/slot-owners.ts';
import type { SlotOwners } from '../actors/schedule/slot-owners.ts';
import { WORKER_ENDS, WorkerFires } from '../actors/session/worker-fires.ts';
import type { OnListenerError } from '../actors/streams/listener-errors.ts';
import { createCronerPlan } from '../adapters/cron/croner-plan.ts';
import type { Runtime } from '../runtime.ts';
import type { NodeStore, SharedSchedules } from './node-store.ts';
import type { HomeTasks } from './tasks.ts';

/** As long as a worker lets its wakes go on. */
const DRAIN_LIMIT_MS = 30_000;

interface StopSchedulesOptions {
  /** How long commands that run may go on, in milliseconds, before they are cancelled. Default 30,000. */
  readonly drainLimitMs?: number | undefined;
}

/** Machines that share a database do not see each other's processes. */
export function slotOwners(home: string, { jobs }: NodeStore, life: HostLife): SlotOwners {
  const place = async (): Promise<string> =>
    (await (await import('../adapters/workspace-copy-files/host-id.ts')).hostOfHome(home)).id;
  return createSlotOwners({ life, place: jobs === undefined ? undefined : place });
}

interface ScheduleParts {
  readonly home: string;
  readonly clock: Clock;
  readonly hostLife: HostLife;
  readonly owners: SlotOwners;
  readonly endLeft: () => Promise<unknown>;
  readonly scheduled: HomeTasks['scheduled'];
  readonly schedules: SharedSchedules;
  readonly onListenerError: OnListenerError | undefined;
}

export interface HomeSchedules {
  /** The schedules that are kept in the home, those that other processes fire too. */
  readonly schedules: ScheduleRegistry;
  /** Fires them here from now on, as a worker does, until they are stopped or the runtime shuts down. Idempotent. */
  startSchedules(): Promise<void>;
  /**
   * Fires nothing more here, at once and for good, and resolves when no command that they have started runs any more.
   */
  stopSchedules(options?: StopSchedulesOptions): Promise<void>;
}

export function withSchedules<Home extends Runtime>(
  runtime: Home,
  { home, clock, hostLife, owners, endLeft, scheduled, schedules: shared, onListenerError }: ScheduleParts,
): Home & HomeSchedules {
  const registry = new ScheduleRegistry({ ...shared, cron: createCronerPlan(), clock });
  const fires = new WorkerFires();
  const schedules = new DurableSchedules({
    registry,
    tasks: runtime.tasks,
    runner: {
      ...scheduled,
      adopt: (key, firesOf) => scheduled.adopt(key, (children) => fires.follow(firesOf(children))),
    },
    sessions: runtime.sessions,
    clock,
    cwd: home,
    owners,
    endLeft,
    environment: (name) => process.env[name],
    onTrouble: ({ error }) => onListenerError?.(error, 'listener'),
  });
  let starting: Promise<void> | undefined;
  const shutdown = async (reason?: string): Promise<void> => {
    // Before the store closes: what fires now could not be written.
    await schedules.stop(reason);
    await fires.end(reason ?? 'the runtime is shutting down');
    try {
      await runtime.shutdown(reason);
    } finally {
      await hostLife.close();
    }
  };
  const stopSchedules = async ({ drainLimitMs = DRAIN_LIMIT_MS }: StopSchedulesOptions = {}): Promise<void> => {
    await schedules.stop(WORKER_ENDS);
    await fires.drain(clock, drainLimitMs);
  };
  const startSchedules = (): Promise<void> => (starting ??= schedules.start());
  return {
    ...runtime,
    schedules: registry,
    startSchedules,
    stopSchedules,
    shutdown,
    [Symbol.asyncDispose]: () => shutdown(),
  };
}
