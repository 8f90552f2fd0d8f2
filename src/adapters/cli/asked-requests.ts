/** What a session waits for that somebody at the terminal can answer: its own requests, and those of the children that it waits for. */
import type { Sessions } from '../../actors/session/sessions.ts';
import { delegatedCalls } from '../../machines/session/activation.ts';
import { RuntimeError } from '../../machines/errors.ts';
import type { SessionEventData } from '../../machines/session/session-event.ts';
import type { SessionState } from '../../machines/session/session-state.ts';

interface Asked {
  readonly sessionId: string;
  readonly agentId: string;
  readonly requestId: string;
}

export type AskedRequest =
  | (Asked & { readonly kind: 'permission'; readonly data: SessionEventData<'permission.requested'> })
  | (Asked & { readonly kind: 'answer'; readonly data: SessionEventData<'agent.question_asked'> });

/** In the order in which they were asked. */
export async function askedRequests(sessions: Sessions, sessionId: string): Promise<readonly AskedRequest[]> {
  const state = await sessions.status(sessionId).catch(unlessMissing);
  if (state === undefined) return [];
  const own = await ownRequests(sessions, state);
  const children = delegatedCalls(state).flatMap(({ request }) => (request?.kind === 'subflow' ? [request.childSessionId] : []));
  const ofChildren = await Promise.all(children.map((child) => askedRequests(sessions, child)));
  return [...own, ...ofChildren.flat()];
}

async function ownRequests(sessions: Sessions, { sessionId, agentId, pendingActions, openToolCalls }: SessionState): Promise<readonly AskedRequest[]> {
  const wanted = new Set(pendingActions.filter(({ kind }) => kind !== 'custom_tool').map(({ requestId }) => requestId));
  const found: AskedRequest[] = [];
  if (wanted.size === 0) return found;
  // A request comes after the call that it is about.
  const from = Math.min(...openToolCalls.map(({ seq }) => seq));
  for await (const event of sessions.events(sessionId, { from: Number.isFinite(from) ? from : 1 })) {
    if (event.type === 'permission.requested' && wanted.has(event.data.requestId)) found.push({ sessionId, agentId, requestId: event.data.requestId, kind: 'permission', data: event.data });
    if (event.type === 'agent.question_asked' && wanted.has(event.data.requestId)) found.push({ sessionId, agentId, requestId: event.data.requestId, kind: 'answer', data: event.data });
    if (found.length === wanted.size) break;
  }
  return found;
}

/** A child that is said to come and was not made yet asks nothing. */
function unlessMissing(error: unknown): undefined {
  if (RuntimeError.is(error) && error.code === 'SESSION_NOT_FOUND') return undefined;
  throw error;
}
