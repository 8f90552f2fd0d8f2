/** Whether the session that does a job's work is done with it, told from what its log adds up to after a wake. */
import type { SessionState } from '../session/session-state.ts';
import type { WakeOutcome } from '../wake/wake-outcome.ts';
import { RuntimeError } from '../errors.ts';
import type { ErrorCategory } from '../errors.ts';
import { isBlocked } from '../session/session-activations.ts';

export type SessionVerdict =
  | { readonly kind: 'done'; readonly summary: string }
  | { readonly kind: 'failed'; readonly error: RuntimeError }
  /** A person or client has to answer, or a child of it does. */
  | { readonly kind: 'waits' }
  /** It has something to do now. */
  | { readonly kind: 'goes_on' }
  /** It sleeps until then; milliseconds since the epoch. */
  | { readonly kind: 'sleeps'; readonly untilMs: number };

/** @param nowMs milliseconds since the epoch */
export function verdictOf(state: SessionState, outcome: WakeOutcome, nowMs: number): SessionVerdict {
  const failure = failureOf(state, outcome);
  if (failure !== undefined) return { kind: 'failed', error: failure };
  if (state.pendingActions.length > 0 || isBlocked(state)) return { kind: 'waits' };
  if (state.pending.length > 0) return { kind: 'goes_on' };
  const dueAt = state.queuedWakes.map((wake) => Date.parse(wake.dueAt));
  if (dueAt.length === 0) return { kind: 'done', summary: state.summary ?? outcome.summary };
  const untilMs = Math.min(...dueAt);
  return untilMs <= nowMs ? { kind: 'goes_on' } : { kind: 'sleeps', untilMs };
}

/** A client ended the session under the job. */
export function sessionTerminated({ sessionId, summary }: Pick<SessionState, 'sessionId' | 'summary'>): RuntimeError {
  return new RuntimeError(
    'SUBAGENT_SESSION_TERMINATED',
    `its session was terminated: ${summary ?? 'no reason was given'}`,
    { category: 'runner', details: { sessionId } },
  );
}

function failureOf(
  { status, summary, parked, sessionId }: SessionState,
  { outcome, summary: told, error }: WakeOutcome,
): RuntimeError | undefined {
  const details = { sessionId, outcome };
  const failed = (code: string, message: string, category: ErrorCategory, hint?: string): RuntimeError =>
    new RuntimeError(code, message, { category, details, ...(hint === undefined ? {} : { hint }) });
  if (status === 'terminated') return sessionTerminated({ sessionId, summary: summary ?? told });
  if (parked !== undefined || outcome === 'parked')
    return failed(
      'SUBAGENT_PARKED',
      `its session was parked: ${parked?.reason ?? told}`,
      'runner',
      `See why: wakechart session why --session ${sessionId}`,
    );
  switch (outcome) {
    case 'failed':
      // The wake's own error is data of the log: its category is one of ours.
      return failed(
        error?.code ?? 'SUBAGENT_FAILED',
        error?.message ?? told,
        (error?.category as ErrorCategory | undefined) ?? 'provider',
        error?.hint,
      );
    case 'budget_reached':
      return failed(
        'SUBAGENT_BUDGET_REACHED',
        `it stopped at a bound of its budget: ${told}`,
        'capacity',
        'Raise the budget of its agent or of its parent, or give it less to do.',
      );
    case 'interrupted':
      return failed('SUBAGENT_INTERRUPTED', `its session was interrupted: ${told}`, 'runner');
    case 'aborted':
      return failed('SUBAGENT_ABORTED', told, 'runner');
    case 'sleep':
    case 'requires_action':
    case 'rescheduled':
    case 'terminated':
    case 'nothing_to_do':
      return undefined;
  }
}
