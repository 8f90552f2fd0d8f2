/** The right to wake a session, after all that is in its log by the time that it is given. */
import type { SessionState } from '../../machines/session/session-state.ts';
import { hasWork } from '../../machines/wake/wake-decision.ts';
import type { EventStore, WakeRight } from '../session/event-store.ts';
import { isStale } from './wake-facts.ts';
import type { WakePorts } from './wake-ports.ts';

export interface AskedRight {
  readonly store: Pick<EventStore, 'acquireWakeRight'>;
  /** As the log was last seen. */
  readonly known: SessionState;
  /** The record that begins the wake is the first thing that is done under it. */
  readonly withFirst: boolean;
  readonly refresh: () => Promise<SessionState>;
  /** Hears of each right that is given, so that it is given back whatever happens, and of `undefined` when it was. */
  readonly onRight: (right: WakeRight | undefined) => void;
}

/** @throws RuntimeError WAKE_CONFLICT */
export async function acquireRight({ store, known, withFirst, refresh, onRight }: AskedRight): Promise<SessionState> {
  for (let state = known; ;) {
    const claim = { epoch: state.epoch, isOpen: state.openWake !== undefined };
    const right = await store.acquireWakeRight(
      state.sessionId,
      withFirst && state.updatedAt !== undefined ? { ...claim, withFirst: { at: state.updatedAt } } : claim,
    );
    onRight(right);
    // Where the log has gone on, the record that it comes with is refused.
    if (right.comesWith === 'record') return state;
    if (right.tip?.head === state.head && right.tip.at === state.updatedAt) return state;
    state = await refresh();
    // Whole wakes may have come and gone while we asked.
    if (state.epoch < right.epoch) return state;
    onRight(undefined);
    await right.release();
  }
}

/**
 * Whether nothing has to be done under the right before the record that begins the wake: no folder moves, no wake has
 * died, nothing is parked.
 */
export function comesWithFirst(
  state: SessionState,
  { workspaceCopies }: Pick<WakePorts, 'workspaceCopies'>,
  now: string,
): boolean {
  return workspaceCopies === undefined && !isStale(state) && state.parked === undefined && hasWork(state, now);
}
