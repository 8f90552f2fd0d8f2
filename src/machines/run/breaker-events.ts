/** What changes the health of a candidate, and who says so. */
import { chartEvents } from '../inspection/chart-events.ts';

export const breakerEvents = chartEvents({
  commands: {
    PROBE: {
      says: 'Its rest is over: one attempt is to find out whether it has recovered.',
      from: 'the run that is admitted to it',
    },
  },
  facts: {
    COOL: {
      says: 'An attempt has failed in a way that passes; or a probe of one that cooled told nothing.',
      from: 'the run that was admitted to it',
    },
    DISABLE: {
      says: 'An attempt has failed in a way that does not pass by itself; or a probe of one that was disabled told nothing.',
      from: 'the run that was admitted to it',
    },
    RECOVER: {
      says: 'An attempt has succeeded, or its failures are so long ago that they are forgotten.',
      from: 'the run that was admitted to it',
    },
  },
});
