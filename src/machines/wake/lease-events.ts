/** What may happen to a process on its way to the right to wake a session, and who says so. */
import { chartEvents } from '../inspection/chart-events.ts';

const seeker = 'the process that wants the right';

export const leaseEvents = chartEvents({
  commands: {
    STEP_BACK: { says: 'The number is to be given back: another process contends under a higher one.', from: seeker },
    REFUSE: { says: 'It is to be given up before the right was held.', from: seeker },
    RELEASE: { says: 'The right is to be given back.', from: 'the wake that held it' },
  },
  facts: {
    BIND: { says: 'A free number is taken, and a process that asks under it is answered.', from: seeker },
    WIN: { says: 'No living process holds or contends for a higher number.', from: seeker },
    PASS: {
      says: 'Another process has found this one silent and went past it.',
      from: 'the process that took a higher number',
    },
  },
});
