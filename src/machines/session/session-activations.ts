/**
 * Which activations a session has, and whether its work is due, blocked or unfinished. All of it follows from the folded
 * log alone, so any process computes the same activations, under the same names.
 */
import type { Activation } from './activation.ts';
import type { OpenToolCall, SessionState } from './session-state.ts';

/** A worker that runs and is free takes what is due within as long. */
export const TAKEN_MS = 5_000;

/** Everything that makes the session due, now or later. */
export function activationsOf(state: SessionState): readonly Activation[] {
  // The runner of the job wakes its session, and settles it when the job is lost.
  if (state.jobId !== undefined) return [];
  // A wake that died in a session that was terminated leaves nothing to do.
  if (state.status === 'terminated') return owedActivation(state);
  if (state.openWake !== undefined) return duringWake(state, state.openWake.causes);
  return [...workActivations(state), ...owedActivation(state)];
}

/**
 * What a wake that begins at `atMs` leaves due until its end, so that another process goes on when its process dies. A
 * client may wake a session before anything of it is due: its plan is for next week, its back-off is not over. No
 * worker would search for the dead wake before that, so the wake is due itself. What a child owes its parent does not
 * count: the process that tells the parent settles it.
 */
export function causesOfWake(state: SessionState, wakeId: string, atMs: number): readonly Activation[] {
  const causes = activationsOf(state);
  if (isDue(state, atMs)) return causes;
  const { sessionId, agentId } = state;
  return [...causes, { sessionId, agentId, causeId: wakeId, kind: 'retry', dueAtMs: atMs, priority: 'normal' }];
}

/**
 * Whether a wake that no client asks for may begin at `nowMs`, in milliseconds since the epoch, for what there is to
 * do.
 */
export function isDue(state: SessionState, nowMs: number): boolean {
  return workActivations(state).some(({ dueAtMs }) => dueAtMs <= nowMs);
}

/**
 * Since when, in milliseconds since the epoch, the session waits for a worker that does not come: there is none, all are
 * busy, or those that run leave it to others.
 */
export function untakenSince(state: SessionState, nowMs: number): number | undefined {
  if (state.openWake !== undefined || state.jobId !== undefined || state.status === 'terminated') return undefined;
  const sinceMs = Math.min(...workActivations(state).map(({ dueAtMs }) => dueAtMs));
  return nowMs - sinceMs >= TAKEN_MS ? sinceMs : undefined;
}

/**
 * Whether a turn was left before its end: the model has something to hear or to say, or a call something to come to.
 */
export function isUnfinished({ unansweredResults, openDirectives, openToolCalls, intent }: SessionState): boolean {
  return unansweredResults > 0 || openDirectives.length > 0 || openToolCalls.length > 0 || intent?.next === 'go_on';
}

/** What a change of state makes due, and what is not due any more. */
export function activationChange(
  before: SessionState,
  after: SessionState,
): { readonly activate: readonly Activation[]; readonly settle: readonly Activation[] } {
  if (hasSameCauses(before, after)) return { activate: [], settle: [] };
  const then = activationsOf(before);
  const now = activationsOf(after);
  // What was held back while the session was parked or blocked is made again by the end of the next wake, whatever let
  // it go on.
  const isEndOfWake = before.openWake !== undefined && after.openWake === undefined;
  return { activate: isEndOfWake ? now : without(now, then), settle: without(then, now) };
}

/** Whether an open tool call waits for a person or client, or for a child: until then no model can go on. */
export function isBlocked({ openToolCalls }: SessionState): boolean {
  return openToolCalls.some(({ phase }) => phase === 'waiting');
}

/** The calls that wait for a child of this session. */
export function delegatedCalls({ openToolCalls }: SessionState): readonly OpenToolCall[] {
  return openToolCalls.filter(({ phase, request }) => phase === 'waiting' && request?.kind === 'subflow');
}

/** When the permission that a call waits for, or was given and has not used, is void; milliseconds since the epoch. */
export function expiryOf({ phase, request }: OpenToolCall): number | undefined {
  const isHeld = phase === 'waiting' || phase === 'answered';
  return isHeld && request?.kind === 'permission' && request.expiresAt !== undefined
    ? Date.parse(request.expiresAt)
    : undefined;
}

/** What came in and can be acted upon: while a call waits, only the answers to calls. */
export function actionableIngress(state: SessionState): SessionState['pending'] {
  if (!isBlocked(state)) return state.pending;
  return state.pending.filter(({ callId }) => callId !== undefined);
}

function workActivations(state: SessionState): readonly Activation[] {
  // What would make it wake again by itself is held back until a client does.
  return state.parked === undefined
    ? [
        ...pendingActivations(state),
        ...queuedActivations(state),
        ...retryActivation(state),
        ...expiryActivations(state),
      ]
    : [];
}

function duringWake(state: SessionState, causes: readonly Activation[]): readonly Activation[] {
  const known = new Set(causes.map(({ causeId }) => causeId));
  return [
    ...causes,
    ...[...pendingActivations(state), ...queuedActivations(state)].filter(({ causeId }) => !known.has(causeId)),
  ];
}

function pendingActivations(state: SessionState): readonly Activation[] {
  const { sessionId, agentId } = state;
  const notBefore = notBeforeMs(state);
  return actionableIngress(state).map(({ eventId, at, delivery }) => ({
    sessionId,
    agentId,
    causeId: eventId,
    kind: 'ingress',
    dueAtMs: Math.max(Date.parse(at), notBefore),
    priority: delivery === 'queue' ? 'normal' : 'high',
  }));
}

function queuedActivations(state: SessionState): readonly Activation[] {
  if (isBlocked(state)) return [];
  const { sessionId, agentId, queuedWakes } = state;
  const notBefore = notBeforeMs(state);
  return queuedWakes.map(({ queuedWakeId, dueAt, priority }) => ({
    sessionId,
    agentId,
    causeId: queuedWakeId,
    kind: 'wake',
    dueAtMs: Math.max(Date.parse(dueAt), notBefore),
    priority,
  }));
}

/** A wake that broke in the middle of something is followed by another. */
function retryActivation(state: SessionState): readonly Activation[] {
  const { sessionId, agentId, lastWake } = state;
  if (lastWake === undefined || !['failed', 'aborted', 'lost'].includes(lastWake.outcome) || !isUnfinished(state))
    return [];
  // A child that a call waits for may not have been made, or may have no process that wakes it.
  if (isBlocked(state) && delegatedCalls(state).length === 0) return [];
  return [
    {
      sessionId,
      agentId,
      causeId: lastWake.wakeId,
      kind: 'retry',
      dueAtMs: Math.max(Date.parse(lastWake.endedAt), notBeforeMs(state)),
      priority: 'normal',
    },
  ];
}

/** A permission that was not given in time denies its call, which lets the session go on. */
function expiryActivations(state: SessionState): readonly Activation[] {
  const { sessionId, agentId, openToolCalls } = state;
  return openToolCalls.flatMap((call): Activation[] => {
    const dueAtMs = call.phase === 'waiting' ? expiryOf(call) : undefined;
    return dueAtMs === undefined
      ? []
      : [{ sessionId, agentId, causeId: `expiry-${call.callId}`, kind: 'wake', dueAtMs, priority: 'normal' }];
  });
}

/** A child whose rest its parent has not heard of. */
function owedActivation({ sessionId, agentId, owedToParent }: SessionState): readonly Activation[] {
  if (owedToParent === undefined) return [];
  return [
    {
      sessionId,
      agentId,
      causeId: `turn-${owedToParent.turn}`,
      kind: 'retry',
      dueAtMs: Date.parse(owedToParent.at),
      priority: 'normal',
    },
  ];
}

function notBeforeMs({ lastWake }: SessionState): number {
  return lastWake?.retryAt === undefined ? 0 : Date.parse(lastWake.retryAt);
}

/** Cheap, and true for most appends: states share what an event left alone. */
function hasSameCauses(before: SessionState, after: SessionState): boolean {
  const keys = [
    'pending',
    'queuedWakes',
    'openToolCalls',
    'openDirectives',
    'intent',
    'unansweredResults',
    'lastWake',
    'parked',
    'status',
    'owedToParent',
  ] as const;
  return before.openWake?.causes === after.openWake?.causes && keys.every((key) => before[key] === after[key]);
}

function without(activations: readonly Activation[], others: readonly Activation[]): readonly Activation[] {
  const known = new Set(others.map(({ causeId, dueAtMs }) => `${dueAtMs} ${causeId}`));
  return activations.filter(({ causeId, dueAtMs }) => !known.has(`${dueAtMs} ${causeId}`));
}
