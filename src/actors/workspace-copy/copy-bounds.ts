/** Finds out why a session can be on one machine only: from its agent, and from the environments that hold for it. */
import { boundBecause } from '../../machines/workspace-copy/copy-binding.ts';
import type { SessionState } from '../../machines/session/session-state.ts';
import type { EnvironmentCatalog } from '../environment/environment-catalog.ts';
import type { SessionEnvironments } from '../environment/session-environment.ts';
import type { AgentCatalog } from '../session/agent-catalog.ts';

export interface CopyBoundsPorts {
  readonly agents: Pick<AgentCatalog, 'get'>;
  readonly environments: Pick<SessionEnvironments, 'idFor'>;
  readonly catalog: Pick<EnvironmentCatalog, 'get'>;
}

/**
 * @returns why; undefined when it goes wherever its copy can be laid out. The function throws what the catalogs throw
 */
export function copyBounds({
  agents,
  environments,
  catalog,
}: CopyBoundsPorts): (session: SessionState) => Promise<string | undefined> {
  return async (session) => {
    const { environmentId, agentId, workspace, restriction } = session;
    const agent = environmentId === undefined ? await agents.get(agentId) : undefined;
    const own = environments.idFor(session, agent);
    const others = [...new Set(restriction?.environments ?? [])].filter((id) => id !== own);
    const [environment, ...rest] = await Promise.all([own, ...others].map((id) => catalog.get(id)));
    return environment === undefined ? undefined : boundBecause({ environment, others: rest, workspace });
  };
}
