/**
 * Folds a session's log into its state, one event at a time. An event costs the same at the tenth and at the millionth.
 *
 * The fold is total: a log that lost records to damage, or holds events that lost a race, still folds. An event that
 * makes no sense where it stands moves the head and nothing else. What may be appended is stricter and is decided in
 * session-rules.ts.
 */
import { chartEventOf, move } from './fold-status.ts';
import type { Change } from './fold-status.ts';
import {
  cancelRequest,
  foldAnswer,
  foldConfirmation,
  foldCustomToolResult,
  foldResolved,
  foldSubflowRest,
  freed,
  receive,
  waitFor,
  withoutAnswerOf,
} from './fold-requests.ts';
import { foldSpanCompleted, useBeside, useByChild } from './fold-usage.ts';
import { foldWakeEnded, foldWakeStarted } from './fold-wakes.ts';
import type { SessionEvent, SessionEventOf, SessionEventType } from './session-event.ts';
import type { OpenToolCall, OpenWake, SessionState } from './session-state.ts';
import type { Directive } from '../wake/directive.ts';
import { isUnfinished } from './session-activations.ts';

type Fold<Type extends SessionEventType> = (state: SessionState, event: SessionEventOf<Type>) => Change;

/**
 * Changes when the fold gives another state for the same log; views and checkpoints written by another version are
 * rebuilt.
 */
export const SESSION_FOLD_VERSION = 11;

const NOTHING: Change = {};

const FOLDS: { readonly [Type in SessionEventType]: Fold<Type> } = {
  'session.created': (_state, { at, data }) => ({
    createdAt: at,
    title: data.title,
    owner: data.owner,
    parent: data.parent,
    forkOf: data.forkOf,
    importedThroughSeq: data.importedThroughSeq,
    allowance: data.allowance,
    restriction: data.restriction,
    jobId: data.jobId,
    workspace: data.workspace,
    runsIn: data.runsIn,
    narrowing: data.narrowing,
    environmentId: data.environmentId,
  }),
  'session.status_changed': (state, { data, seq, at }) => {
    const change = move(state, chartEventOf(data));
    if (data.to !== 'terminated' || change.status === undefined) return change;
    const summary = data.reason ?? state.summary;
    return {
      ...change,
      ...withoutPlans(state),
      terminatedAtSeq: seq,
      summary,
      ...owe(state, { turn: seq, at, reason: 'terminated', summary: summary ?? 'terminated' }),
    };
  },
  'session.status_idle': (state, { data: { reason, summary }, seq, at }) => ({
    summary,
    // The caller that waits for the answer to a call is not told that it has been put off.
    ...(state.parent?.callId !== undefined && goesOnByItself(state)
      ? NOTHING
      : owe(state, { turn: seq, at, reason, summary })),
  }),
  'session.parked': (state, { data, seq, at }) => ({
    parked: { ...data, seq },
    ...owe(state, { turn: seq, at, reason: 'parked', summary: data.reason }),
  }),
  'session.unparked': () => ({ parked: undefined, failuresInARow: 0, autonomousWakesInARow: 0, idleWakesInARow: 0 }),
  'session.child_created': (state, { data: { childSessionId: sessionId, agentId, label } }) => ({
    children: [...state.children.filter((child) => child.sessionId !== sessionId), { sessionId, agentId, label }],
  }),
  'session.child_idle': (state, event) => foldChildIdle(state, event),
  'subagent.started': (state, { seq, data: { jobId, childSessionId, agentId, label, allowance, restriction } }) => ({
    changedAtSeq: seq,
    jobs: [
      ...state.jobs.filter((job) => job.jobId !== jobId),
      { jobId, childSessionId, agentId, ...given({ label, allowance, restriction }) },
    ],
  }),
  'subagent.ended': (state, event) => foldJobEnded(state, event),
  'session.parent_told': (state, { data }) =>
    state.owedToParent?.turn === data.turn ? { owedToParent: undefined } : NOTHING,

  'user.message': (state, event) =>
    state.status === 'terminated'
      ? NOTHING
      : { messages: state.messages + 1, ...receive(state, event, event.data.delivery) },
  'user.custom_tool_result': (state, event) => foldCustomToolResult(state, event),
  'user.tool_confirmation': (state, event) => foldConfirmation(state, event),
  'user.answer': (state, event) => foldAnswer(state, event),
  'user.define_outcome': (state, event) =>
    state.status === 'terminated' ? NOTHING : { outcome: outcomeOf(state, event), ...receive(state, event, 'queue') },
  'user.interrupt': (state, event) => foldInterrupt(state, event),
  'message.consumed': (state, { data }) => {
    const consumed = new Set(data.eventIds);
    return {
      pending: state.pending.filter(({ eventId }) => !consumed.has(eventId)),
      continuesInARow: 0,
      // What failed before is answered by what comes of these.
      failedCall: undefined,
    };
  },

  'wake.started': (state, event) => foldWakeStarted(state, event),
  'wake.ended': (state, event) => foldWakeEnded(state, event),
  'wake.queued': (state, { id, data }) => ({ queuedWakes: [...state.queuedWakes, { ...data, eventId: id }] }),
  'wake.cancelled': (state, { data }) => ({
    queuedWakes: state.queuedWakes.filter(({ queuedWakeId }) => queuedWakeId !== data.queuedWakeId),
  }),
  'wake.refused': () => NOTHING,

  'span.started': (_state, { data }) => ({
    openSpanId: data.spanId,
    openSpanReserve: data.reserved,
    openSpanIntake: data.intake,
  }),
  'run.attempt_failed': () => NOTHING,
  'run.candidate_selected': (state, { data }) =>
    state.openSpanId === data.spanId ? { openSpanIntake: data.intake } : NOTHING,
  'run.waiting': () => NOTHING,
  'run.context_reduced': () => NOTHING,
  'backend.session_bound': (_state, { data: { reseeded: _reseeded, isCopied = false, ...bound } }) => ({
    backendSession: { ...bound, isCurrent: !isCopied },
  }),
  'span.completed': (state, event) => foldSpanCompleted(state, event),
  'agent.thinking': () => NOTHING,
  'agent.message': () => NOTHING,
  'agent.tool_use': (state, { data, seq }) => ({
    // What a backend runs itself is not known to change nothing.
    ...(data.by === undefined ? NOTHING : { changedAtSeq: seq }),
    openToolCalls: [
      ...state.openToolCalls,
      {
        callId: data.callId,
        name: data.name,
        seq,
        phase: data.mayHaveStarted === true ? 'started' : 'requested',
        ...given({ by: data.by }),
      },
    ],
    ...count(state, { toolCalls: 1 }),
  }),
  'agent.tool_started': (state, { seq, data: { callId, attempt, ifLost, isReadOnly } }) => ({
    ...(isReadOnly === true ? NOTHING : { changedAtSeq: seq }),
    openToolCalls: withCall(state, callId, (call) => ({
      ...call,
      phase: 'started',
      ...(attempt === undefined ? {} : { attempt }),
      ...(ifLost === undefined ? {} : { ifLost }),
    })),
  }),
  // What it was allowed is spent: the process that runs it again decides anew.
  'agent.tool_requeued': (state, { data: { callId, attempt } }) => ({
    openToolCalls: withCall(state, callId, ({ request: _request, answer: _answer, ...call }) => ({
      ...call,
      phase: 'requested',
      attempt,
    })),
  }),
  'agent.subflow_started': (state, { seq, data: { callId, childSessionId, agentId, allowance, isolation } }) => ({
    changedAtSeq: seq,
    openToolCalls: withCall(state, callId, (call) => ({
      ...call,
      phase: 'waiting',
      request: { kind: 'subflow', childSessionId, agentId, seq, used: {}, ...given({ allowance, isolation }) },
    })),
  }),
  'agent.tool_result': (state, event) => foldToolResult(state, event),
  'agent.custom_tool_use': (state, { id, data: { requestId, name: toolName, callId } }) =>
    callId === undefined
      ? { pendingActions: [...state.pendingActions, { requestId, eventId: id, kind: 'custom_tool', toolName }] }
      : waitFor(
          state,
          { requestId, eventId: id, kind: 'custom_tool', toolName, callId },
          { kind: 'custom_tool', requestId },
        ),
  'agent.question_asked': (state, { id, data: { requestId, callId, question } }) =>
    waitFor(
      state,
      { requestId, eventId: id, kind: 'answer', toolName: 'ask_human', callId, question },
      { kind: 'answer', requestId },
    ),
  'permission.requested': (
    state,
    { id, seq, data: { requestId, callId, toolName, because, hash, environmentHash, rules, expiresAt } },
  ) => {
    // What a request of elsewhere shows need not be what its call does: an answer to it allows nothing yet.
    const bound = isImported(state, seq) ? {} : { hash, environmentHash, rules };
    return waitFor(
      state,
      {
        requestId,
        eventId: id,
        kind: 'permission',
        toolName,
        callId,
        question: because,
        ...given({ rules: bound.rules, expiresAt }),
      },
      { kind: 'permission', requestId, ...given({ ...bound, expiresAt }) },
    );
  },
  'permission.resolved': (state, event) =>
    foldResolved(state, isImported(state, event.seq) ? { ...event, data: { ...event.data, rules: [] } } : event),
  'request.cancelled': (state, { data }) => cancelRequest(state, data.requestId),
  'context.compacted': ({ backendSession }, { data }) => ({
    compactedThroughSeq: data.throughSeq,
    // Its own session holds what the summary was to make shorter.
    ...(backendSession === undefined ? {} : { backendSession: { ...backendSession, isCurrent: false } }),
  }),
  'tool.skipped': () => NOTHING,
  'directive.accepted': (state, { seq, data: { directive, spanId } }) => ({
    openDirectives: [...state.openDirectives, isImported(state, seq) ? withoutPromotion(directive) : directive],
    intent: { spanId, next: goesOn(directive) ? 'go_on' : 'rest' },
    // To go on later is to rest: only what goes on at once is in a row.
    continuesInARow: goesOn(directive) ? state.continuesInARow + 1 : 0,
  }),
  'directive.rejected': () => NOTHING,
  'learning.captured': (state, { seq, data: { learningId, promoteToMemory } }) => ({
    learningsToKeep: [
      ...(state.learningsToKeep ?? []),
      { learningId, seq, promoteToMemory: promoteToMemory && !isImported(state, seq) },
    ],
  }),
  'learning.kept': (state, { data }) => foldLearningKept(state, data),
  'environment.entered': (_state, { data }) => ({ environment: data }),
  // The agent does not talk away what a client wants.
  'outcome.defined': (state, { seq, data }) =>
    state.outcome?.by === 'person' ? NOTHING : { outcome: { ...data, seq, by: 'agent' } },
  'outcome.graded': () => NOTHING,
  // What was said of it elsewhere was not checked here.
  'outcome.evaluated': (state, event) => (isImported(state, event.seq) ? NOTHING : foldOutcomeEvaluated(state, event)),
  'memory.promoted': (state, { data }) => ({
    learningsToPromote: withoutLearnings(state.learningsToPromote, data.learningIds),
  }),
  'files.promoted': () => NOTHING,
  'promotion.refused': () => NOTHING,
  'workspace.restored': () => NOTHING,
  'workspace.not_copied': () => NOTHING,
  'log.loss_accepted': () => NOTHING,
  'event.unrecognized': () => NOTHING,
};

/**
 * The state after `event`. The given state is not changed. An event that the state already contains changes nothing.
 */
export function foldSession(state: SessionState, event: SessionEvent): SessionState {
  if (event.seq <= state.head) return state;
  // Each entry takes exactly the events of its own key, which the compiler cannot see through the union.
  const fold = FOLDS[event.type] as Fold<SessionEventType>;
  const change = fold(state, event);
  // A process that takes over without starting a wake claims an epoch too.
  return {
    ...state,
    ...change,
    epoch: Math.max(change.epoch ?? state.epoch, event.epoch ?? 0),
    head: event.seq,
    updatedAt: event.at,
  };
}

function foldInterrupt(state: SessionState, { seq, data }: SessionEventOf<'user.interrupt'>): Change {
  const { openWake, lastWake } = state;
  if (openWake !== undefined) return { openWake: { ...openWake, interruption: { seq, reason: data.reason } } };
  // What a wake that broke left to do is not gone on with.
  return {
    unansweredResults: 0,
    openDirectives: [],
    intent: undefined,
    lastWake: lastWake === undefined ? undefined : { ...lastWake, outcome: 'interrupted', retryAt: undefined },
  };
}

function foldChildIdle(state: SessionState, event: SessionEventOf<'session.child_idle'>): Change {
  const { childSessionId, turn, reason, summary } = event.data;
  const call = state.openToolCalls.find(
    ({ request }) => request?.kind === 'subflow' && request.childSessionId === childSessionId,
  );
  if (call !== undefined) return foldSubflowRest(state, event, call);
  const child = state.children.find(({ sessionId }) => sessionId === childSessionId);
  if (child === undefined || state.status === 'terminated' || (child.rest?.turn ?? 0) >= turn) return NOTHING;
  return {
    children: state.children.map((other) => (other === child ? { ...child, rest: { turn, reason, summary } } : other)),
    pending: [
      ...state.pending,
      { eventId: event.id, seq: event.seq, at: event.at, type: 'session.child_idle', delivery: 'queue' },
    ],
  };
}

/** The end of a job is what its parent reads of it: that its session rests is not told besides. */
function foldJobEnded(state: SessionState, event: SessionEventOf<'subagent.ended'>): Change {
  const { jobId, used = {} } = event.data;
  const job = state.jobs.find((each) => each.jobId === jobId);
  if (job === undefined) return NOTHING;
  return {
    jobs: state.jobs.filter((each) => each !== job),
    ...useByChild(state, used),
    // What it was promised and did not use may be what was missing.
    ...(state.parked?.code === 'budget' ? { parked: undefined } : {}),
    ...(state.status === 'terminated'
      ? NOTHING
      : {
          pending: [
            ...state.pending,
            { eventId: event.id, seq: event.seq, at: event.at, type: 'subagent.ended', delivery: 'queue' },
          ],
        }),
  };
}

/** A learning that was known already is in the memory when it is to be, or a person decided otherwise. */
function foldLearningKept(
  { learningsToKeep, learningsToPromote }: SessionState,
  { learningId, as }: SessionEventOf<'learning.kept'>['data'],
): Change {
  const kept = learningsToKeep?.find((each) => each.learningId === learningId);
  const isToBePromoted = kept?.promoteToMemory === true && as === 'new';
  return {
    learningsToKeep:
      learningsToKeep === undefined ? undefined : leftOf(learningsToKeep.filter((each) => each !== kept)),
    ...(isToBePromoted
      ? { learningsToPromote: [...(learningsToPromote ?? []), { learningId, seq: kept.seq }] }
      : NOTHING),
  };
}

function withoutLearnings(
  waiting: SessionState['learningsToPromote'],
  gone: readonly string[],
): SessionState['learningsToPromote'] {
  return waiting === undefined ? undefined : leftOf(waiting.filter(({ learningId }) => !gone.includes(learningId)));
}

/** Whether an event came with a log from elsewhere. */
function foldOutcomeEvaluated(
  state: SessionState,
  { seq, data: { verdict, because, throughSeq, stageDigest, usage } }: SessionEventOf<'outcome.evaluated'>,
): Change {
  return { evaluation: { verdict, because, throughSeq, seq, ...given({ stageDigest }) }, ...useBeside(state, usage) };
}

function isImported({ importedThroughSeq = 0 }: SessionState, seq: number): boolean {
  return seq <= importedThroughSeq;
}

/**
 * What a log from elsewhere says that a client did, no client of this store has said: it is worth what the agent's own
 * word is, and its check is not run.
 */
function outcomeOf(state: SessionState, { seq, data }: SessionEventOf<'user.define_outcome'>): SessionState['outcome'] {
  if (!isImported(state, seq)) return { ...data, seq, by: 'person' };
  const { check: _check, ...text } = data;
  return { ...text, seq, by: 'agent' };
}

function withoutPromotion(directive: Directive): Directive {
  return { ...directive, learnings: directive.learnings.map((learning) => ({ ...learning, promoteToMemory: false })) };
}

/** Nothing rather than an empty list: states of sessions that learn nothing stay small. */
function leftOf<Item>(items: readonly Item[]): readonly Item[] | undefined {
  return items.length === 0 ? undefined : items;
}

function foldToolResult(state: SessionState, { data }: SessionEventOf<'agent.tool_result'>): Change {
  return {
    ...freed(state, data.callId),
    openToolCalls: state.openToolCalls.filter(({ callId }) => callId !== data.callId),
    pending: withoutAnswerOf(state, data.callId),
    // A result that is stored outside of a wake closes a call that the model does not wait for any more.
    unansweredResults: state.unansweredResults + (state.openWake === undefined ? 0 : 1),
    failedCall: failedCallOf(data),
  };
}

/** A call that was cancelled or denied has not failed: a person wanted that. */
function failedCallOf({
  callId,
  name,
  outcome,
  output,
}: SessionEventOf<'agent.tool_result'>['data']): SessionState['failedCall'] {
  if (outcome === 'failed' || outcome === 'unknown') return { callId, name };
  if (outcome !== 'completed' || typeof output !== 'object' || output === null || Array.isArray(output))
    return undefined;
  const { exitCode, signalCode }: { readonly exitCode?: unknown; readonly signalCode?: unknown } = output;
  if (typeof exitCode === 'number') return exitCode === 0 ? undefined : { callId, name, exitCode };
  return typeof signalCode === 'string' ? { callId, name, signalCode } : undefined;
}

function withCall(
  { openToolCalls }: SessionState,
  callId: string,
  change: (call: OpenToolCall) => OpenToolCall,
): readonly OpenToolCall[] {
  return openToolCalls.map((call) => (call.callId === callId ? change(call) : call));
}

/** Whether the last wake broke off in the middle, and another one goes on without a client asking. */
function goesOnByItself(state: SessionState): boolean {
  const { lastWake, pending } = state;
  return (
    lastWake?.retryAt !== undefined || (lastWake?.outcome === 'aborted' && (isUnfinished(state) || pending.length > 0))
  );
}

function owe({ parent, jobId }: SessionState, owedToParent: NonNullable<SessionState['owedToParent']>): Change {
  // Of a job its parent hears when all of it has ended, its worktree too.
  return parent === undefined || jobId !== undefined ? NOTHING : { owedToParent };
}

/** What a session that has ended will not do any more. A call that has started may still tell how it ended. */
function withoutPlans({ openToolCalls }: SessionState): Change {
  return {
    queuedWakes: [],
    pendingActions: [],
    openToolCalls: openToolCalls.filter(({ phase }) => phase === 'started' || phase === 'requested'),
  };
}

function goesOn({ outcome, followUpSeconds }: Directive): boolean {
  return outcome === 'continue' && followUpSeconds === undefined;
}

type Counts = Partial<Pick<OpenWake, 'tokens' | 'cost' | 'toolCalls' | 'steps'>>;

function count({ openWake }: SessionState, { tokens = 0, cost = 0, toolCalls = 0, steps = 0 }: Counts): Change {
  if (openWake === undefined || tokens + cost + toolCalls + steps === 0) return NOTHING;
  return {
    openWake: {
      ...openWake,
      tokens: openWake.tokens + tokens,
      cost: openWake.cost + cost,
      toolCalls: openWake.toolCalls + toolCalls,
      steps: openWake.steps + steps,
    },
  };
}

/** The fields that are there. */
function given<Fields extends Readonly<Record<string, unknown>>>(
  fields: Fields,
): { [Name in keyof Fields]?: Exclude<Fields[Name], undefined> } {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as {
    [Name in keyof Fields]?: Exclude<Fields[Name], undefined>;
  };
}
