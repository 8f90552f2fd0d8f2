/**
 * What may be sent to the chart of an activation, and who sends it: always the worker that has found the session due.
 */
import { chartEvents } from '../inspection/chart-events.ts';

const from = 'the worker';

export const activationEvents = chartEvents({
  commands: {
    BEGIN: { says: 'A slot is free: the session is to be woken.', from },
    DROP: { says: 'It is to be left to others: it is not due any more, or the worker ends.', from },
  },
  facts: {
    SETTLE: { says: 'The wake has ended, or nothing was to be done.', from },
    CONTEND: { says: 'Another process wakes the session.', from },
    FORESEE: { says: 'The log does not hold yet what the hint speaks of.', from },
    LEAVE: { says: 'This process lacks what the session needs, or another machine has its folder.', from },
    HOLD: { says: 'The wake has failed, or the session comes back for the same hint too soon.', from },
    PARK: { says: 'The wake has failed too often in a row.', from },
    AGAIN: {
      says: 'The time that it was set aside for is over, or what it waited for is there.',
      from: `${from}, by a timer or by news`,
    },
  },
});
