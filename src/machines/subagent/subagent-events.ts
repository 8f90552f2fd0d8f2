/** What may be sent to the chart of a subagent job, and who sends it. */
import { chartEvents } from '../inspection/chart-events.ts';

const from = 'the job itself';

export const subagentEvents = chartEvents({
  commands: {
    STOP: {
      says: 'It is to end: what runs of it is to be ended.',
      from: 'the task of the job, when it is cancelled or a watchdog trips',
    },
  },
  facts: {
    PREPARED: { says: 'Worktree and worker are there, and the agent works.', from },
    PREPARE_FAILED: { says: 'Worktree or worker could not be made; nothing of the agent has run.', from },
    WORK_DONE: { says: 'The agent has given a result.', from },
    WORK_FAILED: { says: 'The agent has failed, or has given what is no result.', from },
    WORK_GONE: { says: 'What was to be stopped is proven gone.', from },
    SETTLED: { says: 'Its worktree is dealt with and its end is stored.', from: 'the job itself' },
  },
});
