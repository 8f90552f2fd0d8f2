/**
 * Finds out what a session needs and neither the home nor the code of this process has got: its agent, or an
 * environment that holds for it.
 */
import type { AgentDefinition } from '../../machines/agent/agent-definition.ts';
import { BUILT_IN_ENVIRONMENTS } from '../../machines/environment/environment-definition.ts';
import { RuntimeError } from '../../machines/errors.ts';
import type { Lack } from '../../machines/session/lack.ts';
import type { SessionState } from '../../machines/session/session-state.ts';
import type { CopyBoundsPorts } from './copy-bounds.ts';

/**
 * @param readAgent a wake that reads it anyway has it read once
 * @returns undefined: nothing. What is there and cannot be read is for the wake itself to say
 */
export type LackedHere = (
  session: Pick<SessionState, 'agentId' | 'environmentId' | 'restriction'>,
  readAgent?: () => Promise<AgentDefinition>,
) => Promise<Lack | undefined>;

/** Those that every home has. */
const ALWAYS_THERE: ReadonlySet<string> = new Set(BUILT_IN_ENVIRONMENTS.map(({ environmentId }) => environmentId));

export function lackedHere({ agents, environments, catalog }: CopyBoundsPorts): LackedHere {
  return async (session, readAgent = () => agents.get(session.agentId)) => {
    const agent = await found(readAgent, 'AGENT_NOT_FOUND');
    if (agent === 'missing') return { what: 'agent', id: session.agentId };
    if (agent === 'unreadable') return undefined;
    for (const id of new Set([environments.idFor(session, agent), ...(session.restriction?.environments ?? [])])) {
      if (!ALWAYS_THERE.has(id) && (await found(() => catalog.get(id), 'ENVIRONMENT_NOT_FOUND')) === 'missing')
        return { what: 'environment', id };
    }
    return undefined;
  };
}

interface PlacePorts<Copies> {
  readonly workspaceCopies?: Copies | undefined;
  readonly lackedHere?: LackedHere | undefined;
}

/** What a wake asks: copies that come along ask themselves what is lacking. */
export function placesOf<Copies>({ workspaceCopies, lackedHere: lacked }: PlacePorts<Copies>): PlacePorts<Copies> {
  return workspaceCopies === undefined ? { lackedHere: lacked } : { workspaceCopies };
}

async function found<Value>(get: () => Promise<Value>, missingCode: string): Promise<Value | 'missing' | 'unreadable'> {
  try {
    return await get();
  } catch (error) {
    return RuntimeError.is(error) && error.code === missingCode ? 'missing' : 'unreadable';
  }
}
