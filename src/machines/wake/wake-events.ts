/** What may be sent to the chart of a wake, and who sends it. */
import * as z from 'zod';
import { chartEvents } from '../inspection/chart-events.ts';

export const wakeEvents = chartEvents({
  commands: {
    STOP: {
      says: 'The wake is to end early: the work in hand is cut short.',
      from: 'the caller that asked for the wake, by its signal; the runtime, when it shuts down',
      data: { reason: z.string() },
      samples: [{ reason: 'the runtime shuts down' }],
    },
  },
});
