/** A turn of a session as a task of A2A, in the shapes that its JSON has. */
import { askedText } from '../../actors/protocol/asked-text.ts';
import type { AskedRequest } from '../../actors/session/asked-requests.ts';
import { turnId } from '../../machines/protocol/turn.ts';
import type { Turn } from '../../machines/protocol/turn.ts';
import { A2A_STATE } from './a2a-states.ts';

type Json = Readonly<Record<string, unknown>>;

export function taskJson(turn: Turn, asked: readonly AskedRequest[]): Json {
  const { sessionId: contextId, messageId, request, answer } = turn;
  const taskId = turnId(turn);
  return {
    id: taskId,
    contextId,
    status: statusJson(turn, asked),
    history:
      messageId === undefined
        ? []
        : [{ messageId, contextId, taskId, role: 'ROLE_USER', parts: [{ text: request ?? '' }] }],
    artifacts: answer === undefined ? [] : [artifactJson(turn, answer)],
  };
}

/** The same artifact from the first word to the last: what the agent said last. */
export function artifactJson(turn: Turn, answer: string): Json {
  return { artifactId: `${turnId(turn)}.answer`, name: 'answer', parts: [{ text: answer }] };
}

export function statusJson(turn: Turn, asked: readonly AskedRequest[]): Json {
  const state = asked.length > 0 ? A2A_STATE.asking : A2A_STATE[turn.phase];
  const text = asked.length > 0 ? asked.map(askedText).join('\n\n') : turn.note;
  return {
    state,
    ...(turn.updatedAt === undefined ? {} : { timestamp: turn.updatedAt }),
    ...(text === undefined
      ? {}
      : { message: agentMessageJson(turn, `status.${turn.throughSeq}`, [{ text }, ...asked.map(askedPart)]) }),
  };
}

/** @param key tells it from the others of the turn */
export function agentMessageJson(turn: Turn, key: string, parts: readonly Json[]): Json {
  const taskId = turnId(turn);
  return { messageId: `${taskId}.${key}`, contextId: turn.sessionId, taskId, role: 'ROLE_AGENT', parts };
}

/** For programs: which request it is, beside the words for people. */
function askedPart({ kind, requestId, sessionId, data }: AskedRequest): Json {
  return { data: { kind, requestId, sessionId, asked: data }, mediaType: 'application/json' };
}
