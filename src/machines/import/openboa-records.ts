/**
 * Reads the records of an openboa session's `events.jsonl`. What is documented of them is that they are session events,
 * one JSON object on each line, named as the events of this runtime are; where their content stands is not. So it is
 * searched for beside the type and in `data` or `payload`, under each of its likely names.
 */
import { asObject, firstOf, firstText, firstTime, furtherFields, textIn, unfoldedJson } from './lenient.ts';
import type { JsonObject } from './lenient.ts';
import { RESULT_FIELDS, TOOL_CALL_FIELDS, assistantParts, toolCall, toolResult, userParts } from './message-parts.ts';
import type { PartsReading } from './message-parts.ts';
import { directiveFacts, learningIn, plannedWakeIn } from './openboa-directive.ts';
import type { RecordReading, SourceFact } from './source-fact.ts';

const TYPES = ['type', 'kind', 'event', 'eventType'];
const IDS = ['id', 'eventId', 'event_id'];
const OPENBOA_TIMES: readonly string[] = ['at', 'ts', 'timestamp', 'time', 'createdAt', 'created_at', 'occurredAt'];
const WRAPPERS = ['data', 'payload'];
const ENVELOPE = [
  ...TYPES,
  ...IDS,
  ...OPENBOA_TIMES,
  ...WRAPPERS,
  'seq',
  'sequence',
  'v',
  'version',
  'sessionId',
  'agentId',
  'environmentId',
  'epoch',
  'wakeId',
  'runId',
  'spanId',
];

const MESSAGE = ['text', 'message', 'content', 'parts'];
const REQUEST = ['requestId', 'request_id', 'callId', 'toolCallId', 'toolUseId', 'toolName', 'tool', 'name'];
const DIRECTIVE = ['queuedWakes', 'queued_wakes', 'learnings'];

interface Kind {
  /** Fields that are read, besides those of every record. */
  readonly fields: readonly string[];
  readonly read: (fields: JsonObject, atMs: number | undefined) => PartsReading;
}

/** By their types, with every separator as a dot. */
const KINDS: ReadonlyMap<string, Kind> = new Map<string, Kind>([
  ['session.created', { fields: ['title', 'name', 'model'], read: () => ({ facts: [] }) }],
  [
    'session.status.idle',
    {
      fields: ['reason', 'stopReason', 'summary', 'status', ...DIRECTIVE],
      read: (fields, atMs) => ({ facts: [{ kind: 'step_end' }, ...directiveFacts(fields, atMs)] }),
    },
  ],
  ['session.status.changed', { fields: ['to', 'from', 'status', 'stopReason', 'reason'], read: readStatus }],
  ['user.message', { fields: [...MESSAGE, 'role'], read: (fields) => userParts(firstOf(fields, MESSAGE)) }],
  [
    'user.interrupt',
    {
      fields: ['reason'],
      read: (fields) => ({ facts: [{ kind: 'interrupt', reason: firstText(fields, ['reason']) }] }),
    },
  ],
  ['user.define.outcome', { fields: ['outcome', 'title', 'detail', 'description', 'criteria'], read: readOutcome }],
  [
    'user.tool.confirmation',
    { fields: [...REQUEST, 'allowed', 'approved', 'decision', 'response', 'note', 'scope'], read: readConfirmation },
  ],
  [
    'user.custom.tool.result',
    {
      fields: [...REQUEST, ...RESULT_FIELDS],
      read: (fields) => ({
        facts: [{ kind: 'custom_tool_result', requestId: requestIdOf(fields), output: toolResult(fields).output }],
      }),
    },
  ],
  ['user.answer', { fields: [...REQUEST, 'response', 'answer', 'text'], read: readAnswer }],
  ['agent.message', { fields: [...MESSAGE, 'role', ...DIRECTIVE], read: readAgentMessage }],
  ['agent.thinking', { fields: MESSAGE, read: readThinking }],
  ['agent.tool.use', { fields: TOOL_CALL_FIELDS, read: readToolUse }],
  ['agent.tool.result', { fields: RESULT_FIELDS, read: (fields) => ({ facts: [toolResult(fields)] }) }],
  ['agent.custom.tool.use', { fields: [...REQUEST, ...TOOL_CALL_FIELDS], read: readCustomTool }],
  [
    'permission.requested',
    { fields: [...REQUEST, 'because', 'reason', 'input', 'arguments'], read: readPermissionRequest },
  ],
  ['span.completed', { fields: ['outcome', 'status', 'kind'], read: () => ({ facts: [{ kind: 'step_end' }] }) }],
  [
    'directive.accepted',
    { fields: ['directive', 'outcome', 'summary', ...DIRECTIVE], read: (fields, atMs) => readDirective(fields, atMs) },
  ],
  [
    'learning.captured',
    {
      fields: ['learning', 'learningId', 'kind', 'title', 'detail', 'text', 'dedupeKey', 'promoteToMemory'],
      read: readLearning,
    },
  ],
  [
    'wake.queued',
    {
      fields: [
        'queuedWakeId',
        'reason',
        'dueAt',
        'due_at',
        'runAt',
        'wakeAt',
        'scheduledFor',
        'delaySeconds',
        'note',
        'dedupeKey',
        'priority',
      ],
      read: readQueuedWake,
    },
  ],
]);

export function readOpenboaRecord(record: JsonObject): RecordReading {
  const type = firstText(record, TYPES) ?? '(none)';
  const wrapped = WRAPPERS.map((name) => asObject(record[name])).find((each) => each !== undefined) ?? {};
  const fields: JsonObject = { ...record, ...wrapped };
  const atMs = firstTime(record, OPENBOA_TIMES);
  const base = { type, id: firstText(record, IDS), atMs };
  const name = type.replaceAll(/[-_\s/:]+/g, '.').toLowerCase();
  const kind = KINDS.get(name);
  if (kind === undefined) return { ...base, facts: [], leftOver: 'a kind of record that has no counterpart' };
  const known = new Set([...ENVELOPE, ...kind.fields]);
  const more = furtherFields(fields, known);
  const { facts, leftOver = more.length === 0 ? undefined : `has more fields: ${more.slice(0, 5).join(', ')}` } =
    kind.read(fields, atMs);
  return {
    ...base,
    facts,
    ...(name === 'session.created' ? { identity: openboaIdentity(fields) } : {}),
    ...(leftOver === undefined ? {} : { leftOver }),
  };
}

/** What `session.json`, or the first event, says of a session. */
export function openboaIdentity(fields: JsonObject): NonNullable<RecordReading['identity']> {
  return {
    sessionId: firstText(fields, ['sessionId', 'session_id']),
    agentId: firstText(fields, ['agentId', 'agent_id', 'agent']),
    title: firstText(fields, ['title', 'name']),
    createdAtMs: firstTime(fields, ['createdAt', 'created_at', ...OPENBOA_TIMES]),
    model: firstText(fields, ['model']),
  };
}

export function openboaOutcome(value: unknown): Extract<SourceFact, { readonly kind: 'outcome' }> | undefined {
  const outcome = asObject(value);
  const title =
    outcome === undefined ? textIn(value) : firstText(outcome, ['title', 'outcome', 'goal', 'description', 'text']);
  if (title === undefined) return undefined;
  const detail = outcome === undefined ? undefined : firstText(outcome, ['detail', 'description']);
  const criteria =
    outcome === undefined
      ? []
      : [firstOf(outcome, ['criteria', 'successCriteria'])]
          .flat()
          .map(textIn)
          .filter((each) => each !== undefined);
  return {
    kind: 'outcome',
    title,
    ...(detail === undefined || detail === title ? {} : { detail }),
    ...(criteria.length === 0 ? {} : { criteria }),
  };
}

function requestIdOf(fields: JsonObject): string | undefined {
  return firstText(fields, ['requestId', 'request_id']);
}

function callIdOf(fields: JsonObject): string | undefined {
  return firstText(fields, ['callId', 'toolCallId', 'tool_call_id', 'toolUseId', 'tool_use_id']);
}

function nothing(leftOver: string): PartsReading {
  return { facts: [], leftOver };
}

function readStatus(fields: JsonObject): PartsReading {
  const status = firstText(fields, ['to', 'status']);
  if (status === 'terminated') return { facts: [{ kind: 'terminated', reason: firstText(fields, ['reason']) }] };
  return {
    facts: status === 'idle' ? [{ kind: 'step_end' }] : [],
    ...(status === undefined ? { leftOver: 'a change to no status' } : {}),
  };
}

function readOutcome(fields: JsonObject): PartsReading {
  const outcome = openboaOutcome(asObject(fields['outcome']) ?? fields);
  return outcome === undefined ? nothing('an outcome without a title') : { facts: [outcome] };
}

function readConfirmation(fields: JsonObject): PartsReading {
  const given = firstOf(fields, ['allowed', 'approved', 'decision', 'response']);
  const allowed = given === true || (typeof given === 'string' && /^(?:approved?|allow(?:ed)?|yes)$/.test(given));
  return {
    facts: [
      {
        kind: 'permission_answer',
        requestId: requestIdOf(fields),
        callId: callIdOf(fields),
        allowed,
        note: firstText(fields, ['note']),
      },
    ],
  };
}

function readAnswer(fields: JsonObject): PartsReading {
  const response = textIn(firstOf(fields, ['response', 'answer', 'text']));
  return response === undefined
    ? nothing('an answer without words')
    : { facts: [{ kind: 'answer', requestId: requestIdOf(fields), callId: callIdOf(fields), response }] };
}

function readAgentMessage(fields: JsonObject, atMs: number | undefined): PartsReading {
  const { facts, leftOver } = assistantParts(unwrapped(firstOf(fields, MESSAGE)));
  return { facts: [...facts, ...directiveFacts(fields, atMs)], ...(leftOver === undefined ? {} : { leftOver }) };
}

/** A message that carries its content as a message of a provider does. */
function unwrapped(message: unknown): unknown {
  const object = asObject(message);
  return object !== undefined && Array.isArray(object['content']) ? object['content'] : message;
}

function readThinking(fields: JsonObject): PartsReading {
  const text = textIn(firstOf(fields, MESSAGE));
  return text === undefined ? nothing('a thought without words') : { facts: [{ kind: 'thinking', text }] };
}

function readToolUse(fields: JsonObject): PartsReading {
  const call = toolCall(withoutEventId(fields));
  return call === undefined ? nothing('a tool call without a name') : { facts: [call] };
}

/** The id of an event is not that of a call, where the call has one of its own. */
function withoutEventId(fields: JsonObject): JsonObject {
  const { id: _id, ...others } = fields;
  return callIdOf(others) === undefined && others['call_id'] === undefined ? fields : others;
}

function readCustomTool(fields: JsonObject): PartsReading {
  const name = firstText(fields, ['toolName', 'name', 'tool']);
  const input = unfoldedJson(firstOf(fields, ['input', 'arguments', 'args']) ?? {});
  return name === undefined
    ? nothing('a request for a tool without a name')
    : {
        facts: [
          {
            kind: 'custom_tool',
            name,
            input,
            requestId: requestIdOf(fields) ?? callIdOf(fields) ?? firstText(fields, IDS),
          },
        ],
      };
}

function readPermissionRequest(fields: JsonObject): PartsReading {
  const because = firstText(fields, ['because', 'reason']) ?? 'It was asked for where this session was before.';
  return { facts: [{ kind: 'permission_request', requestId: requestIdOf(fields), callId: callIdOf(fields), because }] };
}

function readDirective(fields: JsonObject, atMs: number | undefined): PartsReading {
  return { facts: directiveFacts(asObject(fields['directive']) ?? fields, atMs) };
}

function readLearning(fields: JsonObject): PartsReading {
  const words = asObject(fields['learning']) ?? fields;
  const learning = learningIn(words);
  if (learning === undefined) return nothing('a learning without a text');
  const isCut = ['title', 'detail', 'text', 'content'].some(
    (name) => (firstText(words, [name])?.length ?? 0) > learning.detail.length,
  );
  return { facts: [learning], ...(isCut ? { leftOver: 'a learning that is longer than one may be' } : {}) };
}

function readQueuedWake(fields: JsonObject, atMs: number | undefined): PartsReading {
  const wake = plannedWakeIn(fields, atMs);
  return wake === undefined ? nothing('a queued wake without a time') : { facts: [{ kind: 'wake_planned', wake }] };
}
