/** Which sessions an agent may open, and how they are related. */
import { RuntimeError } from '../../machines/errors.ts';
import type { SessionState } from '../../machines/session/session-state.ts';
import type { EventStore } from './event-store.ts';
import type { Sessions } from './sessions.ts';

/** Who works for whom, by session; sessions of other agents stand in it where they are above one of these. */
export type SessionParents = ReadonlyMap<string, string | undefined>;

export async function parentsOf(
  states: readonly SessionState[],
  get: (sessionId: string) => Promise<SessionState>,
): Promise<SessionParents> {
  const parents = new Map<string, string | undefined>(
    states.map(({ sessionId, parent }) => [sessionId, parent?.sessionId]),
  );
  for (const parent of [...parents.values()]) {
    for (let above = parent; above !== undefined && !parents.has(above); above = parents.get(above)) {
      // One that is deleted or damaged has nothing above it that could be told.
      const state = await get(above).catch(() => undefined);
      parents.set(above, state?.parent?.sessionId);
    }
  }
  return parents;
}

/** The same owner or, for both, none: what one owner says to an agent is not for another one, nor for none. */
export function isOfSameOwner(one: Pick<SessionState, 'owner'>, other: Pick<SessionState, 'owner'>): boolean {
  return one.owner === other.owner;
}

/**
 * That the session is one of the same agent and the same owner as the one that asks.
 * @throws RuntimeError SESSION_NOT_FOUND, SESSION_OF_ANOTHER_AGENT
 */
export async function requireOwn(
  { store, sessions }: { readonly store: EventStore; readonly sessions: Pick<Sessions, 'get'> },
  sessionId: string,
  asker: { readonly sessionId: string; readonly agentId: string },
): Promise<void> {
  const { agentId } = await store.identify(sessionId);
  if (agentId === asker.agentId) {
    if (sessionId === asker.sessionId) return;
    if (isOfSameOwner(await sessions.get(sessionId), await sessions.get(asker.sessionId))) return;
  }
  throw new RuntimeError(
    'SESSION_OF_ANOTHER_AGENT',
    `session ${sessionId} is not one of the agent ${asker.agentId} for the owner of this session`,
    {
      category: 'permission',
      hint: 'Only sessions of your own agent and your own owner can be opened; session_list shows them.',
    },
  );
}
