/**
 * What may be appended to a session's log, given what it adds up to. A command is checked here against the folded state
 * before anything is written, so that an illegal one leaves no trace.
 */
import { RuntimeError } from '../errors.ts';
import type { ErrorCategory } from '../errors.ts';
import { MAX_CHILD_SESSIONS, MAX_OPEN_QUEUED_WAKES, MAX_PENDING_INGRESS } from './limits.ts';
import { chartEventOf } from './fold-status.ts';
import { foldSession } from './session-fold.ts';
import { nextConfiguration } from './session-machine.ts';
import type { SessionEvent, SessionEventData, SessionEventType } from './session-event.ts';
import type { PendingAction, SessionState } from './session-state.ts';

export interface Refusal {
  readonly code: string;
  readonly category: ErrorCategory;
  readonly message: string;
  readonly hint: string;
}

/** `at`: when the event happened, as ISO-8601. */
type Rule<Type extends SessionEventType> = (
  state: SessionState,
  data: SessionEventData<Type>,
  at: string,
) => Refusal | undefined;

const RULES: { readonly [Type in SessionEventType]?: Rule<Type> } = {
  'session.created': (state) =>
    state.head === 0 ? undefined : illegal('SESSION_EXISTS', 'the session exists already', 'Create another one.'),
  'session.status_changed': (state, data) => {
    if (nextConfiguration(state, chartEventOf(data)) !== undefined) return undefined;
    if (state.status === 'terminated') return terminated(state);
    return illegal(
      'SESSION_ILLEGAL_TRANSITION',
      `a session cannot go from ${state.status} to ${data.to}`,
      'See the transition table of the session chart.',
    );
  },
  'user.message': (state) => ingressRefusal(state),
  'user.custom_tool_result': (state, { requestId, toolName }) =>
    ingressRefusal(state) ?? answerRefusal(state, { requestId, toolName, kind: 'custom_tool' }),
  'user.tool_confirmation': (state, { requestId, toolName, allowed, scope = 'once' }, at) =>
    ingressRefusal(state) ??
    answerRefusal(state, { requestId, toolName, kind: 'permission' }) ??
    expiryRefusal(state, requestId, at) ??
    (allowed ? scopeRefusal(state, requestId, scope) : undefined),
  'user.answer': (state, { requestId }) => ingressRefusal(state) ?? answerRefusal(state, { requestId, kind: 'answer' }),
  'user.define_outcome': (state) => ingressRefusal(state),
  'user.interrupt': (state) => (state.status === 'terminated' ? terminated(state) : undefined),
  'session.child_created': (state) => {
    if (state.status === 'terminated') return terminated(state);
    if (state.children.length < MAX_CHILD_SESSIONS) return undefined;
    return {
      code: 'CHILD_LIMIT',
      category: 'capacity',
      message: `it has ${state.children.length} of ${MAX_CHILD_SESSIONS} children`,
      hint: 'Give the work to a child that is there.',
    };
  },
  'message.consumed': (state, { eventIds }) => {
    const unknown = eventIds.filter((id) => !state.pending.some(({ eventId }) => eventId === id));
    return unknown.length === 0
      ? undefined
      : illegal(
          'MESSAGE_NOT_PENDING',
          `${unknown.join(', ')} is not waiting to be consumed`,
          'Fold the log again and consume what is pending.',
        );
  },
  'wake.started': (state, { epoch }) => {
    if (state.status === 'terminated') return terminated(state);
    // The record that begins a wake may close the one before it first, under the epoch that it claims.
    if (epoch >= state.epoch && epoch > (state.lastWake?.epoch ?? 0) && state.openWake === undefined) return undefined;
    return illegal(
      'WAKE_EPOCH_STALE',
      `expected an epoch above ${Math.max(state.epoch, state.lastWake?.epoch ?? 0)} with no wake open, received epoch ${epoch}`,
      'Fold the log again; another wake may have begun.',
    );
  },
  'wake.ended': (state, { wakeId }) => openWakeRefusal(state, wakeId),
  'wake.queued': (state) =>
    // The wakes that the open one is due for are as good as done.
    state.queuedWakes.length - (state.openWake?.queuedWakeIds.length ?? 0) < MAX_OPEN_QUEUED_WAKES
      ? undefined
      : {
          code: 'WAKE_QUEUE_FULL',
          category: 'capacity',
          message: `${state.queuedWakes.length} of ${MAX_OPEN_QUEUED_WAKES} wakes are queued`,
          hint: 'Let some of them run first.',
        },
  'span.started': (state) =>
    state.openSpanId === undefined
      ? undefined
      : illegal('SPAN_OPEN', `span ${state.openSpanId} is still open`, 'Complete it first.'),
  'span.completed': (state, { spanId }) =>
    state.openSpanId === spanId ? undefined : illegal('SPAN_NOT_OPEN', `span ${spanId} is not open`, 'Start it first.'),
  'agent.tool_use': (state, { callId }) =>
    state.openToolCalls.some((call) => call.callId === callId)
      ? illegal('TOOL_CALL_OPEN', `tool call ${callId} is open already`, 'Give every call its own id.')
      : undefined,
  'agent.tool_started': (state, { callId }) => startRefusal(state, callId),
  'agent.tool_requeued': (state, { callId }) =>
    state.openToolCalls.some((call) => call.callId === callId && call.phase === 'started' && call.ifLost === 'retry')
      ? undefined
      : illegal(
          'TOOL_CALL_NOT_LOST',
          `tool call ${callId} is not one that is run again`,
          'Only a call that had started, of a tool that is idempotent, is run again.',
        ),
  'agent.subflow_started': (state, { callId }) => startRefusal(state, callId),
  'agent.tool_result': (state, { callId }) =>
    state.openToolCalls.some((call) => call.callId === callId)
      ? undefined
      : illegal('TOOL_CALL_NOT_OPEN', `tool call ${callId} is not open`, 'A call has exactly one result.'),
};

/** Why an event may not be appended now, or undefined when it may. */
export function refusalOf(
  state: SessionState,
  { type, data, at }: Pick<SessionEvent, 'type' | 'data' | 'at'>,
): Refusal | undefined {
  const rule: Rule<SessionEventType> | undefined = RULES[type];
  return rule?.(state, data, at);
}

/**
 * The state that `events` would lead to, appended together and in order.
 * @throws RuntimeError for the first that may not be appended; nothing has been changed then.
 */
export function stateAfter(state: SessionState, events: readonly SessionEvent[]): SessionState {
  let preview = state;
  for (const event of events) {
    const refusal = refusalOf(preview, event);
    if (refusal !== undefined) throw refusalError(state.sessionId, event.type, refusal);
    preview = foldSession(preview, event);
  }
  return preview;
}

export function refusalError(
  sessionId: string,
  type: string,
  { code, category, message, hint }: Refusal,
): RuntimeError {
  return new RuntimeError(code, `session ${sessionId} refuses ${type}: ${message}`, {
    category,
    hint,
    details: { sessionId, type },
  });
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

interface Answer {
  readonly requestId: string;
  readonly kind: PendingAction['kind'];
  readonly toolName?: string | undefined;
}

function answerRefusal(state: SessionState, { requestId, kind, toolName }: Answer): Refusal | undefined {
  const action = state.pendingActions.find((pending) => pending.requestId === requestId);
  if (action === undefined) {
    const open = state.pendingActions.map((pending) => pending.requestId).join(', ') || 'none';
    return illegal(
      'REQUEST_NOT_PENDING',
      `request ${requestId} is not waiting for an answer; waiting: ${open}`,
      'Answer a request that session status shows; each counts once.',
    );
  }
  if (action.kind !== kind) {
    return {
      code: 'REQUEST_KIND_MISMATCH',
      category: 'validation',
      message: `request ${requestId} waits for ${ANSWERS[action.kind]}, not for ${ANSWERS[kind]}`,
      hint: 'Answer it with the event that it waits for.',
    };
  }
  if (toolName === undefined || action.toolName === toolName) return undefined;
  return {
    code: 'REQUEST_TOOL_MISMATCH',
    category: 'validation',
    message: `request ${requestId} is for tool "${action.toolName}", not "${toolName}"`,
    hint: 'Answer with the tool that was asked for.',
  };
}

/** Expiry is terminal: an approval that comes too late is none. */
function expiryRefusal({ pendingActions }: SessionState, requestId: string, at: string): Refusal | undefined {
  const expiresAt = pendingActions.find((action) => action.requestId === requestId)?.expiresAt;
  if (expiresAt === undefined || Date.parse(at) < Date.parse(expiresAt)) return undefined;
  return illegal(
    'REQUEST_EXPIRED',
    `request ${requestId} has expired at ${expiresAt}`,
    'Wake the session: the call counts as denied, and the agent may ask again.',
  );
}

function scopeRefusal(
  { pendingActions }: SessionState,
  requestId: string,
  scope: 'once' | 'session' | 'always',
): Refusal | undefined {
  const rules = pendingActions.find((action) => action.requestId === requestId)?.rules ?? [];
  if (scope === 'once' || rules.length > 0) return undefined;
  return {
    code: 'REQUEST_SCOPE_REFUSED',
    category: 'validation',
    message: `request ${requestId} can be allowed once only: there is no rule that would cover this call and nothing else`,
    hint: 'Allow it with the scope "once".',
  };
}

const ANSWERS = {
  custom_tool: 'user.custom_tool_result',
  permission: 'user.tool_confirmation',
  answer: 'user.answer',
} as const;

function startRefusal({ openToolCalls }: SessionState, callId: string): Refusal | undefined {
  const call = openToolCalls.find((each) => each.callId === callId);
  if (call?.phase === 'requested' || call?.phase === 'answered') return undefined;
  return illegal(
    'TOOL_CALL_NOT_READY',
    `tool call ${callId} is not ready to start`,
    'A call starts once, after what it waits for has come.',
  );
}

function openWakeRefusal(state: SessionState, wakeId: string): Refusal | undefined {
  if (state.openWake?.wakeId === wakeId) return undefined;
  return illegal(
    'WAKE_NOT_OPEN',
    `wake ${wakeId} is not the open one (${state.openWake?.wakeId ?? 'none'})`,
    'Another wake took over; leave the session to it.',
  );
}

function illegal(code: string, message: string, hint: string): Refusal {
  return { code, category: 'conflict', message, hint };
}
