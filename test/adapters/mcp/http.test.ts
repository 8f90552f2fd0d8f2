import type { ServerResponse } from 'node:http';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createSimulatedClock } from '../../../src/actors/clock/simulated-clock.ts';
import { eventually } from '../process-tree/system-processes.ts';
import { httpMcpServer } from './http-server.ts';
import type { HttpMcpServer, HttpServerOptions } from './http-server.ts';
import { mcpSetup, namesOf } from './mcp-setup.ts';
import type { McpSetup } from './mcp-setup.ts';

let setup: McpSetup;
let servers: HttpMcpServer[];

beforeEach(async () => {
  servers = [];
  setup = await mcpSetup({ environment: { TOKEN: 'Bearer correct-horse-battery', BROKEN_TOKEN: 'correct-horse\n' } });
});
afterEach(async () => {
  await setup.close();
  for (const server of servers) await server.close();
});

const start = async (options?: HttpServerOptions): Promise<HttpMcpServer> => {
  const server = await httpMcpServer(options);
  servers.push(server);
  return server;
};

const stream = (response: ServerResponse): ServerResponse =>
  response.writeHead(200, { 'content-type': 'text/event-stream' });
const anyMessage = (text: string): unknown => expect.stringContaining(text);

describe.each([
  ['streams', {}],
  ['streams that can be resumed', { isResumable: true }],
  ['plain JSON', { isPlain: true }],
])('a server over HTTP that answers with %s', (_name, options) => {
  it('offers its tools and runs them, in one session that is ended with the source', async () => {
    const server = await start(options);
    expect(namesOf(await setup.tools({ url: server.url }))).toEqual(['s__echo', 's__wait']);
    const calls = ['a', 'b', 'c'].map((text) => setup.call({ url: server.url }, 'echo', { text }));
    expect(await Promise.all(calls)).toEqual(['a', 'b', 'c']);
    expect(server.heard.filter(({ rpc }) => rpc === 'initialize')).toHaveLength(1);
    expect(server.openSessions).toBe(1);
    await setup.source.close();
    expect(server.openSessions).toBe(0);
    expect(server.heard.some(({ method }) => method === 'DELETE')).toBe(true);
  });

  it('is told when a call is stopped', async () => {
    const server = await start(options);
    let told: AbortSignal | undefined;
    server.onCall = (_tool, _args, { signal }) => {
      told = signal;
      return new Promise(() => undefined);
    };
    const stop = new AbortController();
    const call = setup.call({ url: server.url }, 'wait', {}, { signal: stop.signal });
    call.catch(() => undefined);
    const signal = await eventually(() => told, 'the call runs');
    stop.abort(new Error('enough'));
    await expect(call).rejects.toThrow('enough');
    await eventually(() => signal.aborted, 'the server has heard');
  });

  it('that no longer knows the session is asked again in a new one', async () => {
    const server = await start(options);
    await setup.call({ url: server.url }, 'echo', { text: 'a' });
    server.forgetSessions();
    expect(await setup.call({ url: server.url }, 'echo', { text: 'b' })).toBe('b');
    expect(server.heard.filter(({ rpc }) => rpc === 'initialize')).toHaveLength(2);
  });
});

describe('the headers of the agent file', () => {
  it('reach the server with each request', async () => {
    const server = await start();
    await setup.call({ url: server.url, headers: { Authorization: { env: 'TOKEN' } } }, 'echo', { text: 'a' });
    expect(new Set(server.heard.map(({ headers }) => headers.authorization))).toEqual(
      new Set(['Bearer correct-horse-battery']),
    );
  });

  it('do not follow a redirect to another origin', async () => {
    const [server, other] = [await start(), await start()];
    server.intercept = (_heard, response) => {
      response.writeHead(307, { location: other.url }).end();
      return true;
    };
    const failure = await setup
      .tools({ url: server.url, headers: { Authorization: { env: 'TOKEN' } } })
      .catch((error: unknown) => error);
    expect(failure).toMatchObject({ code: 'TOOL_SERVER_UNAVAILABLE', message: anyMessage('not followed') });
    expect(other.heard).toEqual([]);
  });

  it('follow a redirect within the origin', async () => {
    const server = await start();
    const seen = new Set<string>();
    server.intercept = ({ body }, response) => {
      if (seen.has(body) || body === '') return false;
      seen.add(body);
      response.writeHead(307, { location: '/elsewhere' }).end();
      return true;
    };
    expect(await setup.call({ url: server.url }, 'echo', { text: 'a' })).toBe('a');
  });

  it.each([
    ['NO_TOKEN', 'NO_TOKEN'],
    ['BROKEN_TOKEN', 'BROKEN_TOKEN'],
  ])('that cannot be resolved are refused by name: %s', async (env, name) => {
    const failure = await setup
      .tools({ url: 'http://127.0.0.1:1/', headers: { Authorization: { env } } })
      .catch((error: unknown) => error);
    expect(failure).toMatchObject({ code: 'TOOL_SERVER_UNAVAILABLE', message: anyMessage(name) });
    expect(JSON.stringify(failure)).not.toContain('correct-horse');
  });

  it('do not show in what is said about an error, even when the server repeats them', async () => {
    const server = await start();
    server.intercept = ({ headers }, response) => {
      response.writeHead(401).end(`bad token: ${headers.authorization}`);
      return true;
    };
    const failure = await setup
      .tools({ url: server.url, headers: { Authorization: { env: 'TOKEN' } } })
      .catch((error: unknown) => error);
    expect(failure).toMatchObject({ code: 'TOOL_SERVER_UNAVAILABLE', message: anyMessage('HTTP 401') });
    expect(JSON.stringify([failure, setup.news])).not.toContain('correct-horse');
    expect(server.heard).toHaveLength(1);
  });
});

describe('a server over HTTP in trouble', () => {
  it('that nobody can reach is tried a few times', async () => {
    const server = await start();
    await server.close();
    servers.length = 0;
    const failure = await setup.tools({ url: server.url, startTimeoutMs: 1_000 }).catch((error: unknown) => error);
    expect(failure).toMatchObject({ code: 'TOOL_SERVER_UNAVAILABLE', message: anyMessage('ECONNREFUSED') });
  });

  it('that fails at first is tried again', async () => {
    const server = await start();
    let failures = 2;
    server.intercept = (_heard, response) => {
      if (failures === 0) return false;
      failures -= 1;
      response.writeHead(503).end('not yet');
      return true;
    };
    expect(namesOf(await setup.tools({ url: server.url }))).toContain('s__echo');
  });

  it('that answers a call with HTTP 500 fails this call only', async () => {
    const server = await start();
    await setup.tools({ url: server.url });
    let hasFailed = false;
    server.intercept = ({ rpc }, response) => {
      if (rpc !== 'tools/call' || hasFailed) return false;
      hasFailed = true;
      response.writeHead(500).end('x'.repeat(1_000_000));
      return true;
    };
    const failure = await setup.call({ url: server.url }, 'echo', { text: 'a' }).catch((error: unknown) => error);
    expect(failure).toMatchObject({ code: 'TOOL_CALL_FAILED', details: { status: 500 } });
    expect((failure as Error).message.length).toBeLessThan(3_000);
    expect(await setup.call({ url: server.url }, 'echo', { text: 'b' })).toBe('b');
    expect(server.heard.filter(({ rpc }) => rpc === 'initialize')).toHaveLength(1);
  });

  it('that drops the stream of an answer fails the call at once, and the next one connects again', async () => {
    const server = await start();
    await setup.tools({ url: server.url });
    server.intercept = ({ rpc }, response) => {
      if (rpc !== 'tools/call') return false;
      stream(response).write('event: message\ndata: {"jsonrpc":"2.0","method":"notifications/mess');
      setTimeout(() => response.destroy(), 20);
      return true;
    };
    await expect(setup.call({ url: server.url }, 'echo', { text: 'a' })).rejects.toMatchObject({
      code: 'TOOL_SERVER_LOST',
      message: anyMessage('ended before the answer'),
    });
    server.intercept = () => false;
    expect(await setup.call({ url: server.url }, 'echo', { text: 'b' })).toBe('b');
  });

  it('that ends the stream of an answer too early fails the call at once', async () => {
    const server = await start();
    await setup.tools({ url: server.url });
    server.intercept = ({ rpc }, response) => {
      if (rpc !== 'tools/call') return false;
      stream(response).end(': nothing\n\n');
      return true;
    };
    await expect(setup.call({ url: server.url }, 'echo', { text: 'a' })).rejects.toMatchObject({
      code: 'TOOL_SERVER_LOST',
    });
  });

  it('that drops a stream which can be resumed is resumed, and the answer arrives', async () => {
    const server = await start({ isResumable: true });
    await setup.tools({ url: server.url });
    let finish: () => void = () => undefined;
    server.onCall = async (_tool, _args, { progress }) => {
      const finished = new Promise<void>((resolve) => {
        finish = resolve;
      });
      await progress(1);
      await finished;
      return { content: [{ type: 'text', text: 'after all' }] };
    };
    let call: Promise<unknown> | undefined;
    await new Promise<void>((resolve) => {
      call = setup.call({ url: server.url }, 'wait', {}, { onProgress: () => resolve() });
    });
    server.dropStreams();
    finish();
    expect(await call).toBe('after all');
    expect(server.heard.some(({ method, headers }) => method === 'GET' && headers['last-event-id'] !== undefined)).toBe(
      true,
    );
    expect(server.heard.filter(({ rpc }) => rpc === 'tools/call')).toHaveLength(1);
  });

  it.each([
    ['refuses to resume', 409],
    ['resumes with nothing, again and again', 200],
  ])('that %s fails the call', async (_what, status) => {
    const server = await start();
    await setup.tools({ url: server.url });
    server.intercept = ({ rpc, method }, response) => {
      if (rpc === 'tools/call') stream(response).end('id: e1\nretry: 0\ndata:\n\n');
      else if (method === 'GET' && status === 200) stream(response).end(': nothing\n\n');
      else if (method === 'GET') response.writeHead(status).end();
      else return false;
      return true;
    };
    await expect(setup.call({ url: server.url }, 'echo', { text: 'a' })).rejects.toMatchObject({
      code: 'TOOL_SERVER_LOST',
      message: anyMessage('broke off'),
    });
    const gets = server.heard.filter(
      ({ method, headers }) => method === 'GET' && headers['last-event-id'] === 'e1',
    ).length;
    expect(gets).toBeLessThanOrEqual(3);
  });

  it.each([
    ['plain', 'application/json'],
    ['streamed', 'text/event-stream'],
  ])('whose %s answer never ends fails the call', async (_what, type) => {
    const server = await start();
    await setup.tools({ url: server.url });
    let written = 0;
    server.intercept = ({ rpc }, response) => {
      if (rpc !== 'tools/call') return false;
      response
        .writeHead(200, { 'content-type': type })
        .write('data: {"jsonrpc":"2.0","id":1,"result":{"content":[{"type":"text","text":"');
      const chunk = 'x'.repeat(1024 * 1024);
      const more = (): void => {
        if (response.destroyed) return;
        written += 1;
        response.write(chunk, () => setImmediate(more));
      };
      more();
      return true;
    };
    await expect(setup.call({ url: server.url }, 'echo', { text: 'a' })).rejects.toMatchObject({
      code: 'TOOL_RESULT_TOO_LARGE',
    });
    expect(written).toBeLessThan(64);
    server.dropStreams();
  });

  it('that hangs is given up when its time is over, and its connection with it', async () => {
    const server = await start();
    await setup.tools({ url: server.url });
    let hung: ServerResponse | undefined;
    server.intercept = ({ rpc }, response) => {
      if (rpc !== 'tools/call') return false;
      hung = response;
      return true;
    };
    const failure = await setup
      .call({ url: server.url, timeoutMs: 100 }, 'echo', { text: 'a' })
      .catch((error: unknown) => error);
    expect(failure).toMatchObject({ code: 'TOOL_CALL_TIMEOUT' });
    await eventually(() => hung?.destroyed, 'the connection is closed');
  });

  it('that keeps dropping its own stream is not asked for it without end', async () => {
    const server = await start();
    server.intercept = ({ method }, response) => {
      if (method !== 'GET') return false;
      stream(response).end('retry: 0\n\n');
      return true;
    };
    expect(await setup.call({ url: server.url }, 'echo', { text: 'a' })).toBe('a');
    await eventually(() => server.heard.filter(({ method }) => method === 'GET').length >= 2, 'it is asked again');
    // As long as these take it could have asked many times.
    for (let calls = 0; calls < 30; calls += 1) await setup.call({ url: server.url }, 'echo', { text: 'a' });
    expect(server.heard.filter(({ method }) => method === 'GET').length).toBeLessThanOrEqual(4);
  });

  it('that is no MCP server is refused at once', async () => {
    const server = await start();
    server.intercept = (_heard, response) => {
      response.writeHead(200, { 'content-type': 'text/html' }).end('<html></html>');
      return true;
    };
    await expect(setup.tools({ url: server.url })).rejects.toMatchObject({
      code: 'TOOL_SERVER_UNAVAILABLE',
      message: anyMessage('text/html'),
    });
    expect(server.heard).toHaveLength(1);
  });

  it('that does not answer the end of the session is not waited for', async () => {
    const clock = createSimulatedClock();
    const own = await mcpSetup({ clock });
    const server = await start();
    await own.tools({ url: server.url });
    let hasAsked = false;
    server.intercept = ({ method }) => {
      hasAsked ||= method === 'DELETE';
      return method === 'DELETE';
    };
    const closing = own.close();
    await eventually(() => hasAsked, 'the end is announced');
    await clock.advance(2_000);
    await closing;
    expect(clock.pendingTimers).toBe(0);
  });
});
