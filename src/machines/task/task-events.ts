/** What may be sent to the chart of a task, and who sends it. */
import * as z from 'zod';
import { chartEvents } from '../inspection/chart-events.ts';

const errorRecord = z.looseObject({
  name: z.string(),
  code: z.string(),
  category: z.string(),
  message: z.string(),
  recoverable: z.boolean(),
});

/** What the state of the task will show, and the error as it was thrown. The chart checks neither. */
const settles = { error: errorRecord.optional(), failure: z.unknown().optional() };

export const taskEvents = chartEvents({
  commands: {
    START: { says: 'A slot is free: the runner is to begin.', from: 'the supervisor' },
    REQUEST_PERMISSION: {
      says: 'The runner asks whether it may do something, and pauses until it has an answer.',
      from: 'the runner, through its task',
    },
    SLEEP: {
      says: 'There is nothing to do until a time comes; the slot is given back.',
      from: 'the runner of a schedule, through its task',
    },
    WAKE: {
      says: 'There is something to do again; a slot is taken.',
      from: 'the runner of a schedule, through its task; the supervisor, when a result comes from one that sleeps',
    },
    STOP: {
      says: 'It was cancelled, denied something, or a watchdog has tripped: what runs is to be ended.',
      from: 'the task itself, for the caller that wants its end',
      data: { reason: z.string().optional() },
      samples: [{ reason: 'no longer needed' }],
    },
    CANCEL: {
      says: 'It was cancelled, and nothing of it runs any more.',
      from: 'the supervisor, for one in the queue; the task itself, when its work is gone',
      data: settles,
    },
  },
  facts: {
    STARTED: { says: 'The runner has given a handle.', from: 'the task itself' },
    PERMISSION_ALLOWED: {
      says: 'The last open request was answered, and the work goes on.',
      from: 'the task itself; the supervisor, when a result comes from one that waits',
    },
    PERMISSION_DENIED: {
      says: 'What it asked for was denied, and nothing of it runs any more.',
      from: 'the task itself, when its work is gone',
      data: settles,
    },
    COMPLETE: { says: 'The runner has given a result.', from: 'the task itself', data: settles },
    FAIL: {
      says: 'The runner has failed, or a watchdog has ended it.',
      from: 'the task itself; the supervisor, when it could not be started',
      data: settles,
    },
  },
});
