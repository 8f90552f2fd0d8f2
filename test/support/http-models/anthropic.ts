/** The Messages interface of Anthropic, as its documentation shows its stream of events. */
import { DEFAULT_USAGE, piecesOf, sse } from './protocol.ts';
import type { AnswerEnd, ModelProtocol, Said } from './protocol.ts';

const event = (type: string, data: Readonly<Record<string, unknown>>): string => sse({ type, ...data }, type);

const STOP_REASONS = { stop: 'end_turn', length: 'max_tokens', refusal: 'refusal', tools: 'tool_use' } as const;

export const anthropicProtocol: ModelProtocol = {
  api: 'anthropic',
  prefix: '/anthropic/v1',
  path: '/messages',
  opening: (model) => [
    event('message_start', {
      message: {
        id: 'msg_1',
        type: 'message',
        role: 'assistant',
        model,
        content: [],
        stop_reason: null,
        stop_sequence: null,
        usage: { input_tokens: DEFAULT_USAGE.input, output_tokens: 1 },
      },
    }),
    event('ping', {}),
  ],
  saying(said, index) {
    const deltas = deltasOf(said).map((delta) => event('content_block_delta', { index, delta }));
    return [
      event('content_block_start', { index, content_block: blockOf(said) }),
      ...deltas,
      event('content_block_stop', { index }),
    ];
  },
  closing: (end, said) => [
    event('message_delta', {
      delta: { stop_reason: STOP_REASONS[reasonOf(end, said)], stop_sequence: null },
      usage: usageOf(end),
    }),
    event('message_stop', {}),
  ],
  errorBody: ({ type, message }) => JSON.stringify({ type: 'error', error: { type, message }, request_id: 'req_1' }),
  streamedError: ({ type, message }) => event('error', { error: { type, message } }),
  unknownEvent: event('content_block_dreamed', { index: 0, dream: 'of something new' }),
};

function blockOf(said: Said): unknown {
  if ('text' in said) return { type: 'text', text: '' };
  if ('reasoning' in said) return { type: 'thinking', thinking: '', signature: '' };
  if ('sealed' in said) return { type: 'redacted_thinking', data: said.sealed };
  return { type: 'tool_use', id: said.callId, name: said.tool, input: {} };
}

function deltasOf(said: Said): readonly unknown[] {
  if ('text' in said) return piecesOf(said.text).map((text) => ({ type: 'text_delta', text }));
  if ('tool' in said) return piecesOf(said.input).map((json) => ({ type: 'input_json_delta', partial_json: json }));
  if ('sealed' in said) return [];
  const signature = said.seal === undefined ? [] : [{ type: 'signature_delta', signature: said.seal }];
  return [...piecesOf(said.reasoning).map((thinking) => ({ type: 'thinking_delta', thinking })), ...signature];
}

function reasonOf({ reason }: AnswerEnd, said: readonly Said[]): keyof typeof STOP_REASONS {
  return reason ?? (said.some((each) => 'tool' in each) ? 'tools' : 'stop');
}

function usageOf({ usage = DEFAULT_USAGE }: AnswerEnd): unknown {
  const { input, output, cached, cacheWrites } = { cached: undefined, cacheWrites: undefined, ...usage };
  return {
    input_tokens: input,
    output_tokens: output,
    ...(cached === undefined ? {} : { cache_read_input_tokens: cached }),
    ...(cacheWrites === undefined ? {} : { cache_creation_input_tokens: cacheWrites }),
  };
}
