/**
 * Of every event, the fields that a caller is told who does not run the service. A field that is not named here does not
 * compile, and is not told: who adds one decides.
 */
import type { SessionEventData, SessionEventType } from '../../machines/session/session-event.ts';

/**
 * `untold`: places, processes, accounts and why the server chose as it did. `failure`: that something failed, and its
 * code. `choice`: models without accounts and reasons. `evidence`: without the texts that say what could not be checked.
 */
export type Telling = 'told' | 'untold' | 'failure' | 'choice' | 'evidence';

type Rule<Data> = Telling | ((data: Data) => Telling);

/** The reasons of those that a failure has parked quote it. */
export const PARKED: { readonly [Code in SessionEventData<'session.parked'>['code']]: 'told' | 'failure' } = {
  failures: 'failure',
  given_up: 'failure',
  budget: 'told',
  idle_wakes: 'told',
  autonomous_wakes: 'told',
  imported: 'told',
};

function told<const Field extends string>(...fields: readonly Field[]): { readonly [Name in Field]: 'told' } {
  return Object.fromEntries(fields.map((field) => [field, 'told'])) as { readonly [Name in Field]: 'told' };
}

type Fields<Data> = { readonly [Field in keyof Required<Data>]: Rule<Data> };

export const TOLD_FIELDS: { readonly [Type in SessionEventType]: Fields<SessionEventData<Type>> } = {
  'user.message': told('text', 'delivery', 'attachments'),
  'user.custom_tool_result': told('requestId', 'toolName', 'output'),
  'user.tool_confirmation': told('requestId', 'toolName', 'allowed', 'note', 'scope'),
  'user.answer': told('requestId', 'response'),
  'user.define_outcome': told('title', 'detail', 'criteria', 'check'),
  'user.interrupt': told('reason'),
  'session.created': {
    ...told(
      'agentId',
      'title',
      'owner',
      'parent',
      'jobId',
      'environmentId',
      'runsIn',
      'narrowing',
      'allowance',
      'restriction',
      'forkOf',
      'importedThroughSeq',
    ),
    workspace: 'untold',
  },
  'session.status_changed': told('to', 'stopReason', 'reason'),
  'session.status_idle': told('reason', 'summary', 'blockingEventIds'),
  'session.parked': { ...told('code'), reason: ({ code }) => PARKED[code] },
  'session.unparked': told('wakeId'),
  'session.child_created': told('childSessionId', 'agentId', 'label'),
  'session.child_idle': {
    ...told('childSessionId', 'agentId', 'turn', 'reason', 'used'),
    summary: ({ reason }) => (reason === 'parked' ? 'failure' : 'told'),
  },
  'subagent.started': told(
    'jobId',
    'childSessionId',
    'agentId',
    'label',
    'isolation',
    'prompt',
    'allowance',
    'restriction',
  ),
  'subagent.ended': {
    ...told('jobId', 'childSessionId', 'agentId', 'status', 'timeoutReason', 'used'),
    summary: ({ status }) => (status === 'completed' ? 'told' : 'failure'),
    outputPath: 'untold',
    error: 'failure',
    worktree: 'untold',
  },
  'session.parent_told': told('turn'),
  'message.consumed': told('eventIds', 'spanId'),
  'wake.started': {
    ...told('wakeId', 'epoch', 'queuedWakeIds', 'trigger', 'definition'),
    owner: 'untold',
    host: 'untold',
  },
  'wake.ended': {
    ...told('wakeId', 'outcome', 'modelSteps', 'completedWakeIds', 'budget', 'retryAt'),
    summary: ({ outcome }) => (outcome === 'failed' ? 'failure' : 'told'),
    error: 'failure',
  },
  'wake.queued': told('queuedWakeId', 'reason', 'dueAt', 'note', 'dedupeKey', 'priority'),
  'wake.cancelled': told('queuedWakeId', 'because'),
  'wake.refused': told('reason', 'because', 'dedupeKey'),
  'span.started': {
    ...told(
      'spanId',
      'kind',
      'reserved',
      'contextTokens',
      'omittedMessages',
      'shortenedMessages',
      'backend',
      'provider',
      'model',
      'intake',
      'step',
    ),
    profile: 'untold',
    because: 'untold',
    skipped: 'choice',
  },
  'run.attempt_failed': {
    ...told('spanId', 'attempt', 'next', 'waitMs'),
    candidate: 'choice',
    error: 'failure',
    because: 'failure',
  },
  'run.candidate_selected': {
    ...told('spanId', 'attempt', 'backend', 'intake'),
    candidate: 'choice',
    because: 'untold',
    skipped: 'choice',
  },
  'run.waiting': { ...told('spanId', 'waitMs'), because: 'failure', skipped: 'choice' },
  'run.context_reduced': told('spanId', 'contextTokens', 'omittedMessages', 'shortenedMessages'),
  'backend.session_bound': {
    ...told('spanId', 'backend', 'provider', 'sessionId', 'generation', 'isCopied'),
    profile: 'untold',
    reseeded: 'untold',
  },
  'span.completed': { ...told('spanId', 'kind', 'outcome', 'modelSteps', 'usage'), error: 'failure' },
  'agent.thinking': told('text', 'spanId', 'opaque'),
  'agent.message': told('text', 'spanId', 'partial'),
  'agent.tool_use': told('callId', 'name', 'input', 'spanId', 'mayHaveStarted', 'by'),
  'agent.tool_started': told('callId', 'attempt', 'ifLost', 'allowedBy', 'isReadOnly'),
  'agent.tool_requeued': told('callId', 'attempt'),
  'agent.subflow_started': {
    ...told('callId', 'childSessionId', 'agentId', 'message', 'allowance', 'restriction', 'run', 'isolation'),
    workspace: 'untold',
  },
  'agent.tool_result': told('callId', 'name', 'outcome', 'output', 'kept'),
  'agent.question_asked': told('requestId', 'callId', 'question', 'choices'),
  'permission.requested': {
    ...told('requestId', 'callId', 'toolName', 'input', 'because', 'hash', 'environmentHash', 'rules', 'expiresAt'),
    cwd: 'untold',
  },
  'permission.resolved': told('requestId', 'callId', 'decision', 'note', 'scope', 'rules'),
  'request.cancelled': told('requestId', 'because'),
  'agent.custom_tool_use': told('requestId', 'name', 'input', 'callId'),
  'context.compacted': told('throughSeq', 'summary', 'tokensBefore', 'tokensAfter'),
  'tool.skipped': { ...told('name'), reason: 'untold' },
  'directive.accepted': told('directive', 'spanId'),
  'directive.rejected': told('reason', 'received', 'spanId'),
  'environment.entered': told('environmentId', 'fingerprint', 'sandbox', 'network', 'within'),
  'workspace.restored': {
    ...told('copyEpoch', 'files', 'bytes', 'fetchedBytes', 'mayHaveLost'),
    from: 'untold',
    host: 'untold',
    setAside: 'untold',
  },
  'log.loss_accepted': { ...told('events'), what: 'untold' },
  'workspace.not_copied': { ...told('code', 'staysHere'), reason: 'untold' },
  'learning.captured': told('learningId', 'kind', 'title', 'detail', 'promoteToMemory', 'dedupeKey'),
  'learning.kept': told('learningId', 'as', 'duplicateOf'),
  'outcome.defined': told('title', 'detail', 'criteria'),
  'outcome.graded': {
    ...told('grade'),
    because: ({ grade }) => (grade === 'blocked' ? 'untold' : 'told'),
    evidence: 'evidence',
  },
  'outcome.evaluated': {
    ...told('verdict', 'throughSeq', 'evaluators', 'stageDigest', 'usage'),
    because: ({ verdict }) => (verdict === 'pass' || verdict === 'fail' ? 'told' : 'untold'),
    evidence: 'evidence',
  },
  'memory.promoted': told('version', 'expectedVersion', 'learningIds'),
  'files.promoted': told('version', 'expectedVersion', 'paths'),
  'promotion.refused': { ...told('what', 'learningIds'), because: 'untold' },
  'event.unrecognized': { ...told('type', 'v'), data: 'untold' },
};

export function tellingOf(type: SessionEventType, field: string, data: object): Telling {
  // A type has the rules of its own data, which the compiler cannot follow through a computed key.
  const rules = TOLD_FIELDS[type] as Readonly<Record<string, Rule<object>>>;
  const rule = rules[field] ?? 'untold';
  return typeof rule === 'function' ? rule(data) : rule;
}
