/**
 * Folds a session's log into its state, one event at a time. An event costs the same at the tenth and at the millionth.
 *
 * The fold is total: a log that lost records to damage, or holds events that lost a race, still folds. An event that makes no sense
 * where it stands moves the head and nothing else. What may be appended is stricter and is decided in session-rules.ts.
 */
import { nextConfiguration, statusOf } from './session-machine.ts';
import type { SessionChartEventType } from './session-machine.ts';
import type { SessionEvent, SessionEventData, SessionEventOf, SessionEventType } from './session-event.ts';
import type { SessionState } from './session-state.ts';

type Change = Partial<SessionState>;
type Fold<Type extends SessionEventType> = (state: SessionState, event: SessionEventOf<Type>) => Change;

/** Changes when the fold gives another state for the same log; views written by another version are rebuilt. */
export const SESSION_FOLD_VERSION = 1;

const NOTHING: Change = {};

const FOLDS: { readonly [Type in SessionEventType]: Fold<Type> } = {
  'session.created': (_state, { at, data }) => ({ createdAt: at, title: data.title }),
  'session.status_changed': (state, { data, seq }) => {
    const change = move(state, chartEventOf(data));
    return data.to === 'terminated' && change !== NOTHING ? { ...change, terminatedAtSeq: seq, summary: data.reason ?? state.summary } : change;
  },
  'session.status_idle': (_state, { data }) => ({ summary: data.summary }),

  'user.message': (state, { id, seq }) =>
    state.status === 'terminated'
      ? NOTHING
      : { messages: state.messages + 1, pending: [...state.pending, { eventId: id, seq, type: 'user.message' }] },
  'user.custom_tool_result': (state, { id, seq, data }) => {
    const pendingActions = state.pendingActions.filter((action) => action.requestId !== data.requestId);
    // The first answer counts; one that comes later, or answers nothing, changes nothing.
    if (pendingActions.length === state.pendingActions.length) return NOTHING;
    return {
      ...(pendingActions.length === 0 ? move(state, 'RESOLVE') : NOTHING),
      pendingActions,
      pending: [...state.pending, { eventId: id, seq, type: 'user.custom_tool_result' }],
    };
  },
  'message.consumed': (state, { data }) => {
    const consumed = new Set(data.eventIds);
    return { pending: state.pending.filter(({ eventId }) => !consumed.has(eventId)), continuesInARow: 0 };
  },

  'wake.started': (state, { at, data }) => ({
    wakes: state.wakes + 1,
    epoch: Math.max(state.epoch, data.epoch),
    openWake: { wakeId: data.wakeId, epoch: data.epoch, owner: data.owner, startedAt: at, queuedWakeIds: data.queuedWakeIds },
  }),
  'wake.ended': (state, event) => foldWakeEnded(state, event),
  'wake.queued': (state, { id, data }) => ({ queuedWakes: [...state.queuedWakes, { ...data, eventId: id }] }),
  'wake.refused': () => NOTHING,

  'span.started': (_state, { data }) => ({ openSpanId: data.spanId }),
  'span.completed': (state, { data }) => ({
    openSpanId: state.openSpanId === data.spanId ? undefined : state.openSpanId,
    modelSteps: state.modelSteps + data.modelSteps,
    unansweredResults: data.outcome === 'completed' ? 0 : state.unansweredResults,
  }),
  'agent.thinking': () => NOTHING,
  'agent.message': () => NOTHING,
  'agent.tool_use': (state, { data }) => ({ openToolCalls: [...state.openToolCalls, { callId: data.callId, name: data.name }] }),
  'agent.tool_result': (state, { data }) => ({
    openToolCalls: state.openToolCalls.filter(({ callId }) => callId !== data.callId),
    unansweredResults: state.unansweredResults + 1,
  }),
  'agent.custom_tool_use': (state, { id, data }) => ({
    pendingActions: [...state.pendingActions, { requestId: data.requestId, eventId: id, kind: 'custom_tool', toolName: data.name }],
  }),
  'tool.skipped': () => NOTHING,
  'directive.accepted': (state, { data }) => ({
    openDirectives: [...state.openDirectives, data.directive],
    continuesInARow: data.directive.outcome === 'continue' ? state.continuesInARow + 1 : 0,
  }),
  'directive.rejected': () => NOTHING,
  'learning.captured': () => NOTHING,
  'event.unrecognized': () => NOTHING,
};

/** The state after `event`. The given state is not changed. An event that the state already contains changes nothing. */
export function foldSession(state: SessionState, event: SessionEvent): SessionState {
  if (event.seq <= state.head) return state;
  // Each entry takes exactly the events of its own key, which the compiler cannot see through the union.
  const fold = FOLDS[event.type] as Fold<SessionEventType>;
  return { ...state, ...fold(state, event), head: event.seq, updatedAt: event.at };
}

function foldWakeEnded(state: SessionState, { at, data }: SessionEventOf<'wake.ended'>): Change {
  if (state.openWake?.wakeId !== data.wakeId) return NOTHING;
  const completed = new Set(data.completedWakeIds);
  const isLost = data.outcome === 'lost';
  const isAtRest = data.outcome === 'sleep' || data.outcome === 'requires_action' || data.outcome === 'rescheduled';
  return {
    openWake: undefined,
    lastWake: { wakeId: data.wakeId, epoch: state.openWake.epoch, endedAt: at, outcome: data.outcome, ...(data.error === undefined ? {} : { error: data.error }) },
    queuedWakes: completed.size === 0 ? state.queuedWakes : state.queuedWakes.filter(({ queuedWakeId }) => !completed.has(queuedWakeId)),
    // A wake that died may have accepted a directive whose wishes are not stored yet; the next one carries them out.
    openDirectives: isLost ? state.openDirectives : [],
    unansweredResults: isAtRest ? 0 : state.unansweredResults,
  };
}

/** The move in the chart that a status change records. */
export function chartEventOf({ to, stopReason }: SessionEventData<'session.status_changed'>): SessionChartEventType {
  switch (to) {
    case 'running':
      return 'WAKE';
    case 'rescheduling':
      return 'RESCHEDULE';
    case 'terminated':
      return 'TERMINATE';
    case 'idle':
      return stopReason === 'requires_action' ? 'REQUIRE_ACTION' : 'REST';
  }
}

function move(state: SessionState, event: SessionChartEventType): Change {
  const next = nextConfiguration(state, event);
  return next === undefined ? NOTHING : statusOf(next);
}
