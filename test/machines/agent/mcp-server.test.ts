import { describe, expect, it } from 'vitest';
import { mcpServer } from '../../../src/machines/agent/mcp-server.ts';

describe('an MCP server in an agent file', () => {
  it.each([
    {
      command: 'npx',
      args: ['-y', 'some-server'],
      cwd: 'tools',
      env: { KEY: { env: 'MY_KEY' }, MODE: 'fast' },
      trust: true,
    },
    { command: 'server', timeoutMs: 1, startTimeoutMs: 3_600_000 },
    { url: 'https://example.com/mcp', headers: { Authorization: { env: 'TOKEN' }, 'X-Plain': 'a' } },
    { url: 'http://localhost:3000' },
  ])('may be %j', (server) => {
    expect(mcpServer.parse(server)).toEqual(server);
  });

  it.each([
    [{}],
    [{ command: '' }],
    [{ command: 'a\0b' }],
    [{ command: 'a', url: 'http://localhost' }],
    [{ command: 'a', shell: true }],
    [{ command: 'a', timeoutMs: 0 }],
    [{ command: 'a', timeoutMs: Infinity }],
    [{ command: 'a', trust: 'yes' }],
    [{ command: 'a', env: { 'A=B': 'c' } }],
    [{ command: 'a', env: { A: { env: '' } } }],
    [{ command: 'a', env: { A: 1 } }],
    [{ url: 'ftp://example.com' }],
    [{ url: 'not a url' }],
    [{ url: 'https://user:secret@example.com/mcp' }],
    [{ url: 'https://example.com', headers: { 'bad name': 'a' } }],
  ])('may not be %j', (server) => {
    expect(mcpServer.safeParse(server).success).toBe(false);
  });
});
