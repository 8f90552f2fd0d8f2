/** `wakechart agent …`: makes, lists, shows and checks agent definitions. */
import { basename, dirname, join } from 'node:path';
import { MAX_AGENT_FILE_CHARACTERS } from '../../machines/agent/agent-definition.ts';
import type { AgentDefinition } from '../../machines/agent/agent-definition.ts';
import type { KnownHome } from '../../machines/agent/model-warnings.ts';
import type { McpServer } from '../../machines/agent/mcp-server.ts';
import type { ToolAttachment } from '../../machines/agent/tool-attachment.ts';
import { agentId } from '../../machines/ids.ts';
import { inspectAgentFile } from '../../adapters/agents/agent-file.ts';
import type { AgentFile, Complaint, InspectedAgentFile } from '../../adapters/agents/agent-file.ts';
import { AGENT_FILE } from '../../adapters/agents/file-agent-catalog.ts';
import { HomeLayout } from '../../adapters/files/layout.ts';
import { nextCommand, textAsTyped } from '../context.ts';
import type { CommandContext } from '../context.ts';
import { EXIT_SUCCESS } from '../failure.ts';
import { keepScript, scriptBeside } from './script.ts';
import { chosenModel, modelAgent, needsOf, starterAgent, starterScript } from './starter.ts';
import type { ModelOfAgent } from './starter.ts';
import { absolutePath, makeHome } from '../home.ts';
import { homeProviders, knownHome } from '../open/known-home.ts';
import { untriedPrograms } from '../open/untried-programs.ts';
import { MANAGED_TOOL_NAMES } from '../../machines/turn/managed-tools.ts';
import { STANDARD_FAMILIES } from '../../machines/turn/tool-family.ts';
import { withAgents } from '../open/stores.ts';
import { fieldLines, tableLines } from '../terminal/table.ts';
import { printable } from '../terminal/text.ts';
import { readTextFile } from '../terminal/text-file.ts';
import { isolationsOf, textOfIsolation } from '../isolation.ts';
import { checkedAgentName } from '../usage.ts';

/** A character takes at most four bytes. */
const MAX_AGENT_FILE_BYTES = MAX_AGENT_FILE_CHARACTERS * 4;

export interface AgentCreateOptions {
  readonly name: string;
  readonly from: string | undefined;
  /** Without a file: whose model it works with, and which. */
  readonly provider: string | undefined;
  readonly model: string | undefined;
  /** Whether a command is named that comes next. Default `session`. */
  readonly next?: 'session' | 'none';
}

export async function createAgent(
  context: CommandContext,
  { name, from, next = 'session', ...wanted }: AgentCreateOptions,
): Promise<number> {
  const { out, json } = context;
  const id = checkedAgentName(name);
  const own = wanted.provider === undefined ? {} : await homeProviders(context.home);
  const model = chosenModel(wanted, own);
  const source = from === undefined ? madeUp(id, model) : await readAgentFile(from);
  const known = await knownHome(context, id);
  const { definition: parsed, warnings } = await inspected(
    context,
    { agentId: id, source, fileName: from ?? `${id}.md` },
    known,
  );
  const script =
    from === undefined ? (model === undefined ? starterScript() : undefined) : await scriptBeside(from, parsed);
  await makeHome(context.home);
  await withAgents(context, async ({ agents, layout }) => {
    const definition = await agents.create({ agentId: id, source });
    const folder = layout.agentDirectory(id);
    if (script !== undefined) await keepScript(folder, script);
    await tellWarnings(context, warnings);
    const isolation = await isolationsOf(context, agents).ofAgent(definition);
    if (json) return out.document({ ...definition, folder, isolation });
    // One that is not there was told of already, with its line.
    if (isolation.sandbox === 'unknown' && known?.environments?.includes(isolation.environmentId) !== false)
      await context.err.line(
        `${context.err.styles.yellow('warning:')} ${printable(isolation.problem)}: none of its sessions will wake`,
      );
    await out.line(`${out.styles.green('Created')} agent ${out.styles.bold(id)}`);
    await out.line(`  ${folder}`);
    await out.line(`  works in ${textOfIsolation(isolation)}`);
    if (model !== undefined)
      for (const need of needsOf(model, own)) await out.line(`Needs ${textAsTyped(context, need)}`);
    if (next === 'session') await out.line(`Next: ${nextCommand(context, 'session', 'create', '--agent', id)}`);
  });
  return EXIT_SUCCESS;
}

function madeUp(name: string, model: ModelOfAgent | undefined): string {
  return model === undefined ? starterAgent(name) : modelAgent(name, model);
}

export async function listAgents(context: CommandContext): Promise<number> {
  const { out, json, home } = context;
  const agents = await withAgents(context, (stores) => stores.agents.list());
  if (json) await out.document({ agents });
  else if (agents.length === 0)
    await out.line(`No agents in ${home} yet. Make one: ${nextCommand(context, 'agent', 'create', 'NAME')}`);
  else {
    const rows = agents.map((listing) =>
      'definition' in listing
        ? [listing.agentId, modelOf(listing.definition), listing.definition.description]
        : [listing.agentId, 'invalid', listing.error.message],
    );
    for (const line of tableLines(['AGENT', 'MODEL', 'DESCRIPTION'], rows, out)) await out.line(line);
  }
  return EXIT_SUCCESS;
}

export async function showAgent(context: CommandContext, name: string): Promise<number> {
  const { out, json } = context;
  const id = checkedAgentName(name);
  await withAgents(context, async ({ agents, layout }) => {
    const definition = await agents.get(id);
    const folder = layout.agentDirectory(id);
    const isolation = await isolationsOf(context, agents).ofAgent(definition);
    if (json) return out.document({ ...definition, folder, isolation });
    for (const line of fieldLines(
      [
        ['agent', out.styles.bold(id)],
        ...describe(definition),
        ['environment', textOfIsolation(isolation)],
        isInCode(id, context) ? ['config', context.config?.file] : ['file', join(folder, AGENT_FILE)],
      ],
      out,
    ))
      await out.line(line);
    await out.line(`\n${printable(definition.instructions)}`);
  });
  return EXIT_SUCCESS;
}

/** Checks a file that is not in a home yet, and the script it names. */
export async function validateAgent(context: CommandContext, file: string): Promise<number> {
  const { out, json } = context;
  const source = await readAgentFile(file);
  const { definition: parsed, warnings } = await inspected(
    context,
    { agentId: 'agent', source, fileName: file },
    await knownHome(context, ownerOf(file, context)),
  );
  const { agentId: _, ...definition } = parsed;
  await scriptBeside(file, definition);
  if (json)
    return out.document({ valid: true, file: absolutePath(file), definition, warnings }).then(() => EXIT_SUCCESS);
  await tellWarnings(context, warnings);
  await out.line(
    `${out.styles.green('Valid:')} ${printable(file)} defines "${printable(definition.name)}" (${modelOf(definition)})`,
  );
  return EXIT_SUCCESS;
}

/** Checks it against the home, and the programs that it names against the versions that were tried. */
async function inspected(
  { home }: CommandContext,
  file: AgentFile,
  known: KnownHome | undefined,
): Promise<InspectedAgentFile> {
  const inspectedFile = inspectAgentFile(file, { builtinTools: MANAGED_TOOL_NAMES, home: known });
  if (known === undefined) return inspectedFile;
  const directory = new HomeLayout(home).agentDirectory(file.agentId);
  const programs = await untriedPrograms(inspectedFile.definition, await homeProviders(home), directory);
  if (programs.length === 0) return inspectedFile;
  const untried = Object.fromEntries(programs.map(({ provider, what }) => [provider, what]));
  return inspectAgentFile(file, { builtinTools: MANAGED_TOOL_NAMES, home: { ...known, untried } });
}

/** Whose file it is; undefined for one that is not in the home. */
function ownerOf(file: string, { home }: CommandContext): string | undefined {
  const path = absolutePath(file);
  const id = agentId.safeParse(basename(dirname(path))).data;
  return id !== undefined && new HomeLayout(home).agentDirectory(id) === dirname(path) ? id : undefined;
}

async function tellWarnings({ err, json }: CommandContext, warnings: readonly Complaint[]): Promise<void> {
  if (json) return;
  for (const { line, message } of warnings)
    await err.line(`${err.styles.yellow('warning:')} line ${line}: ${printable(message)}`);
}

function readAgentFile(path: string): Promise<string> {
  return readTextFile({ path, what: 'agent file', maxBytes: MAX_AGENT_FILE_BYTES });
}

function modelOf({ provider, model }: Pick<AgentDefinition, 'provider' | 'model'>): string {
  return `${printable(provider)}/${printable(model)}`;
}

function describe({
  name,
  description,
  provider,
  model,
  profile,
  profiles,
  fallbacks = [],
  tools,
  mcp = {},
  permission,
  context,
  budget,
  skills,
}: AgentDefinition): [string, string | undefined][] {
  const { mode, expiresAfterSeconds } = permission;
  return [
    ['name', printable(name)],
    ['description', printable(description)],
    ['model', choiceText({ provider, model, profile, profiles })],
    ...fallbacks.map((choice): [string, string] => ['fallback', choiceText(choice)]),
    ['tools', tools === undefined ? [...STANDARD_FAMILIES].join(', ') : tools.map(toolText).join(', ') || 'none'],
    ...Object.entries(mcp).map(([server, settings]): [string, string] => [
      `mcp ${printable(server)}`,
      serverText(settings),
    ]),
    ['skills', skills?.map(printable).join(', ')],
    ['permission', mode],
    ...(['allow', 'ask', 'deny'] as const).flatMap((effect) =>
      permission[effect].map((rule): [string, string] => [effect, printable(rule)]),
    ),
    ['answer within', expiresAfterSeconds === undefined ? undefined : `${expiresAfterSeconds} seconds`],
    ['context', fieldsText(context)],
    ['budget', fieldsText(budget)],
  ];
}

function choiceText({
  profile,
  profiles,
  ...choice
}: Pick<AgentDefinition, 'provider' | 'model' | 'profile' | 'profiles'>): string {
  const accounts = profile === undefined ? (profiles ?? []) : [profile];
  return `${modelOf(choice)}${accounts.length === 0 ? '' : `, account ${accounts.map(printable).join(', ')}`}`;
}

function toolText(attachment: ToolAttachment): string {
  switch (attachment.type) {
    case 'builtin':
      return printable(attachment.name);
    case 'agent':
      return `${attachment.name} (the agent ${attachment.agentId})`;
    case 'mcp':
      return `${attachment.tools === undefined ? 'all tools' : attachment.tools.map(printable).join(', ')}${attachment.resources === true ? ' and the resources' : ''} of mcp ${printable(attachment.server)}`;
    case 'custom':
      return `${attachment.name} (run by a client)`;
  }
}

/** Without its environment and headers, which may hold secrets. */
function serverText(server: McpServer): string {
  return printable('url' in server ? server.url : [server.command, ...(server.args ?? [])].join(' '));
}

function fieldsText(fields: object): string {
  return Object.entries(fields)
    .map(([name, value]) => `${name} ${String(value)}`)
    .join(', ');
}

function isInCode(id: string, { config }: CommandContext): boolean {
  return config?.content.agents?.some(({ definition }) => definition.agentId === id) === true;
}
