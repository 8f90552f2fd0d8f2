/**
 * Requests of agents: where they may go, what they take along, and what comes back, against real servers on loopback.
 */
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { gzipSync } from 'node:zlib';
import { afterEach, describe, expect, it } from 'vitest';
import { createSimulatedClock } from '../../../src/actors/clock/simulated-clock.ts';
import { createSystemClock } from '../../../src/actors/clock/system-clock.ts';
import type { ToolContext } from '../../../src/actors/turn/tool.ts';
import { createHttpRequestTool } from '../../../src/adapters/http-request/http-request-tool.ts';
import type { HttpRequestToolOptions } from '../../../src/adapters/http-request/http-request-tool.ts';
import { decidePermission } from '../../../src/machines/permission/permission-decision.ts';
import { parseRule } from '../../../src/machines/permission/permission-rule.ts';
import { httpRequestDefinition, httpRequestInput } from '../../../src/machines/turn/http-request.ts';
import type { HttpRequestOutput } from '../../../src/machines/turn/http-request.ts';
import { environmentWith, secretsWith } from '../../support/vault-setup.ts';

const SECRET = 'ghp_Sup3rSecretValue42';

type Answer = (request: IncomingMessage, response: ServerResponse, body: string) => void;

interface HeardRequest {
  readonly method: string | undefined;
  readonly url: string | undefined;
  readonly headers: IncomingMessage['headers'];
  readonly body: string;
}

interface TestServer {
  readonly host: string;
  readonly heard: HeardRequest[];
}

const servers: Server[] = [];

afterEach(async () => {
  for (const server of servers.splice(0)) {
    server.closeAllConnections();
    server.close();
    await once(server, 'close');
  }
});

async function serve(answer: Answer): Promise<TestServer> {
  const heard: HeardRequest[] = [];
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const body = Buffer.concat(chunks).toString();
      heard.push({ method: request.method, url: request.url, headers: request.headers, body });
      answer(request, response, body);
    });
  });
  servers.push(server);
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return { host: `127.0.0.1:${(server.address() as AddressInfo).port}`, heard };
}

const echo: Answer = (request, response, body) =>
  response
    .writeHead(200, { 'content-type': 'application/json', 'x-echo': request.headers.authorization ?? 'none' })
    .end(JSON.stringify({ headers: request.headers, body }));

interface CallOptions extends Partial<HttpRequestToolOptions> {
  readonly hosts?: readonly string[];
  readonly sandbox?: 'required' | 'off';
  readonly network?: 'open' | 'disabled';
  readonly signal?: AbortSignal;
}

async function call(
  input: object,
  {
    hosts = [],
    sandbox = 'off',
    network = 'open',
    signal = new AbortController().signal,
    ...options
  }: CallOptions = {},
): Promise<HttpRequestOutput> {
  const tool = createHttpRequestTool({ clock: createSystemClock(), userAgent: 'tests', ...options });
  const secrets = await secretsWith({ github: { token: { value: SECRET, hosts: [...hosts] } } });
  const context: ToolContext = {
    session: { sessionId: 's', agentId: 'a' },
    callId: 'c',
    workspaceDirectory: '/',
    signal,
    environment: environmentWith({ secrets, sandbox, network }),
  };
  return (await tool.run?.(httpRequestInput.parse(input), context)) as HttpRequestOutput;
}

const withToken = { authorization: { vault: 'github/token', prefix: 'Bearer ' } };

describe('a request', () => {
  it('sends a JSON body and gives back status, headers and text', async () => {
    const { host, heard } = await serve(echo);
    const output = await call({ method: 'POST', url: `http://${host}/things?x=1`, json: { a: 1 } });
    expect(output).toMatchObject({
      status: 200,
      url: `http://${host}/things?x=1`,
      headers: { 'content-type': 'application/json' },
    });
    expect(JSON.parse(output.body ?? '')).toMatchObject({ body: '{"a":1}' });
    expect(heard[0]).toMatchObject({
      method: 'POST',
      url: '/things?x=1',
      headers: { 'content-type': 'application/json', 'content-length': '7', 'user-agent': 'tests' },
    });
    expect(httpRequestDefinition.outputSchema?.safeParse(output).success).toBe(true);
  });

  it('is stopped with its call, and when its time is up', async () => {
    const { host } = await serve(() => undefined);
    const stop = new AbortController();
    const stopped = call({ url: `http://${host}/` }, { signal: stop.signal });
    stop.abort(new Error('enough'));
    await expect(stopped).rejects.toThrow('enough');
    const clock = createSimulatedClock();
    const arrived = serve((_request, response) => {
      response.writeHead(200).write('beginning');
      clock.advanceNow(5_000);
    });
    await expect(call({ url: `http://${(await arrived).host}/`, timeoutSeconds: 5 }, { clock })).rejects.toMatchObject({
      code: 'HTTP_TIMEOUT',
    });
  });

  it('reads as much as was asked for, unpacked, and says that there is more', async () => {
    const { host } = await serve((_request, response) =>
      response
        .writeHead(200, { 'content-type': 'text/plain', 'content-encoding': 'gzip' })
        .end(gzipSync('x'.repeat(50_000_000))),
    );
    expect(await call({ url: `http://${host}/`, maxBytes: 100 })).toMatchObject({
      body: 'x'.repeat(100),
      bytes: 100,
      truncated: true,
    });
  });

  it('shows no body that is no text', async () => {
    const { host } = await serve((_request, response) =>
      response.writeHead(200, { 'content-type': 'image/png' }).end(Buffer.from([0x89, 0x50, 0xff, 0xfe])),
    );
    const output = await call({ url: `http://${host}/` });
    expect(output.body).toBeUndefined();
    expect(output.note).toContain('no text (image/png)');
  });

  it('is sent as it was judged', async () => {
    const { host, heard } = await serve(echo);
    expect(await call({ url: `http://${host}/%61dmin/%c3%a9%2561` })).toMatchObject({
      url: `http://${host}/admin/%C3%A9%2561`,
    });
    expect(heard[0]?.url).toBe('/admin/%C3%A9%2561');
  });

  it('fails in words that say where', async () => {
    const { host } = await serve((request) => request.socket.destroy());
    await expect(call({ url: `http://${host}/` })).rejects.toMatchObject({
      code: 'HTTP_REQUEST_FAILED',
      message: expect.stringContaining(host) as string,
    });
    await expect(call({ url: 'http://nowhere.invalid/' })).rejects.toMatchObject({ code: 'HOST_NOT_FOUND' });
  });

  it.each([
    ['another scheme', { url: 'file:///etc/passwd' }],
    ['a password in the URL', { url: 'http://user:pass@example.com/' }],
    ['a slash that is hidden', { url: 'http://example.com/a/..%2fadmin' }],
    ['a backslash', { url: 'http://example.com\\@evil.example/' }],
    ['a header of the connection', { url: 'http://example.com/', headers: { Host: 'other' } }],
    ['a line end in a header', { url: 'http://example.com/', headers: { 'x-a': 'b\r\nx-c: d' } }],
    ['a body with GET', { url: 'http://example.com/', body: 'x' }],
    ['two bodies', { method: 'POST', url: 'http://example.com/', body: 'x', json: 1 }],
    ['unknown keys', { url: 'http://example.com/', proxy: 'x' }],
  ])('is refused with %s', (_what, input) => {
    expect(httpRequestInput.safeParse(input).success).toBe(false);
  });
});

describe('a secret in a header', () => {
  it('arrives at a host that it is for, and comes back from it as its name only', async () => {
    const { host, heard } = await serve((request, response, body) => {
      response.setHeader('set-cookie', [`t=${SECRET}`, `b=${Buffer.from(SECRET).toString('base64')}`]);
      echo(request, response, body);
    });
    const output = await call({ url: `http://${host}/`, headers: withToken }, { hosts: [host] });
    expect(heard[0]?.headers.authorization).toBe(`Bearer ${SECRET}`);
    expect(JSON.stringify(output)).not.toContain(SECRET);
    expect(output.headers).toMatchObject({
      'x-echo': 'Bearer [redacted github/token]',
      'set-cookie': 't=[redacted github/token], b=[redacted github/token]==',
    });
  });

  it('is not sent to another host, to another port, or where nobody has said where it may go', async () => {
    const { host, heard } = await serve(echo);
    for (const hosts of [['api.github.com'], ['127.0.0.1'], ['127.0.0.1:1'], ['*.0.0.1x.example'], []]) {
      await expect(call({ url: `http://${host}/`, headers: withToken }, { hosts })).rejects.toMatchObject({
        code: 'SECRET_NOT_FOR_HOST',
      });
    }
    expect(heard).toHaveLength(0);
  });

  it('is not sent over plain http, but to this machine itself', async () => {
    await expect(
      call({ url: 'http://api.github.com/', headers: withToken }, { hosts: ['api.github.com'] }),
    ).rejects.toMatchObject({ code: 'SECRET_NEEDS_HTTPS' });
  });

  it('follows a redirect to the same path, and none that leads elsewhere', async () => {
    const other = await serve(echo);
    const own = await serve((request, response, body) => {
      if (request.url === '/inside') response.writeHead(307, { location: '/%69nside?again' }).end();
      else if (request.url === '/outside') response.writeHead(302, { location: `http://${other.host}/stolen` }).end();
      else echo(request, response, body);
    });
    const hosts = [own.host, other.host];
    expect(await call({ url: `http://${own.host}/inside`, headers: withToken }, { hosts })).toMatchObject({
      status: 200,
      url: `http://${own.host}/inside?again`,
    });
    expect(own.heard.at(-1)).toMatchObject({
      method: 'GET',
      url: '/inside?again',
      headers: { authorization: `Bearer ${SECRET}` },
    });
    const refused = await call({ url: `http://${own.host}/outside`, headers: withToken }, { hosts });
    expect(refused).toMatchObject({
      status: 302,
      note: expect.stringContaining(`http://${other.host}/stolen`) as string,
    });
    expect(other.heard).toHaveLength(0);
  });

  it('is cut with the answer, and no half of it is left', async () => {
    const { host } = await serve((_request, response) =>
      response.writeHead(200, { 'content-type': 'text/plain' }).end(`0123456789${SECRET} and more`),
    );
    const output = await call({ url: `http://${host}/`, headers: withToken, maxBytes: 25 }, { hosts: [host] });
    expect(output).toMatchObject({ body: '0123456789', truncated: true });
  });
});

describe('redirects', () => {
  it('are followed five times at most', async () => {
    const { host, heard } = await serve((_request, response) => response.writeHead(302, { location: '?again' }).end());
    expect(await call({ url: `http://${host}/` })).toMatchObject({
      status: 302,
      note: expect.stringContaining('no more are followed') as string,
    });
    expect(heard).toHaveLength(6);
  });

  it.each([
    ['of what is no reading', 'POST', '/public?x', '/public?y'],
    ['to another path of the same host, which a rule may forbid', 'GET', '/public', '/admin'],
    ['to another path in other words', 'HEAD', '/public', '/public/../%61dmin'],
  ])('are given back %s', async (_what, method, path, location) => {
    const { host, heard } = await serve((_request, response) => response.writeHead(307, { location }).end());
    expect(await call({ method, url: `http://${host}${path}` })).toMatchObject({
      status: 307,
      note: expect.stringContaining('was not followed') as string,
    });
    expect(heard.map(({ url }) => url)).toEqual([path]);
  });
});

describe('where a request may go', () => {
  it('is nowhere when the environment has no network', async () => {
    const { host, heard } = await serve(echo);
    await expect(call({ url: `http://${host}/` }, { network: 'disabled', sandbox: 'required' })).rejects.toMatchObject({
      code: 'NETWORK_DISABLED',
    });
    expect(heard).toHaveLength(0);
  });

  it('is not this machine or its network from a sandbox, however it is written', async () => {
    const { host } = await serve(echo);
    const port = host.split(':')[1] ?? '';
    for (const name of [
      '127.0.0.1',
      'localhost',
      '2130706433',
      '0x7f.1',
      '0177.0.0.1',
      '[::1]',
      '[::ffff:127.0.0.1]',
      '127.1',
      '10.1.2.3',
      '192.168.1.1',
      '[fd12::1]',
      '0.0.0.0',
    ]) {
      await expect(call({ url: `http://${name}:${port}/` }, { sandbox: 'required' })).rejects.toMatchObject({
        code: 'ADDRESS_FORBIDDEN',
      });
    }
  });

  it('is never what clouds tell their machines', async () => {
    for (const name of [
      '169.254.169.254',
      '[fe80::1]',
      '[::ffff:169.254.169.254]',
      '[64:ff9b::a9fe:a9fe]',
      '[fd00:ec2::254]',
      '100.100.100.200',
      '0.0.0.0',
      '224.0.0.1',
    ]) {
      await expect(call({ url: `http://${name}/latest/meta-data` })).rejects.toMatchObject({
        code: 'ADDRESS_FORBIDDEN',
      });
    }
  });

  it('is the address that was checked, though the name means another one a moment later', async () => {
    const { host, heard } = await serve(echo);
    const port = host.split(':')[1] ?? '';
    let checks = 0;
    const find: HttpRequestToolOptions['find'] = async () => [
      { address: (checks += 1) === 1 ? '127.0.0.1' : '169.254.169.254', family: 4 },
    ];
    expect(await call({ url: `http://rebound.example:${port}/` }, { find })).toMatchObject({ status: 200 });
    expect(checks).toBe(1);
    expect(heard[0]?.headers.host).toBe(`rebound.example:${port}`);
    await expect(
      call(
        { url: `http://mixed.example:${port}/` },
        {
          find: async () => [
            { address: '93.184.216.34', family: 4 },
            { address: '10.0.0.1', family: 4 },
          ],
          sandbox: 'required',
        },
      ),
    ).rejects.toMatchObject({ code: 'ADDRESS_FORBIDDEN' });
  });

  it('is what rules about hosts and paths say', () => {
    const tool = createHttpRequestTool({ clock: createSystemClock(), userAgent: 'tests' });
    const decide = (url: string, ...rules: readonly string[]): string => {
      const subject = tool.subject?.(httpRequestInput.parse({ url }), {
        session: { sessionId: 's', agentId: 'a' },
        workspaceDirectory: '/work',
      }) ?? { kind: 'tool' };
      return decidePermission({
        definition: tool.definition,
        subject,
        workspaceDirectory: '/work',
        mode: rules.some((rule) => rule.startsWith('allow')) ? 'ask' : 'preapproved',
        policy: rules.map(parseRule),
        sessionRules: [],
        humans: 'reachable',
      }).decision;
    };
    expect(decide('https://api.github.com/repos/a/b?x=1', 'allow http_request(api.github.com/**)')).toBe('allow');
    expect(decide('https://api.github.com:8443/repos', 'allow http_request(api.github.com/**)')).toBe('ask');
    expect(decide('https://evil.example/api.github.com/x', 'allow http_request(api.github.com/**)')).toBe('ask');
    expect(decide('https://api.github.com/repos/../admin', 'allow http_request(api.github.com/repos/**)')).toBe('ask');
    expect(decide('https://api.github.com/x', 'deny http_request(api.github.com/**)')).toBe('deny');
    for (const written of ['/admin/x', '/%61dmin/x', '/a/%2e%2e/%61%64%6D%69%6e/x'])
      expect(decide(`https://api.github.com${written}`, 'deny http_request(api.github.com/admin/**)')).toBe('deny');
    expect(decide('https://api.github.com./admin', 'deny http_request(api.github.com/**)')).toBe('deny');
    expect(decide('https://other.example/x', 'deny http_request(api.github.com/**)')).toBe('allow');
  });
});
