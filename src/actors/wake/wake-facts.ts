/** Small facts about a wake, told from the log's state, a backend's failure or an error. */
import { RuntimeError, messageOf } from '../../machines/errors.ts';
import type { ErrorRecord } from '../../machines/errors.ts';
import { adviceFor } from '../../machines/run/run-failure.ts';
import type { RunFailure } from '../../machines/run/run-failure.ts';
import type { SessionState, WakeTrigger } from '../../machines/session/session-state.ts';
import type { WakeOptions } from './wake-ports.ts';

/** Why the wake begins. Whatever somebody outside wrote comes first: what they asked for is not held against the session's budget. */
export function triggerOf(state: SessionState, due: readonly string[], { isAutonomous }: WakeOptions): WakeTrigger {
  if (state.pending.some(({ type }) => type !== 'session.child_idle')) return 'ingress';
  if (isAutonomous !== true) return 'manual';
  return due.length > 0 ? 'wake' : 'retry';
}

/** A log that still says `running` belongs to a wake that died: it is put right even when nothing else is to do. */
export function isStale({ openWake, openSpanId, status }: SessionState): boolean {
  return openWake !== undefined || openSpanId !== undefined || status === 'running';
}

export function isOvertaken(error: unknown): boolean {
  return RuntimeError.is(error) && error.code === 'HEAD_MOVED';
}

export function failureRecord({ kind, message, retryAfterMs }: RunFailure): ErrorRecord {
  const wait = retryAfterMs === undefined ? '' : ` The provider asks to wait ${Math.ceil(retryAfterMs / 1000)} seconds.`;
  return {
    name: 'RuntimeError',
    code: 'RUN_FAILED',
    category: 'provider',
    message: `the model step failed (${kind}): ${message}`,
    recoverable: true,
    hint: `${adviceFor(kind)}${wait}`,
    details: { kind, ...(retryAfterMs === undefined ? {} : { retryAfterMs }) },
  };
}

export function recordOf(error: unknown): ErrorRecord {
  if (RuntimeError.is(error)) return error.toJSON();
  return new RuntimeError('WAKE_CRASHED', `the wake broke: ${messageOf(error)}`, { category: 'crash', hint: 'This is a defect; please report it.' }).toJSON();
}

export function superseded(wakeId: string): RuntimeError {
  return new RuntimeError('WAKE_SUPERSEDED', `wake ${wakeId} was superseded by another`, { category: 'conflict', hint: 'Leave the session to the other wake.' });
}
