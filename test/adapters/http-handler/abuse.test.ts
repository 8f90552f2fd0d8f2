/** What strangers send: it is refused as JSON, before anything is done, and gives nothing of the server away. */
import { describe, expect, it } from 'vitest';
import { createHttpHandler } from '../../../src/adapters/http-handler/handler.ts';
import { RuntimeError } from '../../../src/machines/errors.ts';
import { AT, codeIn, serve, sessionOf } from './served.ts';

const refuses = (): undefined => undefined;

const ID = '0192f0c1-2345-7abc-8def-0123456789ab';

describe('a handler', () => {
  it.each([
    ['nothing', {}],
    ['no function', { authorize: true }],
    ['an option that there is not', { authorize: refuses, cros: {} }],
    ['a path without its slash', { authorize: refuses, basePath: 'agent' }],
    ['an origin with a path', { authorize: refuses, cors: { origins: ['https://a.example/x'] } }],
  ])('is not made of %s', async (_, options) => {
    await using served = await serve();
    expect(() => createHttpHandler(served.setup.runtime, options as never)).toThrowError(
      expect.objectContaining({ code: 'API_OPTIONS_INVALID' }),
    );
  });
});

describe('a request', () => {
  it.each(['/sessions', `/sessions/${ID}`, '/openapi.json', '/nothing'])(
    'of which it is not known who sends it gets nothing: %s',
    async (path) => {
      await using served = await serve();
      const response = await served.handler(new Request(AT + path));
      expect([response.status, await codeIn(response)]).toEqual([401, 'API_UNAUTHORIZED']);
      expect(response.headers.get('access-control-allow-origin')).toBeNull();
    },
  );

  it.each([
    ['GET', '/nothing', 404, 'API_ROUTE_NOT_FOUND', null],
    ['DELETE', `/sessions/${ID}`, 405, 'API_METHOD_NOT_ALLOWED', 'GET, HEAD, OPTIONS'],
    ['PUT', '/sessions', 405, 'API_METHOD_NOT_ALLOWED', 'POST, GET, HEAD, OPTIONS'],
    ['GET', '/chat', 405, 'API_METHOD_NOT_ALLOWED', 'POST, OPTIONS'],
    ['GET', '/sessions/..%2f..%2fetc%2fpasswd', 404, 'SESSION_NOT_FOUND', null],
    ['GET', '/sessions/%00', 404, 'SESSION_NOT_FOUND', null],
    ['GET', '/sessions/a%0d%0aset-cookie:%20x=1', 404, 'SESSION_NOT_FOUND', null],
    ['GET', `/sessions/${'x'.repeat(5_000)}`, 404, 'SESSION_NOT_FOUND', null],
    ['GET', '/sessions?limit=0', 400, 'API_REQUEST_INVALID', null],
    ['GET', '/sessions?limit=1&limit=2', 400, 'API_REQUEST_INVALID', null],
    ['GET', '/sessions?__proto__=1', 400, 'API_REQUEST_INVALID', null],
    ['GET', '/openapi.json?x=1', 400, 'API_REQUEST_INVALID', null],
    ['GET', `/sessions/${ID}?x=1`, 400, 'API_REQUEST_INVALID', null],
    ['GET', '/sessions?owner=ada', 400, 'API_REQUEST_INVALID', null],
    ['GET', `/sessions/${ID}/events?from=x`, 400, 'API_REQUEST_INVALID', null],
  ])('%s %s is answered with %i %s', async (method, path, status, code, allow) => {
    await using served = await serve();
    const response = await served.handler(new Request(AT + path, { method, headers: { 'x-subject': 'ada' } }));
    expect([response.status, await codeIn(response), response.headers.get('allow')]).toEqual([status, code, allow]);
    expect([...response.headers.keys()]).not.toContain('set-cookie');
  });

  it('hears that a name of its query comes twice', async () => {
    await using served = await serve();
    expect(await (await served.get('/sessions?limit=1&limit=2')).json()).toMatchObject({
      error: { message: 'expected limit once in the query' },
    });
  });

  it.each([
    ['no JSON', '{', 'application/json', 400, 'API_BODY_INVALID'],
    ['bytes that are no text', new Uint8Array([0xff, 0xfe]), 'application/json', 400, 'API_BODY_INVALID'],
    ['a form', 'text=Hi', 'application/x-www-form-urlencoded', 415, 'API_BODY_TYPE'],
    ['text', '{"text":"Hi"}', 'text/plain', 415, 'API_BODY_TYPE'],
    ['nothing', '', 'application/json', 400, 'API_REQUEST_INVALID'],
    ['a key that there is not', '{"text":"Hi","path":"/etc/passwd"}', 'application/json', 400, 'API_REQUEST_INVALID'],
    [
      'files of the server',
      '{"text":"Hi","attachments":[{"path":"/etc/passwd"}]}',
      'application/json',
      400,
      'API_REQUEST_INVALID',
    ],
    ['too much', JSON.stringify({ text: 'x'.repeat(2_000) }), 'application/json', 413, 'API_BODY_TOO_LARGE'],
  ])('with %s for a body is refused', async (_, body, type, status, code) => {
    await using served = await serve({ maxBodyBytes: 1_000 });
    const id = await sessionOf(served, []);
    const response = await served.handler(
      new Request(`${AT}/sessions/${id}/messages`, {
        method: 'POST',
        headers: { 'x-subject': 'ada', 'content-type': type },
        body,
      }),
    );
    expect([response.status, await codeIn(response)]).toEqual([status, code]);
    expect(await served.setup.types(id)).toEqual(['session.created']);
  });

  it('whose body has no end is cut off at the limit', async () => {
    await using served = await serve({ maxBodyBytes: 1_000 });
    let pulled = 0;
    let isCancelled = false;
    const body = new ReadableStream<Uint8Array>({
      pull: (controller) => {
        pulled += 1;
        controller.enqueue(new Uint8Array(100));
      },
      cancel: () => void (isCancelled = true),
    });
    const response = await served.handler(
      new Request(`${AT}/sessions`, {
        ...{ method: 'POST', body, duplex: 'half' },
        headers: { 'x-subject': 'ada', 'content-type': 'application/json' },
      }),
    );
    expect([response.status, isCancelled]).toEqual([413, true]);
    expect(pulled).toBeLessThan(20);
  });

  it.each(['', 'x'.repeat(300)])('with the idempotency key %j is refused', async (key) => {
    await using served = await serve();
    const id = await sessionOf(served, []);
    const response = await served.post(
      `/sessions/${id}/messages`,
      { text: 'Hi' },
      { headers: { 'idempotency-key': key } },
    );
    expect([response.status, await codeIn(response)]).toEqual([400, 'API_REQUEST_INVALID']);
  });

  it('that comes too often is told when to come again; those of others are not touched', async () => {
    await using served = await serve({ rate: { perMinute: 60, burst: 2 } });
    const ask = (as: string): Promise<Response> => served.get('/sessions', { as });
    expect([(await ask('ada')).status, (await ask('ada')).status]).toEqual([200, 200]);
    const late = await ask('ada');
    expect([late.status, late.headers.get('retry-after'), await codeIn(late)]).toEqual([429, '1', 'API_RATE_LIMITED']);
    expect((await ask('bob')).status).toBe(200);
    await served.setup.clock.advance(1_000);
    expect([(await ask('ada')).status, (await ask('ada')).status]).toEqual([200, 429]);
  });
});

describe('an error', () => {
  it.each([
    [new Error('ENOENT: /srv/agents/secret'), 500, 'API_FAILED'],
    [
      new RuntimeError('STORAGE_FAILED', 'could not read /srv/agents/log', { category: 'storage' }),
      503,
      'API_UNAVAILABLE',
    ],
    [
      new RuntimeError('AGENT_INVALID', '/srv/agents/AGENT.md is not valid', { category: 'validation' }),
      500,
      'API_FAILED',
    ],
  ])('of the server is told to its operator, and not to the client: %s', async (error, status, code) => {
    await using served = await serve({
      authorize: () => {
        throw error;
      },
    });
    const response = await served.get('/sessions');
    const text = await response.text();
    expect([response.status, text]).toEqual([status, expect.stringContaining(code)]);
    expect(text).not.toMatch(/srv|stack|at /);
    expect(served.errors).toEqual([error]);
  });
});

describe('pages of other origins', () => {
  const preflight = (origin: string): Request =>
    new Request(`${AT}/sessions`, {
      method: 'OPTIONS',
      headers: { origin, 'access-control-request-method': 'POST' },
    });

  it('may not call unless they are named', async () => {
    await using closed = await serve();
    expect(
      (await closed.handler(preflight('https://app.example'))).headers.get('access-control-allow-origin'),
    ).toBeNull();
    await using open = await serve({ cors: { origins: ['https://app.example'] } });
    const asked = await open.handler(preflight('https://app.example'));
    expect([asked.status, asked.headers.get('access-control-allow-origin')]).toEqual([204, 'https://app.example']);
    const answered = await open.get('/sessions', { headers: { origin: 'https://app.example' } });
    expect([answered.headers.get('access-control-allow-origin'), answered.headers.get('vary')]).toEqual([
      'https://app.example',
      'Origin',
    ]);
    const other = await open.get('/sessions', { headers: { origin: 'https://evil.example' } });
    expect(other.headers.get('access-control-allow-origin')).toBeNull();
  });
});
