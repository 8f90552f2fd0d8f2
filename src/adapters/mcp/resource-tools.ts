/**
 * The resources of a server as tools of the model: to list them and to read one, as the answers of its other tools link
 * to them.
 */
import * as z from 'zod';
import { RESOURCE_TOOLS } from '../../machines/agent/tool-attachment.ts';
import { RuntimeError } from '../../machines/errors.ts';
import type { CallResult } from './call-result.ts';
import type { LinkRequest, McpLink } from './mcp-link.ts';

const [LIST, READ] = RESOURCE_TOOLS;

/** As a server would list them that had such tools itself. */
const TOOLS = [
  {
    name: LIST,
    description: `Lists the resources that ${READ} can read, and templates of addresses for more.`,
    inputSchema: {
      type: 'object',
      properties: { cursor: { type: 'string', description: 'The nextCursor of the last answer, to go on after it.' } },
      additionalProperties: false,
    },
    annotations: { readOnlyHint: true },
  },
  {
    name: READ,
    description: 'Reads a resource, such as one that the answer of a tool links to.',
    inputSchema: {
      type: 'object',
      properties: { uri: { type: 'string', description: 'Its address.' } },
      required: ['uri'],
      additionalProperties: false,
    },
    annotations: { readOnlyHint: true },
  },
] as const;

export type ResourceTool = (typeof RESOURCE_TOOLS)[number];

/** Those that the server has no tool of its own for. */
export function resourceToolsBeside(names: readonly string[]): readonly (typeof TOOLS)[number][] {
  return TOOLS.filter(({ name }) => !names.includes(name));
}

const entries = z.array(z.record(z.string(), z.unknown()));
const resourcesPage = z.looseObject({ resources: entries, nextCursor: z.string().optional() });
const templatesPage = z.looseObject({ resourceTemplates: entries });
const contents = z.looseObject({ contents: z.array(z.unknown()) });

/** The code of the protocol for a method that a server does not have. */
const NO_SUCH_METHOD = -32_601;

interface ResourceQuestion {
  readonly tool: ResourceTool;
  readonly input: Readonly<Record<string, unknown>>;
}

/** What the tool answers, in the form of an answer of the server. @throws as McpLink.ask */
export async function askForResources(
  link: McpLink,
  { tool, input }: ResourceQuestion,
  request: LinkRequest,
): Promise<CallResult> {
  if (tool === LIST) return { content: [], structuredContent: await listed(link, input, request) };
  const question = { method: 'resources/read', params: { uri: input['uri'] }, what: 'a read of a resource' } as const;
  const read = await link.ask(question, contents, request);
  return { content: read.contents.map((resource) => ({ type: 'resource', resource })) };
}

async function listed(
  link: McpLink,
  { cursor }: Readonly<Record<string, unknown>>,
  request: LinkRequest,
): Promise<object> {
  const params = cursor === undefined ? {} : { cursor };
  const what = 'what resources it has';
  const { resources, nextCursor } = await link.ask({ method: 'resources/list', params, what }, resourcesPage, request);
  const templates = cursor === undefined ? await templatesOf(link, request) : [];
  return {
    resources,
    ...(templates.length > 0 && { templates }),
    ...(nextCursor !== undefined && nextCursor !== '' && { nextCursor }),
  };
}

/** None where the server knows no templates. */
async function templatesOf(link: McpLink, request: LinkRequest): Promise<readonly object[]> {
  const question = { method: 'resources/templates/list', params: {}, what: 'what resources it has' } as const;
  try {
    return (await link.ask(question, templatesPage, request)).resourceTemplates;
  } catch (error) {
    if (RuntimeError.is(error) && error.details?.['code'] === NO_SUCH_METHOD) return [];
    throw error;
  }
}
