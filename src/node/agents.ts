/** The agents of a home, and those that a program gives in code. */
import type { AgentCatalog } from '../actors/session/agent-catalog.ts';
import { refuseFilesOf, withAgentsInCode } from '../actors/session/agents-in-code.ts';
import type { DefinedAgent } from '../actors/turn/define-agent.ts';
import type { Tool } from '../actors/turn/tool.ts';
import { FileAgentCatalog } from '../adapters/agents/file-agent-catalog.ts';
import type { HomeLayout } from '../adapters/files/layout.ts';
import { RuntimeError } from '../machines/errors.ts';

interface GivenAgents {
  readonly agents?: readonly DefinedAgent[] | undefined;
  readonly config?: string | undefined;
}

/** @throws RuntimeError AGENT_DEFINED_TWICE, RUNTIME_OPTIONS_INVALID */
export async function agentsOf(
  layout: HomeLayout,
  { agents: inCode = [], config }: GivenAgents,
): Promise<AgentCatalog> {
  if (config === undefined) refuseUnknownToProcesses(inCode);
  const files = new FileAgentCatalog({ agentsDirectory: layout.agents });
  if (inCode.length === 0) return files;
  await refuseFilesOf(inCode, files);
  return withAgentsInCode(files, inCode);
}

/** The process that works for an agent knows agents in code by the config alone. */
function refuseUnknownToProcesses(inCode: readonly DefinedAgent[]): void {
  for (const { definition } of inCode)
    for (const tool of definition.tools ?? [])
      if (tool.type === 'agent' && tool.run === 'process')
        if (inCode.some((other) => other.definition.agentId === tool.agentId))
          throw new RuntimeError(
            'RUNTIME_OPTIONS_INVALID',
            `the agent "${definition.agentId}" runs the agent "${tool.agentId}" in a process of its own, which does not know agents that are given in code`,
            {
              category: 'validation',
              hint: 'Give the agents in a config module, and name it: createNodeRuntime({ config }). Or leave out run: "process".',
            },
          );
}

/** A tool that an agent brings must not be another one in each agent. @throws RuntimeError TOOL_EXISTS */
export function checkOwnTools(agents: readonly DefinedAgent[], tools: readonly Tool[]): void {
  for (const { definition, tools: own } of agents)
    for (const tool of own) {
      const { name } = tool.definition;
      if (tools.some((other) => other.definition.name === name && other !== tool))
        throw new RuntimeError(
          'TOOL_EXISTS',
          `the agent "${definition.agentId}" brings a tool "${name}", and there is one`,
          {
            category: 'conflict',
            hint: 'Give every tool a name of its own; those of the managed tools are taken.',
          },
        );
    }
}
