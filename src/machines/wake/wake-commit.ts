/**
 * The events that end a wake: what its directives asked for, how it ended, and where the session now stands. One
 * append, all or nothing.
 */
import { cutText } from '../cut-text.ts';
import { MAX_OPEN_QUEUED_WAKES, MAX_SUMMARY_CHARACTERS } from '../session/limits.ts';
import { delegatedCalls } from '../session/session-activations.ts';
import type { SessionEventData, SessionEventDraft } from '../session/session-event.ts';
import type { OpenWake, SessionState } from '../session/session-state.ts';
import type { Directive, QueuedWakeRequest } from './directive.ts';
import type { WakeEnd } from './wake-decision.ts';
import { isForGood, parkingEvents, retryDelayMs } from './wake-retries.ts';
import { cancellingEvents, closingEvents } from './wake-repair.ts';

export interface WakeCommit {
  readonly state: SessionState;
  readonly wake: OpenWake;
  readonly end: WakeEnd;
  readonly modelSteps: number;
  /** Wakes that no client asked for, in a row. */
  readonly maxAutonomousWakes: number;
  /** What the model said last; the summary when no directive gives one. */
  readonly lastText: string | undefined;
  /** Milliseconds since the epoch. */
  readonly nowMs: number;
  readonly newId: () => string;
}

/** The summary of a wake that failed begins so: what follows names what is wrong on the machine. */
export const WAKE_FAILED = 'The wake failed: ';

/** A wake that a directive wants for its own follow-up carries this reason. */
const FOLLOW_UP = 'follow_up';

export function commitEvents(commit: WakeCommit): SessionEventDraft[] {
  const { state, wake, end } = commit;
  const hasFailed = end.outcome === 'failed';
  const isCutShort = end.outcome === 'interrupted';
  // Queued wakes and learnings of a wake that failed later were asked for all the same; who interrupts takes them back.
  const wishes = isCutShort ? [] : state.openDirectives.flatMap((directive) => wishEvents(directive, commit));
  const completed = hasFailed || end.outcome === 'aborted' ? [] : wake.queuedWakeIds;
  const summary = summaryOf(commit);
  const granted = withinLimits(wishes, state, completed);
  const requests = granted.flatMap((draft) => (draft.type === 'agent.custom_tool_use' ? [draft.data.requestId] : []));
  const goesOn =
    granted.some(({ type }) => type === 'wake.queued') ||
    state.queuedWakes.some(({ queuedWakeId }) => !completed.includes(queuedWakeId));
  return [
    ...closingEvents(state),
    ...(isCutShort ? cancellingEvents(state, 'interrupt') : []),
    ...granted,
    { type: 'wake.ended', data: endingData(commit, summary, completed) },
    ...statusEvents(commit, summary, { requests, goesOn }),
    ...parkingEvents({
      state,
      wake,
      end,
      modelSteps: commit.modelSteps,
      goesOn,
      maxAutonomousWakes: commit.maxAutonomousWakes,
    }),
  ];
}

function endingData(
  { state, wake, end, modelSteps, nowMs }: WakeCommit,
  summary: string,
  completed: readonly string[],
): SessionEventData<'wake.ended'> {
  return {
    wakeId: wake.wakeId,
    outcome: end.outcome,
    summary,
    modelSteps,
    completedWakeIds: [...completed],
    ...(end.outcome === 'budget_reached' ? { budget: end.budget } : {}),
    ...(end.outcome === 'failed'
      ? { error: end.error, retryAt: new Date(nowMs + retryDelayMs(state.failuresInARow + 1, end.error)).toISOString() }
      : {}),
  };
}

interface Ahead {
  readonly requests: readonly string[];
  /** Whether a queued wake will come. */
  readonly goesOn: boolean;
}

function statusEvents(
  { state, end }: WakeCommit,
  summary: string,
  { requests: newRequests, goesOn }: Ahead,
): SessionEventDraft[] {
  if (end.outcome === 'terminated') return [];
  // Where the wake that was to go on with it was refused, it rests.
  if (end.outcome === 'rescheduled' && goesOn)
    return [
      { type: 'session.status_changed', data: { to: 'rescheduling', stopReason: 'rescheduling', reason: summary } },
    ];
  const waiting = end.outcome === 'interrupted' ? [] : state.pendingActions;
  const blockingEventIds = [...waiting.map(({ requestId }) => requestId), ...newRequests];
  // Who waits for a child has not come to rest either: a caller that waits for this session must not be told so.
  const isWaiting = blockingEventIds.length > 0 || (end.outcome !== 'interrupted' && delegatedCalls(state).length > 0);
  const reason = isWaiting ? 'requires_action' : 'idle';
  return [
    { type: 'session.status_changed', data: { to: 'idle', stopReason: reason } },
    {
      type: 'session.status_idle',
      data: { reason, summary, ...(blockingEventIds.length > 0 ? { blockingEventIds } : {}) },
    },
  ];
}

function wishEvents(directive: Directive, { nowMs, newId }: WakeCommit): SessionEventDraft[] {
  const followUp: QueuedWakeRequest[] =
    directive.followUpSeconds === undefined
      ? []
      : [{ reason: FOLLOW_UP, delaySeconds: directive.followUpSeconds, priority: 'normal' }];
  const wakes = [...directive.queuedWakes, ...followUp].map(({ delaySeconds, ...request }): SessionEventDraft => ({
    type: 'wake.queued',
    data: { queuedWakeId: newId(), ...request, dueAt: new Date(nowMs + delaySeconds * 1000).toISOString() },
  }));
  const learnings = directive.learnings.map(({ promoteToMemory = false, ...learning }): SessionEventDraft => ({
    type: 'learning.captured',
    data: { learningId: newId(), ...learning, promoteToMemory },
  }));
  const { customToolRequest } = directive;
  const request: SessionEventDraft[] =
    customToolRequest === undefined ? [] : [customToolUse(newId(), customToolRequest)];
  return [...learnings, ...request, ...wakes];
}

/** The request carries the id of its own event, so that what blocks a session and what an answer names are the same. */
function customToolUse(
  requestId: string,
  request: { readonly name: string; readonly input: unknown },
): SessionEventDraft {
  return { id: requestId, type: 'agent.custom_tool_use', data: { requestId, ...request } };
}

/** Replaces queued wakes that are one too many, or repeat a key, by the record that they were refused. */
function withinLimits(
  wishes: readonly SessionEventDraft[],
  state: SessionState,
  completed: readonly string[],
): SessionEventDraft[] {
  const queued = state.queuedWakes.filter(({ queuedWakeId }) => !completed.includes(queuedWakeId));
  const keys = new Set(queued.flatMap(({ dedupeKey }) => dedupeKey ?? []));
  let open = queued.length;
  return wishes.map((draft) => {
    if (draft.type !== 'wake.queued') return draft;
    const { reason, dedupeKey } = draft.data;
    const refuse = (because: 'duplicate' | 'limit'): SessionEventDraft => ({
      type: 'wake.refused',
      data: { reason, because, ...(dedupeKey === undefined ? {} : { dedupeKey }) },
    });
    if (dedupeKey !== undefined && keys.has(dedupeKey)) return refuse('duplicate');
    if (open >= MAX_OPEN_QUEUED_WAKES) return refuse('limit');
    open += 1;
    if (dedupeKey !== undefined) keys.add(dedupeKey);
    return draft;
  });
}

function summaryOf({ end, lastText, modelSteps }: WakeCommit): string {
  return cutText(sentenceFor(end, lastText ?? '', modelSteps), MAX_SUMMARY_CHARACTERS);
}

function sentenceFor(end: WakeEnd, lastText: string, modelSteps: number): string {
  switch (end.outcome) {
    case 'sleep':
    case 'requires_action':
    case 'rescheduled':
      return end.summary ?? (lastText || 'The turn ended without a summary.');
    case 'budget_reached':
      return `Stopped after ${modelSteps} model step${modelSteps === 1 ? '' : 's'} at the budget ${end.budget.name} (${end.budget.value})${end.budget.because === undefined ? '' : `: ${end.budget.because}`}. ${adviceAt(end.budget)}`;
    case 'failed':
      return `${WAKE_FAILED}${end.error.message.replace(/\.$/, '')}. ${end.error.hint ?? 'Wake the session again once the cause is gone.'}`;
    case 'interrupted':
      return `The turn was interrupted: ${end.reason}.`;
    case 'aborted':
      return `The wake was stopped: ${end.reason}. Wake the session again to go on.`;
    case 'terminated':
      return 'The session was terminated while it ran.';
  }
}

function adviceAt(budget: Extract<WakeEnd, { readonly outcome: 'budget_reached' }>['budget']): string {
  return isForGood(budget)
    ? 'Raise it in the agent file, or say what the model costs, to go on.'
    : 'Wake the session again, or send a message, to go on.';
}
