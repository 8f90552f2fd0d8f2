/** How events move a session in its chart. */
import { nextConfiguration, statusOf } from './session-machine.ts';
import type { SessionChartEventType } from './session-machine.ts';
import type { SessionEventData } from './session-event.ts';
import type { SessionState } from './session-state.ts';

/** What an event changes in the state. */
export type Change = Partial<SessionState>;

/** The move in the chart that a status change records. */
export function chartEventOf({ to, stopReason }: SessionEventData<'session.status_changed'>): SessionChartEventType {
  switch (to) {
    case 'running':
      return 'WAKE';
    case 'rescheduling':
      return 'RESCHEDULE';
    case 'terminated':
      return 'TERMINATE';
    case 'idle':
      return stopReason === 'requires_action' ? 'REQUIRE_ACTION' : 'REST';
  }
}

/** Nothing when the chart has no such move. */
export function move(state: SessionState, event: SessionChartEventType): Change {
  const next = nextConfiguration(state, event);
  return next === undefined ? {} : statusOf(next);
}
