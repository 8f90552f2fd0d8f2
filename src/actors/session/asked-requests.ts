/**
 * What a session waits for that a person or client can answer, each request as it was asked: its own, and those of the
 * children that it waits for.
 */
import type { Sessions } from './sessions.ts';
import { RuntimeError } from '../../machines/errors.ts';
import { delegatedCalls } from '../../machines/session/session-activations.ts';
import type { SessionEvent, SessionEventData } from '../../machines/session/session-event.ts';
import type { SessionState } from '../../machines/session/session-state.ts';

interface Asked {
  readonly sessionId: string;
  readonly agentId: string;
  readonly requestId: string;
}

export type AskedRequest =
  | (Asked & { readonly kind: 'permission'; readonly data: SessionEventData<'permission.requested'> })
  | (Asked & { readonly kind: 'answer'; readonly data: SessionEventData<'agent.question_asked'> })
  | (Asked & { readonly kind: 'custom_tool'; readonly data: SessionEventData<'agent.custom_tool_use'> });

/** In the order in which they were asked. */
export async function askedRequests(sessions: Sessions, sessionId: string): Promise<readonly AskedRequest[]> {
  const state = await sessions.status(sessionId).catch(unlessMissing);
  if (state === undefined) return [];
  const own = await ownRequests(sessions, state);
  const children = delegatedCalls(state).flatMap(({ request }) =>
    request?.kind === 'subflow' ? [request.childSessionId] : [],
  );
  const ofChildren = await Promise.all(children.map((child) => askedRequests(sessions, child)));
  return [...own, ...ofChildren.flat()];
}

type Pending = Pick<SessionState, 'sessionId' | 'agentId' | 'head' | 'pendingActions' | 'openToolCalls'>;

/** Events that are read at once, at first: a session that waits for an answer does little else. */
const FIRST_PAGE = 50;

/** Those of the session alone, from as little of its log as holds them. One whose event cannot be read is left out. */
export async function ownRequests(
  sessions: Pick<Sessions, 'events'>,
  state: Pending,
): Promise<readonly AskedRequest[]> {
  const { sessionId, head, pendingActions } = state;
  const wanted = new Set(pendingActions.map(({ eventId }) => eventId));
  const found = new Map<string, AskedRequest>();
  const first = firstPossible(state);
  let last = head;
  for (let size = FIRST_PAGE; last >= first && found.size < wanted.size; size *= 2) {
    const from = Math.max(first, last - size + 1);
    for await (const event of sessions.events(sessionId, { from, limit: last - from + 1 })) {
      const asked = wanted.has(event.id) ? askedBy(event, state) : undefined;
      if (asked !== undefined) found.set(event.id, asked);
    }
    last = from - 1;
  }
  return pendingActions.flatMap(({ eventId }) => found.get(eventId) ?? []);
}

/** A request comes after the call that it is about; what a directive asked for is about none. */
function firstPossible({ pendingActions, openToolCalls }: Pending): number {
  const seqs = pendingActions.map(({ callId }) => openToolCalls.find((call) => call.callId === callId)?.seq ?? 1);
  return Math.min(...seqs, Infinity);
}

function askedBy(event: SessionEvent, { agentId }: Pending): AskedRequest | undefined {
  const { sessionId } = event;
  if (event.type === 'permission.requested')
    return { sessionId, agentId, requestId: event.data.requestId, kind: 'permission', data: event.data };
  if (event.type === 'agent.question_asked')
    return { sessionId, agentId, requestId: event.data.requestId, kind: 'answer', data: event.data };
  if (event.type === 'agent.custom_tool_use')
    return { sessionId, agentId, requestId: event.data.requestId, kind: 'custom_tool', data: event.data };
  return undefined;
}

/** A child that is said to come and was not made yet asks nothing. */
function unlessMissing(error: unknown): undefined {
  if (RuntimeError.is(error) && error.code === 'SESSION_NOT_FOUND') return undefined;
  throw error;
}
