/** What an editor is shown of the events of a session. */
import type { SessionUpdate, ToolCallContent, ToolKind } from '@agentclientprotocol/sdk';
import { exactLine } from '../../machines/exact-text.ts';
import { cutText } from '../../machines/cut-text.ts';
import type { SessionEvent, SessionEventData } from '../../machines/session/session-event.ts';
import { isRecord } from '../../machines/validate.ts';

const MAX_TITLE_CHARACTERS = 200;

/** Those of our tools that editors have a kind for. */
const KINDS: Readonly<Record<string, ToolKind>> = {
  read: 'read',
  write: 'edit',
  edit: 'edit',
  glob: 'search',
  grep: 'search',
  shell_run: 'execute',
  shell_exec: 'execute',
  retrieval_search: 'search',
};

/** All but what the model says. @param own whether the editor has sent the message itself, and so shows it already */
export function updatesOf(event: SessionEvent, { own }: { readonly own: boolean }): readonly SessionUpdate[] {
  switch (event.type) {
    case 'user.message':
      return own ? [] : [{ sessionUpdate: 'user_message_chunk', ...textContent(event.data.text) }];
    case 'agent.question_asked':
      return said(questionText(event.data));
    case 'agent.custom_tool_use':
      return said(
        `I need the result of ${event.data.name} with ${JSON.stringify(event.data.input)}. Your next message is that result.`,
      );
    case 'agent.tool_use':
      return [toolCallOf(event.data)];
    case 'agent.tool_started':
      return [{ sessionUpdate: 'tool_call_update', toolCallId: event.data.callId, status: 'in_progress' }];
    case 'agent.tool_result':
      return [resultOf(event.data)];
    case 'wake.ended':
      return event.data.outcome === 'failed' ? said(event.data.summary) : [];
    default:
      return [];
  }
}

export function toolTitle(name: string, input: unknown): string {
  const told = isRecord(input) ? (input['command'] ?? input['path'] ?? input['pattern'] ?? input['query']) : undefined;
  return cutText(exactLine(typeof told === 'string' ? `${name}: ${told}` : name), MAX_TITLE_CHARACTERS);
}

export function toolKind(name: string): ToolKind {
  return KINDS[name] ?? 'other';
}

export function said(text: string): readonly SessionUpdate[] {
  return text === '' ? [] : [{ sessionUpdate: 'agent_message_chunk', ...textContent(text) }];
}

export function thought(text: string): readonly SessionUpdate[] {
  return text === '' ? [] : [{ sessionUpdate: 'agent_thought_chunk', ...textContent(text) }];
}

function textContent(text: string): { readonly content: { readonly type: 'text'; readonly text: string } } {
  return { content: { type: 'text', text } };
}

function questionText({ question, choices = [] }: SessionEventData<'agent.question_asked'>): string {
  return [question, ...choices.map((choice) => `- ${choice}`)].join('\n');
}

function toolCallOf({ callId, name, input }: SessionEventData<'agent.tool_use'>): SessionUpdate {
  const path = isRecord(input) ? input['path'] : undefined;
  return {
    sessionUpdate: 'tool_call',
    toolCallId: callId,
    title: toolTitle(name, input),
    name,
    kind: toolKind(name),
    status: 'pending',
    rawInput: input,
    // An editor opens what it is told of: only what is surely a whole path.
    ...(typeof path === 'string' && path.startsWith('/') ? { locations: [{ path }] } : {}),
  };
}

function resultOf({ callId, outcome, output }: SessionEventData<'agent.tool_result'>): SessionUpdate {
  return {
    sessionUpdate: 'tool_call_update',
    toolCallId: callId,
    status: outcome === 'completed' ? 'completed' : 'failed',
    content: [contentOf(output)],
    rawOutput: output,
  };
}

function contentOf(output: unknown): ToolCallContent {
  const shown = isRecord(output) && typeof output['output'] === 'string' ? output['output'] : output;
  return {
    type: 'content',
    content: { type: 'text', text: typeof shown === 'string' ? shown : JSON.stringify(shown, undefined, 2) },
  };
}
