/** Events and logs of sessions for tests: ids and times that are the same in every run. */
import fc from 'fast-check';
import { formatUuidV7 } from '../../src/machines/ids.ts';
import { handedDown } from '../../src/machines/permission/handed-down.ts';
import { checkDraft } from '../../src/machines/session/session-event.ts';
import type {
  NewSessionEvent,
  SessionEvent,
  SessionEventData,
  SessionEventDraft,
} from '../../src/machines/session/session-event.ts';
import { foldSession } from '../../src/machines/session/session-fold.ts';
import { initialSessionState } from '../../src/machines/session/session-state.ts';
import type { DeliveryMode } from '../../src/machines/session/event-parts.ts';
import type { SessionState } from '../../src/machines/session/session-state.ts';

export const START_MS = Date.UTC(2026, 0, 1);
export const START = new Date(START_MS).toISOString();
export const AGENT_ID = 'tester';

/** What is handed down by a session that nothing binds. */
export const UNBOUND = handedDown({ mode: 'preapproved', ask: [], deny: [] });

/** The n-th id; later ones sort after earlier ones. */
export function idOf(n: number): string {
  return formatUuidV7({ unixMs: START_MS + n, counter: 0, random: new Uint8Array(8) });
}

export const SESSION_ID = idOf(0);
export const IDENTITY = { sessionId: SESSION_ID, agentId: AGENT_ID } as const;

/** An event as the store would return it at position `seq`. */
export function eventAt(seq: number, draft: SessionEventDraft, epoch?: number): SessionEvent {
  const checked = checkDraft(draft);
  return {
    ...checked,
    id: draft.id ?? idOf(seq),
    seq,
    at: START,
    sessionId: SESSION_ID,
    ...(epoch === undefined ? {} : { epoch }),
  };
}

/** A log of these drafts, in order. */
export function logOf(...drafts: readonly SessionEventDraft[]): SessionEvent[] {
  return drafts.map((draft, index) => eventAt(index + 1, draft));
}

export function foldAll(
  events: Iterable<SessionEvent>,
  from: SessionState = initialSessionState(IDENTITY),
): SessionState {
  let state = from;
  for (const event of events) state = foldSession(state, event);
  return state;
}

/** The drafts as events that follow `state`. */
export function following(state: SessionState, drafts: readonly SessionEventDraft[]): SessionEvent[] {
  return drafts.map((draft, index) => eventAt(state.head + 1 + index, draft));
}

/** What those drafts add up to. */
export function stateAfter(...drafts: readonly SessionEventDraft[]): SessionState {
  return foldAll(logOf(...drafts));
}

/** An event ready to be appended. */
export function newEvent(n: number, draft: SessionEventDraft, epoch?: number): NewSessionEvent {
  const { type, v, data } = checkDraft(draft);
  return { id: draft.id ?? idOf(n), at: START, ...(epoch === undefined ? {} : { epoch }), type, v, data };
}

/** What the events of one type in a log say. */
export const dataIn = (log: readonly SessionEvent[], type: SessionEvent['type']): unknown[] =>
  log.filter((event) => event.type === type).map(({ data }) => data);

export const message = (text: string, delivery: DeliveryMode = 'queue'): SessionEventDraft => ({
  type: 'user.message',
  data: { text, delivery },
});
export const created: SessionEventDraft = { type: 'session.created', data: { agentId: AGENT_ID } };
export const running: SessionEventDraft = { type: 'session.status_changed', data: { to: 'running' } };
export const resting: SessionEventDraft = { type: 'session.status_changed', data: { to: 'idle', stopReason: 'idle' } };

export const wakeStarted = (
  epoch: number,
  wakeId = `wake_${epoch}`,
  queuedWakeIds: string[] = [],
): SessionEventDraft => ({
  type: 'wake.started',
  data: { wakeId, epoch, owner: 'test', queuedWakeIds },
});

export const wakeEnded = (
  wakeId: string,
  outcome: SessionEventData<'wake.ended'>['outcome'] = 'sleep',
  completedWakeIds: string[] = [],
  retryAt?: string,
): SessionEventDraft => ({
  type: 'wake.ended',
  data: {
    wakeId,
    outcome,
    summary: 'over',
    modelSteps: 1,
    completedWakeIds,
    ...(retryAt === undefined ? {} : { retryAt }),
  },
});

export const spanStarted = (spanId: string): SessionEventDraft => ({
  type: 'span.started',
  data: { spanId, kind: 'model_step', backend: 'script', provider: 'script', model: 'a.json', step: 1 },
});

export const spanCompleted = (
  spanId: string,
  outcome: 'completed' | 'failed' | 'aborted' | 'lost' = 'completed',
): SessionEventDraft => ({
  type: 'span.completed',
  data: { spanId, kind: 'model_step', outcome, modelSteps: outcome === 'completed' ? 1 : 0 },
});

export const said = (text: string, spanId: string): SessionEventDraft => ({
  type: 'agent.message',
  data: { text, spanId },
});
export const asked = (callId: string, spanId: string, name = 'shell_run'): SessionEventDraft => ({
  type: 'agent.tool_use',
  data: { callId, name, input: {}, spanId },
});
export const answered = (callId: string, output = 'ok', name = 'shell_run'): SessionEventDraft => ({
  type: 'agent.tool_result',
  data: { callId, name, outcome: 'completed', output },
});
export const toolStarted = (callId: string): SessionEventDraft => ({ type: 'agent.tool_started', data: { callId } });
/** The request has the call's name. */
export const permissionAsked = (callId: string, requestId = `request_${callId}`): SessionEventDraft => ({
  type: 'permission.requested',
  data: { requestId, callId, toolName: 'shell_run', input: {}, because: 'it asks' },
});
const questionAsked = (callId: string, requestId = `request_${callId}`): SessionEventDraft => ({
  type: 'agent.question_asked',
  data: { requestId, callId, question: 'Which?' },
});
export const confirmed = (requestId: string, allowed = true): SessionEventDraft => ({
  type: 'user.tool_confirmation',
  data: { requestId, toolName: 'shell_run', allowed },
});
const replied = (requestId: string, response = 'this one'): SessionEventDraft => ({
  type: 'user.answer',
  data: { requestId, response },
});
export const interrupted = (reason?: string): SessionEventDraft => ({
  type: 'user.interrupt',
  data: reason === undefined ? {} : { reason },
});
export const terminated: SessionEventDraft = {
  type: 'session.status_changed',
  data: { to: 'terminated', stopReason: 'terminated', reason: 'enough' },
};
export const blocked: SessionEventDraft = {
  type: 'session.status_changed',
  data: { to: 'idle', stopReason: 'requires_action' },
};
export const parked: SessionEventDraft = { type: 'session.parked', data: { code: 'failures', reason: 'too many' } };
export const childRested = (childSessionId: string, turn: number): SessionEventDraft => ({
  type: 'session.child_idle',
  data: { childSessionId, agentId: AGENT_ID, turn, reason: 'idle', summary: 'done' },
});
export const jobStarted = (jobId: string, childSessionId: string): SessionEventDraft => ({
  type: 'subagent.started',
  data: { jobId, childSessionId, agentId: AGENT_ID, allowance: { tokens: 100 }, restriction: UNBOUND },
});
export const jobEnded = (
  jobId: string,
  childSessionId: string,
  status: 'completed' | 'failed' | 'cancelled' = 'completed',
): SessionEventDraft => ({
  type: 'subagent.ended',
  data: { jobId, childSessionId, agentId: AGENT_ID, status, summary: 'done', used: { tokens: 10 } },
});
export const consumed = (eventIds: string[], spanId: string): SessionEventDraft => ({
  type: 'message.consumed',
  data: { eventIds, spanId },
});

export const queued = (queuedWakeId: string, dueAt = START, dedupeKey?: string): SessionEventDraft => ({
  type: 'wake.queued',
  data: {
    queuedWakeId,
    reason: 'check again',
    dueAt,
    priority: 'normal',
    ...(dedupeKey === undefined ? {} : { dedupeKey }),
  },
});

export const directed = (outcome: 'sleep' | 'continue', spanId = 's'): SessionEventDraft => ({
  type: 'directive.accepted',
  data: { directive: { outcome, summary: 'done', queuedWakes: [], learnings: [] }, spanId },
});

const callId = fc.constantFrom('call_1', 'call_2', 'call_3', 'call_4');
const spanId = fc.constantFrom('span_1', 'span_2', 'span_3');
const eventIds = fc.array(fc.integer({ min: 1, max: 30 }).map(idOf), { maxLength: 4 });

const requestId = fc.constantFrom('request_1', 'request_2', 'request_3');

/** What came with requests, interruptions and relatives. */
const anyRequestDraft: fc.Arbitrary<SessionEventDraft> = fc.oneof(
  fc.constantFrom<SessionEventDraft>(
    interrupted('enough'),
    parked,
    { type: 'session.unparked', data: { wakeId: 'wake_1' } },
    {
      type: 'session.created',
      data: { agentId: AGENT_ID, parent: { sessionId: idOf(900), depth: 1 }, restriction: UNBOUND },
    },
    { type: 'session.child_created', data: { childSessionId: idOf(901), agentId: AGENT_ID } },
    { type: 'user.define_outcome', data: { title: 'All green' } },
    { type: 'agent.thinking', data: { text: 'hm', spanId: 'span_1' } },
    {
      type: 'learning.captured',
      data: { learningId: 'learning_1', kind: 'lesson', title: 't', detail: 'd', promoteToMemory: false },
    },
    { type: 'wake.cancelled', data: { queuedWakeId: 'queued_1', because: 'interrupt' } },
  ),
  fc.constantFrom('agent_1', 'agent_2').map((jobId) => jobStarted(jobId, idOf(902))),
  fc
    .tuple(fc.constantFrom('agent_1', 'agent_2'), fc.constantFrom('completed' as const, 'failed' as const))
    .map(([jobId, status]) => jobEnded(jobId, idOf(902), status)),
  fc.integer({ min: 1, max: 40 }).map((turn) => childRested(idOf(901), turn)),
  fc.integer({ min: 1, max: 40 }).map((turn): SessionEventDraft => ({ type: 'session.parent_told', data: { turn } })),
  fc.tuple(callId, requestId).map(([call, request]) => permissionAsked(call, request)),
  fc.tuple(callId, requestId).map(([call, request]) => questionAsked(call, request)),
  fc.tuple(requestId, fc.boolean()).map(([request, allowed]) => confirmed(request, allowed)),
  requestId.map((request) => replied(request)),
  fc.tuple(callId, requestId).map(([call, request]): SessionEventDraft => ({
    type: 'permission.resolved',
    data: { requestId: request, callId: call, decision: 'allowed' },
  })),
  requestId.map((request): SessionEventDraft => ({
    type: 'request.cancelled',
    data: { requestId: request, because: 'interrupt' },
  })),
  callId.map(toolStarted),
  fc.constantFrom('queue', 'steer', 'interrupt').map((delivery) => message('hey', delivery)),
);

/** Any draft at all, sensible where it stands or not, with ids that often meet. */
export const anyDraft: fc.Arbitrary<SessionEventDraft> = fc.oneof(
  anyRequestDraft,
  fc.constantFrom(created, running, resting, directed('sleep'), directed('continue')),
  fc.constantFrom<SessionEventDraft>(
    { type: 'session.status_changed', data: { to: 'idle', stopReason: 'requires_action' } },
    { type: 'session.status_changed', data: { to: 'rescheduling', stopReason: 'rescheduling' } },
    { type: 'session.status_changed', data: { to: 'terminated', stopReason: 'terminated', reason: 'enough' } },
    { type: 'session.status_idle', data: { reason: 'idle', summary: 'resting' } },
    { type: 'wake.refused', data: { reason: 'check again', because: 'limit' } },
    { type: 'directive.rejected', data: { reason: 'not JSON', received: '{', spanId: 'span_1' } },
    { type: 'agent.custom_tool_use', data: { requestId: 'request_1', name: 'ask', input: {} } },
    { type: 'user.custom_tool_result', data: { requestId: 'request_1', toolName: 'ask', output: 'yes' } },
    { type: 'tool.skipped', data: { name: 'none', reason: 'not there' } },
    { type: 'learning.kept', data: { learningId: 'learning_1', as: 'new' } },
    { type: 'environment.entered', data: { environmentId: 'host', fingerprint: 'f', sandbox: 'off', network: 'open' } },
    { type: 'workspace.restored', data: { host: 'two', files: 1, bytes: 2, fetchedBytes: 2, mayHaveLost: false } },
    { type: 'log.loss_accepted', data: { what: '5 records were stored, and 4 are there', events: 4 } },
    { type: 'workspace.not_copied', data: { code: 'WORKSPACE_COPY_TOO_LARGE', reason: 'r', staysHere: true } },
    { type: 'outcome.defined', data: { title: 't' } },
    { type: 'outcome.graded', data: { grade: 'in_progress', because: 'b', evidence: [] } },
    {
      type: 'outcome.evaluated',
      data: { verdict: 'pass', because: 'b', evidence: [], throughSeq: 1, evaluators: ['log'] },
    },
    { type: 'memory.promoted', data: { version: 1, expectedVersion: 0, learningIds: ['learning_1'] } },
    { type: 'files.promoted', data: { version: 1, expectedVersion: 0, paths: ['notes.md'] } },
    { type: 'promotion.refused', data: { what: 'memory', because: 'b' } },
    {
      type: 'run.attempt_failed',
      data: {
        spanId: 'span_1',
        attempt: 1,
        candidate: { provider: 'anthropic', model: 'm', profile: 'work' },
        error: { kind: 'overloaded', message: 'busy' },
        next: 'fall_back',
        because: 'It has too much to do.',
      },
    },
    {
      type: 'run.candidate_selected',
      data: {
        spanId: 'span_1',
        attempt: 2,
        candidate: { provider: 'openai', model: 'm' },
        backend: 'embedded',
        because: 'Fallback 1.',
      },
    },
    { type: 'run.waiting', data: { spanId: 'span_1', because: 'Every candidate rests.', waitMs: 1_000 } },
    {
      type: 'run.context_reduced',
      data: { spanId: 'span_1', contextTokens: 100, omittedMessages: 2, shortenedMessages: 0 },
    },
    {
      type: 'backend.session_bound',
      data: { spanId: 'span_1', backend: 'cli-agent', provider: 'codex', sessionId: 'thread_1', generation: 1 },
    },
    { type: 'agent.tool_use', data: { callId: 'call_1', name: 'Bash', input: {}, spanId: 'span_1', by: 'backend' } },
    {
      type: 'agent.thinking',
      data: { text: '', spanId: 'span_1', opaque: { provider: 'anthropic', model: 'm', data: { signature: 'x' } } },
    },
    {
      type: 'context.compacted',
      data: { throughSeq: 3, summary: 'Before: much.', tokensBefore: 900, tokensAfter: 90 },
    },
  ),
  fc.string({ minLength: 1, maxLength: 8 }).map(message),
  fc
    .integer({ min: 1, max: 4 })
    .map((epoch) => wakeStarted(epoch, `wake_${epoch}`, epoch % 2 === 0 ? ['queued_1'] : [])),
  fc
    .tuple(
      fc.integer({ min: 1, max: 4 }),
      fc.constantFrom(
        'sleep',
        'requires_action',
        'rescheduled',
        'failed',
        'lost',
        'budget_reached',
        'aborted',
        'interrupted',
        'terminated',
      ),
    )
    .map(([epoch, outcome]) => wakeEnded(`wake_${epoch}`, outcome, ['queued_1'])),
  spanId.map(spanStarted),
  fc
    .tuple(spanId, fc.constantFrom('completed', 'failed', 'aborted', 'lost'))
    .map(([id, outcome]) => spanCompleted(id, outcome)),
  fc.tuple(fc.string({ minLength: 1, maxLength: 8 }), spanId).map(([text, id]) => said(text, id)),
  fc.tuple(callId, spanId).map(([call, id]) => asked(call, id)),
  callId.map((call) => answered(call)),
  callId.map((call): SessionEventDraft => ({ type: 'agent.tool_started', data: { callId: call, ifLost: 'retry' } })),
  callId.map((call): SessionEventDraft => ({ type: 'agent.tool_requeued', data: { callId: call, attempt: 2 } })),
  callId.map((call): SessionEventDraft => ({
    type: 'agent.subflow_started',
    data: { callId: call, childSessionId: 'child_1', agentId: 'worker', message: 'Work.', restriction: UNBOUND },
  })),
  fc.tuple(eventIds, spanId).map(([ids, id]) => consumed(ids, id)),
  fc.constantFrom('queued_1', 'queued_2').map((id) => queued(id)),
);

/** Any log at all. */
export const anyLog: fc.Arbitrary<SessionEvent[]> = fc
  .array(anyDraft, { maxLength: 60 })
  .map((drafts) => logOf(...drafts));
