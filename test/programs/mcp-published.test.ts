/** Servers that others have published, each with what it is made for. */
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { McpServerInput } from '../../src/machines/agent/mcp-server.ts';
import { imageReferencesIn } from '../../src/machines/turn/provider-message.ts';
import { mcpSetup, namesOf, published, runTool } from '../adapters/mcp/mcp-setup.ts';
import type { McpSetup } from '../adapters/mcp/mcp-setup.ts';
import { listeningServer } from './mcp-servers.ts';
import { describeProgram, programFile } from './programs.ts';

let setup: McpSetup;

beforeEach(async () => {
  setup = await mcpSetup();
});
afterEach(() => setup.close());

const PIXEL = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';

describe('@modelcontextprotocol/server-filesystem', () => {
  it('reads, writes, edits and shows what is in its folder, as text, data and images', async () => {
    const folder = join(setup.directory, 'a folder');
    await mkdir(folder);
    const server = { command: process.execPath, args: [published('server-filesystem/dist/index.js'), folder] };
    const path = join(folder, 'note.txt');
    await setup.call(server, 'write_file', { path, content: 'one\ntwo\n' });
    const edits = [{ oldText: 'two', newText: 'three' }];
    // Its schema says that `dryRun`, which has a default, is required.
    expect(JSON.stringify(await setup.call(server, 'edit_file', { path, edits }))).toContain('+three');
    expect(await readFile(path, 'utf8')).toBe('one\nthree\n');
    await writeFile(join(folder, 'dot.png'), Buffer.from(PIXEL, 'base64'));
    const shown = await setup.call(server, 'read_media_file', { path: join(folder, 'dot.png') });
    expect(imageReferencesIn(shown)).toMatchObject([{ mediaType: 'image/png' }]);
    expect(JSON.stringify(await setup.call(server, 'directory_tree', { path: folder }))).toContain('dot.png');
    // No roots are declared: the folder of its command line counts.
    expect(await setup.call(server, 'list_allowed_directories')).toBe(`Allowed directories:\n${folder}`);
    await expect(setup.call(server, 'edit_file', { path, edits })).rejects.toMatchObject({
      code: 'TOOL_CALL_FAILED',
      message: expect.stringContaining('Could not find exact match') as string,
    });
  });
});

describeProgram('mcp-memory', () => {
  it('keeps what it is told, for the next process of it too', async () => {
    const environment = { MEMORY_FILE_PATH: join(setup.directory, 'memory.jsonl') };
    const server = { command: programFile('mcp-memory'), env: environment };
    expect(namesOf(await setup.tools(server))).toHaveLength(9);
    const ada = { name: 'Ada', entityType: 'person', observations: ['likes engines'] };
    expect(await setup.call(server, 'create_entities', { entities: [ada] })).toEqual({
      entities: [ada],
    });
    await expect(
      setup.call(server, 'add_observations', { observations: [{ entityName: 'Bob', contents: ['x'] }] }),
    ).rejects.toMatchObject({ code: 'TOOL_CALL_FAILED', message: 'Entity with name Bob not found' });
    const tools = await setup.tools(server, { tools: ['-'], resources: true });
    const read = tools.find(({ definition }) => definition.name === 's__read_resource');
    expect(await runTool(read, { uri: 'memory://knowledge-graph' })).toMatchObject({
      content: [{ type: 'resource', mediaType: 'application/json', text: expect.stringContaining('Ada') as string }],
    });
    await using other = await anotherSetup();
    expect(await other.call(server, 'search_nodes', { query: 'engine' })).toEqual({ entities: [ada], relations: [] });
  });
});

describeProgram('mcp-sequential-thinking', () => {
  it('counts thoughts in one process for all wakes of an agent', async () => {
    const server = { command: programFile('mcp-sequential-thinking') };
    const thought = { thought: 'Hm.', nextThoughtNeeded: true, thoughtNumber: 1, totalThoughts: 2 };
    const counts = [];
    for (const thoughtNumber of [1, 2])
      counts.push(await setup.call(server, 'sequentialthinking', { ...thought, thoughtNumber }));
    expect(counts).toMatchObject([{ thoughtHistoryLength: 1 }, { thoughtHistoryLength: 2 }]);
    await expect(setup.call(server, 'sequentialthinking', { thought: 'Hm.' })).rejects.toThrow('nextThoughtNeeded');
  });
});

describeProgram('mcp-context7', () => {
  const expectOffline = async (server: McpServerInput): Promise<void> => {
    expect(namesOf(await setup.tools(server))).toEqual(['s__resolve-library-id', 's__query-docs']);
    const query = { libraryName: 'react', query: 'hooks' };
    // It has no service here, and calls that an answer: no error of the protocol.
    expect(await setup.call(server, 'resolve-library-id', query)).toContain('fetch failed');
    await expect(setup.call(server, 'query-docs', {})).rejects.toThrow('libraryId');
  };
  const offline = { CONTEXT7_API_URL: 'http://127.0.0.1:9/api' };

  it('says as a program that it cannot reach its service', async () => {
    await expectOffline({ command: programFile('mcp-context7'), env: offline });
  });

  it('says over HTTP that it cannot reach its service', async () => {
    await using program = await listeningServer({
      file: programFile('mcp-context7'),
      args: (port) => ['--transport', 'http', '--port', String(port)],
      environment: () => ({ HOME: setup.directory, ...offline }),
    });
    await expectOffline({ url: `http://127.0.0.1:${program.port}/mcp` });
    await setup.source.close();
  });
});

async function anotherSetup(): Promise<McpSetup & AsyncDisposable> {
  const other = await mcpSetup();
  return { ...other, [Symbol.asyncDispose]: () => other.close() };
}
