/** What may be sent to the chart of the task supervisor, and who sends it. */
import * as z from 'zod';
import { chartEvents } from '../inspection/chart-events.ts';

export const supervisorEvents = chartEvents({
  commands: {
    DRAIN: {
      says: 'No more work is to be taken, and what waits or runs is to end.',
      from: 'the manager of the tasks, when it shuts down',
      data: { reason: z.string().optional() },
      samples: [{ reason: 'the runtime shuts down' }],
    },
  },
  facts: { IDLE: { says: 'The last task has ended.', from: 'the supervisor itself' } },
});
