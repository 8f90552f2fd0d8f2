/** What may change the recorded status of a schedule that any worker may run, and who does it. */
import { chartEvents } from '../inspection/chart-events.ts';

export const durableScheduleEvents = chartEvents({
  commands: {
    PAUSE: {
      says: 'Its slots are not to fire until it is resumed.',
      from: 'a person, with `wakechart schedule pause`',
    },
    RESUME: {
      says: 'Its slots are to fire again, and its failures are forgotten.',
      from: 'a person, with `wakechart schedule resume`',
    },
  },
  facts: {
    PARK: { says: 'Too many of its runs in a row have failed.', from: 'the worker that began or ended a run of it' },
    END: {
      says: 'Its runs are done, its time is over, or what it was for is gone.',
      from: 'the worker that began or ended a run of it, or found no further time for it',
    },
  },
});
