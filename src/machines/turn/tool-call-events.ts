/** What may be sent to the chart of a tool call, and who sends it. */
import * as z from 'zod';
import { chartEvents } from '../inspection/chart-events.ts';

const planner = 'the wake, when it plans the calls of a step';
const because = { reason: z.string() };

export const toolCallEvents = chartEvents({
  commands: {
    ASK_PERMISSION: { says: 'A person has to allow exactly this call.', from: planner },
    ASK_INPUT: {
      says: 'The result comes from outside: from a person, another agent, or the client that runs the tool.',
      from: planner,
    },
    RUN: { says: 'Everything that the call needs is there: the tool is to work.', from: 'the executor of tool calls' },
    DENY: {
      says: 'A person, a rule or the lack of a person to ask says no.',
      from: planner,
      data: because,
      samples: [{ reason: 'The call was denied.' }],
    },
    CANCEL: {
      says: 'The call is to end: its wake stops, or it cannot be made like this.',
      from: `the executor of tool calls, when its wake stops; ${planner}`,
      data: because,
      samples: [{ reason: 'the wake was stopped' }],
    },
  },
  facts: {
    ANSWER: {
      says: 'The result came from outside.',
      from: planner,
      data: { outcome: z.enum(['completed', 'failed']), output: z.unknown() },
      samples: [
        { outcome: 'completed', output: 'yes' },
        { outcome: 'failed', output: 'no' },
      ],
    },
    LOSE: {
      says: 'Its process has died while it ran: what it did is not known.',
      from: 'the next wake, which finds it in the log: no actor of the call lives then',
      data: because,
      samples: [{ reason: 'its process died' }],
    },
  },
});
