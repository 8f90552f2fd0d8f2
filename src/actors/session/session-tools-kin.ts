/** Which sessions an agent may open, and how they are related. */
import { RuntimeError } from '../../machines/errors.ts';
import type { SessionState } from '../../machines/session/session-state.ts';
import type { EventStore } from './event-store.ts';

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

/** @throws RuntimeError SESSION_NOT_FOUND, SESSION_OF_ANOTHER_AGENT */
export async function requireOwn(store: EventStore, sessionId: string, agentId: string): Promise<void> {
  const { agentId: owner } = await store.identify(sessionId);
  if (owner === agentId) return;
  throw new RuntimeError('SESSION_OF_ANOTHER_AGENT', `session ${sessionId} is not one of the agent ${agentId}`, {
    category: 'permission',
    hint: 'Only sessions of your own agent can be opened; session_list shows them.',
  });
}
