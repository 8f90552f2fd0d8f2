/** The Responses interface of OpenAI, as its documentation shows its stream of events. */
import { DEFAULT_USAGE, piecesOf, sse, wholeOf } from './protocol.ts';
import type { AnswerEnd, ModelProtocol, Said } from './protocol.ts';

const event = (type: string, data: Readonly<Record<string, unknown>>): string =>
  sse({ type, sequence_number: 0, ...data }, type);

const response = (status: string, more: Readonly<Record<string, unknown>> = {}): unknown => ({
  id: 'resp_1',
  object: 'response',
  created_at: 1_760_000_000,
  model: 'fixture',
  status,
  output: [],
  error: null,
  incomplete_details: null,
  ...more,
});

export const openAiResponsesProtocol: ModelProtocol = {
  api: 'openai',
  prefix: '/openai/v1',
  path: '/responses',
  opening: (model) => [
    event('response.created', { response: response('in_progress', { model }) }),
    event('response.in_progress', { response: response('in_progress', { model }) }),
  ],
  saying(said, index) {
    if ('text' in said) return message(piecesOf(said.text), index);
    if ('reasoning' in said) return reasoning(piecesOf(said.reasoning), said.seal, index);
    if ('sealed' in said) return reasoning([], said.sealed, index);
    return call(said, index);
  },
  closing(end, said) {
    const isRefusal = end.reason === 'refusal';
    if (end.reason !== 'length' && !isRefusal)
      return [event('response.completed', { response: response('completed', { usage: usageOf(end), output: said }) })];
    return [
      event('response.incomplete', {
        response: response('incomplete', {
          usage: usageOf(end),
          incomplete_details: { reason: isRefusal ? 'content_filter' : 'max_output_tokens' },
        }),
      }),
    ];
  },
  errorBody: ({ type, message: text, code }) =>
    JSON.stringify({ error: { message: text, type, param: null, code: code ?? null } }),
  streamedError: ({ message: text, code, type }) =>
    event('response.failed', { response: response('failed', { error: { code: code ?? type, message: text } }) }),
  unknownEvent: event('response.dream.delta', { dream: 'of something new' }),
};

function message(pieces: readonly string[], index: number): readonly string[] {
  const item = { id: `msg_${index}`, type: 'message', role: 'assistant', status: 'in_progress', content: [] };
  const place = { item_id: item.id, output_index: index, content_index: 0 };
  const text = wholeOf(pieces);
  return [
    event('response.output_item.added', { output_index: index, item }),
    event('response.content_part.added', { ...place, part: { type: 'output_text', text: '', annotations: [] } }),
    ...pieces.map((delta) => event('response.output_text.delta', { ...place, delta, logprobs: [] })),
    event('response.output_text.done', { ...place, text, logprobs: [] }),
    event('response.output_item.done', {
      output_index: index,
      item: { ...item, status: 'completed', content: [{ type: 'output_text', text, annotations: [] }] },
    }),
  ];
}

function reasoning(pieces: readonly string[], seal: string | undefined, index: number): readonly string[] {
  const item = { id: `rs_${index}`, type: 'reasoning', summary: [], encrypted_content: null };
  const place = { item_id: item.id, output_index: index, summary_index: 0 };
  const text = wholeOf(pieces);
  return [
    event('response.output_item.added', { output_index: index, item }),
    ...(pieces.length === 0
      ? []
      : [event('response.reasoning_summary_part.added', { ...place, part: { type: 'summary_text', text: '' } })]),
    ...pieces.map((delta) => event('response.reasoning_summary_text.delta', { ...place, delta })),
    ...(pieces.length === 0
      ? []
      : [event('response.reasoning_summary_part.done', { ...place, part: { type: 'summary_text', text } })]),
    event('response.output_item.done', {
      output_index: index,
      item: {
        ...item,
        summary: pieces.length === 0 ? [] : [{ type: 'summary_text', text }],
        encrypted_content: seal ?? null,
      },
    }),
  ];
}

function call({ tool, callId, input }: Extract<Said, { readonly tool: string }>, index: number): readonly string[] {
  const item = {
    id: `fc_${index}`,
    type: 'function_call',
    call_id: callId,
    name: tool,
    arguments: '',
    status: 'in_progress',
  };
  const place = { item_id: item.id, output_index: index };
  return [
    event('response.output_item.added', { output_index: index, item }),
    ...piecesOf(input).map((delta) => event('response.function_call_arguments.delta', { ...place, delta })),
    event('response.function_call_arguments.done', { ...place, arguments: wholeOf(input) }),
    event('response.output_item.done', {
      output_index: index,
      item: { ...item, status: 'completed', arguments: wholeOf(input) },
    }),
  ];
}

function usageOf({ usage = DEFAULT_USAGE }: AnswerEnd): unknown {
  const { input, output, cached = 0, reasoning: reasoned = 0 } = { cached: undefined, reasoning: undefined, ...usage };
  return {
    input_tokens: input,
    input_tokens_details: { cached_tokens: cached },
    output_tokens: output,
    output_tokens_details: { reasoning_tokens: reasoned },
    total_tokens: input + output,
  };
}
