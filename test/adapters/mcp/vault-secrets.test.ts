/**
 * Secrets of vaults on their way to MCP servers, the sandbox that their programs run in, and who shares a connection.
 */
import { createServer } from 'node:http';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { CommandSandbox } from '../../../src/actors/environment/command-sandbox.ts';
import type { SessionEnvironment } from '../../../src/actors/environment/session-environment.ts';
import { environmentWith, secretsWith } from '../../support/vault-setup.ts';
import type { EnvironmentParts } from '../../support/vault-setup.ts';
import { httpMcpServer } from './http-server.ts';
import type { HttpMcpServer } from './http-server.ts';
import { mcpSetup, runTool } from './mcp-setup.ts';
import type { McpSetup } from './mcp-setup.ts';

const SECRET = 'ghp_Sup3rSecretValue42';

let setup: McpSetup;
const servers: HttpMcpServer[] = [];

beforeEach(async () => {
  setup = await mcpSetup();
});
afterEach(async () => {
  await setup.close();
  for (const server of servers.splice(0)) await server.close();
});

async function serve(): Promise<HttpMcpServer & { readonly host: string }> {
  const server = await httpMcpServer();
  servers.push(server);
  return Object.assign(server, { host: new URL(server.url).host });
}

async function withToken({
  hosts = [],
  commands = false,
  ...parts
}: {
  readonly hosts?: readonly string[];
  readonly commands?: boolean;
} & EnvironmentParts = {}): Promise<SessionEnvironment> {
  return environmentWith({
    secrets: await secretsWith({ github: { token: { value: SECRET, hosts: [...hosts], commands } } }),
    ...parts,
  });
}

const headers = { authorization: { vault: 'github/token', prefix: 'Bearer ' } };

describe('a server over HTTP', () => {
  it('gets the secret in its header when it is at a host that the secret is for, and what it says of it is redacted', async () => {
    const server = await serve();
    server.onCall = () => ({
      content: [{ type: 'text', text: `got ${SECRET} as ${Buffer.from(SECRET).toString('hex')}` }],
    });
    const [echo] = await setup.tools(
      { url: server.url, headers },
      { environment: await withToken({ hosts: [server.host] }) },
    );
    expect(server.heard[0]?.headers.authorization).toBe(`Bearer ${SECRET}`);
    expect(await runTool(echo, { text: 'x' })).toBe('got [redacted github/token] as [redacted github/token]');
  });

  it('is not reached when the secret is for another host, unknown, or would travel in the open', async () => {
    const server = await serve();
    await expect(
      setup.tools({ url: server.url, headers }, { environment: await withToken({ hosts: ['api.github.com'] }) }),
    ).rejects.toMatchObject({
      code: 'TOOL_SERVER_UNAVAILABLE',
      message: expect.stringContaining('is not for the host') as string,
    });
    await expect(setup.tools({ url: server.url, headers }, { environment: environmentWith() })).rejects.toThrow(
      'expected a secret of a vault',
    );
    await expect(setup.tools({ url: server.url, headers })).rejects.toThrow('expected a secret of a vault');
    await expect(
      setup.tools(
        { url: 'http://api.github.com/mcp', headers },
        { environment: await withToken({ hosts: ['api.github.com'] }) },
      ),
    ).rejects.toThrow('over https only');
    expect(server.heard).toHaveLength(0);
  });

  it('is not reached where the environment has no network', async () => {
    const server = await serve();
    await expect(
      setup.tools({ url: server.url }, { environment: environmentWith({ network: 'disabled', sandbox: 'required' }) }),
    ).rejects.toThrow('has no network');
    expect(server.heard).toHaveLength(0);
  });

  it('cannot send the secret on to another host by a redirect', async () => {
    const stolen: (string | undefined)[] = [];
    const thief = createServer((request, response) => {
      stolen.push(request.headers.authorization);
      response.writeHead(200).end('{}');
    });
    thief.listen(0, '127.0.0.1');
    await once(thief, 'listening');
    try {
      const server = await serve();
      server.intercept = (_heard, response) => {
        response.writeHead(307, { location: `http://127.0.0.1:${(thief.address() as AddressInfo).port}/` }).end();
        return true;
      };
      await expect(
        setup.tools({ url: server.url, headers }, { environment: await withToken({ hosts: [server.host] }) }),
      ).rejects.toMatchObject({ code: 'TOOL_SERVER_UNAVAILABLE' });
      expect(stolen).toEqual([]);
    } finally {
      thief.closeAllConnections();
      thief.close();
      await once(thief, 'close');
    }
  });
});

describe('the program of a server', () => {
  const env = { KEY: { vault: 'github/token' } };

  it('gets the secret in its environment when it is for commands, and what it says of it is redacted', async () => {
    const server = { ...setup.fixtureServer(), env: { ...setup.fixtureServer().env, ...env } };
    await expect(setup.tools(server, { environment: await withToken() })).rejects.toThrow('is not for commands');
    const tools = await setup.tools(server, { environment: await withToken({ commands: true }) });
    const call = (name: string): Promise<unknown> =>
      runTool(tools.find(({ definition }) => definition.name === `s__${name}`));
    expect(JSON.parse(String(await call('env')))).toMatchObject({ KEY: '[redacted github/token]' });
    await expect(call('crash')).rejects.toThrow('the key is [redacted github/token]');
  });

  it('runs in the sandbox of the session, from its workspace', async () => {
    const wrapped: string[] = [];
    const sandbox: CommandSandbox = {
      kind: 'bubblewrap',
      wrapCommand: (command) => command,
      wrapProgram: ({ command, args }, cwd) => {
        wrapped.push(cwd);
        return { command: '/usr/bin/env', args: ['SHUT_IN=yes', command, ...args] };
      },
    };
    const mounts = [{ kind: 'workspace', path: '/workspace', directory: setup.directory, access: 'rw' }] as const;
    const environment = await withToken({ sandbox: 'required', shutIn: sandbox, mounts });
    const tools = await setup.tools(setup.fixtureServer(), { environment });
    const told = await runTool(tools.find(({ definition }) => definition.name === 's__env'));
    expect(JSON.parse(String(told))).toMatchObject({ SHUT_IN: 'yes' });
    expect(new Set(wrapped)).toEqual(new Set([setup.directory]));
    await expect(setup.tools({ ...setup.fixtureServer(), cwd: '/' }, { environment })).rejects.toThrow(
      'not mounted in its sandbox',
    );
  });

  it('is shared by sessions that are alike, and by no others', async () => {
    const server = setup.fixtureServer();
    const mounts = (directory: string) => [{ kind: 'workspace', path: '/workspace', directory, access: 'rw' }] as const;
    const sandbox: CommandSandbox = {
      kind: 'bubblewrap',
      wrapCommand: (command) => command,
      wrapProgram: (program) => program,
    };
    const pidIn = async (environment: SessionEnvironment | undefined): Promise<unknown> => {
      const tools = await setup.tools(server, { environment });
      return runTool(tools.find(({ definition }) => definition.name === 's__pid'));
    };
    const plain = await pidIn(undefined);
    expect(await pidIn(environmentWith())).toBe(plain);
    const secret = await pidIn(await withToken());
    expect(secret).not.toBe(plain);
    expect(await pidIn(await withToken())).toBe(secret);
    const shutIn = { sandbox: 'required', shutIn: sandbox } as const;
    const one = await pidIn(environmentWith({ ...shutIn, mounts: mounts(setup.directory) }));
    expect([plain, secret]).not.toContain(one);
    expect(await pidIn(environmentWith({ ...shutIn, mounts: mounts(setup.directory) }))).toBe(one);
    expect(
      await pidIn(
        environmentWith({
          ...shutIn,
          mounts: [
            ...mounts(setup.directory),
            { kind: 'declared', path: '/data', directory: setup.directory, access: 'ro' },
          ],
        }),
      ),
    ).not.toBe(one);
  });
});
