/**
 * The status of a schedule that any worker may run. What is in force is recorded; a worker checks the record before
 * each run.
 *
 *   active ──PAUSE──▶ paused ──RESUME──▶ active
 *      │ ──PARK──▶ parked ──RESUME──▶ active,  ──PAUSE──▶ paused
 *   active · paused · parked ──END──▶ ended
 *
 * active:  Slots fire while a worker runs.
 * paused:  A user asked for it; slots that pass are recorded as missed.
 * parked:  Too many runs in a row have failed; slots that pass are recorded as missed, and the reason is recorded.
 * ended:   Nothing fires any more, for the reason that is recorded.
 *
 * The chart is a pure lifecycle, compiled like the task's (see ../lifecycle.ts).
 */
import { setup } from 'xstate';
import type { StateValueFrom } from 'xstate';
import type { ChartNotes } from '../inspection/chart-notes.ts';
import { compileLifecycle } from '../lifecycle.ts';
import type { durableScheduleEvents } from './durable-events.ts';

export type DurableScheduleEvent = { readonly type: keyof typeof durableScheduleEvents };

export const durableScheduleMachine = setup({ types: { events: {} as DurableScheduleEvent } }).createMachine({
  id: 'durableSchedule',
  description: 'The status of a schedule that any worker may run.',
  initial: 'active',
  states: {
    active: {
      description: 'Slots fire while a worker runs.',
      meta: {
        waives: { 'ignored-command': { RESUME: 'To resume is idempotent: it is not paused.' } },
      } satisfies ChartNotes,
      on: { PAUSE: 'paused', PARK: 'parked', END: 'ended' },
    },
    paused: {
      description: 'A user asked for it; slots that pass are recorded as missed.',
      meta: {
        waives: { 'ignored-command': { PAUSE: 'To pause is idempotent: it is paused already.' } },
      } satisfies ChartNotes,
      on: { RESUME: 'active', END: 'ended' },
    },
    parked: {
      description:
        'Too many runs in a row have failed; slots that pass are recorded as missed, and the reason is recorded.',
      on: { RESUME: 'active', PAUSE: 'paused', END: 'ended' },
    },
    ended: { description: 'Nothing fires any more, for the reason that is recorded.', type: 'final' },
  },
});

const lifecycle = compileLifecycle<StateValueFrom<typeof durableScheduleMachine>, DurableScheduleEvent>(
  durableScheduleMachine,
);

export type DurableScheduleStatus = StateValueFrom<typeof durableScheduleMachine>;

/** The status after an event; undefined when the chart has no such edge. */
export function nextScheduleStatus(
  status: DurableScheduleStatus,
  type: DurableScheduleEvent['type'],
): DurableScheduleStatus | undefined {
  const snapshot = lifecycle.snapshots.find(({ value }) => value === status);
  return snapshot === undefined ? undefined : lifecycle.next(snapshot, type)?.value;
}
