/**
 * `wakechart tools`: the tools that come with Wakechart, or those that an agent gets and those that it does not, with
 * the reason.
 */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { buildTools } from '../../actors/turn/agent-tools.ts';
import type { SkippedTool } from '../../actors/turn/tool.ts';
import type { AgentDefinition } from '../../machines/agent/agent-definition.ts';
import type { CatalogueEntry } from '../../machines/turn/tool-catalogue.ts';
import { catalogueEntry, managedToolCatalogue, shapeText } from '../../machines/turn/tool-catalogue.ts';
import { createNodeRuntime } from '../../node/node-runtime.ts';
import { runtimeStore } from '../open/store.ts';
import type { NodeRuntime } from '../../node/node-runtime.ts';
import { HomeLayout } from '../../adapters/files/layout.ts';
import type { CommandContext } from '../context.ts';
import { EXIT_SUCCESS } from '../failure.ts';
import { isHomeThere } from '../home.ts';
import { withAgents } from '../open/stores.ts';
import { tableLines } from '../terminal/table.ts';
import { counted, oneLine } from '../terminal/text.ts';
import { checkedAgentName } from '../usage.ts';

export interface ToolsOptions {
  readonly agent: string | undefined;
}

interface Listed {
  readonly tools: readonly CatalogueEntry[];
  readonly skipped: readonly SkippedTool[];
}

const NOT_ASKED = 'tools of MCP servers are known when a session wakes; no server is started to list them';

export async function listTools(context: CommandContext, { agent }: ToolsOptions): Promise<number> {
  const { out, json } = context;
  const agentId = agent === undefined ? undefined : checkedAgentName(agent);
  const definition = agentId === undefined ? undefined : await withAgents(context, ({ agents }) => agents.get(agentId));
  const listed = await withTools(context, (runtime) =>
    definition === undefined ? Promise.resolve(allOf(runtime)) : toolsOf(definition, runtime, context),
  );
  if (json) await out.document(agentId === undefined ? { tools: listed.tools } : { agentId, ...listed });
  else await show(context, listed);
  return EXIT_SUCCESS;
}

/** A check tools makes no home, and does nothing about what earlier processes left in one. */
async function withTools(context: CommandContext, work: (runtime: NodeRuntime) => Promise<Listed>): Promise<Listed> {
  const aside = (await isHomeThere(context.home)) ? undefined : await mkdtemp(join(tmpdir(), 'wakechart-tools-'));
  try {
    const runtime = await createNodeRuntime({
      home: aside ?? context.home,
      ...runtimeStore({ config: context.config, store: undefined }),
      reconcileOnStart: false,
    });
    try {
      return await work(runtime);
    } finally {
      await runtime.shutdown();
    }
  } finally {
    if (aside !== undefined) await rm(aside, { recursive: true, force: true });
  }
}

function allOf({ tools }: NodeRuntime): Listed {
  return { tools: managedToolCatalogue(tools.map(({ definition }) => definition)), skipped: [] };
}

async function toolsOf(
  definition: AgentDefinition,
  { agents, tools: all }: NodeRuntime,
  { home, interruption }: CommandContext,
): Promise<Listed> {
  const { agentId } = definition;
  const { servers, asked } = withoutServers(definition);
  const { tools, skipped } = await buildTools(asked, {
    tools: all,
    agents,
    agentDirectory: new HomeLayout(home).agentDirectory(agentId),
    signal: interruption.signal,
  });
  const denied =
    definition.permission.mode === 'deny'
      ? [{ name: 'all', reason: 'the permission mode of the agent is "deny"' }]
      : [];
  return {
    tools: [...tools].map(([name, tool]) => ({ ...catalogueEntry(tool.definition), name })),
    skipped: [...denied, ...skipped, ...servers.map((name) => ({ name, reason: NOT_ASKED }))],
  };
}

function withoutServers(definition: AgentDefinition): {
  readonly asked: AgentDefinition;
  readonly servers: readonly string[];
} {
  const { tools } = definition;
  if (tools === undefined) return { asked: definition, servers: [] };
  const servers = tools.flatMap((tool) => (tool.type === 'mcp' ? [tool.server] : []));
  return { asked: { ...definition, tools: tools.filter(({ type }) => type !== 'mcp') }, servers };
}

async function show({ out }: CommandContext, { tools, skipped }: Listed): Promise<void> {
  const rows = tools.map((tool) => [
    tool.name,
    tool.family ?? '-',
    traitsOf(tool),
    shapeText(tool.input),
    tool.description,
  ]);
  for (const line of tableLines(['TOOL', 'FAMILY', '', 'INPUT', 'DOES'], rows, out)) await out.line(line);
  await out.line(counted(tools.length, 'tool'));
  for (const { name, reason } of skipped)
    await out.line(`${out.styles.yellow('skipped')} ${oneLine(name)}: ${oneLine(reason)}`);
}

function traitsOf({ readOnly, destructive, permissionPolicy }: CatalogueEntry): string {
  return [
    readOnly ? 'reads' : 'changes',
    ...(destructive ? ['can destroy'] : []),
    ...(permissionPolicy === 'always_ask' ? ['always asks'] : []),
  ].join(', ');
}
