/** What binds a session that somebody makes for another one to have it work for that. */
import type { AgentDefinition } from '../../machines/agent/agent-definition.ts';
import { narrowedAgent } from '../../machines/agent/narrowed-agent.ts';
import { ownBounds, withEnvironment } from '../../machines/permission/handed-down.ts';
import type { Restriction } from '../../machines/session/event-schemas.ts';
import type { SessionState } from '../../machines/session/session-state.ts';
import type { AgentCatalog } from '../session/agent-catalog.ts';
import type { SessionEnvironments } from './session-environment.ts';

export interface ChildBoundsPorts {
  readonly agents: Pick<AgentCatalog, 'get'>;
  /** Absent: the runtime knows of no environments. */
  readonly environments?: Pick<SessionEnvironments, 'idFor'> | undefined;
}

/** What the parent may not do: by its agent, by what was narrowed, by its environment, and by whoever it works for. */
export async function childBounds(parent: SessionState, { agents, environments }: ChildBoundsPorts): Promise<Restriction> {
  return boundsWithin(parent, await agents.get(parent.agentId).catch(() => undefined), environments);
}

/** The same where the agent is known. One whose file is gone may do nothing unasked. */
export function boundsWithin(parent: SessionState, definition: AgentDefinition | undefined, environments: ChildBoundsPorts['environments']): Restriction {
  const permission = definition === undefined ? FILE_IS_GONE : narrowedAgent(definition, parent.narrowing).permission;
  return withEnvironment(ownBounds(parent, permission), environments?.idFor(parent, definition));
}

const FILE_IS_GONE = { mode: 'ask', ask: [], deny: [] } as const;
