/**
 * The requests of three of the interfaces, read into one shape. What the documentation does not know is refused by
 * throwing.
 */
import { z } from 'zod';

export type Block =
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'file' }
  | { readonly kind: 'thought'; readonly text: string; readonly seal: string }
  | { readonly kind: 'call'; readonly id: string; readonly name: string; readonly input: unknown }
  | { readonly kind: 'result'; readonly id: string; readonly text: string };

export interface ModelMessage {
  readonly role: 'user' | 'assistant';
  readonly blocks: readonly Block[];
}

export interface RequestBody {
  readonly model: string;
  /** One after another, as the interface takes them together. */
  readonly messages: readonly ModelMessage[];
  readonly tools: readonly string[];
  readonly cacheHints: number;
  readonly thinking?: { readonly type: 'enabled' | 'adaptive'; readonly budgetTokens?: number | undefined } | undefined;
  readonly settings: { readonly maxTokens: number; readonly temperature?: number | undefined };
}

const hinted = { cache_control: z.unknown().optional() };
const textBlock = z.strictObject({ type: z.literal('text'), text: z.string(), ...hinted });
const anthropicBlock = z.discriminatedUnion('type', [
  textBlock,
  z.strictObject({ type: z.literal('image'), source: z.unknown(), ...hinted }),
  z.strictObject({ type: z.literal('document'), source: z.unknown(), title: z.string().optional(), ...hinted }),
  z.strictObject({ type: z.literal('thinking'), thinking: z.string(), signature: z.string() }),
  z.strictObject({ type: z.literal('redacted_thinking'), data: z.string() }),
  z.strictObject({ type: z.literal('tool_use'), id: z.string(), name: z.string(), input: z.unknown(), ...hinted }),
  z.strictObject({
    type: z.literal('tool_result'),
    tool_use_id: z.string(),
    content: z.union([
      z.string(),
      z.array(
        z.discriminatedUnion('type', [
          textBlock,
          z.strictObject({ type: z.literal('image'), source: z.unknown(), ...hinted }),
          z.strictObject({ type: z.literal('tool_reference'), tool_name: z.string() }),
        ]),
      ),
    ]),
    is_error: z.boolean().optional(),
    ...hinted,
  }),
]);
const anthropicRequest = z.looseObject({
  model: z.string(),
  max_tokens: z.number().int().min(1),
  temperature: z.number().optional(),
  thinking: z
    .discriminatedUnion('type', [
      z.strictObject({ type: z.literal('enabled'), budget_tokens: z.number(), display: z.string().optional() }),
      z.strictObject({ type: z.literal('adaptive'), display: z.string().optional() }),
      z.strictObject({ type: z.literal('disabled') }),
    ])
    .optional(),
  tools: z
    .array(z.looseObject({ name: z.string() }))
    .min(1)
    .optional(),
  messages: z
    .array(
      z.strictObject({
        role: z.enum(['user', 'assistant', 'system']),
        content: z.union([z.string(), z.array(anthropicBlock)]),
        ...hinted,
      }),
    )
    .min(1),
});

export function anthropicBody(body: unknown): RequestBody {
  const { model, messages, tools = [], thinking, max_tokens: maxTokens, temperature } = anthropicRequest.parse(body);
  const isOn = thinking !== undefined && thinking.type !== 'disabled';
  return {
    model,
    messages: messages.flatMap(({ role, content }) =>
      // A word of the system between messages belongs to neither side.
      role === 'system'
        ? []
        : [
            {
              role,
              blocks: typeof content === 'string' ? [{ kind: 'text', text: content }] : content.map(blockOfAnthropic),
            },
          ],
    ),
    tools: tools.map(({ name }) => name),
    cacheHints: JSON.stringify(body).split('"cache_control"').length - 1,
    settings: { maxTokens, temperature },
    ...(isOn
      ? {
          thinking: {
            type: thinking.type,
            budgetTokens: thinking.type === 'enabled' ? thinking.budget_tokens : undefined,
          },
        }
      : {}),
  };
}

function blockOfAnthropic(block: z.output<typeof anthropicBlock>): Block {
  switch (block.type) {
    case 'text':
      return { kind: 'text', text: block.text };
    case 'image':
    case 'document':
      return { kind: 'file' };
    case 'thinking':
      return { kind: 'thought', text: block.thinking, seal: block.signature };
    case 'redacted_thinking':
      return { kind: 'thought', text: '', seal: block.data };
    case 'tool_use':
      return { kind: 'call', id: block.id, name: block.name, input: block.input };
    case 'tool_result':
      return {
        kind: 'result',
        id: block.tool_use_id,
        text:
          typeof block.content === 'string'
            ? block.content
            : block.content.map((part) => (part.type === 'text' ? part.text : `[${part.type}]`)).join(''),
      };
  }
}

const chatText = z.union([z.string(), z.array(z.looseObject({ type: z.string(), text: z.string().optional() }))]);
const chatCall = z.strictObject({
  id: z.string(),
  type: z.literal('function'),
  function: z.strictObject({ name: z.string(), arguments: z.string() }),
});
const chatMessage = z.discriminatedUnion('role', [
  z.strictObject({ role: z.literal('system'), content: z.string() }),
  z.strictObject({ role: z.literal('user'), content: chatText }),
  z.strictObject({
    role: z.literal('assistant'),
    content: z.string().nullish(),
    tool_calls: z.array(chatCall).min(1).optional(),
  }),
  z.strictObject({ role: z.literal('tool'), tool_call_id: z.string(), content: z.string() }),
]);
const chatRequest = z.looseObject({
  model: z.string(),
  messages: z.array(chatMessage).min(1),
  tools: z
    .array(z.looseObject({ function: z.looseObject({ name: z.string() }) }))
    .min(1)
    .optional(),
});

export function chatBody(body: unknown): RequestBody {
  const { model, messages, tools = [] } = chatRequest.parse(body);
  const read = messages.flatMap((message): ModelMessage[] => {
    switch (message.role) {
      case 'system':
        return [];
      case 'user':
        return [{ role: 'user', blocks: partsOf(message.content) }];
      case 'tool':
        return [{ role: 'user', blocks: [{ kind: 'result', id: message.tool_call_id, text: message.content }] }];
      case 'assistant': {
        const text: Block[] =
          typeof message.content === 'string' && message.content !== ''
            ? [{ kind: 'text', text: message.content }]
            : [];
        return [
          {
            role: 'assistant',
            blocks: [
              ...text,
              ...(message.tool_calls ?? []).map((call): Block => ({
                kind: 'call',
                id: call.id,
                name: call.function.name,
                input: JSON.parse(call.function.arguments),
              })),
            ],
          },
        ];
      }
    }
  });
  return {
    model,
    messages: together(read),
    tools: tools.map((tool) => tool.function.name),
    cacheHints: 0,
    settings: { maxTokens: Infinity },
  };
}

/** Programs give items back as they came: with their ids. */
const kept = { id: z.string().optional(), status: z.string().optional() };
const outputText = z.union([
  z.string(),
  z.array(
    z.discriminatedUnion('type', [
      z.strictObject({ type: z.literal('input_text'), text: z.string() }),
      z.strictObject({ type: z.literal('input_image'), image_url: z.string(), detail: z.string().optional() }),
    ]),
  ),
]);
const namedItem = z.union([
  z.strictObject({
    ...kept,
    type: z.literal('message').optional(),
    role: z.enum(['system', 'developer', 'user', 'assistant']),
    content: chatText,
  }),
  z.strictObject({
    ...kept,
    type: z.literal('function_call'),
    call_id: z.string(),
    namespace: z.string().optional(),
    name: z.string(),
    arguments: z.string(),
  }),
  z.strictObject({
    ...kept,
    type: z.literal('custom_tool_call'),
    call_id: z.string(),
    name: z.string(),
    input: z.string(),
  }),
  z.strictObject({
    ...kept,
    type: z.enum(['function_call_output', 'custom_tool_call_output']),
    call_id: z.string(),
    output: outputText,
  }),
  z.strictObject({
    ...kept,
    type: z.literal('reasoning'),
    id: z.string(),
    encrypted_content: z.string(),
    summary: z.array(z.strictObject({ type: z.literal('summary_text'), text: z.string() })),
  }),
]);
/** What the provider has run itself. */
const hostedItem = z.strictObject({ ...kept, type: z.literal('web_search_call'), action: z.unknown() });
const responsesItem = z.union([namedItem, hostedItem]);
const responsesRequest = z.looseObject({
  model: z.string(),
  store: z.literal(false),
  input: z.array(responsesItem).min(1),
  tools: z
    .array(z.looseObject({ type: z.string(), name: z.string().optional() }))
    .min(1)
    .optional(),
});

export function responsesBody(body: unknown): RequestBody {
  const { model, input, tools = [] } = responsesRequest.parse(body);
  return {
    model,
    messages: together(input.flatMap(messagesOfItem)),
    // Those of the provider itself have a type only.
    tools: tools.flatMap(({ name }) => name ?? []),
    cacheHints: 0,
    settings: { maxTokens: Infinity },
  };
}

function messagesOfItem(item: z.output<typeof responsesItem>): ModelMessage[] {
  if ('role' in item)
    return item.role === 'system' || item.role === 'developer'
      ? []
      : [{ role: item.role, blocks: partsOf(item.content) }];
  switch (item.type) {
    case 'function_call':
      return [said({ kind: 'call', id: item.call_id, name: item.name, input: JSON.parse(item.arguments) })];
    case 'custom_tool_call':
      return [said({ kind: 'call', id: item.call_id, name: item.name, input: { input: item.input } })];
    case 'function_call_output':
    case 'custom_tool_call_output':
      return [{ role: 'user', blocks: [{ kind: 'result', id: item.call_id, text: textOfOutput(item.output) }] }];
    case 'reasoning':
      return [
        said({
          kind: 'thought',
          text: item.summary.map(({ text }) => text).join(''),
          seal: item.encrypted_content,
        }),
      ];
    case 'web_search_call':
      return [];
  }
}

function said(block: Block): ModelMessage {
  return { role: 'assistant', blocks: [block] };
}

function textOfOutput(output: z.output<typeof outputText>): string {
  return typeof output === 'string'
    ? output
    : output.map((part) => (part.type === 'input_text' ? part.text : '[image]')).join('\n');
}

function partsOf(content: z.output<typeof chatText>): Block[] {
  if (typeof content === 'string') return [{ kind: 'text', text: content }];
  return content.map(({ text }) => (text === undefined ? { kind: 'file' } : { kind: 'text', text }));
}

/** Items of one side, one after another, are what it says. */
export function together(items: readonly ModelMessage[]): readonly ModelMessage[] {
  const messages: { role: ModelMessage['role']; blocks: Block[] }[] = [];
  for (const { role, blocks } of items) {
    const last = messages.at(-1);
    if (last?.role === role) last.blocks.push(...blocks);
    else messages.push({ role, blocks: [...blocks] });
  }
  return messages;
}
