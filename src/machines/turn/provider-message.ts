/** What a model is given to read: a conversation in the form that every provider can be mapped to. */
import type { SessionEventData } from '../session/session-event.ts';

export interface TextPart {
  readonly type: 'text';
  readonly text: string;
}

export interface ReasoningPart {
  readonly type: 'reasoning';
  readonly text: string;
}

export interface ToolCallPart {
  readonly type: 'tool_call';
  readonly callId: string;
  readonly name: string;
  readonly input: unknown;
}

export interface ToolResultPart {
  readonly type: 'tool_result';
  readonly callId: string;
  readonly name: string;
  readonly outcome: SessionEventData<'agent.tool_result'>['outcome'];
  readonly output: unknown;
}

export interface UserMessage {
  readonly role: 'user';
  readonly content: readonly TextPart[];
}

export interface AssistantMessage {
  readonly role: 'assistant';
  readonly content: readonly (TextPart | ReasoningPart | ToolCallPart)[];
}

/** Always right after the assistant message that asked, with exactly one result for each of its calls, in their order. */
export interface ToolMessage {
  readonly role: 'tool';
  readonly content: readonly ToolResultPart[];
}

export type ProviderMessage = UserMessage | AssistantMessage | ToolMessage;
