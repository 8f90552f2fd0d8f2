/**
 * Reads the records of a rowboat run log: one JSON object on each line, `{ runId, type, subflow, … }`.
 *
 *   start                     { agentName }
 *   message                   { message: { role: user | assistant | tool | system, content, toolCallId?, toolName? } }
 *   tool-permission-request   { toolCall: { toolCallId, toolName, arguments } }
 *   tool-permission-response  { toolCallId, response: approve | …, scope? }
 *   ask-human-request         { toolCallId, query }
 *   ask-human-response        { toolCallId, response }
 *   run-stopped               { reason }
 *
 * Records with a `subflow` are those of another agent that a call was given to; the call's result stands in the log of
 * its caller.
 */
import { asObject, firstText, firstTime, furtherFields, textIn } from './lenient.ts';
import type { JsonObject } from './lenient.ts';
import { RESULT_FIELDS, TOOL_CALL_FIELDS, assistantParts, callIdOf, toolParts, userParts } from './message-parts.ts';
import type { PartsReading } from './message-parts.ts';
import type { RecordReading, SourceFact } from './source-fact.ts';

const TIMES = ['ts', 'timestamp', 'time', 'at', 'createdAt', 'created_at'];
const RUN_ID = ['runId', 'run_id'];
const ENVELOPE = [...RUN_ID, 'type', 'subflow', 'id', 'messageId', ...TIMES];
const MESSAGE_FIELDS: ReadonlySet<string> = new Set(['role', 'content', 'id', ...TIMES]);
const TOOL_MESSAGE_FIELDS: ReadonlySet<string> = new Set(['role', 'type', ...RESULT_FIELDS, ...TIMES]);

interface Kind {
  /** Fields that are read, besides those of every record. */
  readonly fields: readonly string[];
  readonly read: (record: JsonObject) => PartsReading;
}

const ANSWER = ['response', 'answer', 'text', 'content'];
const QUESTION = ['query', 'question', 'text'];
const CALL_ID = ['toolCallId', 'tool_call_id', 'callId'];

const KINDS: ReadonlyMap<string, Kind> = new Map<string, Kind>([
  ['start', { fields: ['agentName', 'agentId', 'agent', 'title', 'model'], read: () => ({ facts: [] }) }],
  ['message', { fields: ['message'], read: readMessage }],
  ['tool-permission-request', { fields: ['toolCall'], read: readPermissionRequest }],
  ['tool-permission-response', { fields: [...CALL_ID, 'response', 'scope'], read: readPermissionAnswer }],
  ['ask-human-request', { fields: [...CALL_ID, ...QUESTION], read: readQuestion }],
  ['ask-human-response', { fields: [...CALL_ID, ...ANSWER], read: readAnswer }],
  [
    'run-stopped',
    { fields: ['reason'], read: (record) => one({ kind: 'interrupt', reason: firstText(record, ['reason']) }) },
  ],
]);

export function readRowboatRecord(record: JsonObject): RecordReading {
  const type = firstText(record, ['type']) ?? '(none)';
  const { subflow } = record;
  const id = firstText(record, ['id', 'messageId']) ?? firstText(asObject(record['message']) ?? {}, ['id']);
  const base = { type, id, atMs: firstTime(record, TIMES) ?? firstTime(asObject(record['message']) ?? {}, TIMES) };
  const kind = KINDS.get(type.replaceAll('_', '-'));
  if (Array.isArray(subflow) && subflow.length > 0)
    return {
      ...base,
      type: `${type} of a subflow`,
      facts: [],
      leftOver: 'belongs to another agent, which a call was given to',
    };
  if (kind === undefined) return { ...base, facts: [], leftOver: 'a kind of record that has no counterpart' };
  const more = furtherFields(record, new Set([...ENVELOPE, ...kind.fields]));
  const { facts, leftOver = more.length === 0 ? undefined : `has more fields: ${more.slice(0, 5).join(', ')}` } =
    kind.read(record);
  return {
    ...base,
    facts,
    identity: type === 'start' ? identityIn(record) : { sessionId: firstText(record, RUN_ID) },
    ...(leftOver === undefined ? {} : { leftOver }),
  };
}

function identityIn(record: JsonObject): NonNullable<RecordReading['identity']> {
  return {
    sessionId: firstText(record, RUN_ID),
    agentId: firstText(record, ['agentName', 'agentId', 'agent']),
    title: firstText(record, ['title']),
    createdAtMs: firstTime(record, TIMES),
    model: firstText(record, ['model']),
  };
}

function one(fact: SourceFact): PartsReading {
  return { facts: [fact] };
}

function nothing(leftOver: string): PartsReading {
  return { facts: [], leftOver };
}

function readMessage(record: JsonObject): PartsReading {
  const message = asObject(record['message']);
  if (message === undefined) return nothing('a message that is no object');
  const role = firstText(message, ['role']);
  const { content } = message;
  if (role === 'tool') return { ...further(message, TOOL_MESSAGE_FIELDS), ...toolParts(message) };
  if (role === 'user') return { ...further(message, MESSAGE_FIELDS), ...userParts(content) };
  if (role !== 'assistant') return nothing(`a message of the role "${role ?? ''}"`);
  const { facts, leftOver } = assistantParts(content);
  return {
    ...further(message, MESSAGE_FIELDS),
    facts: [...facts, { kind: 'step_end' }],
    ...(leftOver === undefined ? {} : { leftOver }),
  };
}

function readPermissionRequest(record: JsonObject): PartsReading {
  const call = asObject(record['toolCall']);
  if (call === undefined) return nothing('a request for permission without a call');
  return {
    ...one({
      kind: 'permission_request',
      callId: callIdOf(call),
      because: 'It was asked for where this session was before.',
    }),
    ...further(call, new Set(TOOL_CALL_FIELDS)),
  };
}

function readPermissionAnswer(record: JsonObject): PartsReading {
  return one({
    kind: 'permission_answer',
    callId: firstText(record, CALL_ID),
    allowed: /^(?:approved?|allow(?:ed)?)$/.test(firstText(record, ['response']) ?? ''),
  });
}

function readQuestion(record: JsonObject): PartsReading {
  const question = firstText(record, QUESTION);
  return question === undefined
    ? nothing('a question without words')
    : one({ kind: 'question', callId: firstText(record, CALL_ID), question });
}

function readAnswer(record: JsonObject): PartsReading {
  const response = ANSWER.map((name) => textIn(record[name])).find((text) => text !== undefined);
  return response === undefined
    ? nothing('an answer without words')
    : one({ kind: 'answer', callId: firstText(record, CALL_ID), response });
}

function further(object: JsonObject, known: ReadonlySet<string>): Pick<PartsReading, 'leftOver'> {
  const names = furtherFields(object, known);
  return names.length === 0 ? {} : { leftOver: `has more fields: ${names.slice(0, 5).join(', ')}` };
}
