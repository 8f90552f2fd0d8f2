/**
 * The documented rules of three provider interfaces for a conversation, as checkers, and mappers from our messages to
 * the form that each one takes. A checker gives what is wrong, in words; nothing when the provider would take it.
 */
import type { ProviderMessage, ToolResultPart } from '../../src/machines/turn/provider-message.ts';

/**
 * OpenAI takes ids of up to 40 characters in chat completions and 64 in responses; the characters are those that
 * Anthropic takes.
 */
const CHAT_CALL_ID = /^[a-zA-Z0-9_-]{1,40}$/;
const CALL_ID = /^[a-zA-Z0-9_-]{1,64}$/;
const TOOL_NAME = /^[a-zA-Z0-9_-]{1,64}$/;
const LONE_SURROGATE = /\p{Surrogate}/u;

interface ToolCall {
  readonly id: string;
  readonly type: 'function';
  readonly function: { readonly name: string; readonly arguments: string };
}

export type ChatMessage =
  | {
      readonly role: 'user';
      readonly content: readonly (
        | { readonly type: 'text'; readonly text: string }
        | { readonly type: 'image_url'; readonly image_url: { readonly url: string } }
      )[];
    }
  | { readonly role: 'assistant'; readonly content: string | null; readonly tool_calls?: readonly ToolCall[] }
  | { readonly role: 'tool'; readonly tool_call_id: string; readonly content: string };

export type ResponsesItem =
  | {
      readonly type: 'message';
      readonly role: 'user' | 'assistant';
      readonly content: readonly { readonly type: string; readonly text?: string }[];
    }
  | { readonly type: 'function_call'; readonly call_id: string; readonly name: string; readonly arguments: string }
  | { readonly type: 'function_call_output'; readonly call_id: string; readonly output: string };

export type AnthropicBlock =
  | { readonly type: 'text'; readonly text: string }
  | { readonly type: 'image'; readonly source: { readonly type: 'url'; readonly url: string } }
  | { readonly type: 'tool_use'; readonly id: string; readonly name: string; readonly input: unknown }
  | {
      readonly type: 'tool_result';
      readonly tool_use_id: string;
      readonly content: string;
      readonly is_error: boolean;
    };

export interface AnthropicMessage {
  readonly role: 'user' | 'assistant';
  readonly content: readonly AnthropicBlock[];
}

export function toChatMessages(messages: readonly ProviderMessage[]): ChatMessage[] {
  return messages.flatMap((message): ChatMessage[] => {
    if (message.role === 'tool')
      return message.content.map((part) => ({ role: 'tool', tool_call_id: part.callId, content: outputText(part) }));
    if (message.role === 'user') {
      const content = message.content.map((part) =>
        part.type === 'text'
          ? { type: 'text' as const, text: part.text }
          : { type: 'image_url' as const, image_url: { url: part.path } },
      );
      return [{ role: 'user', content }];
    }
    const texts = message.content.flatMap((part) => (part.type === 'text' ? [part.text] : []));
    const calls = message.content.flatMap((part): ToolCall[] =>
      part.type === 'tool_call'
        ? [{ id: part.callId, type: 'function', function: { name: part.name, arguments: JSON.stringify(part.input) } }]
        : [],
    );
    return [
      {
        role: 'assistant',
        content: texts.length === 0 ? null : texts.join('\n'),
        ...(calls.length === 0 ? {} : { tool_calls: calls }),
      },
    ];
  });
}

export function toResponsesItems(messages: readonly ProviderMessage[]): ResponsesItem[] {
  return messages.flatMap((message): ResponsesItem[] => {
    if (message.role === 'tool')
      return message.content.map((part) => ({
        type: 'function_call_output',
        call_id: part.callId,
        output: outputText(part),
      }));
    if (message.role === 'user') {
      return [
        {
          type: 'message',
          role: 'user',
          content: message.content.map((part) =>
            part.type === 'text' ? { type: 'input_text', text: part.text } : { type: 'input_image' },
          ),
        },
      ];
    }
    return message.content.flatMap((part): ResponsesItem[] => {
      if (part.type === 'text')
        return [{ type: 'message', role: 'assistant', content: [{ type: 'output_text', text: part.text }] }];
      return part.type === 'tool_call'
        ? [{ type: 'function_call', call_id: part.callId, name: part.name, arguments: JSON.stringify(part.input) }]
        : [];
    });
  });
}

export function toAnthropicMessages(messages: readonly ProviderMessage[]): AnthropicMessage[] {
  const merged: { role: 'user' | 'assistant'; content: AnthropicBlock[] }[] = [];
  for (const message of messages) {
    const role = message.role === 'assistant' ? 'assistant' : 'user';
    const content = message.content.flatMap((part): AnthropicBlock[] => {
      if (part.type === 'text') return [{ type: 'text', text: part.text }];
      if (part.type === 'file') return [{ type: 'image', source: { type: 'url', url: part.path } }];
      if (part.type === 'tool_call') return [{ type: 'tool_use', id: part.callId, name: part.name, input: part.input }];
      return part.type === 'tool_result'
        ? [
            {
              type: 'tool_result',
              tool_use_id: part.callId,
              content: outputText(part),
              is_error: part.outcome !== 'completed',
            },
          ]
        : [];
    });
    const last = merged.at(-1);
    if (last?.role === role) last.content.push(...content);
    else merged.push({ role, content });
  }
  return merged;
}

export function chatProblems(messages: readonly ChatMessage[]): string[] {
  const problems: string[] = messages.length === 0 ? ['has no message'] : [];
  let open: string[] = [];
  for (const [index, message] of messages.entries()) {
    const at = `message ${index} (${message.role})`;
    if (message.role === 'tool') {
      if (!open.includes(message.tool_call_id))
        problems.push(`${at} answers ${message.tool_call_id}, which is not open`);
      open = open.filter((id) => id !== message.tool_call_id);
      if (message.content.trim() === '') problems.push(`${at} is empty`);
      continue;
    }
    if (open.length > 0) problems.push(`${at} comes before the results of ${open.join(', ')}`);
    open = [];
    if (message.role === 'user') problems.push(...contentProblems(at, message.content));
    else {
      const calls = message.tool_calls ?? [];
      if (calls.length === 0 && (message.content ?? '').trim() === '')
        problems.push(`${at} has neither content nor calls`);
      for (const call of calls)
        problems.push(
          ...callProblems(at, { id: call.id, name: call.function.name, input: call.function.arguments }, CHAT_CALL_ID),
        );
      open = calls.map(({ id }) => id);
      if (new Set(open).size < open.length) problems.push(`${at} uses an id twice`);
    }
  }
  if (open.length > 0) problems.push(`ends before the results of ${open.join(', ')}`);
  return [...problems, ...surrogateProblems(messages)];
}

export function responsesProblems(items: readonly ResponsesItem[]): string[] {
  const problems: string[] = items.length === 0 ? ['has no item'] : [];
  const calls = new Map<string, number>();
  for (const [index, item] of items.entries()) {
    const at = `item ${index} (${item.type})`;
    if (item.type === 'message') problems.push(...contentProblems(at, item.content));
    else if (item.type === 'function_call') {
      problems.push(...callProblems(at, { id: item.call_id, name: item.name, input: item.arguments }, CALL_ID));
      if (calls.has(item.call_id)) problems.push(`${at} uses ${item.call_id} again`);
      calls.set(item.call_id, 0);
    } else {
      const outputs = calls.get(item.call_id);
      if (outputs === undefined) problems.push(`${at} answers ${item.call_id}, which nobody called`);
      else calls.set(item.call_id, outputs + 1);
    }
  }
  for (const [id, outputs] of calls) if (outputs !== 1) problems.push(`${id} has ${outputs} outputs`);
  return [...problems, ...surrogateProblems(items)];
}

export function anthropicProblems(messages: readonly AnthropicMessage[]): string[] {
  const problems: string[] = messages[0]?.role === 'user' ? [] : ['does not begin with a user message'];
  const used = new Set<string>();
  for (const [index, message] of messages.entries()) {
    const at = `message ${index} (${message.role})`;
    const previous = messages[index - 1];
    if (previous?.role === message.role) problems.push(`${at} follows one of the same role`);
    problems.push(...contentProblems(at, message.content));
    const asked = previous?.role === 'assistant' ? idsOf(previous) : [];
    const answered = message.content.flatMap((block) => (block.type === 'tool_result' ? [block.tool_use_id] : []));
    if (message.role === 'user' && [...asked].toSorted().join() !== [...answered].toSorted().join())
      problems.push(`${at} answers ${answered.join()} where ${asked.join()} was asked`);
    if (message.content.slice(0, answered.length).some(({ type }) => type !== 'tool_result') && answered.length > 0)
      problems.push(`${at} has something before its results`);
    for (const block of message.content) {
      if (block.type !== 'tool_use') continue;
      problems.push(
        ...callProblems(at, { id: block.id, name: block.name, input: JSON.stringify(block.input) }, CALL_ID),
      );
      if (used.has(block.id)) problems.push(`${at} uses ${block.id} again`);
      used.add(block.id);
    }
  }
  const last = messages.at(-1);
  const ending = last?.content.at(-1);
  if (last?.role === 'assistant' && idsOf(last).length > 0) problems.push('ends before the results of its last calls');
  if (last?.role === 'assistant' && ending?.type === 'text' && /\s$/u.test(ending.text))
    problems.push('ends in white space that the assistant said');
  return [...problems, ...surrogateProblems(messages)];
}

/** What any of the three would refuse. */
export function providerProblems(messages: readonly ProviderMessage[]): string[] {
  return [
    ...chatProblems(toChatMessages(messages)).map((problem) => `chat completions: ${problem}`),
    ...responsesProblems(toResponsesItems(messages)).map((problem) => `responses: ${problem}`),
    ...anthropicProblems(toAnthropicMessages(messages)).map((problem) => `messages: ${problem}`),
  ];
}

/**
 * What is promised beyond that: every call is answered at once and in order, and nobody outside speaks twice in a row.
 */
export function shapeProblems(messages: readonly ProviderMessage[]): string[] {
  const problems: string[] =
    messages.length > 0 && messages[0]?.role !== 'user' ? ['does not begin with a user message'] : [];
  for (const [index, message] of messages.entries()) {
    const next = messages[index + 1];
    const calls =
      message.role === 'assistant'
        ? message.content.flatMap((part) => (part.type === 'tool_call' ? [part.callId] : []))
        : [];
    const results = next?.role === 'tool' ? next.content.map(({ callId }) => callId) : [];
    if (calls.join() !== results.join())
      problems.push(`message ${index} asks for ${calls.join()} and is followed by ${results.join()}`);
    if (message.role === 'tool' && messages[index - 1]?.role !== 'assistant')
      problems.push(`message ${index} has results that follow no call`);
    if (message.role === 'user' && next?.role === 'user')
      problems.push(`message ${index} is one of two user messages in a row`);
    if (message.content.length === 0) problems.push(`message ${index} is empty`);
    if (message.role === 'assistant' && message.content.every(({ type }) => type === 'reasoning'))
      problems.push(`message ${index} is nothing but reasoning`);
  }
  return problems;
}

function idsOf({ content }: AnthropicMessage): string[] {
  return content.flatMap((block) => (block.type === 'tool_use' ? [block.id] : []));
}

function contentProblems(at: string, content: readonly { readonly type: string; readonly text?: string }[]): string[] {
  if (content.length === 0) return [`${at} is empty`];
  return content.some(({ text }) => text !== undefined && text.trim() === '') ? [`${at} has a blank text`] : [];
}

function callProblems(
  at: string,
  { id, name, input }: { readonly id: string; readonly name: string; readonly input: string },
  idPattern: RegExp,
): string[] {
  const parsed = JSON.parse(input) as unknown;
  return [
    ...(idPattern.test(id) ? [] : [`${at} has the id ${JSON.stringify(id)}`]),
    ...(TOOL_NAME.test(name) ? [] : [`${at} calls ${JSON.stringify(name)}`]),
    ...(typeof parsed === 'object' && parsed !== null && !Array.isArray(parsed)
      ? []
      : [`${at} has an input that is no object`]),
  ];
}

/** Texts that are not valid Unicode cannot be sent as UTF-8; JSON shows them as escapes. */
function surrogateProblems(value: unknown): string[] {
  let found = false;
  JSON.stringify(value, (key, each: unknown) => {
    if (LONE_SURROGATE.test(key) || (typeof each === 'string' && LONE_SURROGATE.test(each))) found = true;
    return each;
  });
  return found ? ['has a text that is not well-formed'] : [];
}

/** Results are texts on the wire; JSON in them is escaped once more. */
function outputText({ output }: ToolResultPart): string {
  return typeof output === 'string' ? output : JSON.stringify(output);
}
