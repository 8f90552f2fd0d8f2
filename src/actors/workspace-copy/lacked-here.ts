/**
 * Finds out what a session needs and neither the home nor the code of this process has got: its agent, or an
 * environment that holds for it.
 */
import type { AgentDefinition } from '../../machines/agent/agent-definition.ts';
import { BUILT_IN_ENVIRONMENTS } from '../../machines/environment/environment-definition.ts';
import { RuntimeError } from '../../machines/errors.ts';
import type { SessionState } from '../../machines/session/session-state.ts';
import type { CopyBoundsPorts } from './copy-bounds.ts';

export interface Lacked {
  readonly reason: 'agent_missing' | 'environment_missing';
  /** Such as `no agent "coder"`. */
  readonly what: string;
}

/**
 * @param readAgent a wake that reads it anyway has it read once
 * @returns what. What is there and cannot be read is for the wake itself to say
 */
export type LackedHere = (
  session: Pick<SessionState, 'agentId' | 'environmentId' | 'restriction'>,
  readAgent?: () => Promise<AgentDefinition>,
) => Promise<Lacked | undefined>;

/** Those that every home has. */
const ALWAYS_THERE: ReadonlySet<string> = new Set(BUILT_IN_ENVIRONMENTS.map(({ environmentId }) => environmentId));

export function lackedHere({ agents, environments, catalog }: CopyBoundsPorts): LackedHere {
  return async (session, readAgent = () => agents.get(session.agentId)) => {
    const agent = await found(readAgent, 'AGENT_NOT_FOUND');
    if (agent === 'missing') return { reason: 'agent_missing', what: `no agent ${JSON.stringify(session.agentId)}` };
    if (agent === 'unreadable') return undefined;
    for (const id of new Set([environments.idFor(session, agent), ...(session.restriction?.environments ?? [])])) {
      if (!ALWAYS_THERE.has(id) && (await found(() => catalog.get(id), 'ENVIRONMENT_NOT_FOUND')) === 'missing')
        return { reason: 'environment_missing', what: `no environment ${JSON.stringify(id)}` };
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
