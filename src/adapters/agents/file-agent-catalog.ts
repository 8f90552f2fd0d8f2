/** Agents as files: `<agents>/<agentId>/agent.md`. */
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import * as z from 'zod';
import { checkedFrontmatter } from '../../machines/agent/agent-definition.ts';
import type { AgentDefinition, AgentFrontmatter } from '../../machines/agent/agent-definition.ts';
import { frontmatterIssues } from '../../machines/agent/frontmatter-issues.ts';
import { RuntimeError, messageOf } from '../../machines/errors.ts';
import { agentId as agentIdSchema } from '../../machines/ids.ts';
import { parseOrThrow, pathOf } from '../../machines/validate.ts';
import type { AgentCatalog, AgentListing, NewAgent } from '../../actors/session/agent-catalog.ts';
import { isMissing } from '../system/error-codes.ts';
import { ParsedFiles } from '../system/parsed-files.ts';
import { createFile, makeFolder } from '../system/whole-files.ts';
import { formatAgentFile, parseAgentFile } from './agent-file.ts';

/** Of each agent, in its folder. */
export const AGENT_FILE = 'agent.md';

/** Agents whose file is not read again while it is the same. */
const MAX_KNOWN_AGENTS = 256;

interface FileAgentCatalogOptions {
  /** The folder that holds one folder per agent; made with the first agent. */
  readonly agentsDirectory: string;
}

export class FileAgentCatalog implements AgentCatalog {
  readonly #directory: string;
  readonly #files = new ParsedFiles<AgentDefinition>(MAX_KNOWN_AGENTS);

  constructor({ agentsDirectory }: FileAgentCatalogOptions) {
    this.#directory = agentsDirectory;
  }

  async list(): Promise<readonly AgentListing[]> {
    const names = await readdir(this.#directory).catch((error: unknown) => {
      if (isMissing(error)) return [];
      throw unreadable(this.#directory, error);
    });
    const listings = await Promise.all(
      names.filter((name) => agentIdSchema.safeParse(name).success).map((agentId) => this.#listingOf(agentId)),
    );
    return listings
      .flatMap((listing) => listing ?? [])
      .toSorted((one, other) => (one.agentId < other.agentId ? -1 : 1));
  }

  async get(agentId: string): Promise<AgentDefinition> {
    const id = checkAgentId(agentId);
    const path = this.#pathOf(id);
    try {
      return this.#files.load(path, (source) => parseAgentFile({ agentId: id, source, fileName: nameOf(id) }));
    } catch (error) {
      if (RuntimeError.is(error)) throw error;
      throw isMissing(error) ? notFound(id) : unreadable(path, error);
    }
  }

  async create(agent: NewAgent): Promise<AgentDefinition> {
    const { agentId, source } = parseOrThrow(newAgent, agent, { what: 'new agent', code: 'AGENT_INVALID' });
    const id = checkAgentId(agentId);
    const text = typeof source === 'string' ? source : formatParts(source);
    const definition = this.validate(id, text, nameOf(id));
    const folder = join(this.#directory, id);
    try {
      await makeFolder(folder);
      if (!(await createFile(this.#pathOf(id), text))) throw exists(id);
      return definition;
    } catch (error) {
      throw RuntimeError.is(error) ? error : unwritable(this.#pathOf(id), error);
    }
  }

  validate(agentId: string, source: string, fileName: string = nameOf(agentId)): AgentDefinition {
    return parseAgentFile({ agentId: checkAgentId(agentId), source, fileName });
  }

  async #listingOf(agentId: string): Promise<AgentListing | undefined> {
    try {
      return { agentId, definition: await this.get(agentId) };
    } catch (error) {
      if (!RuntimeError.is(error)) throw error;
      // A folder without an agent file is not an agent.
      return error.code === 'AGENT_NOT_FOUND' ? undefined : { agentId, error: error.toJSON() };
    }
  }

  #pathOf(agentId: string): string {
    return join(this.#directory, agentId, AGENT_FILE);
  }
}

const newAgent = z.strictObject({
  agentId: z.unknown(),
  source: z.union([z.string(), z.strictObject({ frontmatter: z.unknown(), instructions: z.string() })], {
    error: 'expected the text of an agent file, or { frontmatter, instructions }',
  }),
});

function formatParts({
  frontmatter,
  instructions,
}: {
  readonly frontmatter: unknown;
  readonly instructions: string;
}): string {
  const parsed = checkedFrontmatter.safeParse(frontmatter);
  if (parsed.success) return formatAgentFile(frontmatter as AgentFrontmatter, instructions);
  const issues = frontmatterIssues(parsed.error, checkedFrontmatter).map(({ path, message }) =>
    path.length === 0 ? message : `${pathOf(path)}: ${message}`,
  );
  throw new RuntimeError('AGENT_INVALID', `agent is not valid: ${issues.join('; ')}`, {
    category: 'validation',
    details: { issues },
  });
}

function checkAgentId(agentId: unknown): string {
  return parseOrThrow(agentIdSchema, agentId, { what: 'agent id', code: 'AGENT_INVALID' });
}

/** How people know the file. */
function nameOf(agentId: string): string {
  return `${agentId}/${AGENT_FILE}`;
}

function notFound(agentId: string): RuntimeError {
  return new RuntimeError('AGENT_NOT_FOUND', `there is no agent "${agentId}"`, {
    category: 'not_found',
    hint: `Create it, or list the agents to see their names; its file would be ${nameOf(agentId)} in the folder "agents" of the home directory. One that is given in code is known to processes that load it: name its wakechart.config.ts with --config FILE, $WAKECHART_CONFIG or the option config.`,
    details: { agentId },
  });
}

function exists(agentId: string): RuntimeError {
  return new RuntimeError('AGENT_EXISTS', `there is an agent "${agentId}" already`, {
    category: 'conflict',
    hint: 'Edit its file, or choose another name.',
    details: { agentId },
  });
}

function unreadable(path: string, cause: unknown): RuntimeError {
  return new RuntimeError('STORAGE_FAILED', `could not read ${path}: ${messageOf(cause)}`, {
    category: 'storage',
    cause,
  });
}

function unwritable(path: string, cause: unknown): RuntimeError {
  return new RuntimeError('STORAGE_FAILED', `could not write ${path}: ${messageOf(cause)}`, {
    category: 'storage',
    cause,
  });
}
