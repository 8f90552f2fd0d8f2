/**
 * The language models of the AI SDK as this backend calls them, whichever of two versions of their specification the
 * installed package speaks.
 */
import type { AnthropicProvider } from '@ai-sdk/anthropic';

/** Version 3 of the specification. Version 4 asks for files in another shape, and tells more than is read here. */
export type LanguageModel = ReturnType<AnthropicProvider['languageModel']>;

export type ModelCall = Parameters<LanguageModel['doStream']>[0];
export type ModelMessage = ModelCall['prompt'][number];
export type ModelTool = NonNullable<ModelCall['tools']>[number];
export type ProviderOptions = NonNullable<ModelCall['providerOptions']>;

type MessageOf<Role extends ModelMessage['role']> = Extract<ModelMessage, { readonly role: Role }>;
export type UserContent = MessageOf<'user'>['content'][number];
export type AssistantContent = MessageOf<'assistant'>['content'][number];
export type ToolResultContent = Extract<MessageOf<'tool'>['content'][number], { readonly type: 'tool-result' }>;

export type ModelStream = Awaited<ReturnType<LanguageModel['doStream']>>;
export type ModelStreamPart = ModelStream['stream'] extends ReadableStream<infer Part> ? Part : never;
export type FinishPart = Extract<ModelStreamPart, { readonly type: 'finish' }>;

const SPOKEN_VERSIONS: readonly string[] = ['v3', 'v4'];

export function isSpoken({ specificationVersion }: LanguageModel): boolean {
  return SPOKEN_VERSIONS.includes(specificationVersion);
}

/** Starts a call. Rejects with whatever the SDK throws. */
export async function streamOf(model: LanguageModel, call: ModelCall): Promise<ModelStream> {
  const version: string = model.specificationVersion;
  // The types are those of version 3; what differs in version 4 is what is converted here.
  return model.doStream(
    version === 'v4' ? { ...call, prompt: call.prompt.map(inVersion4) as unknown as ModelCall['prompt'] } : call,
  );
}

function inVersion4(message: ModelMessage): unknown {
  if (message.role === 'user')
    return {
      ...message,
      content: message.content.map((part) =>
        part.type === 'file' ? { ...part, data: { type: 'data', data: part.data } } : part,
      ),
    };
  if (message.role !== 'tool') return message;
  return {
    ...message,
    content: message.content.map((part) =>
      part.type === 'tool-result' ? { ...part, output: outputInVersion4(part.output) } : part,
    ),
  };
}

function outputInVersion4(output: ToolResultContent['output']): unknown {
  if (output.type !== 'content') return output;
  return {
    ...output,
    value: output.value.map((part) =>
      part.type === 'image-data'
        ? { type: 'file', mediaType: part.mediaType, data: { type: 'data', data: part.data } }
        : part,
    ),
  };
}
