/**
 * What moves the chart of a session, and who does it. Each move is read off an event of its log: see fold-status.ts.
 */
import { chartEvents } from '../inspection/chart-events.ts';

const wake = 'the wake that ends, in the same commit';

export const sessionChartEvents = chartEvents({
  commands: {
    WAKE: {
      says: 'A wake begins, under an epoch that is higher than any before it.',
      from: 'a worker, when something is due; a person, with `wakechart wake`',
    },
    TERMINATE: {
      says: 'It is over for good: no message and no wake is taken any more.',
      from: 'the client that terminates or deletes it',
    },
  },
  facts: {
    REST: {
      says: 'A wake has ended with nothing left to do; or an interruption has cancelled what a queued wake was to go on with.',
      from: `${wake}; the interruption`,
    },
    REQUIRE_ACTION: { says: 'A wake has ended, and a person or client is asked for something.', from: wake },
    RESOLVE: {
      says: 'The last of what it waited for has been answered or taken back.',
      from: 'the client that answers or interrupts; a child that comes to rest',
    },
    RESCHEDULE: { says: 'A wake has ended before its work did, and has queued another.', from: wake },
  },
});
