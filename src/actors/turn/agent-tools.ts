/** From the tools that an agent names to tools that can be called: what is not there is skipped, with the reason. */
import type { AgentDefinition } from '../../machines/agent/agent-definition.ts';
import { isResourceTool, namedTools } from '../../machines/agent/tool-attachment.ts';
import type { ToolAttachment } from '../../machines/agent/tool-attachment.ts';
import { RuntimeError, messageOf } from '../../machines/errors.ts';
import { agentToolDefinition, customToolDefinition } from '../../machines/turn/agent-tool.ts';
import type { AgentToolInput } from '../../machines/turn/agent-tool.ts';
import { STANDARD_FAMILIES, isToolFamily } from '../../machines/turn/tool-family.ts';
import type { SessionEnvironment } from '../environment/session-environment.ts';
import type { AgentCatalog } from '../session/agent-catalog.ts';
import type { ToolSource } from './tool-source.ts';
import type { Tool, SkippedTool } from './tool.ts';

interface ToolBox {
  /** The managed tools, and those that the program brings. */
  readonly tools: readonly Tool[];
  readonly agents: AgentCatalog;
  /** Where tools of MCP servers come from. */
  readonly source?: ToolSource | undefined;
  /** Absolute: the folder of the agent's file. */
  readonly agentDirectory: string;
  /** In which its tools run. */
  readonly environment?: SessionEnvironment | undefined;
  readonly signal: AbortSignal;
}

export interface BuiltTools {
  /** By the name under which the model calls them. */
  readonly tools: ReadonlyMap<string, Tool>;
  readonly skipped: readonly SkippedTool[];
}

/** @throws RuntimeError AGENT_NOT_FOUND; AGENT_INVALID naming file and line */
export function loadAgent(agentId: string, catalog: AgentCatalog): Promise<AgentDefinition> {
  return catalog.get(agentId);
}

/** The tools of an agent. One that is not there is skipped; the others are not held up by it. */
export async function buildTools(agent: AgentDefinition, box: ToolBox): Promise<BuiltTools> {
  if (agent.permission.mode === 'deny') return { tools: new Map(), skipped: [] };
  const known = [...box.tools, ...ownTools(agent, box)];
  const attachments: readonly ToolAttachment[] =
    agent.tools?.flatMap((attachment) => unfolded(attachment, known)) ?? box.tools.filter(isStandard).map(builtin);
  const built = await Promise.all(attachments.map((attachment) => toolsOrReason(attachment, agent, box)));
  const tools = new Map<string, Tool>();
  const skipped: SkippedTool[] = [];
  for (const each of built.flat()) {
    if ('reason' in each) skipped.push(each);
    else if (tools.has(each.definition.name))
      skipped.push({ name: each.definition.name, reason: 'another tool has the same name' });
    else tools.set(each.definition.name, each);
  }
  return { tools, skipped };
}

/** What the agent brings along itself. */
function ownTools({ agentId }: Pick<AgentDefinition, 'agentId'>, { agents }: Pick<ToolBox, 'agents'>): readonly Tool[] {
  return agents.toolsOf?.(agentId) ?? [];
}

/** The name of a family stands for all its tools, unless some tool has that name. */
function unfolded(attachment: ToolAttachment, tools: readonly Tool[]): readonly ToolAttachment[] {
  const { type, name } = attachment;
  if (type !== 'builtin' || !isToolFamily(name) || tools.some(({ definition }) => definition.name === name))
    return [attachment];
  const family = tools.filter(({ definition }) => definition.family === name).map(builtin);
  return family.length === 0 ? [attachment] : family;
}

function builtin({ definition: { name } }: Tool): Extract<ToolAttachment, { readonly type: 'builtin' }> {
  return { type: 'builtin', name };
}

/** What a program brings is meant for its agents. */
function isStandard({ definition: { family } }: Tool): boolean {
  return family === undefined || STANDARD_FAMILIES.has(family);
}

/**
 * What one entry of an agent's tools stands for.
 * @throws RuntimeError TOOL_UNAVAILABLE, TOOL_SERVER_UNAVAILABLE, AGENT_NOT_FOUND, AGENT_INVALID
 */
export async function mapAgentTool(
  attachment: ToolAttachment,
  agent: Pick<AgentDefinition, 'agentId' | 'mcp'>,
  box: ToolBox,
): Promise<readonly Tool[]> {
  switch (attachment.type) {
    case 'builtin':
      return [await builtinTool(attachment.name, [...box.tools, ...ownTools(agent, box)])];
    case 'agent':
      return [agentTool(attachment, await loadAgent(attachment.agentId, box.agents))];
    case 'mcp':
      return serverTools(attachment, agent, box);
    case 'custom':
      // Without a way to run it the call waits for the result to be sent.
      return [{ definition: customToolDefinition(attachment) }];
  }
}

async function toolsOrReason(
  attachment: ToolAttachment,
  agent: AgentDefinition,
  box: ToolBox,
): Promise<readonly (Tool | SkippedTool)[]> {
  try {
    const tools = await mapAgentTool(attachment, agent, box);
    if (attachment.type !== 'mcp') return tools;
    const missing = namedTools(attachment).filter(
      (name) => !tools.some(({ definition }) => isNamed(definition.name, attachment.server, name)),
    );
    return [
      ...tools,
      ...missing.map((name) => ({
        name: `${attachment.server}__${name}`,
        reason: `the server "${attachment.server}" has no ${isResourceTool(name) ? 'resources' : 'tool of this name'}`,
      })),
    ];
  } catch (error) {
    return [{ name: attachment.name, reason: messageOf(error) }];
  }
}

async function builtinTool(name: string, tools: readonly Tool[]): Promise<Tool> {
  const tool = tools.find(({ definition }) => definition.name === name);
  if (tool === undefined) throw unavailable('no tool of this name is available');
  const reason = await tool.unavailable?.();
  if (reason !== undefined) throw unavailable(reason);
  return tool;
}

/** Another agent: a call of it is a child session with a log and a mailbox of its own. */
function agentTool(
  attachment: Extract<ToolAttachment, { readonly type: 'agent' }>,
  agent: AgentDefinition,
): Tool<AgentToolInput> {
  const { agentId, run, isolation } = attachment;
  return {
    definition: agentToolDefinition(attachment, agent),
    subflow: ({ message }) => ({
      agentId,
      message,
      ...(run === undefined ? {} : { run }),
      ...(isolation === undefined ? {} : { isolation }),
    }),
  };
}

async function serverTools(
  attachment: Extract<ToolAttachment, { readonly type: 'mcp' }>,
  { agentId, mcp }: Pick<AgentDefinition, 'agentId' | 'mcp'>,
  box: ToolBox,
): Promise<readonly Tool[]> {
  const { server: name, tools: wanted, resources } = attachment;
  const server = mcp !== undefined && Object.hasOwn(mcp, name) ? mcp[name] : undefined;
  if (server === undefined) throw unavailable(`the agent file names no MCP server "${name}"`);
  if (box.source === undefined) throw unavailable('this runtime connects to no MCP servers');
  const tools = await box.source.toolsOf({
    agentId,
    agentDirectory: box.agentDirectory,
    name,
    server,
    environment: box.environment,
    signal: box.signal,
    ...(wanted === undefined ? {} : { tools: wanted }),
    ...(resources === undefined ? {} : { resources }),
  });
  return wanted === undefined
    ? tools
    : tools.filter(({ definition }) => namedTools(attachment).some((each) => isNamed(definition.name, name, each)));
}

function isNamed(toolName: string, server: string, wanted: string): boolean {
  return toolName === `${server}__${wanted}` || toolName === wanted;
}

function unavailable(reason: string): RuntimeError {
  return new RuntimeError('TOOL_UNAVAILABLE', reason, {
    category: 'not_found',
    hint: 'Correct the tools of the agent file, or give the runtime the tool.',
  });
}
