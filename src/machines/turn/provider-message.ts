/** What a model is given to read: a conversation in the form that every provider can be mapped to. */
import type { OpaquePart } from '../run/run-output.ts';
import type { SessionEventData } from '../session/session-event.ts';

export interface TextPart {
  readonly type: 'text';
  /** Never blank, and without lone surrogates: providers refuse both. */
  readonly text: string;
  /** On a summary: it stands for every event of the log up to this one. */
  readonly summarizesThroughSeq?: number | undefined;
}

/**
 * A file that came with a message, by reference: the caller of a model loads the bytes. A text part right before it
 * describes it.
 */
export interface FilePart {
  readonly type: 'file';
  readonly mediaType: string;
  readonly name: string;
  /** From the session's workspace. */
  readonly path: string;
  readonly bytes: number;
  /** Of the bytes, in hexadecimal digits. */
  readonly sha256: string;
}

export interface ReasoningPart {
  readonly type: 'reasoning';
  /** Blank where only `opaque` says it. */
  readonly text: string;
  /** Given back to the model that wrote it, and to no other. Reasoning without it stays out of what a model reads. */
  readonly opaque?: OpaquePart | undefined;
}

export interface ToolCallPart {
  readonly type: 'tool_call';
  /** 1 to 40 of `a-zA-Z0-9_-`, unique in the conversation. That of the log, unless some provider would not take it. */
  readonly callId: string;
  /** 1 to 64 of `a-zA-Z0-9_-`, whatever a model made up. */
  readonly name: string;
  /** Always an object. */
  readonly input: unknown;
}

export interface ToolResultPart {
  readonly type: 'tool_result';
  readonly callId: string;
  readonly name: string;
  readonly outcome: SessionEventData<'agent.tool_result'>['outcome'];
  /** JSON. Never a blank text. May hold image references. */
  readonly output: unknown;
  /** The whole output, where `output` is only a part of it: a file in the session's workspace. */
  readonly kept?: SessionEventData<'agent.tool_result'>['kept'];
}

/** An image in the output of a tool, by reference. */
export interface ImageReference {
  readonly type: 'image';
  readonly mediaType: string;
  /** From the session's workspace. */
  readonly path: string;
}

export interface UserMessage {
  readonly role: 'user';
  readonly content: readonly (TextPart | FilePart)[];
}

export interface AssistantMessage {
  readonly role: 'assistant';
  readonly content: readonly (TextPart | ReasoningPart | ToolCallPart)[];
}

/**
 * Always right after the assistant message that asked, with exactly one result for each of its calls, in their order.
 */
export interface ToolMessage {
  readonly role: 'tool';
  readonly content: readonly ToolResultPart[];
}

export type ProviderMessage = UserMessage | AssistantMessage | ToolMessage;

/** The images that the output of a tool refers to: the output itself, an element of it, or a value in it. */
export function imageReferencesIn(output: unknown): readonly ImageReference[] {
  if (isImageReference(output)) return [output];
  if (typeof output !== 'object' || output === null) return [];
  return Object.values(output).flatMap((value: unknown) =>
    Array.isArray(value) ? value.filter(isImageReference) : isImageReference(value) ? [value] : [],
  );
}

function isImageReference(value: unknown): value is ImageReference {
  if (typeof value !== 'object' || value === null) return false;
  const { type, mediaType, path } = value as Partial<Record<keyof ImageReference, unknown>>;
  return type === 'image' && typeof mediaType === 'string' && typeof path === 'string';
}
