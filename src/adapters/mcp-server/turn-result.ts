/** What a tool answers of a turn. */
import type { CallToolResult } from '@modelcontextprotocol/sdk/types.js';
import type { AskedRequest } from '../../actors/session/asked-requests.ts';
import { hasEnded, turnId } from '../../machines/protocol/turn.ts';
import type { Turn } from '../../machines/protocol/turn.ts';

export type Structured = Readonly<Record<string, unknown>>;

export function turnRecord(turn: Turn, asked: readonly AskedRequest[]): Structured {
  return {
    session: turn.sessionId,
    turn: turnId(turn),
    state: asked.length > 0 ? 'asking' : turn.phase,
    ...(turn.answer === undefined ? {} : { answer: turn.answer }),
    ...(turn.note === undefined ? {} : { note: turn.note }),
    ...(asked.length === 0 ? {} : { asked: asked.map(askedRecord) }),
    next: nextWords(turn, asked),
  };
}

function askedRecord(asked: AskedRequest): Structured {
  const { sessionId: session, requestId: request, kind } = asked;
  switch (kind) {
    case 'permission': {
      const { toolName: tool, input, because, rules } = asked.data;
      return { session, request, kind, tool, input, because, ...(rules === undefined ? {} : { rules }) };
    }
    case 'answer': {
      const { question, choices } = asked.data;
      return { session, request, kind, question, ...(choices === undefined ? {} : { choices }) };
    }
    case 'custom_tool':
      return { session, request, kind, tool: asked.data.name, input: asked.data.input };
  }
}

function nextWords(turn: Turn, asked: readonly AskedRequest[]): string {
  if (asked.some(({ kind }) => kind === 'permission'))
    return 'A person has to allow or deny it: in this client where it shows forms, else with "wakechart session confirm-tool" or in the inspector. Then session_wait.';
  if (asked.length > 0) return 'Answer with session_answer, then session_wait.';
  if (hasEnded(turn)) return turn.phase === 'terminated' ? 'It is over for ever.' : 'session_send goes on with it.';
  return 'session_wait waits for it; session_read shows what it does.';
}

export function resultOf(structured: Structured): CallToolResult {
  return {
    content: [{ type: 'text', text: JSON.stringify(structured, undefined, 2) }],
    structuredContent: { ...structured },
  };
}
