/** What keeps a session that nobody looks at from burning money: when it is tried again after a failure, and when it stops by itself. */
import type { ErrorRecord } from '../errors.ts';
import { isAutonomous } from '../session/fold-wakes.ts';
import { FIRST_RETRY_DELAY_MS, MAX_FAILURES_IN_A_ROW, MAX_IDLE_WAKES_IN_A_ROW, MAX_RETRY_DELAY_MS, RETRY_DELAY_FACTOR } from '../session/limits.ts';
import type { SessionEventDraft } from '../session/session-event.ts';
import type { OpenWake, SessionState } from '../session/session-state.ts';

/** How long to wait after the n-th failure in a row, in milliseconds: longer each time, and as long as the provider asks for. */
export function retryDelayMs(failures: number, error?: ErrorRecord): number {
  const asked = error?.details?.['retryAfterMs'];
  const ours = Math.min(FIRST_RETRY_DELAY_MS * RETRY_DELAY_FACTOR ** (Math.max(1, failures) - 1), MAX_RETRY_DELAY_MS);
  return typeof asked === 'number' && asked > ours ? asked : ours;
}

export interface FuseCheck {
  readonly state: SessionState;
  readonly wake: OpenWake;
  readonly hasFailed: boolean;
  /** Whether the session will wake again by itself. */
  readonly goesOn: boolean;
  readonly maxAutonomousWakes: number;
}

/** The event that parks the session, when this wake was one too many of its kind. */
export function parkingEvents({ state, wake, hasFailed, goesOn, maxAutonomousWakes }: FuseCheck): SessionEventDraft[] {
  if (hasFailed) {
    const failures = state.failuresInARow + 1;
    return failures < MAX_FAILURES_IN_A_ROW ? [] : [parked('failures', `${failures} wakes in a row failed.`)];
  }
  if (!goesOn || !isAutonomous(wake.trigger)) return [];
  const idle = wake.toolCalls === 0 ? state.idleWakesInARow + 1 : 0;
  if (idle >= MAX_IDLE_WAKES_IN_A_ROW) return [parked('idle_wakes', `${idle} wakes in a row that nobody asked for did nothing.`)];
  if (state.autonomousWakesInARow >= maxAutonomousWakes) {
    return [parked('autonomous_wakes', `${state.autonomousWakesInARow} wakes in a row came without anybody asking; the budget allows ${maxAutonomousWakes}.`)];
  }
  return [];
}

export function parked(code: 'failures' | 'idle_wakes' | 'autonomous_wakes', why: string): SessionEventDraft {
  return { type: 'session.parked', data: { code, reason: `${why} Send a message or wake the session to go on.` } };
}
