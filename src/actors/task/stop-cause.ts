/** Why a task is being stopped, and what its state and its waiters are told about it. */
import { messageOf } from '../../machines/errors.ts';
import type { ErrorRecord } from '../../machines/errors.ts';
import type { BackgroundTaskError } from '../../machines/task/task-error.ts';

/** An event that ends a task. */
export interface SettlingEvent {
  readonly type: 'COMPLETE' | 'FAIL' | 'CANCEL' | 'PERMISSION_DENIED';
  /** What the state will show. */
  readonly error?: ErrorRecord | undefined;
  /**
   * The error as it was thrown, for those who wait; made from the record when absent, since making one is what costs.
   */
  readonly failure?: BackgroundTaskError;
}

/** The first cause wins; later ones do not rewrite history. */
export type StopCause =
  | { readonly kind: 'cancelled'; readonly reason: string }
  /** By a person, or by a limit. */
  | { readonly kind: 'denied' | 'tripped'; readonly error: BackgroundTaskError };

export function abortReasonOf(cause: StopCause): string | BackgroundTaskError {
  return cause.kind === 'cancelled' ? cause.reason : cause.error;
}

export function stopReasonOf(cause: StopCause): string {
  return messageOf(abortReasonOf(cause));
}

/** A record instead of an error: capturing a stack would cost more than the rest of cancelling a task. */
export function cancelledRecord(reason: string): ErrorRecord {
  return Object.freeze({
    name: 'BackgroundTaskError',
    code: 'TASK_CANCELLED',
    category: 'runner',
    message: `Background task cancelled: ${reason}`,
    recoverable: true,
    details: Object.freeze({ reason }),
  });
}

const SETTLES_AS = { cancelled: 'CANCEL', denied: 'PERMISSION_DENIED', tripped: 'FAIL' } as const satisfies Record<
  StopCause['kind'],
  SettlingEvent['type']
>;

/** How a stopped task ends. @param leftOver what could not be stopped, in words; undefined when everything is gone */
export function settlementOf(cause: StopCause, leftOver: string | undefined, pid: number | undefined): SettlingEvent {
  const error = cause.kind === 'cancelled' ? cancelledRecord(cause.reason) : cause.error.toJSON();
  const type = SETTLES_AS[cause.kind];
  if (leftOver === undefined) return { type, error };
  const what = pid === undefined ? leftOver : `${leftOver} (pid ${pid})`;
  return {
    type,
    error: Object.freeze({
      ...error,
      message: `${error.message}; some of the work was left behind: ${what}`,
      hint: 'Search for what is left and end it by hand; its slot stays taken until it is gone.',
      details: Object.freeze({ ...error.details, leftOver, ...(pid === undefined ? {} : { pid }) }),
    }),
  };
}
