/** What may be sent to the chart of a run over its candidates, and who sends it. */
import * as z from 'zod';
import { chartEvents } from '../inspection/chart-events.ts';

export const runChartEvents = chartEvents({
  commands: {
    STOP: {
      says: 'The run is to end as aborted: the work in hand is cut short.',
      from: 'the caller that asked for the run, by its signal',
      data: { reason: z.string() },
      samples: [{ reason: 'the wake was stopped' }],
    },
  },
});
