/**
 * An agent under everything that binds it before the policy does: the environment that it works in, what was narrowed,
 * and the sessions that it works for.
 */
import { environmentNames } from '../../actors/environment/environment-names.ts';
import type { AgentDefinition } from '../../machines/agent/agent-definition.ts';
import { narrowedAgent } from '../../machines/agent/narrowed-agent.ts';
import { ownBounds } from '../../machines/permission/handed-down.ts';
import type { SessionState } from '../../machines/session/session-state.ts';
import { FileEnvironmentCatalog } from '../../adapters/environment-files/file-environment-catalog.ts';

export interface BoundedAgentRequest {
  readonly home: string;
  readonly agent: AgentDefinition;
  /** Absent: a session that is not made yet. */
  readonly state: SessionState | undefined;
}

/** @throws RuntimeError ENVIRONMENT_NOT_FOUND, ENVIRONMENT_INVALID */
export async function boundedAgent({ home, agent, state }: BoundedAgentRequest): Promise<AgentDefinition> {
  const catalog = new FileEnvironmentCatalog({ home });
  const { agent: within } = await environmentNames({ catalog }).bind(state ?? {}, agent);
  if (state === undefined) return within;
  const { permission } = narrowedAgent(within, state.narrowing);
  const { mode, ask, deny } = ownBounds(state, permission);
  return { ...within, permission: { ...permission, mode, ask: [...ask], deny: [...deny] } };
}
