/**
 * The Chat Completions interface of OpenAI, as its documentation and the servers that copy it show its stream of
 * chunks.
 */
import { DEFAULT_USAGE, piecesOf, sse } from './protocol.ts';
import type { AnswerEnd, ModelProtocol } from './protocol.ts';

const HEAD = { id: 'chatcmpl-1', object: 'chat.completion.chunk', created: 1_760_000_000, model: 'fixture' } as const;

const FINISH_REASONS = { stop: 'stop', length: 'length', refusal: 'content_filter', tools: 'tool_calls' } as const;

const chunk = (delta: Readonly<Record<string, unknown>>, finishReason: string | null = null): string =>
  sse({ ...HEAD, choices: [{ index: 0, delta, finish_reason: finishReason }] });

export const openAiChatProtocol: ModelProtocol = {
  api: 'openai-chat',
  prefix: '/chat/v1',
  path: '/chat/completions',
  opening: () => [chunk({ role: 'assistant', content: '' })],
  saying(said, index) {
    if ('text' in said) return piecesOf(said.text).map((content) => chunk({ content }));
    if ('reasoning' in said)
      return piecesOf(said.reasoning).map((reasoning) => chunk({ reasoning_content: reasoning }));
    if ('sealed' in said) return [];
    const first = chunk({
      tool_calls: [{ index, id: said.callId, type: 'function', function: { name: said.tool, arguments: '' } }],
    });
    return [
      first,
      ...piecesOf(said.input).map((json) => chunk({ tool_calls: [{ index, function: { arguments: json } }] })),
    ];
  },
  closing: (end, said) => [
    chunk({}, FINISH_REASONS[end.reason ?? (said.some((each) => 'tool' in each) ? 'tools' : 'stop')]),
    sse({ ...HEAD, choices: [], usage: usageOf(end) }),
    sse('[DONE]'),
  ],
  errorBody: ({ type, message, code }) => JSON.stringify({ error: { message, type, param: null, code: code ?? null } }),
  streamedError: ({ type, message, code }) => sse({ error: { message, type, param: null, code: code ?? null } }),
  unknownEvent: sse({ object: 'chat.completion.dream', dream: 'of something new' }),
};

function usageOf({ usage = DEFAULT_USAGE }: AnswerEnd): unknown {
  const { input, output, cached, reasoning, cost } = {
    cached: undefined,
    reasoning: undefined,
    cost: undefined,
    ...usage,
  };
  return {
    prompt_tokens: input,
    completion_tokens: output,
    total_tokens: input + output,
    ...(cached === undefined ? {} : { prompt_tokens_details: { cached_tokens: cached } }),
    ...(reasoning === undefined ? {} : { completion_tokens_details: { reasoning_tokens: reasoning } }),
    ...(cost === undefined ? {} : { cost }),
  };
}
