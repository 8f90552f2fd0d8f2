/**
 * A conversation as the SDK takes it: the instructions, then each message as far as this interface and this model can
 * read it.
 */
import { imageReferencesIn } from '../../machines/turn/provider-message.ts';
import type {
  AssistantMessage,
  ProviderMessage,
  ToolMessage,
  ToolResultPart,
  UserMessage,
} from '../../machines/turn/provider-message.ts';
import { reasoningOptions } from './given-back.ts';
import type { Reader } from './given-back.ts';
import type { AssistantContent, ModelMessage, ToolResultContent, UserContent } from './language-model.ts';
import type { HttpInterface } from './load-models.ts';
import type { ShownFile, ShownFiles } from './shown-files.ts';

export interface PromptOptions extends Reader {
  readonly instructions: string | undefined;
  /** As the reader takes them. */
  readonly messages: readonly ProviderMessage[];
  readonly files: ShownFiles;
}

export function promptOf(options: PromptOptions): ModelMessage[] {
  const { instructions, messages } = options;
  const system: ModelMessage[] =
    instructions === undefined || instructions.trim() === '' ? [] : [{ role: 'system', content: instructions }];
  return [...system, ...messages.flatMap((message) => messagesFor(message, options))];
}

function messagesFor(message: ProviderMessage, options: PromptOptions): ModelMessage[] {
  switch (message.role) {
    case 'user':
      return [{ role: 'user', content: userContent(message, options) }];
    case 'assistant':
      return [{ role: 'assistant', content: assistantContent(message, options) }];
    case 'tool':
      return toolMessages(message, options);
  }
}

function userContent({ content }: UserMessage, { files }: PromptOptions): UserContent[] {
  return content.map((part) =>
    part.type === 'text' ? { type: 'text', text: part.text } : fileContent(files.of(part)),
  );
}

function fileContent(file: ShownFile): UserContent {
  if (file.kind === 'text') return { type: 'text', text: file.text };
  return { type: 'file', mediaType: file.mediaType, data: file.base64, filename: file.name };
}

function assistantContent({ content }: AssistantMessage, options: PromptOptions): AssistantContent[] {
  return content.flatMap((part): AssistantContent[] => {
    switch (part.type) {
      case 'text':
        return [{ type: 'text', text: part.text }];
      case 'tool_call':
        return [{ type: 'tool-call', toolCallId: part.callId, toolName: part.name, input: part.input }];
      case 'reasoning': {
        const providerOptions = reasoningOptions(part, options);
        return providerOptions === undefined ? [] : [{ type: 'reasoning', text: part.text, providerOptions }];
      }
    }
  });
}

/** Chat Completions has no images in results: they follow as if the user had sent them. */
function toolMessages({ content }: ToolMessage, { files, api }: PromptOptions): ModelMessage[] {
  const isChat = api === 'openai-chat';
  const images = (part: ToolResultPart): readonly ShownFile[] =>
    part.outcome === 'completed' ? imageReferencesIn(part.output).map((reference) => files.of(reference)) : [];
  const results: ModelMessage = {
    role: 'tool',
    content: content.map((part) => toolResult(part, isChat ? [] : images(part), api)),
  };
  const shown = isChat ? content.flatMap((part) => images(part).map(fileContent)) : [];
  return shown.length === 0
    ? [results]
    : [results, { role: 'user', content: [{ type: 'text', text: 'The images of these results:' }, ...shown] }];
}

function toolResult(part: ToolResultPart, images: readonly ShownFile[], api: HttpInterface): ToolResultContent {
  const { callId, name, outcome } = part;
  const text = resultText(part);
  const result = { type: 'tool-result', toolCallId: callId, toolName: name } as const;
  // Only Anthropic marks results as errors; the others have nothing but the text, which the versions of their packages
  // would each mark in a way of their own.
  if (outcome !== 'completed')
    return {
      ...result,
      output:
        api === 'anthropic' ? { type: 'error-text', value: text } : { type: 'text', value: `[${outcome}] ${text}` },
    };
  if (images.length === 0) return { ...result, output: { type: 'text', value: text } };
  const shown = images.map((file) =>
    file.kind === 'text'
      ? ({ type: 'text', text: file.text } as const)
      : ({ type: 'image-data', data: file.base64, mediaType: file.mediaType } as const),
  );
  return { ...result, output: { type: 'content', value: [{ type: 'text', text }, ...shown] } };
}

function resultText({ output, kept }: ToolResultPart): string {
  const text = typeof output === 'string' ? output : (JSON.stringify(output) ?? 'null');
  return kept === undefined || text.includes(kept.path)
    ? text
    : `${text}\n[The whole output is in ${kept.path} in the workspace.]`;
}
