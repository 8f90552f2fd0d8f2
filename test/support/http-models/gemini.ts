/** The Gemini API of Google, as its documentation shows `generateContent` and `streamGenerateContent`. */
import { DEFAULT_USAGE, piecesOf, sse, wholeOf } from './protocol.ts';
import type { AnswerEnd, ModelProtocol, Said } from './protocol.ts';

const FINISH_REASONS = { stop: 'STOP', length: 'MAX_TOKENS', refusal: 'SAFETY', tools: 'STOP' } as const;

const chunk = (parts: readonly unknown[], more: Readonly<Record<string, unknown>> = {}): string =>
  sse({ candidates: [{ content: { role: 'model', parts }, index: 0 }], ...more });

export const geminiProtocol: ModelProtocol = {
  api: 'gemini',
  prefix: '/gemini',
  path: /^\/v1beta\/models\/(?<model>[^/:]+):(?:streamGenerateContent|generateContent)$/,
  isStreamed: (path) => path.endsWith(':streamGenerateContent'),
  opening: () => [],
  saying: (said) => partsOf(said).map((part) => chunk([part])),
  closing: (end) => [sse(response([{ text: '' }], end))],
  whole: (end, said) => JSON.stringify(response(said.flatMap(partsOf), end)),
  errorBody: ({ type, message, code }) => JSON.stringify({ error: { code: code ?? 400, message, status: type } }),
  streamedError: ({ type, message, code }) => sse({ error: { code: code ?? 500, message, status: type } }),
  unknownEvent: chunk([{ dream: 'of something new' }]),
};

function partsOf(said: Said): readonly unknown[] {
  if ('text' in said) return piecesOf(said.text).map((text) => ({ text }));
  if ('reasoning' in said) return piecesOf(said.reasoning).map((text) => ({ text, thought: true }));
  // Google seals what comes of a thought, and not the thought.
  if ('sealed' in said) return [];
  return [{ functionCall: { id: said.callId, name: said.tool, args: JSON.parse(wholeOf(said.input)) as unknown } }];
}

function response(parts: readonly unknown[], end: AnswerEnd): unknown {
  return {
    candidates: [{ content: { role: 'model', parts }, finishReason: FINISH_REASONS[end.reason ?? 'stop'], index: 0 }],
    usageMetadata: usageOf(end),
    modelVersion: 'fixture',
    responseId: 'response_1',
  };
}

function usageOf({ usage = DEFAULT_USAGE }: AnswerEnd): unknown {
  const { input, output, cached, reasoning } = { cached: undefined, reasoning: undefined, ...usage };
  return {
    promptTokenCount: input,
    candidatesTokenCount: output,
    totalTokenCount: input + output,
    ...(cached === undefined ? {} : { cachedContentTokenCount: cached }),
    ...(reasoning === undefined ? {} : { thoughtsTokenCount: reasoning }),
  };
}
