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

type Updates = {
  readonly [Type in SessionEvent['type']]?: (data: SessionEventData<Type>) => readonly SessionUpdate[];
};

const UPDATES: Updates = {
  'user.message': ({ text }) => [{ sessionUpdate: 'user_message_chunk', ...textContent(text) }],
  'agent.question_asked': (data) => said(questionText(data)),
  'agent.custom_tool_use': ({ name, input }) =>
    said(`I need the result of ${name} with ${JSON.stringify(input)}. Your next message is that result.`),
  'agent.tool_use': (data) => [toolCallOf(data)],
  'agent.tool_started': ({ callId }) => [
    { sessionUpdate: 'tool_call_update', toolCallId: callId, status: 'in_progress' },
  ],
  'agent.tool_result': (data) => [resultOf(data)],
  'wake.ended': ({ outcome, summary }) => (outcome === 'failed' ? said(summary) : []),
};

/** All but what the model says. @param own whether the editor has sent the message itself, and so shows it already */
export function updatesOf({ type, data }: SessionEvent, { own }: { readonly own: boolean }): readonly SessionUpdate[] {
  // The entry under its type takes the data, by construction of the table.
  const updates = UPDATES[type] as ((data: unknown) => readonly SessionUpdate[]) | undefined;
  return own ? [] : (updates?.(data) ?? []);
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
