/** What every part of one live schedule shares. */
import type { AnyActorRef } from 'xstate';
import type { ScheduleLimits } from '../../machines/schedule/schedule-options.ts';
import type { Clock } from '../clock/clock.ts';
import { ScheduleJournal, ScheduleLog } from './schedule-journal.ts';
import type { SlotOwners } from './slot-owners.ts';
import type { ScheduleStore } from './schedule-store.ts';
import { Mutex } from '../concurrency/mutex.ts';

export interface ScheduleSetting {
  readonly taskId: string;
  readonly scheduleId: string;
  /** Names this run of the schedule. Never used before. */
  readonly owner: string;
  /** Whether another owner lives. */
  readonly isAlive: SlotOwners['isAlive'];
  readonly clock: Clock;
  readonly limits: ScheduleLimits;
  readonly store: ScheduleStore;
  /** Parent of the schedule's actor; without one the actor is a root of its own. */
  readonly parent: AnyActorRef | undefined;
}

export interface ScheduleCore extends ScheduleSetting {
  /** Whatever awaits in the middle runs here. */
  readonly mutex: Mutex;
  readonly log: ScheduleLog;
  readonly journal: ScheduleJournal;
}

export function createScheduleCore(setting: ScheduleSetting): ScheduleCore {
  const log = new ScheduleLog(setting.taskId, setting.limits.logLimitBytes);
  return {
    ...setting,
    mutex: new Mutex(),
    log,
    journal: new ScheduleJournal({ store: setting.store, scheduleId: setting.scheduleId, log }),
  };
}
