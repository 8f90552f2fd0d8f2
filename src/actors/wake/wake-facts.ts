/** Small facts about a wake, told from the log's state, a backend's failure or an error. */
import { RuntimeError, messageOf } from '../../machines/errors.ts';
import type { ErrorRecord } from '../../machines/errors.ts';
import { adviceFor } from '../../machines/run/failure-advice.ts';
import { isGivenUp } from '../../machines/run/run-attempt.ts';
import type { RunAttempt } from '../../machines/run/run-attempt.ts';
import type { RunFailure } from '../../machines/run/run-failure.ts';
import type { OpenWake, SessionState } from '../../machines/session/session-state.ts';
import type { SessionEventDraft } from '../../machines/session/session-event.ts';
import type { WakeOutput } from '../../machines/wake/wake-machine.ts';
import type { WakeOutcome } from '../../machines/wake/wake-outcome.ts';
import type { PreparedAgent } from '../turn/tool.ts';
import type { WakeOptions } from './wake-ports.ts';

/**
 * Why the wake begins. Whatever a client wrote comes first: what it asked for is not held against the session's budget.
 */
export function triggerOf(
  state: SessionState,
  due: readonly string[],
  { isAutonomous }: WakeOptions,
): OpenWake['trigger'] {
  if (state.pending.some(({ type }) => type !== 'session.child_idle' && type !== 'subagent.ended')) return 'ingress';
  if (isAutonomous !== true) return 'manual';
  return due.length > 0 ? 'wake' : 'retry';
}

/** Says in the log in which environment the wake works, where the runtime knows of any. */
export function enteredEnvironment({ environment }: PreparedAgent): SessionEventDraft[] {
  if (environment === undefined) return [];
  const { definition, fingerprint, sandbox, within } = environment;
  const { environmentId, network } = definition;
  return [
    {
      type: 'environment.entered',
      data: {
        environmentId,
        fingerprint,
        sandbox: sandbox?.kind ?? 'off',
        network,
        ...(within.length === 0 ? {} : { within: [...within] }),
      },
    },
  ];
}

/** A log that still says `running` belongs to a wake that died: it is put right even when nothing else is to do. */
export function isStale({ openWake, openSpanId, status }: SessionState): boolean {
  return openWake !== undefined || openSpanId !== undefined || status === 'running';
}

export function isOvertaken(error: unknown): boolean {
  return RuntimeError.is(error) && error.code === 'HEAD_MOVED';
}

export function failureRecord(failure: RunFailure, attempts: readonly RunAttempt[] = []): ErrorRecord {
  const { kind, message, retryAfterMs, isRest = false, isLocal = false, isNotUnderstood = false } = failure;
  if (isNotUnderstood)
    return new RuntimeError('BACKEND_NOT_UNDERSTOOD', `the model step failed (${kind}): ${message}`, {
      category: 'provider',
      recoverable: false,
      hint: adviceFor(failure),
      details: { kind, ...(isGivenUp(failure, attempts) ? { givenUp: true } : {}) },
    }).toJSON();
  return {
    name: 'RuntimeError',
    code: 'RUN_FAILED',
    category: 'provider',
    message: `${isLocal ? 'no model was asked' : 'the model step failed'} (${kind}): ${message}`,
    recoverable: true,
    hint: isRest
      ? restAdvice(retryAfterMs)
      : `${adviceFor(failure)}${retryAfterMs === undefined ? '' : ` The provider asks to wait ${Math.ceil(retryAfterMs / 1000)} seconds.`}`,
    details: {
      kind,
      ...(retryAfterMs === undefined ? {} : { retryAfterMs }),
      ...(isGivenUp(failure, attempts) ? { givenUp: true } : {}),
    },
  };
}

/** It is we who wait, for reasons that may be gone: a user who has put them right need not. */
function restAdvice(restMs = 0): string {
  const soonest = restMs === 0 ? '' : ` The first of them can be tried again in ${Math.ceil(restMs / 1000)} seconds.`;
  return `See who rests and why: wakechart auth status. Once you have put it right, forget what is held against them: wakechart auth reset --all. Then wake the session again.${soonest}`;
}

export interface Unbegun {
  /** What the wake did instead. */
  readonly as: WakeOutput['unbegun'];
  /** Of the wake. */
  readonly signal: AbortSignal;
}

/** What the caller learns of a wake that has not begun. */
export function outcomeOfUnbegun(
  { parked }: SessionState,
  { as, signal }: Unbegun,
): Pick<WakeOutcome, 'outcome' | 'summary'> {
  if (as === 'parked') return { outcome: 'parked', summary: parked?.reason ?? 'The session is parked.' };
  if (signal.aborted)
    return { outcome: 'aborted', summary: `The wake was stopped before it began: ${messageOf(signal.reason)}.` };
  return {
    outcome: 'nothing_to_do',
    summary: `${as === 'unparked' ? 'The session is parked no more. ' : ''}Nothing is unread and nothing is due.`,
  };
}

export function recordOf(error: unknown): ErrorRecord {
  if (RuntimeError.is(error)) return error.toJSON();
  return new RuntimeError('WAKE_CRASHED', `the wake broke: ${messageOf(error)}`, {
    category: 'crash',
    hint: 'This is a defect; please report it.',
  }).toJSON();
}

export function superseded(wakeId: string): RuntimeError {
  return new RuntimeError('WAKE_SUPERSEDED', `wake ${wakeId} was superseded by another`, {
    category: 'conflict',
    hint: 'Leave the session to the other wake.',
  });
}
