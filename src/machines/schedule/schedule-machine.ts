/**
 * The life of one schedule.
 *
 *   opening ──OPENED──▶ active.waiting ──DUE──▶ active.firing
 *      │                      ◀──────SETTLED───────┘
 *     FAIL      active ──PAUSE──▶ paused ──RESUME──▶ active
 *      │        active · paused ──EXHAUST──▶ draining ──DRAINED──▶ exhausted
 *      ▼        draining ──PAUSE──▶ paused,  draining ──REPLAN──▶ active
 *   failed      every live state ──STOP──▶ stopping ──STOPPED──▶ stopped,  and ──FAIL──▶ failed
 *
 * opening:         the record is being read; nothing is armed and nothing may fire.
 * active.waiting:  one timer is armed, for the next slot.
 * active.firing:   due slots are being decided and recorded; the next slot is armed when that is done.
 * paused:          slots that pass are recorded as missed; a fire that runs may finish; slots in line stay in line.
 * draining:        the expression has no further time; what runs or stands in line finishes.
 * stopping:        nothing new starts; the running fire is being cancelled.
 * exhausted · stopped · failed: no timer, no running fire, no further record.
 *
 * The chart is a pure lifecycle, compiled like the task's (see ../lifecycle.ts). What becomes of a single slot is data: slot-record.ts.
 */
import { setup } from 'xstate';
import type { StateValueFrom } from 'xstate';
import { compileLifecycle } from '../lifecycle.ts';

export type ScheduleEvent = {
  readonly type: 'OPENED' | 'DUE' | 'SETTLED' | 'PAUSE' | 'RESUME' | 'REPLAN' | 'EXHAUST' | 'DRAINED' | 'STOP' | 'STOPPED' | 'FAIL';
};

export const scheduleMachine = setup({ types: { events: {} as ScheduleEvent } }).createMachine({
  id: 'schedule',
  initial: 'opening',
  states: {
    opening: { on: { OPENED: 'active', STOP: 'stopping', FAIL: 'failed' } },
    active: {
      initial: 'waiting',
      states: { waiting: { on: { DUE: 'firing' } }, firing: { on: { SETTLED: 'waiting' } } },
      on: { PAUSE: 'paused', EXHAUST: 'draining', STOP: 'stopping', FAIL: 'failed' },
    },
    paused: { on: { RESUME: 'active', EXHAUST: 'draining', STOP: 'stopping', FAIL: 'failed' } },
    draining: { on: { REPLAN: 'active', PAUSE: 'paused', DRAINED: 'exhausted', STOP: 'stopping', FAIL: 'failed' } },
    stopping: { on: { STOPPED: 'stopped', FAIL: 'failed' } },
    exhausted: { type: 'final' },
    stopped: { type: 'final' },
    failed: { type: 'final' },
  },
});

/** The life of a schedule as actor logic. */
export const scheduleLifecycle = compileLifecycle<StateValueFrom<typeof scheduleMachine>, ScheduleEvent>(scheduleMachine);
