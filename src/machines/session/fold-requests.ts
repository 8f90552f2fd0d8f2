/** How ingress and the requests that it answers change a session's state. Of several answers to one request the first counts. */
import type { DeliveryMode } from './event-schemas.ts';
import { move } from './fold-status.ts';
import type { Change } from './fold-status.ts';
import type { SessionEventOf } from './session-event.ts';
import type { CallAnswer, PendingAction, PendingIngressType, SessionState } from './session-state.ts';

/** Somebody outside wants something: it waits to be acted upon, and what held the session back counts no more. */
export function receive(
  state: SessionState,
  { id, seq, at, type }: SessionEventOf<Exclude<PendingIngressType, 'session.child_idle'>>,
  delivery: DeliveryMode,
): Change {
  const { lastWake } = state;
  return {
    pending: [...state.pending, { eventId: id, seq, at, type, delivery }],
    parked: undefined,
    failuresInARow: 0,
    autonomousWakesInARow: 0,
    idleWakesInARow: 0,
    ...(lastWake?.retryAt === undefined ? {} : { lastWake: { ...lastWake, retryAt: undefined } }),
  };
}

export function foldCustomToolResult(state: SessionState, event: SessionEventOf<'user.custom_tool_result'>): Change {
  const resolved = resolve(state, event.data.requestId, 'custom_tool');
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

/** A tool call waits for somebody outside. */
export function waitFor(state: SessionState, action: PendingAction & { readonly callId: string; readonly kind: 'permission' | 'answer' }): Change {
  const { callId, requestId, kind } = action;
  return {
    pendingActions: [...state.pendingActions, action],
    openToolCalls: state.openToolCalls.map((call) => (call.callId === callId ? { ...call, phase: 'waiting', request: { requestId, kind } } : call)),
  };
}

export function cancelRequest(state: SessionState, requestId: string): Change {
  const kind = state.pendingActions.find((action) => action.requestId === requestId)?.kind;
  return kind === undefined ? {} : (resolve(state, requestId, kind) ?? {});
}

function answerCall(
  state: SessionState,
  event: SessionEventOf<'user.tool_confirmation' | 'user.answer'>,
  requestId: string,
  answer: CallAnswer,
): Change {
  const resolved = resolve(state, requestId, answer.kind);
  if (resolved === undefined) return {};
  const openToolCalls = state.openToolCalls.map((call) => (call.request?.requestId === requestId ? { ...call, phase: 'answered' as const, answer } : call));
  return { ...resolved, ...receive(state, event, 'steer'), openToolCalls };
}

/** The request is not pending any more. Undefined when it was not. */
function resolve(state: SessionState, requestId: string, kind: PendingAction['kind']): Change | undefined {
  const pendingActions = state.pendingActions.filter((action) => action.requestId !== requestId || action.kind !== kind);
  if (pendingActions.length === state.pendingActions.length) return undefined;
  return { ...(pendingActions.length === 0 ? move(state, 'RESOLVE') : {}), pendingActions };
}
