/** What may be sent to the chart of a schedule that a process runs, and who sends it. */
import { chartEvents } from '../inspection/chart-events.ts';

export const scheduleEvents = chartEvents({
  commands: {
    PAUSE: {
      says: 'Slots that pass are to be recorded as missed until it is resumed.',
      from: 'the caller that pauses it; the schedule itself, when its record says that it is paused',
    },
    RESUME: {
      says: 'Slots are to fire again.',
      from: 'the caller that resumes it; the schedule itself, when its record says that it is not paused any more',
    },
    STOP: {
      says: 'No further slot is to fire, and the fire that runs is to be cancelled.',
      from: 'the caller that ends the task of the schedule',
    },
  },
  facts: {
    OPENED: { says: 'The record is read: the plan is in force.', from: 'the schedule itself' },
    DUE: { says: 'Slots have come due, or have passed unseen.', from: 'the schedule itself, by its timer' },
    SETTLED: { says: 'The slots that were due are decided and recorded.', from: 'the schedule itself' },
    REPLAN: {
      says: 'Another expression or time zone is in force.',
      from: 'the schedule itself, after the new plan was recorded',
    },
    EXHAUST: { says: 'The expression has no further time.', from: 'the schedule itself' },
    DRAINED: { says: 'The last fire is over, and everything is recorded.', from: 'the schedule itself' },
    STOPPED: { says: 'Nothing of it runs any more.', from: 'the schedule itself' },
    FAIL: { says: 'It cannot go on, such as with a record that cannot be read.', from: 'the schedule itself' },
  },
});
