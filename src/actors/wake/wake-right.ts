/** The right to wake a session, after all that is in its log by the time that it is given. */
import type { SessionState } from '../../machines/session/session-state.ts';
import type { EventStore, WakeRight } from '../session/event-store.ts';

export interface AskedRight {
  readonly store: Pick<EventStore, 'acquireWakeRight'>;
  /** As the log was last seen. */
  readonly known: SessionState;
  readonly refresh: () => Promise<SessionState>;
  /** Hears of each right that is given, so that it is given back whatever happens, and of `undefined` when it was. */
  readonly onRight: (right: WakeRight | undefined) => void;
}

/** @throws RuntimeError WAKE_CONFLICT */
export async function acquireRight({ store, known, refresh, onRight }: AskedRight): Promise<SessionState> {
  for (let state = known; ; ) {
    const right = await store.acquireWakeRight(state.sessionId, { epoch: state.epoch, isOpen: state.openWake !== undefined });
    onRight(right);
    state = await refresh();
    // Whole wakes may have come and gone while we asked.
    if (state.epoch < right.epoch) return state;
    onRight(undefined);
    await right.release();
  }
}
