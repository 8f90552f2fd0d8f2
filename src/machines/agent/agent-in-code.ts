/** An agent as a program gives it: the keys of an agent file, with its id, its instructions and its model in one word. */
import * as z from 'zod';
import { RuntimeError } from '../errors.ts';
import { agentId } from '../ids.ts';
import { isRecord, pathOf } from '../validate.ts';
import { MAX_AGENT_FILE_CHARACTERS, agentFrontmatter, agreeing, modelText } from './agent-definition.ts';
import type { AgentDefinition } from './agent-definition.ts';
import { frontmatterIssues } from './frontmatter-issues.ts';

const { name, provider } = agentFrontmatter.shape;

const shape = agentFrontmatter.extend({
  id: agentId,
  name: name.optional(),
  /** `provider/model`; beside `provider`, the model alone. */
  provider: provider.optional(),
  instructions: z.string().max(MAX_AGENT_FILE_CHARACTERS),
});

const agentInCode = shape.superRefine((agent, context) => {
  agreeing(agent, context);
  if (agent.provider !== undefined) return;
  const parsed = modelText.safeParse(agent.model);
  for (const { message } of parsed.error?.issues ?? [])
    context.addIssue({ code: 'custom', path: ['model'], message: `${message}; or name its provider beside it` });
});

/** @throws RuntimeError AGENT_INVALID naming the agent and each key that is wrong */
export function agentDefinitionOf(agent: unknown): AgentDefinition {
  const parsed = agentInCode.safeParse(agent, { reportInput: true });
  if (!parsed.success) {
    const issues = frontmatterIssues(parsed.error, shape).map(({ path, message }) =>
      path.length === 0 ? message : `${pathOf(path)}: ${message}`,
    );
    const called = calledIn(agent);
    throw new RuntimeError('AGENT_INVALID', `${called} is not valid: ${issues.join('; ')}`, {
      category: 'validation',
      hint: 'An agent in code needs id, model and instructions; its other keys are those of an agent file.',
      details: { issues },
    });
  }
  const { id, instructions, model, ...rest } = parsed.data;
  const first = rest.provider === undefined ? modelText.parse(model) : { provider: rest.provider, model };
  return Object.freeze({ agentId: id, ...rest, name: rest.name ?? id, ...first, instructions: instructions.trim() });
}

function calledIn(agent: unknown): string {
  return isRecord(agent) && typeof agent['id'] === 'string' && agent['id'] !== ''
    ? `agent ${JSON.stringify(agent['id'].slice(0, 100))}`
    : 'an agent in code';
}
