/**
 * What a wake does next, decided from the folded log and from what the wake has done so far. Pure, so that every case is a row of a table.
 */
import type { ErrorRecord } from '../errors.ts';
import { MAX_CONTINUES_IN_A_ROW } from '../session/limits.ts';
import type { SessionState } from '../session/session-state.ts';
import type { Directive } from './directive.ts';

/** What only the running wake knows. */
export interface WakeProgress {
  /** Model steps of this wake. */
  readonly modelSteps: number;
  readonly maxModelSteps: number;
  /** Queued wakes that this one is due for, or calls that a dead wake left: the model has something to hear. */
  readonly mustSpeak: boolean;
  readonly failure?: ErrorRecord | undefined;
  /** Why the wake was asked to stop. */
  readonly abortReason?: string | undefined;
}

export type WakeEnd =
  | { readonly outcome: 'sleep' | 'requires_action' | 'rescheduled'; readonly summary: string | undefined }
  | { readonly outcome: 'limit'; readonly limit: { readonly name: string; readonly value: number } }
  | { readonly outcome: 'failed'; readonly error: ErrorRecord }
  | { readonly outcome: 'aborted'; readonly reason: string }
  | { readonly outcome: 'terminated' };

export type WakeDecision = { readonly act: 'step' } | { readonly act: 'end'; readonly end: WakeEnd };

/** Whether a session has anything for a wake to do at `now` (ISO-8601). */
export function hasWork(state: SessionState, now: string): boolean {
  return hasUnread(state) || state.openDirectives.length > 0 || state.openToolCalls.length > 0 || dueWakeIds(state, now).length > 0;
}

/** The queued wakes whose time has come, soonest first. */
export function dueWakeIds(state: SessionState, now: string): string[] {
  const nowMs = Date.parse(now);
  return state.queuedWakes
    .filter(({ dueAt }) => Date.parse(dueAt) <= nowMs)
    .toSorted((one, other) => Date.parse(one.dueAt) - Date.parse(other.dueAt))
    .map(({ queuedWakeId }) => queuedWakeId);
}

export function decideNext(state: SessionState, progress: WakeProgress): WakeDecision {
  if (state.status === 'terminated') return end({ outcome: 'terminated' });
  if (progress.failure !== undefined) return end({ outcome: 'failed', error: progress.failure });
  if (progress.abortReason !== undefined) return end({ outcome: 'aborted', reason: progress.abortReason });

  const directive = state.openDirectives.at(-1);
  const goesOn = directive !== undefined && directive.outcome === 'continue' && directive.followUpSeconds === undefined;
  const isAnswered = directive !== undefined && !goesOn;
  if (progress.mustSpeak || state.pending.length > 0 || (state.unansweredResults > 0 && !isAnswered)) return stepOrLimit(progress);
  if (!goesOn) return end(restOf(state, directive));
  if (state.continuesInARow <= MAX_CONTINUES_IN_A_ROW) return stepOrLimit(progress);
  return end({ outcome: 'limit', limit: { name: 'MAX_CONTINUES_IN_A_ROW', value: MAX_CONTINUES_IN_A_ROW } });
}

function hasUnread(state: SessionState): boolean {
  return state.pending.length > 0 || state.unansweredResults > 0;
}

function stepOrLimit({ modelSteps, maxModelSteps }: WakeProgress): WakeDecision {
  if (modelSteps < maxModelSteps) return { act: 'step' };
  return end({ outcome: 'limit', limit: { name: 'maxModelStepsPerWake', value: maxModelSteps } });
}

function restOf(state: SessionState, directive: Directive | undefined): WakeEnd {
  const summary = directive?.summary;
  const asksOutside = state.pendingActions.length > 0 || state.openDirectives.some(({ customToolRequest }) => customToolRequest !== undefined);
  if (asksOutside) return { outcome: 'requires_action', summary };
  return { outcome: directive?.outcome === 'continue' ? 'rescheduled' : 'sleep', summary };
}

function end(wakeEnd: WakeEnd): WakeDecision {
  return { act: 'end', end: wakeEnd };
}
