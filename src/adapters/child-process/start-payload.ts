/** What a worker makes of the start that it was sent: the request of the job, and the agent that came along. */
import * as z from 'zod';
import type { NewAgent } from '../../actors/session/agent-catalog.ts';
import type { SubagentJobRequest } from '../../actors/subagent/subagent-runner.ts';
import { agentFrontmatter } from '../../machines/agent/agent-definition.ts';
import type { AgentFrontmatter } from '../../machines/agent/agent-definition.ts';
import { RuntimeError } from '../../machines/errors.ts';
import type { SubagentWorkerStartPayload } from '../../machines/subagent/worker-protocol.ts';
import { checkedTaskRequest } from '../../machines/task/task-request.ts';
import { parseOrThrow } from '../../machines/validate.ts';

const place = z.object({ worktreePath: z.string().optional(), branchName: z.string().optional() });

/** @throws BackgroundTaskError category `validation` saying what is missing */
export function jobRequestOf({ request, permissionMode }: SubagentWorkerStartPayload): SubagentJobRequest {
  const { worktreePath: _path, branchName: _branch, ...rest } = request;
  const { worktreePath, branchName } = parseOrThrow(place, request, {
    what: 'worktree of the job',
    code: 'SUBAGENT_START_INVALID',
  });
  const label = typeof rest['label'] === 'string' ? rest['label'] : rest.agentType;
  const checked = checkedTaskRequest({
    ...rest,
    kind: 'agent',
    label,
    ...(permissionMode === undefined || permissionMode === null ? {} : { permissionPolicy: permissionMode }),
  });
  if (checked.kind !== 'agent')
    throw new RuntimeError('SUBAGENT_START_INVALID', `expected a task of kind agent, received ${checked.kind}`, {
      category: 'validation',
    });
  return {
    ...checked,
    ...(worktreePath === undefined ? {} : { worktreePath }),
    ...(branchName === undefined ? {} : { branchName }),
  };
}

/** @throws RuntimeError AGENT_INVALID; SUBAGENT_START_INVALID for a home that has a catalog of its own */
export function newAgentOf({
  agentDefinition,
  request,
  parentConfig,
}: SubagentWorkerStartPayload): NewAgent | undefined {
  if (agentDefinition === undefined || agentDefinition === null) return undefined;
  if (parentConfig?.home !== undefined) {
    throw new RuntimeError('SUBAGENT_START_INVALID', 'expected either a home or an agent definition, received both', {
      category: 'validation',
      hint: 'Put the agent into the catalog of the home, or leave the home out.',
    });
  }
  const { agentId = request.agentType } = agentDefinition;
  if ('source' in agentDefinition) return { agentId, source: agentDefinition.source };
  const { frontmatter, instructions } = agentDefinition;
  parseOrThrow(agentFrontmatter, frontmatter, { what: 'agent definition', code: 'AGENT_INVALID' });
  // As it was written: what the catalog stores is read once more, with its own defaults.
  return { agentId, source: { frontmatter: frontmatter as AgentFrontmatter, instructions } };
}
