/** `wakechart agent …`: makes, lists, shows and checks agent definitions. */
import { MAX_AGENT_FILE_CHARACTERS } from '../../../machines/agent/agent-definition.ts';
import type { AgentDefinition } from '../../../machines/agent/agent-definition.ts';
import { agentId } from '../../../machines/ids.ts';
import { parseAgentFile } from '../../agents/agent-file.ts';
import { nextCommand } from '../context.ts';
import type { CommandContext } from '../context.ts';
import { EXIT_SUCCESS } from '../failure.ts';
import { keepScript, scriptBeside } from '../agent-script.ts';
import { starterAgent, starterScript } from '../agent-starter.ts';
import { absolutePath, makeHome } from '../home.ts';
import { withAgents } from '../stores.ts';
import { fieldLines, tableLines } from '../table.ts';
import { printable } from '../text.ts';
import { readTextFile } from '../text-file.ts';
import { usageError } from '../usage.ts';

/** A character takes at most four bytes. */
const MAX_AGENT_FILE_BYTES = MAX_AGENT_FILE_CHARACTERS * 4;

export interface AgentCreateOptions {
  readonly name: string;
  readonly from: string | undefined;
}

export async function createAgent(context: CommandContext, { name, from }: AgentCreateOptions): Promise<number> {
  const { out, json } = context;
  const id = checkedAgentName(name);
  const source = from === undefined ? starterAgent(id) : await readAgentFile(from);
  const script = from === undefined ? starterScript() : await scriptBeside(from, parseAgentFile({ agentId: id, source, fileName: from }));
  await makeHome(context.home);
  await withAgents(context, async ({ agents, layout }) => {
    const definition = await agents.create({ agentId: id, source });
    const folder = layout.agentDirectory(id);
    if (script !== undefined) await keepScript(folder, script);
    if (json) return out.document({ ...definition, folder });
    await out.line(`${out.styles.green('Created')} agent ${out.styles.bold(id)}`);
    await out.line(`  ${folder}`);
    await out.line(`Next: ${nextCommand(context, 'session', 'create', '--agent', id)}`);
  });
  return EXIT_SUCCESS;
}

export async function listAgents(context: CommandContext): Promise<number> {
  const { out, json, home } = context;
  const agents = await withAgents(context, (stores) => stores.agents.list());
  if (json) await out.document({ agents });
  else if (agents.length === 0) await out.line(`No agents in ${home} yet. Make one: ${nextCommand(context, 'agent', 'create', 'NAME')}`);
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
    if (json) return out.document({ ...definition, folder });
    for (const line of fieldLines([['agent', out.styles.bold(id)], ...describe(definition), ['folder', folder]], out)) await out.line(line);
    await out.line(`\n${printable(definition.instructions)}`);
  });
  return EXIT_SUCCESS;
}

/** Checks a file that is not in a home yet, and the script it names. */
export async function validateAgent(context: CommandContext, file: string): Promise<number> {
  const { out, json } = context;
  const source = await readAgentFile(file);
  const { agentId: _, ...definition } = parseAgentFile({ agentId: 'agent', source, fileName: file });
  await scriptBeside(file, definition);
  if (json) await out.document({ valid: true, file: absolutePath(file), definition });
  else await out.line(`${out.styles.green('Valid:')} ${printable(file)} defines "${printable(definition.name)}" (${modelOf(definition)})`);
  return EXIT_SUCCESS;
}

/** @throws a usage error: a name that cannot be one is seen without looking anywhere */
export function checkedAgentName(name: string): string {
  const parsed = agentId.safeParse(name);
  if (parsed.success) return parsed.data;
  throw usageError(`expected the name of an agent, received ${JSON.stringify(name)}`, 'A name has lower-case letters, digits, "-" and "_", at most 64 of them, such as code-reviewer.');
}

function readAgentFile(path: string): Promise<string> {
  return readTextFile({ path, what: 'agent file', maxBytes: MAX_AGENT_FILE_BYTES });
}

function modelOf({ provider, model }: Pick<AgentDefinition, 'provider' | 'model'>): string {
  return `${printable(provider)}/${printable(model)}`;
}

function describe(definition: AgentDefinition): [string, string | undefined][] {
  const { maxModelStepsPerWake } = definition.budget;
  return [
    ['name', printable(definition.name)],
    ['description', printable(definition.description)],
    ['model', modelOf(definition)],
    ['tools', definition.tools === undefined ? 'all managed tools' : definition.tools.map(({ name }) => printable(name)).join(', ') || 'none'],
    ['permission', definition.permission.mode],
    ['budget', maxModelStepsPerWake === undefined ? undefined : `${maxModelStepsPerWake} model steps per wake`],
  ];
}
