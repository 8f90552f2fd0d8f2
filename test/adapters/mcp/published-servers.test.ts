/** Servers that others have written and published. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { ToolProgress } from '../../../src/actors/turn/tool.ts';
import type { McpServerInput } from '../../../src/machines/agent/mcp-server.ts';
import { fileKindOf } from '../../../src/machines/turn/files/file-kind.ts';
import { imageReferencesIn } from '../../../src/machines/turn/provider-message.ts';
import { mcpSetup, namesOf, published } from './mcp-setup.ts';
import type { McpSetup } from './mcp-setup.ts';

let setup: McpSetup;

beforeEach(async () => {
  setup = await mcpSetup({ environment: { SECRET_KEY: 'correct-horse-battery' } });
});
afterEach(async () => {
  await setup.close();
});

const everything = published('server-everything/dist/index.js');

async function exerciseEverything(server: McpServerInput): Promise<void> {
  expect(namesOf(await setup.tools(server))).toEqual(
    expect.arrayContaining(['s__echo', 's__get-sum', 's__get-tiny-image']),
  );
  expect(await setup.call(server, 'echo', { message: 'hello' })).toBe('Echo: hello');
  expect(await setup.call(server, 'get-sum', { a: 2, b: 3 })).toBe('The sum of 2 and 3 is 5.');
  await expect(setup.call(server, 'get-sum', { a: 'two', b: 3 })).rejects.toThrow(/expected number/);
  const [image] = imageReferencesIn(await setup.call(server, 'get-tiny-image'));
  expect(image).toMatchObject({ type: 'image', mediaType: 'image/png' });
  expect(fileKindOf(await readFile(join(setup.directory, image?.path ?? '')))).toEqual({
    kind: 'image',
    mediaType: 'image/png',
  });
  expect(await setup.call(server, 'get-structured-content', { location: 'New York' })).toEqual({
    temperature: 33,
    conditions: 'Cloudy',
    humidity: 82,
  });
  expect(await setup.call(server, 'get-resource-links', { count: 2 })).toMatchObject({
    content: expect.arrayContaining([expect.objectContaining({ type: 'resource_link' })]) as unknown,
  });
  const seen: ToolProgress[] = [];
  const operation = await setup.call(
    server,
    'trigger-long-running-operation',
    { duration: 0.2, steps: 4 },
    { onProgress: (progress) => seen.push(progress) },
  );
  expect(String(operation)).toContain('completed');
  expect(seen.map(({ done }) => done)).toEqual([1, 2, 3, 4]);
}

describe('the server "everything"', () => {
  it('works as a program', async () => {
    const server = { command: process.execPath, args: [everything, 'stdio'], env: { API_KEY: { env: 'SECRET_KEY' } } };
    await exerciseEverything(server);
    const environment = String(await setup.call(server, 'get-env'));
    expect(environment).toContain('[redacted SECRET_KEY]');
    expect(environment).not.toContain('correct-horse');
  });

  it('works over HTTP', async () => {
    const port = await freePort();
    const program = spawn(process.execPath, [everything, 'streamableHttp'], {
      env: { ...process.env, PORT: String(port) },
      stdio: ['ignore', 'ignore', 'pipe'],
    });
    const closed = once(program, 'close');
    try {
      await once(createInterface(program.stderr), 'line');
      await exerciseEverything({ url: `http://127.0.0.1:${port}/mcp` });
      expect(setup.news[0]).toBe('connected: connected');
      await setup.source.close();
    } finally {
      program.kill('SIGKILL');
      await closed;
    }
  });
});

describe('the server "filesystem"', () => {
  it('reads and writes within its folder, and says why it does not elsewhere', async () => {
    const folder = join(setup.directory, 'a folder');
    await mkdir(folder);
    await writeFile(join(folder, 'note.txt'), 'remember the milk');
    const server = { command: process.execPath, args: [published('server-filesystem/dist/index.js'), folder] };
    const text = await setup.call(server, 'read_text_file', { path: join(folder, 'note.txt') });
    expect(JSON.stringify(text)).toContain('remember the milk');
    await setup.call(server, 'write_file', { path: join(folder, 'other.txt'), content: 'and the bread' });
    expect(JSON.stringify(await setup.call(server, 'list_directory', { path: folder }))).toContain('other.txt');
    await expect(setup.call(server, 'read_text_file', { path: '/etc/passwd' })).rejects.toMatchObject({
      code: 'TOOL_CALL_FAILED',
      message: expect.stringContaining('Access denied') as string,
    });
    await expect(setup.call(server, 'read_text_file', {})).rejects.toThrow(/path/);
  });
});

/** One that nobody had a moment ago. */
async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, 'close');
  return port;
}
