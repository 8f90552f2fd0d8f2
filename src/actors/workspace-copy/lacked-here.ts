/**
 * Finds out what a session needs and neither the home nor the code of this process has got: its agent, or an
 * environment that holds for it.
 */
import { RuntimeError } from '../../machines/errors.ts';
import type { SessionState } from '../../machines/session/session-state.ts';
import type { CopyBoundsPorts } from './copy-bounds.ts';

/** @returns what, such as `no agent "coder"`. What is there and cannot be read is for the wake itself to say */
export function lackedHere({
  agents,
  environments,
  catalog,
}: CopyBoundsPorts): (
  session: Pick<SessionState, 'agentId' | 'environmentId' | 'restriction'>,
) => Promise<string | undefined> {
  return async (session) => {
    const agent = await found(() => agents.get(session.agentId), 'AGENT_NOT_FOUND');
    if (agent === 'missing') return `no agent ${JSON.stringify(session.agentId)}`;
    if (agent === 'unreadable') return undefined;
    for (const id of new Set([environments.idFor(session, agent), ...(session.restriction?.environments ?? [])])) {
      if ((await found(() => catalog.get(id), 'ENVIRONMENT_NOT_FOUND')) === 'missing')
        return `no environment ${JSON.stringify(id)}`;
    }
    return undefined;
  };
}

async function found<Value>(get: () => Promise<Value>, missingCode: string): Promise<Value | 'missing' | 'unreadable'> {
  try {
    return await get();
  } catch (error) {
    return RuntimeError.is(error) && error.code === missingCode ? 'missing' : 'unreadable';
  }
}
