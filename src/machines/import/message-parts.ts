/** The parts of a message as providers and runtimes write them: texts, reasoning, tool calls and their results. */
import { asObject, firstOf, firstText, furtherFields, textIn, unfoldedJson } from './lenient.ts';
import type { JsonObject } from './lenient.ts';
import type { SourceFact, ToolOutcome } from './source-fact.ts';

const CALL_ID = ['toolCallId', 'tool_call_id', 'callId', 'call_id', 'toolUseId', 'tool_use_id', 'id'];
const TOOL_NAME = ['toolName', 'tool_name', 'name', 'tool'];
const INPUT = ['arguments', 'input', 'args', 'parameters'];
const OUTPUT = ['output', 'result', 'content', 'response', 'value', 'text', 'error'];

const TEXT_FIELDS: ReadonlySet<string> = new Set(['type', 'text', 'content', 'value', 'state']);
const CALL_FIELDS: ReadonlySet<string> = new Set(['type', ...CALL_ID, ...TOOL_NAME, ...INPUT]);

const OUTCOMES: Readonly<Record<string, ToolOutcome>> = {
  completed: 'completed',
  success: 'completed',
  ok: 'completed',
  failed: 'failed',
  failure: 'failed',
  error: 'failed',
  denied: 'denied',
  rejected: 'denied',
  cancelled: 'cancelled',
  canceled: 'cancelled',
  aborted: 'cancelled',
  unknown: 'unknown',
};

export interface PartsReading {
  readonly facts: readonly SourceFact[];
  readonly leftOver?: string | undefined;
}

/** What an assistant said, as a text or in parts. */
export function assistantParts(content: unknown): PartsReading {
  if (!Array.isArray(content)) {
    const text = textIn(content);
    return text === undefined
      ? { facts: [], leftOver: 'a message without a text' }
      : { facts: [{ kind: 'agent_message', text }] };
  }
  const readings = content.map(assistantPart);
  return {
    facts: readings.flatMap(({ facts }) => facts),
    leftOver: readings.find(({ leftOver }) => leftOver !== undefined)?.leftOver,
  };
}

/** What a user said. Only texts of it are understood. */
export function userParts(content: unknown): PartsReading {
  const text = textIn(content);
  const parts = Array.isArray(content) ? content : [];
  const strange = parts.some(
    (part) =>
      typeof part !== 'string' &&
      (asObject(part) === undefined || furtherFields(asObject(part) ?? {}, TEXT_FIELDS).length > 0),
  );
  return {
    facts: text === undefined ? [] : [{ kind: 'user_message', text }],
    ...(text === undefined || strange ? { leftOver: 'a message that is more than a text' } : {}),
  };
}

function assistantPart(value: unknown): PartsReading {
  const part = asObject(value);
  if (part === undefined)
    return typeof value === 'string' && value !== ''
      ? { facts: [{ kind: 'agent_message', text: value }] }
      : { facts: [], leftOver: 'a part of a message that is no object' };
  const type = (firstText(part, ['type']) ?? '').replaceAll('_', '-');
  if (type === 'tool-call' || type === 'tool-use') {
    const call = toolCall(part);
    return call === undefined
      ? { facts: [], leftOver: 'a tool call without a name' }
      : { facts: [call], ...further(part, CALL_FIELDS) };
  }
  const text = textIn(part);
  const kind =
    type === 'text' || type === 'output-text'
      ? 'agent_message'
      : type === 'reasoning' || type === 'thinking'
        ? 'thinking'
        : undefined;
  if (kind === undefined) return { facts: [], leftOver: `a part of a message of type "${type}"` };
  // Models begin parts and leave them empty.
  return { facts: text === undefined ? [] : [{ kind, text }], ...further(part, TEXT_FIELDS) };
}

export function toolCall(part: JsonObject): Extract<SourceFact, { readonly kind: 'tool_call' }> | undefined {
  const name = firstText(part, TOOL_NAME);
  return name === undefined
    ? undefined
    : { kind: 'tool_call', callId: callIdOf(part), name, input: unfoldedJson(firstOf(part, INPUT) ?? {}) };
}

export function toolResult(fields: JsonObject): Extract<SourceFact, { readonly kind: 'tool_result' }> {
  const name = firstText(fields, TOOL_NAME);
  const output = firstOf(fields, OUTPUT);
  return {
    kind: 'tool_result',
    callId: callIdOf(fields),
    ...(name === undefined ? {} : { name }),
    output: output === undefined ? '' : unfoldedJson(output),
    outcome: outcomeOf(fields),
  };
}

/** The results in a message of a tool: one that the message is itself, or those that are parts of it. */
export function toolParts(message: JsonObject): PartsReading {
  const { content } = message;
  const parts = Array.isArray(content) ? content.map(asObject) : [];
  const results = parts.filter((part) => part !== undefined && callIdOf(part) !== undefined);
  if (results.length === 0) return { facts: [toolResult({ ...message, content: textIn(content) ?? content })] };
  const facts = results.map((part) => toolResult(part ?? {}));
  const isWhole =
    results.length === parts.length &&
    results.every((part) => furtherFields(part ?? {}, RESULT_PART_FIELDS).length === 0);
  return isWhole ? { facts } : { facts, leftOver: 'a message of a tool that is more than results' };
}

/** Fields that `toolResult` reads. */
export const RESULT_FIELDS: readonly string[] = [
  ...CALL_ID,
  ...TOOL_NAME,
  ...OUTPUT,
  'outcome',
  'status',
  'isError',
  'is_error',
  'success',
  'ok',
];

const RESULT_PART_FIELDS: ReadonlySet<string> = new Set(['type', ...RESULT_FIELDS]);

/** Fields that `toolCall` reads. */
export const TOOL_CALL_FIELDS: readonly string[] = [...CALL_FIELDS];

export function callIdOf(fields: JsonObject): string | undefined {
  return firstText(fields, CALL_ID);
}

function outcomeOf(fields: JsonObject): ToolOutcome {
  const word = firstText(fields, ['outcome', 'status']);
  const named = word === undefined || !Object.hasOwn(OUTCOMES, word) ? undefined : OUTCOMES[word];
  if (named !== undefined) return named;
  const hasFailed = firstOf(fields, ['isError', 'is_error']) === true || firstOf(fields, ['success', 'ok']) === false;
  return hasFailed ? 'failed' : 'completed';
}

function further(part: JsonObject, known: ReadonlySet<string>): Pick<PartsReading, 'leftOver'> {
  const names = furtherFields(part, known);
  return names.length === 0
    ? {}
    : { leftOver: `a part of a message with more fields: ${names.slice(0, 5).join(', ')}` };
}
