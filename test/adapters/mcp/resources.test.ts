/** The resources of a server, for agents that name them. */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { McpServerInput } from '../../../src/machines/agent/mcp-server.ts';
import { mcpSetup, namesOf, published, runTool } from './mcp-setup.ts';
import type { McpSetup } from './mcp-setup.ts';

let setup: McpSetup;

beforeEach(async () => {
  setup = await mcpSetup({ environment: { SECRET_KEY: 'correct-horse-battery' } });
});
afterEach(() => setup.close());

async function resource(server: McpServerInput, name: string, input: object): Promise<unknown> {
  const tools = await setup.tools(server, { resources: true });
  const tool = tools.find(({ definition }) => definition.name === `s__${name}`);
  return runTool(tool, input, { workspaceDirectory: setup.directory });
}

const read = (server: McpServerInput, uri: string): Promise<unknown> => resource(server, 'read_resource', { uri });

describe('resources', () => {
  it('are listed and read with tools of their own, where the agent names them', async () => {
    const server = { command: process.execPath, args: [published('server-everything/dist/index.js'), 'stdio'] };
    expect(namesOf(await setup.tools(server)).filter((name) => name.includes('resource'))).toEqual([
      's__get-resource-links',
      's__get-resource-reference',
      's__gzip-file-as-resource',
    ]);
    expect(namesOf(await setup.tools(server, { tools: ['echo'], resources: true }))).toEqual([
      's__echo',
      's__list_resources',
      's__read_resource',
    ]);
    const uri = 'demo://resource/static/document/features.md';
    expect(await resource(server, 'list_resources', {})).toMatchObject({
      resources: expect.arrayContaining([expect.objectContaining({ uri, mimeType: 'text/markdown' })]) as unknown,
      templates: [{ uriTemplate: 'demo://resource/dynamic/text/{resourceId}' }, {}],
    });
    expect(await read(server, uri)).toMatchObject({
      content: [{ type: 'resource', uri, text: expect.stringContaining('Everything Server') as string }],
    });
    const blob = (await read(server, 'demo://resource/dynamic/blob/7')) as { content: [{ path: string }] };
    expect(await readFile(join(setup.directory, blob.content[0].path), 'utf8')).toContain('Resource 7');
    await expect(read(server, 'demo://nowhere')).rejects.toMatchObject({
      code: 'TOOL_CALL_FAILED',
      message: expect.stringContaining('demo://nowhere') as string,
    });
  });

  it('come page by page, without the secrets of the agent file, from a server that knows no templates', async () => {
    const server = { ...setup.fixtureServer('--resources'), env: { KEY: { env: 'SECRET_KEY' } } };
    const first = { resources: [{ uri: 'note://1', name: 'first' }], nextCursor: 'next' };
    expect(await resource(server, 'list_resources', {})).toEqual(first);
    const second = { resources: [{ uri: 'note://2', name: 'second' }] };
    expect(await resource(server, 'list_resources', { cursor: first.nextCursor })).toEqual(second);
    expect(JSON.stringify(await read(server, 'note://1'))).toContain('the key is [redacted SECRET_KEY]');
    await expect(resource(server, 'read_resource', {})).rejects.toThrow('uri');
  });

  it('that a server does not have are left out, which is said', async () => {
    const tools = await setup.tools(setup.fixtureServer(), { tools: ['echo'], resources: true });
    expect(namesOf(tools)).toEqual(['s__echo']);
    expect(setup.news).toContain('left_out: it has no resources, which the agent file names');
  });

  it.each([
    [false, [true, false]],
    [true, [false, true]],
  ])('count as what changes nothing only where the server is trusted: %s', async (trust, expected) => {
    const tools = await setup.tools(
      { ...setup.fixtureServer('--resources'), trust },
      { tools: ['-'], resources: true },
    );
    expect(tools.map(({ definition: { destructive, readOnly } }) => [destructive, readOnly])).toEqual([
      expected,
      expected,
    ]);
  });
});
