/** What may be sent to the chart of a worker, and who sends it. */
import { chartEvents } from '../inspection/chart-events.ts';

export const workerEvents = chartEvents({
  commands: {
    DRAIN: {
      says: 'Nothing more is to be taken; the wakes that run may come to their end.',
      from: 'the caller that stops the worker; the worker itself, when nothing is due and that is its end',
    },
    FORCE: {
      says: 'The wakes that run are to be stopped.',
      from: 'the caller that stops the worker for the second time; the worker itself, when draining takes too long',
    },
  },
  facts: {
    READY: { says: 'The index of what is due can be trusted.', from: 'the worker itself' },
    IDLE: { says: 'No wake runs, and nothing is due.', from: 'the worker itself' },
    WOKE: { says: 'A session is woken.', from: 'the worker itself' },
    ENDED: { says: 'No wake of this worker runs any more.', from: 'the worker itself' },
  },
});
