/**
 * How ingress and the requests that it answers change a session's state. Of several answers to one request the first
 * counts.
 */
import type { DeliveryMode } from './event-parts.ts';
import { move } from './fold-status.ts';
import type { Change } from './fold-status.ts';
import type { SessionEventOf } from './session-event.ts';
import { useByChild } from './fold-usage.ts';
import type { CallRequest, OpenToolCall, PendingAction, PendingIngress, SessionState } from './session-state.ts';

/** A client wants something: it waits to be acted upon, and what held the session back counts no more. */
export function receive(
  state: SessionState,
  { id, seq, at, type }: SessionEventOf<Exclude<PendingIngress['type'], 'session.child_idle'>>,
  delivery: DeliveryMode,
  callId?: string,
): Change {
  const { lastWake } = state;
  const came: PendingIngress = { eventId: id, seq, at, type, delivery };
  return {
    pending: [...state.pending, callId === undefined ? came : { ...came, callId }],
    parked: undefined,
    failuresInARow: 0,
    autonomousWakesInARow: 0,
    idleWakesInARow: 0,
    ...(lastWake?.retryAt === undefined ? {} : { lastWake: { ...lastWake, retryAt: undefined } }),
  };
}

export function foldCustomToolResult(state: SessionState, event: SessionEventOf<'user.custom_tool_result'>): Change {
  const { requestId } = event.data;
  const isOfCall = state.openToolCalls.some(
    ({ request }) => request?.kind === 'custom_tool' && request.requestId === requestId,
  );
  if (isOfCall) return answerCall(state, event, requestId, { kind: 'custom_tool', eventId: event.id, seq: event.seq });
  const resolved = resolve(state, requestId, 'custom_tool');
  return resolved === undefined ? {} : { ...resolved, ...receive(state, event, 'steer') };
}

export function foldConfirmation(state: SessionState, event: SessionEventOf<'user.tool_confirmation'>): Change {
  const { requestId, allowed, note, scope } = event.data;
  return answerCall(state, event, requestId, { kind: 'permission', eventId: event.id, allowed, note, scope });
}

export function foldAnswer(state: SessionState, event: SessionEventOf<'user.answer'>): Change {
  const { requestId, response } = event.data;
  return answerCall(state, event, requestId, { kind: 'answer', eventId: event.id, response });
}

/** A tool call waits for a person or client. */
export function waitFor(
  state: SessionState,
  action: PendingAction & { readonly callId: string },
  request: CallRequest,
): Change {
  return {
    pendingActions: [...state.pendingActions, action],
    openToolCalls: state.openToolCalls.map(({ answer, ...call }) => {
      if (call.callId === action.callId) return { ...call, phase: 'waiting', request };
      return answer === undefined ? call : { ...call, answer };
    }),
  };
}

/** What was asked for has been acted upon; what was allowed for the whole session is a rule from now on. */
export function foldResolved(
  state: SessionState,
  { data: { requestId, callId, decision, scope, rules = [] } }: SessionEventOf<'permission.resolved'>,
): Change {
  const pending = withoutAnswerOf(state, callId);
  const closed = decision === 'expired' ? cancelRequest(state, requestId) : {};
  if (decision !== 'allowed' || scope === undefined || scope === 'once') return { ...closed, pending };
  return { pending, sessionRules: [...new Set([...state.sessionRules, ...rules])] };
}

/** A child that answers a call came to rest. One that waits for an answer itself has not answered yet. */
export function foldSubflowRest(
  state: SessionState,
  event: SessionEventOf<'session.child_idle'>,
  call: OpenToolCall,
): Change {
  const { reason, summary, used = {} } = event.data;
  const { request } = call;
  if (request?.kind !== 'subflow' || call.phase !== 'waiting') return {};
  const more = {
    tokens: (used.tokens ?? 0) - (request.used.tokens ?? 0),
    cost: (used.cost ?? 0) - (request.used.cost ?? 0),
  };
  const told: OpenToolCall = { ...call, request: { ...request, used } };
  const replaced = (by: OpenToolCall): Change => ({
    openToolCalls: state.openToolCalls.map((each) => (each === call ? by : each)),
    ...useByChild(state, more),
  });
  if (reason === 'requires_action') return replaced(told);
  const answer: NonNullable<OpenToolCall['answer']> = { kind: 'subflow', eventId: event.id, reason, summary };
  const { id: eventId, seq, at } = event;
  return {
    ...replaced({ ...told, phase: 'answered', answer }),
    ...freed(state, call.callId),
    pending: [
      ...state.pending,
      { eventId, seq, at, type: 'session.child_idle', delivery: 'steer', callId: call.callId },
    ],
  };
}

/** How the session moves when this call waits no more: it rests when nothing else holds it back. */
export function freed(state: SessionState, callId: string): Change {
  const isHeldBack =
    state.pendingActions.length > 0 ||
    state.openToolCalls.some((call) => call.callId !== callId && call.phase === 'waiting');
  return isHeldBack ? {} : move(state, 'RESOLVE');
}

/** What waits, without the answer that this call had to hear. */
export function withoutAnswerOf({ pending, openToolCalls }: SessionState, callId: string): SessionState['pending'] {
  const eventId = openToolCalls.find((call) => call.callId === callId)?.answer?.eventId;
  return eventId === undefined ? pending : pending.filter((each) => each.eventId !== eventId);
}

export function cancelRequest(state: SessionState, requestId: string): Change {
  const kind = state.pendingActions.find((action) => action.requestId === requestId)?.kind;
  return kind === undefined ? {} : (resolve(state, requestId, kind) ?? {});
}

function answerCall(
  state: SessionState,
  event: SessionEventOf<'user.tool_confirmation' | 'user.answer' | 'user.custom_tool_result'>,
  requestId: string,
  answer: Exclude<NonNullable<OpenToolCall['answer']>, { readonly kind: 'subflow' }>,
): Change {
  const resolved = resolve(state, requestId, answer.kind);
  if (resolved === undefined) return {};
  const answered = state.openToolCalls.find(
    ({ request }) => request !== undefined && request.kind !== 'subflow' && request.requestId === requestId,
  );
  const openToolCalls = state.openToolCalls.map((call) =>
    call === answered ? { ...call, phase: 'answered' as const, answer } : call,
  );
  return { ...resolved, ...receive(state, event, 'steer', answered?.callId), openToolCalls };
}

/** The request is not pending any more. Undefined when it was not. */
function resolve(state: SessionState, requestId: string, kind: PendingAction['kind']): Change | undefined {
  const pendingActions = state.pendingActions.filter(
    (action) => action.requestId !== requestId || action.kind !== kind,
  );
  if (pendingActions.length === state.pendingActions.length) return undefined;
  const waitsForChild = state.openToolCalls.some(
    ({ phase, request }) => phase === 'waiting' && request?.kind === 'subflow',
  );
  return { ...(pendingActions.length === 0 && !waitsForChild ? move(state, 'RESOLVE') : {}), pendingActions };
}
