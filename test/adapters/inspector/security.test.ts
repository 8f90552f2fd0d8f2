/** What keeps strangers out: other hosts, other sites, browsers that have not signed in. */
import { describe, expect, it } from 'vitest';
import { inspected } from './inspector-client.ts';

const REFUSED = (code: string) => expect.objectContaining({ code, message: expect.any(String), hint: expect.any(String) });

describe('a request that names another host', () => {
  it.each(['evil.example', 'evil.example:PORT', '127.0.0.1', '127.0.0.1:1', 'localhost.:PORT', '127.0.0.1:PORT@evil.example', '127.0.0.2:PORT', '[::1]:PORT'])('is refused: %s', async (host) => {
    const { ask, port } = await inspected();
    const answer = await ask('/api/sessions', { headers: { host: host.replace('PORT', String(port)) } });
    expect([answer.status, JSON.parse(answer.text)]).toEqual([421, REFUSED('INSPECTOR_HOST_REFUSED')]);
  });

  it.each(['127.0.0.1:PORT', 'localhost:PORT', 'LOCALHOST:PORT'])('is answered for our own names: %s', async (host) => {
    const { ask, port } = await inspected();
    expect((await ask('/api/sessions', { headers: { host: host.replace('PORT', String(port)) } })).status).toBe(200);
  });

  it('is refused before a token is looked at, so that it is not used up', async () => {
    const { ask, server } = await inspected();
    const { pathname, search } = new URL(server.signInAddress());
    expect((await ask(pathname + search, { isStranger: true, headers: { host: 'evil.example' } })).status).toBe(421);
    expect((await ask(pathname + search, { isStranger: true })).status).toBe(303);
  });

  it('is refused when it names two, or none', async () => {
    const { raw, port } = await inspected();
    const own = `Host: 127.0.0.1:${port}\r\n`;
    expect(await raw(`GET / HTTP/1.1\r\n${own}Host: evil.example\r\nConnection: close\r\n\r\n`)).toMatch(/^HTTP\/1\.1 400 /);
    expect(await raw(`GET / HTTP/1.1\r\n${own}${own}Connection: close\r\n\r\n`)).toMatch(/^HTTP\/1\.1 400 /);
    expect(await raw('GET / HTTP/1.1\r\nHost:\r\nConnection: close\r\n\r\n')).toMatch(/^HTTP\/1\.1 421 /);
    expect(await raw('GET / HTTP/1.0\r\n\r\n')).toMatch(/^HTTP\/1\.1 421 /);
    expect(await raw('GET / HTTP/1.1\r\nConnection: close\r\n\r\n')).toMatch(/^HTTP\/1\.1 400 /);
  });
});

describe('a request that another site made the browser send', () => {
  it.each(['cross-site', 'same-site', 'same-origin, cross-site', 'nonsense', ''])('is refused by its Sec-Fetch-Site: "%s"', async (site) => {
    const { ask } = await inspected();
    const answer = await ask('/api/sessions', { headers: { 'sec-fetch-site': site } });
    expect([answer.status, JSON.parse(answer.text)]).toEqual([403, REFUSED('INSPECTOR_ORIGIN_REFUSED')]);
  });

  it.each(['null', 'https://127.0.0.1:PORT', 'http://127.0.0.1', 'http://localhost:PORT', 'http://evil.example', 'http://127.0.0.1:PORT.evil.example', ''])('is refused by its Origin: "%s"', async (origin) => {
    const { ask, port } = await inspected();
    const headers = { origin: origin.replace('PORT', String(port)) };
    expect((await ask('/api/sessions', { headers })).status).toBe(403);
    expect((await ask('/', { headers, isStranger: true })).status).toBe(403);
  });

  it.each([{ 'sec-fetch-site': 'same-origin' }, { 'sec-fetch-site': 'none' }, { origin: 'http://127.0.0.1:PORT' }, {}])('is none when it says %j', async (given) => {
    const { ask, port } = await inspected();
    const headers = Object.fromEntries(Object.entries(given).map(([name, value]) => [name, value.replace('PORT', String(port))]));
    expect((await ask('/api/sessions', { headers })).status).toBe(200);
  });
});

describe('a browser that has not signed in', () => {
  it.each(['/', '/index.html', '/api/records', '/api/live', '/api/charts/task', '/api/charts/task.svg', '/api/sessions', '/api/sessions/x', '/nothing'])('gets nothing of %s', async (path) => {
    const { ask } = await inspected();
    const answer = await ask(path, { isStranger: true });
    expect(answer.status).toBe(401);
    expect(answer.text).toContain('INSPECTOR_SIGN_IN');
  });

  it('gets nothing for a cookie that is wrong, empty, too long, or of another port', async () => {
    const { ask, cookie, port } = await inspected();
    const value = cookie.slice(cookie.indexOf('=') + 1);
    for (const wrong of [`${cookie}x`, cookie.slice(0, -1), `wakechart_inspector_${port}=`, `wakechart_inspector_1=${value}`, `x${cookie}`, value, `${cookie.slice(0, 40)}${'a'.repeat(9_000)}`]) {
      expect((await ask('/api/sessions', { isStranger: true, headers: { cookie: wrong } })).status).toBe(401);
    }
  });

  it('is known by its cookie although a page on another port set one of the same name', async () => {
    const { ask, cookie, port } = await inspected();
    expect((await ask('/api/sessions', { isStranger: true, headers: { cookie: `wakechart_inspector_${port}=planted; ${cookie}; other=1` } })).status).toBe(200);
  });
});

describe('an address with a token', () => {
  const pathOf = (address: string): string => new URL(address).pathname + new URL(address).search;

  it('gives a cookie that scripts cannot read and other sites do not send, and leaves the address bar', async () => {
    const { ask, server, port } = await inspected();
    const { status, headers } = await ask(pathOf(server.signInAddress()), { isStranger: true });
    expect([status, headers.location]).toEqual([303, '/']);
    expect(headers['set-cookie']).toEqual([expect.stringMatching(new RegExp(`^wakechart_inspector_${port}=[\\w-]{43}; Path=/; HttpOnly; SameSite=Strict$`))]);
    expect(headers['cache-control']).toBe('no-store');
  });

  it('is good once', async () => {
    const { ask, server } = await inspected();
    const path = pathOf(server.signInAddress());
    const together = await Promise.all([1, 2, 3].map(() => ask(path, { isStranger: true })));
    expect(together.filter(({ status }) => status === 303)).toHaveLength(1);
    expect(together.filter(({ status }) => status === 401)).toHaveLength(2);
  });

  it('is not used up by a request that only looks, nor by a wrong one', async () => {
    const { ask, server } = await inspected();
    const path = pathOf(server.signInAddress());
    expect((await ask(path, { isStranger: true, method: 'HEAD' })).status).toBe(401);
    expect((await ask(`${path}x`, { isStranger: true })).status).toBe(401);
    expect((await ask(`${path}&token=x`, { isStranger: true })).status).toBe(400);
    expect((await ask(path.replace('/?', '/index.html?'), { isStranger: true })).status).toBe(401);
    expect((await ask(path, { isStranger: true })).status).toBe(303);
  });

  it('leads a browser that has signed in to the page, also when it was used before', async () => {
    const { ask, server } = await inspected();
    const path = pathOf(server.signInAddress());
    await ask(path, { isStranger: true });
    const { status, headers } = await ask(path);
    expect([status, headers.location, headers['set-cookie']]).toEqual([303, '/', undefined]);
  });

  it('is forgotten when many newer ones were made', async () => {
    const { ask, server } = await inspected();
    const [oldest = '', ...newer] = Array.from({ length: 17 }, () => pathOf(server.signInAddress()));
    expect((await ask(oldest, { isStranger: true })).status).toBe(401);
    expect((await ask(newer[0] ?? '', { isStranger: true })).status).toBe(303);
  });

  it('is another one each time', async () => {
    const { server } = await inspected();
    expect(new Set(Array.from({ length: 100 }, () => server.signInAddress())).size).toBe(100);
  });
});

describe('every response', () => {
  it.each([['/', 401], ['/?token=wrong', 401], ['/api/sessions', 200], ['/api/records', 200], ['/api/live', 200], ['/api/charts/task', 200], ['/api/nothing', 404], ['/nothing', 404]])('keeps the browser strict and lets no other origin read: %s', async (path, status) => {
    const { open } = await inspected();
    const response = await open(path, { isStranger: status === 401, headers: { 'sec-fetch-site': 'same-origin' } });
    response.destroy();
    expect(response.statusCode).toBe(status);
    expect(response.headers['content-security-policy']).toBe("default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; require-trusted-types-for 'script'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'");
    expect(response.headers).toMatchObject({ 'x-content-type-options': 'nosniff', 'referrer-policy': 'no-referrer', 'cross-origin-resource-policy': 'same-origin', 'cross-origin-opener-policy': 'same-origin' });
    expect(Object.keys(response.headers).filter((name) => name.startsWith('access-control-') || name === 'x-powered-by' || name === 'server')).toEqual([]);
  });
});

describe('a method', () => {
  it.each(['PUT', 'DELETE', 'PATCH', 'OPTIONS', 'TRACE', 'PROPFIND'])('that nothing here has is refused: %s', async (method) => {
    const { ask } = await inspected();
    const { status, headers } = await ask('/api/sessions', { method });
    expect([status, headers.allow]).toEqual([405, 'GET, HEAD, POST']);
  });

  it.each([['POST', '/api/sessions', 'GET, HEAD'], ['POST', '/', 'GET, HEAD'], ['POST', '/api/live', 'GET, HEAD'], ['GET', '/api/sessions/x/answers', 'POST'], ['HEAD', '/api/sessions/x/answers', 'POST']])('that an address does not have is refused: %s %s', async (method, path, allow) => {
    const { ask, server } = await inspected();
    const { status, headers } = await ask(path, { method, headers: { origin: server.origin } });
    expect([status, headers.allow]).toEqual([405, allow]);
  });

  it('CONNECT gets a clear answer', async () => {
    const { raw, port } = await inspected();
    expect(await raw(`CONNECT evil.example:443 HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\n\r\n`)).toMatch(/^HTTP\/1\.1 405 /);
  });

  it.each(['http://evil.example/', '//evil.example/', '*'])('asks for a path, and not for %s', async (target) => {
    const { raw, port, cookie } = await inspected();
    expect(await raw(`GET ${target} HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\nCookie: ${cookie}\r\nConnection: close\r\n\r\n`)).toMatch(/^HTTP\/1\.1 400 /);
  });

  it('that only reads comes without a body', async () => {
    const { ask } = await inspected();
    expect((await ask('/api/sessions', { body: 'x', headers: { 'content-length': 1 } })).status).toBe(400);
  });
});
