/** An agent that a program gives, instead of a file in the home. */
import { agentDefinitionOf } from '../../machines/agent/agent-in-code.ts';
import type { AgentDefinition, AgentFrontmatter } from '../../machines/agent/agent-definition.ts';
import type { ToolAttachmentInput } from '../../machines/agent/tool-attachment.ts';
import { closestName } from '../../machines/closest-name.ts';
import { RuntimeError } from '../../machines/errors.ts';
import { checkTools } from '../../machines/turn/tool-check.ts';
import { isRecord } from '../../machines/validate.ts';
import type { Tool } from './tool.ts';

export interface AgentOptions extends Omit<AgentFrontmatter, 'name' | 'provider' | 'tools'> {
  /** Lower-case letters, digits, "-" and "_": sessions and its folder in the home are known by it. */
  readonly id: string;
  /** For people. Default: the id. */
  readonly name?: string | undefined;
  /** Default: what stands before the first "/" of `model`. */
  readonly provider?: string | undefined;
  /** What the model is told. */
  readonly instructions: string;
  /** Tools of your own, names of tools and families, and what else an agent file can name. */
  readonly tools?: readonly (Tool | ToolAttachmentInput)[] | undefined;
}

/** What `defineAgent` makes. */
export interface DefinedAgent {
  readonly definition: AgentDefinition;
  /** Tools that this agent brings. No other agent has them. */
  readonly tools: readonly Tool[];
}

/**
 * Makes an agent for `createNodeRuntime({ agents })`: the keys of an agent file, its tools themselves among them.
 * @throws RuntimeError AGENT_INVALID naming the agent and the key; TOOL_INVALID, TOOL_EXISTS
 */
export function defineAgent(options: AgentOptions): DefinedAgent {
  const given: unknown = isRecord(options) ? options.tools : undefined;
  if (!Array.isArray(given)) return Object.freeze({ definition: agentDefinitionOf(options), tools: [] });
  const own = given.filter(isTool);
  for (const [index, each] of given.entries()) refuseUndefinedTool(each, `tools[${index}]`, options.id);
  checkTools(own, `tools of agent ${JSON.stringify(options.id)}`);
  const tools: unknown[] = given.map((each: unknown) => (isTool(each) ? each.definition.name : each));
  return Object.freeze({ definition: agentDefinitionOf({ ...options, tools }), tools: Object.freeze(own) });
}

/** Keys of which each makes an entry another kind of tool. */
const KINDS = ['definition', 'agent', 'mcp', 'custom'];

/** What was meant as a tool of one's own, and was not made into one; a misspelt key of another kind is found later. */
function refuseUndefinedTool(each: unknown, where: string, id: unknown): void {
  if (!isRecord(each)) return;
  const isMeantOtherwise = Object.keys(each).some(
    (key) => KINDS.includes(key) || closestName(key, KINDS) !== undefined,
  );
  if (isMeantOtherwise) return;
  throw new RuntimeError(
    'AGENT_INVALID',
    `agent ${JSON.stringify(id)} is not valid: ${where}: expected a tool as defineTool makes it, or one with agent, mcp or custom`,
    { category: 'validation', hint: 'Make it with defineTool({ name, input, run }).' },
  );
}

function isTool(value: unknown): value is Tool {
  return isRecord(value) && isRecord(value['definition']);
}
