/** The requests of the Gemini API, read into the shape of the others. Names that it does not know are refused. */
import { z } from 'zod';
import { together } from './strict-shapes.ts';
import type { Block, ModelMessage, RequestBody } from './strict-shapes.ts';

/** What any part may say besides what it holds. */
const sealed = { thoughtSignature: z.string().optional() };

const part = z.union([
  z.strictObject({ text: z.string(), thought: z.boolean().optional(), ...sealed }),
  z.strictObject({ inlineData: z.strictObject({ mimeType: z.string(), data: z.string() }), ...sealed }),
  z.strictObject({ fileData: z.strictObject({ mimeType: z.string().optional(), fileUri: z.string() }) }),
  z.strictObject({
    functionCall: z.strictObject({
      id: z.string().optional(),
      name: z.string(),
      args: z.record(z.string(), z.unknown()).optional(),
    }),
    ...sealed,
  }),
  z.strictObject({
    functionResponse: z.strictObject({
      id: z.string().optional(),
      name: z.string(),
      response: z.record(z.string(), z.unknown()),
    }),
    ...sealed,
  }),
]);

const geminiRequest = z.strictObject({
  contents: z.array(z.strictObject({ role: z.enum(['user', 'model']), parts: z.array(part).min(1) })).min(1),
  systemInstruction: z
    .strictObject({ role: z.string().optional(), parts: z.array(z.strictObject({ text: z.string() })).min(1) })
    .optional(),
  tools: z
    .array(z.strictObject({ functionDeclarations: z.array(z.looseObject({ name: z.string() })) }))
    .min(1)
    .optional(),
  toolConfig: z.unknown().optional(),
  safetySettings: z.array(z.unknown()).optional(),
  generationConfig: z
    .looseObject({ temperature: z.number().optional(), maxOutputTokens: z.number().optional() })
    .optional(),
  cachedContent: z.string().optional(),
});

/** @param model as the address names it */
export function geminiBody(body: unknown, model = ''): RequestBody {
  const { contents, tools = [], generationConfig = {} } = geminiRequest.parse(body);
  const calls = new Counted();
  const results = new Counted();
  const messages = contents.map(({ role, parts }): ModelMessage => ({
    role: role === 'model' ? 'assistant' : 'user',
    blocks: parts.map((one): Block => {
      if ('text' in one)
        return one.thought === true
          ? { kind: 'thought', text: one.text, seal: one.thoughtSignature ?? '' }
          : { kind: 'text', text: one.text };
      if ('functionCall' in one) {
        const { id, name, args = {} } = one.functionCall;
        return { kind: 'call', id: id ?? calls.next(name), name, input: args };
      }
      if ('functionResponse' in one) {
        const { id, name, response } = one.functionResponse;
        return { kind: 'result', id: id ?? results.next(name), text: textOf(response) };
      }
      return { kind: 'file' };
    }),
  }));
  return {
    model,
    messages: together(messages),
    tools: tools.flatMap(({ functionDeclarations }) => functionDeclarations.map(({ name }) => name)),
    cacheHints: 0,
    settings: {
      maxTokens: generationConfig.maxOutputTokens ?? Infinity,
      temperature: generationConfig.temperature,
    },
  };
}

/** Calls without an id are told apart by their order. */
class Counted {
  readonly #counts = new Map<string, number>();

  next(name: string): string {
    const count = (this.#counts.get(name) ?? 0) + 1;
    this.#counts.set(name, count);
    return `${name}-${count}`;
  }
}

function textOf({ output, error, ...others }: Readonly<Record<string, unknown>>): string {
  const [text] = [output, error].filter((value) => typeof value === 'string');
  return text ?? JSON.stringify({ output, error, ...others });
}
