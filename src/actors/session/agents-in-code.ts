/** The agents that a program gives, before those of a catalog of files. */
import { RuntimeError } from '../../machines/errors.ts';
import type { DefinedAgent } from '../turn/define-agent.ts';
import type { AgentCatalog, AgentListing, NewAgent } from './agent-catalog.ts';

/** @throws RuntimeError AGENT_DEFINED_TWICE when two of them have the same id */
export function withAgentsInCode(files: AgentCatalog, agents: readonly DefinedAgent[]): AgentCatalog {
  const inCode = new Map<string, DefinedAgent>();
  for (const agent of agents) {
    const { agentId } = agent.definition;
    const other = inCode.get(agentId);
    if (other !== undefined && other !== agent)
      throw definedTwice(agentId, 'in code', 'Give each agent an id of its own.');
    inCode.set(agentId, agent);
  }
  return {
    async list() {
      const found = (await files.list()).filter(({ agentId }) => !inCode.has(agentId));
      const own = [...inCode.values()].map(({ definition }): AgentListing => ({
        agentId: definition.agentId,
        definition,
      }));
      return [...found, ...own].toSorted((one, other) => (one.agentId < other.agentId ? -1 : 1));
    },
    get: async (agentId) => inCode.get(agentId)?.definition ?? files.get(agentId),
    toolsOf: (agentId) => inCode.get(agentId)?.tools ?? [],
    async create(agent) {
      if (!inCode.has((agent as Partial<NewAgent> | undefined)?.agentId ?? '')) return files.create(agent);
      throw definedTwice(agent.agentId, 'in code already', 'Change it in code, or choose another name.');
    },
    validate: (...file) => files.validate(...file),
  };
}

/**
 * An agent with a file too: a process that is not given the code would run its sessions by that file.
 * @throws RuntimeError AGENT_DEFINED_TWICE
 */
export async function refuseFilesOf(agents: readonly DefinedAgent[], files: AgentCatalog): Promise<void> {
  for (const { definition } of agents) {
    const { agentId } = definition;
    if (await isThere(agentId, files))
      throw definedTwice(
        agentId,
        'in code and by a file of the home',
        `Remove agents/${agentId}/agent.md from the home (its sessions, skills and memory stay), or give the agent in code another id.`,
      );
  }
}

/** One that cannot be read is there. */
async function isThere(agentId: string, files: AgentCatalog): Promise<boolean> {
  return files.get(agentId).then(
    () => true,
    (error: unknown) => !(RuntimeError.is(error) && error.code === 'AGENT_NOT_FOUND'),
  );
}

function definedTwice(agentId: string, where: string, hint: string): RuntimeError {
  return new RuntimeError('AGENT_DEFINED_TWICE', `the agent "${agentId}" is defined ${where}`, {
    category: 'conflict',
    hint,
    details: { agentId },
  });
}
