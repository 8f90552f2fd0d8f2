/**
 * What may be appended to a session's log, given what it adds up to. A command is checked here against the folded state before
 * anything is written, so that an illegal one leaves no trace.
 */
import { RuntimeError } from '../errors.ts';
import type { ErrorCategory } from '../errors.ts';
import { MAX_OPEN_QUEUED_WAKES, MAX_PENDING_INGRESS } from './limits.ts';
import { chartEventOf, foldSession } from './session-fold.ts';
import { nextConfiguration } from './session-machine.ts';
import type { CheckedDraft, SessionEventData, SessionEventType } from './session-event.ts';
import type { SessionState } from './session-state.ts';

export interface Refusal {
  readonly code: string;
  readonly category: ErrorCategory;
  readonly message: string;
  readonly hint: string;
}

type Rule<Type extends SessionEventType> = (state: SessionState, data: SessionEventData<Type>) => Refusal | undefined;

const RULES: { readonly [Type in SessionEventType]?: Rule<Type> } = {
  'session.created': (state) => (state.head === 0 ? undefined : illegal('SESSION_EXISTS', 'the session exists already', 'Create another one.')),
  'session.status_changed': (state, data) => {
    if (nextConfiguration(state, chartEventOf(data)) !== undefined) return undefined;
    if (state.status === 'terminated') return terminated(state);
    return illegal('SESSION_ILLEGAL_TRANSITION', `a session cannot go from ${state.status} to ${data.to}`, 'See the transition table of the session chart.');
  },
  'user.message': (state) => ingressRefusal(state),
  'user.custom_tool_result': (state, data) => ingressRefusal(state) ?? answerRefusal(state, data),
  'message.consumed': (state, { eventIds }) => {
    const unknown = eventIds.filter((id) => !state.pending.some(({ eventId }) => eventId === id));
    return unknown.length === 0 ? undefined : illegal('MESSAGE_NOT_PENDING', `${unknown.join(', ')} is not waiting to be consumed`, 'Fold the log again and consume what is pending.');
  },
  'wake.started': (state, { epoch }) => {
    if (state.status === 'terminated') return terminated(state);
    if (epoch === state.epoch + 1 && state.openWake === undefined) return undefined;
    return illegal('WAKE_EPOCH_STALE', `expected epoch ${state.epoch + 1} with no wake open, received epoch ${epoch}`, 'Fold the log again; another wake may have begun.');
  },
  'wake.ended': (state, { wakeId }) => openWakeRefusal(state, wakeId),
  'wake.queued': (state) =>
    // The wakes that the open one is due for are as good as done.
    state.queuedWakes.length - (state.openWake?.queuedWakeIds.length ?? 0) < MAX_OPEN_QUEUED_WAKES
      ? undefined
      : { code: 'WAKE_QUEUE_FULL', category: 'capacity', message: `${state.queuedWakes.length} of ${MAX_OPEN_QUEUED_WAKES} wakes are queued`, hint: 'Let some of them run first.' },
  'span.started': (state) =>
    state.openSpanId === undefined ? undefined : illegal('SPAN_OPEN', `span ${state.openSpanId} is still open`, 'Complete it first.'),
  'span.completed': (state, { spanId }) =>
    state.openSpanId === spanId ? undefined : illegal('SPAN_NOT_OPEN', `span ${spanId} is not open`, 'Start it first.'),
  'agent.tool_use': (state, { callId }) =>
    state.openToolCalls.some((call) => call.callId === callId) ? illegal('TOOL_CALL_OPEN', `tool call ${callId} is open already`, 'Give every call its own id.') : undefined,
  'agent.tool_result': (state, { callId }) =>
    state.openToolCalls.some((call) => call.callId === callId)
      ? undefined
      : illegal('TOOL_CALL_NOT_OPEN', `tool call ${callId} is not open`, 'A call has exactly one result.'),
};

/** Why an event may not be appended now, or undefined when it may. */
function refusalOf(state: SessionState, draft: CheckedDraft): Refusal | undefined {
  const rule: Rule<SessionEventType> | undefined = RULES[draft.type];
  return rule?.(state, draft.data);
}

/**
 * Checks that `drafts` may be appended together, in order.
 * @throws RuntimeError for the first that may not; nothing has been changed then.
 */
export function assertAppendable(state: SessionState, drafts: readonly CheckedDraft[]): void {
  let preview = state;
  for (const draft of drafts) {
    const refusal = refusalOf(preview, draft);
    if (refusal !== undefined) throw refusalError(state.sessionId, draft.type, refusal);
    preview = foldSession(preview, { ...draft, id: '', at: '', sessionId: state.sessionId, seq: preview.head + 1 });
  }
}

export function refusalError(sessionId: string, type: string, { code, category, message, hint }: Refusal): RuntimeError {
  return new RuntimeError(code, `session ${sessionId} refuses ${type}: ${message}`, { category, hint, details: { sessionId, type } });
}

export function terminated(state: SessionState): Refusal {
  return {
    code: 'SESSION_TERMINATED',
    category: 'conflict',
    message: `the session was terminated${state.summary === undefined ? '' : ` (${state.summary})`}`,
    hint: 'Create a new session; this one stays readable.',
  };
}

function ingressRefusal(state: SessionState): Refusal | undefined {
  if (state.status === 'terminated') return terminated(state);
  if (state.pending.length < MAX_PENDING_INGRESS) return undefined;
  return {
    code: 'SESSION_QUEUE_FULL',
    category: 'capacity',
    message: `${state.pending.length} of ${MAX_PENDING_INGRESS} messages wait to be read`,
    hint: 'Wake the session so that it reads them, then send again.',
  };
}

function answerRefusal(state: SessionState, { requestId, toolName }: SessionEventData<'user.custom_tool_result'>): Refusal | undefined {
  const action = state.pendingActions.find((pending) => pending.requestId === requestId);
  if (action === undefined) {
    const open = state.pendingActions.map((pending) => pending.requestId).join(', ') || 'none';
    return illegal('REQUEST_NOT_PENDING', `request ${requestId} is not waiting for an answer; waiting: ${open}`, 'Answer a request that session status shows; each counts once.');
  }
  if (action.toolName === toolName) return undefined;
  return { code: 'REQUEST_TOOL_MISMATCH', category: 'validation', message: `request ${requestId} is for tool "${action.toolName}", not "${toolName}"`, hint: 'Answer with the tool that was asked for.' };
}

function openWakeRefusal(state: SessionState, wakeId: string): Refusal | undefined {
  if (state.openWake?.wakeId === wakeId) return undefined;
  return illegal('WAKE_NOT_OPEN', `wake ${wakeId} is not the open one (${state.openWake?.wakeId ?? 'none'})`, 'Another wake took over; leave the session to it.');
}

function illegal(code: string, message: string, hint: string): Refusal {
  return { code, category: 'conflict', message, hint };
}
