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
 * opening:         The record is being read; nothing is armed and nothing may fire.
 * active:          Slots fire as they come due.
 * active.waiting:  One timer is armed, for the next slot.
 * active.firing:   Due slots are being decided and recorded; the next slot is armed when that is done.
 * paused:          Slots that pass are recorded as missed; a fire that runs may finish, and slots in line stay in line.
 * draining:        The expression has no further time; what runs or stands in line finishes.
 * stopping:        Nothing new starts; the running fire is being cancelled.
 * exhausted:       Its expression has no further time, and its last fire is over.
 * stopped:         A caller ended it; no timer, no running fire, no further record.
 * failed:          It could not go on; whatever still runs of it is being cancelled.
 * exhausted · stopped · failed: no timer, no running fire, no further record.
 *
 * The chart is a pure lifecycle, compiled like the task's (see ../lifecycle.ts). What becomes of a single slot is data:
 * slot-record.ts.
 */
import { setup } from 'xstate';
import type { StateValueFrom } from 'xstate';
import type { ChartNotes } from '../inspection/chart-notes.ts';
import { compileLifecycle } from '../lifecycle.ts';
import type { scheduleEvents } from './schedule-events.ts';

export type ScheduleEvent = { readonly type: keyof typeof scheduleEvents };

export const scheduleMachine = setup({ types: { events: {} as ScheduleEvent } }).createMachine({
  id: 'schedule',
  description: 'The life of one schedule, in the hands of the process that runs it.',
  initial: 'opening',
  states: {
    opening: {
      description: 'The record is being read; nothing is armed and nothing may fire.',
      meta: {
        waives: {
          'ignored-command': {
            PAUSE: 'Commands wait until it is open; a pause that the record knows of follows OPENED.',
            RESUME: 'Commands wait until it is open.',
          },
        },
      } satisfies ChartNotes,
      on: { OPENED: 'active', STOP: 'stopping', FAIL: 'failed' },
    },
    active: {
      description: 'Slots fire as they come due.',
      meta: {
        waives: { 'ignored-command': { RESUME: 'To resume is idempotent: it is not paused.' } },
      } satisfies ChartNotes,
      initial: 'waiting',
      states: {
        waiting: { description: 'One timer is armed, for the next slot.', on: { DUE: 'firing' } },
        firing: {
          description: 'Due slots are being decided and recorded; the next slot is armed when that is done.',
          on: { SETTLED: 'waiting' },
        },
      },
      on: { PAUSE: 'paused', EXHAUST: 'draining', STOP: 'stopping', FAIL: 'failed' },
    },
    paused: {
      description:
        'Slots that pass are recorded as missed; a fire that runs may finish, and slots in line stay in line.',
      meta: {
        waives: { 'ignored-command': { PAUSE: 'To pause is idempotent: it is paused already.' } },
      } satisfies ChartNotes,
      on: { RESUME: 'active', EXHAUST: 'draining', STOP: 'stopping', FAIL: 'failed' },
    },
    draining: {
      description: 'The expression has no further time; what runs or stands in line finishes.',
      meta: {
        waives: { 'ignored-command': { RESUME: 'To resume is idempotent: it is not paused.' } },
      } satisfies ChartNotes,
      on: { REPLAN: 'active', PAUSE: 'paused', DRAINED: 'exhausted', STOP: 'stopping', FAIL: 'failed' },
    },
    stopping: {
      description: 'Nothing new starts; the running fire is being cancelled.',
      meta: {
        waives: {
          'ignored-command': {
            PAUSE: 'The caller is refused: the schedule has ended.',
            RESUME: 'The caller is refused: the schedule has ended.',
            STOP: 'A caller that asks again waits for the same end.',
          },
          'unbounded-wait': 'The fire that runs is a task of its own, and has a deadline for its end.',
        },
      } satisfies ChartNotes,
      on: { STOPPED: 'stopped', FAIL: 'failed' },
    },
    exhausted: { description: 'Its expression has no further time, and its last fire is over.', type: 'final' },
    stopped: { description: 'A caller ended it; no timer, no running fire, no further record.', type: 'final' },
    failed: { description: 'It could not go on; whatever still runs of it is being cancelled.', type: 'final' },
  },
});

/** The life of a schedule as actor logic. */
export const scheduleLifecycle = compileLifecycle<StateValueFrom<typeof scheduleMachine>, ScheduleEvent>(
  scheduleMachine,
);
