/** What keeps strangers out: other hosts, other sites, browsers that have not signed in. */
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { inspected } from './inspector-client.ts';

const REFUSED = (code: string) =>
  expect.objectContaining({ code, message: expect.any(String), hint: expect.any(String) });

describe('a request that names another host', () => {
  it.each([
    'evil.example',
    'evil.example:PORT',
    '127.0.0.1',
    '127.0.0.1:1',
    'localhost.:PORT',
    '127.0.0.1:PORT@evil.example',
    '127.0.0.2:PORT',
    '[::1]:PORT',
    'wc.localhost:PORT',
    `wc-${'0'.repeat(32)}.localhost:PORT`,
  ])('is refused: %s', async (host) => {
    const { ask, port } = await inspected();
    const answer = await ask('/api/sessions', { headers: { host: host.replace('PORT', String(port)) } });
    expect([answer.status, JSON.parse(answer.text)]).toEqual([421, REFUSED('INSPECTOR_HOST_REFUSED')]);
  });

  it.each(['127.0.0.1:PORT', 'localhost:PORT', 'LOCALHOST:PORT', 'PLACE'])(
    'is answered for our own names: %s',
    async (host) => {
      const { ask, port, server } = await inspected();
      expect(
        (
          await ask('/api/sessions', {
            headers: {
              host: host.replace('PORT', String(port)).replace('PLACE', new URL(server.signInAddress()).host),
            },
          })
        ).status,
      ).toBe(200);
    },
  );

  it('is refused before a token is checked, so that it is not used up', async () => {
    const { ask, server } = await inspected();
    const path = `/${new URL(server.signInAddress()).search}`;
    expect((await ask(path, { isStranger: true, headers: { host: 'evil.example' } })).status).toBe(421);
    expect((await ask(path, { isStranger: true })).status).toBe(303);
  });

  it('is refused when it names two, or none', async () => {
    const { raw, port } = await inspected();
    const own = `Host: 127.0.0.1:${port}\r\n`;
    expect(await raw(`GET / HTTP/1.1\r\n${own}Host: evil.example\r\nConnection: close\r\n\r\n`)).toMatch(
      /^HTTP\/1\.1 400 /,
    );
    expect(await raw(`GET / HTTP/1.1\r\n${own}${own}Connection: close\r\n\r\n`)).toMatch(/^HTTP\/1\.1 400 /);
    expect(await raw('GET / HTTP/1.1\r\nHost:\r\nConnection: close\r\n\r\n')).toMatch(/^HTTP\/1\.1 421 /);
    expect(await raw('GET / HTTP/1.0\r\n\r\n')).toMatch(/^HTTP\/1\.1 421 /);
    expect(await raw('GET / HTTP/1.1\r\nConnection: close\r\n\r\n')).toMatch(/^HTTP\/1\.1 400 /);
  });
});

describe('a request that another site made the browser send', () => {
  it.each(['cross-site', 'same-site', 'same-origin, cross-site', 'nonsense', ''])(
    'is refused by its Sec-Fetch-Site: "%s"',
    async (site) => {
      const { ask } = await inspected();
      const answer = await ask('/api/sessions', { headers: { 'sec-fetch-site': site } });
      expect([answer.status, JSON.parse(answer.text)]).toEqual([403, REFUSED('INSPECTOR_ORIGIN_REFUSED')]);
    },
  );

  it.each([
    'null',
    'https://127.0.0.1:PORT',
    'http://127.0.0.1',
    'http://localhost:PORT',
    'http://evil.example',
    'http://127.0.0.1:PORT.evil.example',
    '',
  ])('is refused by its Origin: "%s"', async (origin) => {
    const { ask, port } = await inspected();
    const headers = { origin: origin.replace('PORT', String(port)) };
    expect((await ask('/api/sessions', { headers })).status).toBe(403);
    expect((await ask('/', { headers, isStranger: true })).status).toBe(403);
  });

  it.each([{ 'sec-fetch-site': 'same-origin' }, { 'sec-fetch-site': 'none' }, { origin: 'http://127.0.0.1:PORT' }, {}])(
    'is none when it says %j',
    async (given) => {
      const { ask, port } = await inspected();
      const headers = Object.fromEntries(
        Object.entries(given).map(([name, value]) => [name, value.replace('PORT', String(port))]),
      );
      expect((await ask('/api/sessions', { headers })).status).toBe(200);
    },
  );
});

describe('the place of an inspector', () => {
  it('is another one each time, of two parts that say nothing of each other', async () => {
    const places = await Promise.all([1, 2, 3].map(async () => new URL((await inspected()).server.signInAddress())));
    for (const { href } of places)
      expect(href).toMatch(/^http:\/\/wc-[0-9a-f]{32}\.localhost:\d+\/[0-9a-f]{32}\/\?token=[\w-]{43}$/);
    expect(
      new Set(places.flatMap(({ hostname, pathname }) => [hostname.slice(3, 35), pathname.slice(1, 33)])).size,
    ).toBe(6);
  });

  it.each([
    '/',
    '/index.html',
    '/api/about',
    '/api/sessions',
    '/?token=TOKEN',
    '//',
    '/PLACE',
    '/PLACEx/api/about',
    '/x/PLACE/api/about',
    '/PLACE%2fapi/about',
    '/./PLACE/api/about',
    `/${'0'.repeat(32)}/api/about`,
  ])('is all that there is, also for who has signed in: %s', async (path) => {
    const { ask, place, server } = await inspected();
    const token = new URL(server.signInAddress()).searchParams.get('token') ?? '';
    const outside = path.replace('TOKEN', token).replace('PLACE', place.slice(1));
    for (const isStranger of [true, false])
      expect([400, 404]).toContain((await ask(outside, { isOutside: true, isStranger })).status);
    // Nothing out there uses it up.
    expect((await ask(`/?token=${token}`, { isStranger: true })).status).toBe(303);
  });

  it('answers no other name by what is right for this one', async () => {
    const { ask, port, server } = await inspected();
    const own = new URL(server.signInAddress()).origin;
    const post = (origin: string, host: string): Promise<number> =>
      ask('/api/sessions/x/answers', {
        method: 'POST',
        body: '{}',
        headers: { host, origin, 'content-type': 'application/json' },
      }).then(({ status }) => status);
    expect(await post(own, new URL(own).host)).toBe(404);
    for (const [origin, host] of [
      [own, `127.0.0.1:${port}`],
      [server.origin, new URL(own).host],
      [server.origin, `localhost:${port}`],
    ] as const)
      expect(await post(origin, host)).toBe(403);
  });
});

describe('a service worker', () => {
  it('is given to no page', async () => {
    const { ask } = await inspected();
    expect(
      (await ask('/index.html', { headers: { 'service-worker': 'script', 'sec-fetch-site': 'same-origin' } })).status,
    ).toBe(403);
  });
});

describe('a browser that has not signed in', () => {
  it.each([
    '/',
    '/index.html',
    '/api/records',
    '/api/live',
    '/api/charts/task',
    '/api/charts/task.svg',
    '/api/sessions',
    '/api/sessions/x',
    '/nothing',
  ])('gets nothing of %s', async (path) => {
    const { ask } = await inspected();
    const answer = await ask(path, { isStranger: true });
    expect(answer.status).toBe(401);
    expect(answer.text).toContain('INSPECTOR_SIGN_IN');
  });

  it('gets nothing for a cookie that is wrong, empty, too long, or of another port', async () => {
    const { ask, cookie, port } = await inspected();
    const value = cookie.slice(cookie.indexOf('=') + 1);
    for (const wrong of [
      `${cookie}x`,
      cookie.slice(0, -1),
      `wakechart_inspector_${port}=`,
      `wakechart_inspector_1=${value}`,
      `x${cookie}`,
      value,
      `${cookie.slice(0, 40)}${'a'.repeat(9_000)}`,
    ]) {
      expect((await ask('/api/sessions', { isStranger: true, headers: { cookie: wrong } })).status).toBe(401);
    }
  });

  it('is known by its cookie although a page on another port set one of the same name', async () => {
    const { ask, cookie, port } = await inspected();
    expect(
      (
        await ask('/api/sessions', {
          isStranger: true,
          headers: { cookie: `wakechart_inspector_${port}=planted; ${cookie}; other=1` },
        })
      ).status,
    ).toBe(200);
  });
});

describe('an address with a token', () => {
  /** From the place on. */
  const pathOf = (address: string): string => `/${new URL(address).search}`;

  it('gives a cookie that scripts cannot read and other sites do not send, and leaves the address bar', async () => {
    const { ask, server, port, place } = await inspected();
    const { status, headers } = await ask(pathOf(server.signInAddress()), { isStranger: true });
    expect([status, headers.location]).toEqual([303, `${place}/`]);
    expect(headers['set-cookie']).toEqual([
      expect.stringMatching(
        new RegExp(`^wakechart_inspector_${port}=[\\w-]{43}; Path=${place}/; HttpOnly; SameSite=Strict$`),
      ),
    ]);
    expect([headers['cache-control'], headers['clear-site-data']]).toEqual(['no-store', '"storage"']);
  });

  it('is good for ten minutes', async () => {
    vi.useFakeTimers({ toFake: ['performance'] });
    onTestFinished(() => void vi.useRealTimers());
    const { ask, server, cookie } = await inspected();
    const [late, soon] = [pathOf(server.signInAddress()), pathOf(server.signInAddress())];
    vi.advanceTimersByTime(10 * 60_000 - 1);
    expect((await ask(soon, { isStranger: true })).status).toBe(303);
    vi.advanceTimersByTime(1);
    const refused = await ask(late, { isStranger: true });
    expect([refused.status, refused.text]).toEqual([401, expect.stringContaining('10 minutes')]);
    expect((await ask('/api/sessions', { headers: { cookie } })).status).toBe(200);
  });

  it('signs in whom a file has sent, for a tab and nothing else, and leads on from a page of ours', async () => {
    const { ask, server } = await inspected();
    const path = pathOf(server.signInAddress());
    const sent = { 'sec-fetch-site': 'cross-site', 'sec-fetch-mode': 'navigate', 'sec-fetch-dest': 'document' };
    for (const other of [
      { 'sec-fetch-mode': 'no-cors' },
      { 'sec-fetch-dest': 'iframe' },
      { 'sec-fetch-site': 'same-site' },
      { origin: 'null' },
    ])
      expect((await ask(path, { isStranger: true, headers: { ...sent, ...other } })).status).toBe(403);
    for (const other of ['/', '/api/sessions', path.replace('token', 'tokens'), path.replace('/?', '/index.html?')])
      expect((await ask(other, { headers: sent })).status).toBe(403);
    const { status, headers, text } = await ask(path, { isStranger: true, headers: sent });
    expect([status, headers['set-cookie']?.length, text]).toEqual([
      200,
      1,
      expect.stringContaining("location.replace('./' + location.hash)"),
    ]);
    expect(headers['content-security-policy']).toMatch(
      /^default-src 'none'; script-src 'sha256-[\w+/=]+'; frame-ancestors 'none'/,
    );
    expect((await ask(path, { isStranger: true, headers: sent })).status).toBe(401);
  });

  it('is good once', async () => {
    const { ask, server } = await inspected();
    const path = pathOf(server.signInAddress());
    const together = await Promise.all([1, 2, 3].map(() => ask(path, { isStranger: true })));
    expect(together.filter(({ status }) => status === 303)).toHaveLength(1);
    expect(together.filter(({ status }) => status === 401)).toHaveLength(2);
  });

  it('is not used up by a request that only checks, nor by a wrong one', async () => {
    const { ask, server } = await inspected();
    const path = pathOf(server.signInAddress());
    expect((await ask(path, { isStranger: true, method: 'HEAD' })).status).toBe(401);
    expect((await ask(`${path}x`, { isStranger: true })).status).toBe(401);
    expect((await ask(`${path}&token=x`, { isStranger: true })).status).toBe(400);
    expect((await ask(path.replace('/?', '/index.html?'), { isStranger: true })).status).toBe(401);
    expect((await ask(path, { isStranger: true })).status).toBe(303);
  });

  it('leads a browser that has signed in to the page, also when it was used before', async () => {
    const { ask, server, place } = await inspected();
    const path = pathOf(server.signInAddress());
    await ask(path, { isStranger: true });
    const { status, headers } = await ask(path);
    expect([status, headers.location, headers['set-cookie'], headers['clear-site-data']]).toEqual([
      303,
      `${place}/`,
      undefined,
      undefined,
    ]);
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
  it.each([
    ['/', 401],
    ['/?token=wrong', 401],
    ['/api/sessions', 200],
    ['/api/records', 200],
    ['/api/live', 200],
    ['/api/charts/task', 200],
    ['/api/nothing', 404],
    ['/nothing', 404],
  ])('keeps the browser strict and lets no other origin read: %s', async (path, status) => {
    const { open } = await inspected();
    const response = await open(path, { isStranger: status === 401, headers: { 'sec-fetch-site': 'same-origin' } });
    response.destroy();
    expect(response.statusCode).toBe(status);
    expect(response.headers['content-security-policy']).toBe(
      "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; require-trusted-types-for 'script'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'",
    );
    expect(response.headers).toMatchObject({
      'x-content-type-options': 'nosniff',
      'referrer-policy': 'no-referrer',
      'cross-origin-resource-policy': 'same-origin',
      'cross-origin-opener-policy': 'same-origin',
    });
    expect(
      Object.keys(response.headers).filter(
        (name) => name.startsWith('access-control-') || name === 'x-powered-by' || name === 'server',
      ),
    ).toEqual([]);
  });
});

describe('a method', () => {
  it.each(['PUT', 'DELETE', 'PATCH', 'OPTIONS', 'TRACE', 'PROPFIND'])(
    'that nothing here has is refused: %s',
    async (method) => {
      const { ask } = await inspected();
      const { status, headers } = await ask('/api/sessions', { method });
      expect([status, headers.allow]).toEqual([405, 'GET, HEAD, POST']);
    },
  );

  it.each([
    ['POST', '/api/sessions', 'GET, HEAD'],
    ['POST', '/', 'GET, HEAD'],
    ['POST', '/api/live', 'GET, HEAD'],
    ['GET', '/api/sessions/x/answers', 'POST'],
    ['HEAD', '/api/sessions/x/answers', 'POST'],
  ])('that an address does not have is refused: %s %s', async (method, path, allow) => {
    const { ask, server } = await inspected();
    const { status, headers } = await ask(path, { method, headers: { origin: server.origin } });
    expect([status, headers.allow]).toEqual([405, allow]);
  });

  it('CONNECT gets a clear answer', async () => {
    const { raw, port } = await inspected();
    expect(await raw(`CONNECT evil.example:443 HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\n\r\n`)).toMatch(
      /^HTTP\/1\.1 405 /,
    );
  });

  it.each(['http://evil.example/', '//evil.example/', '*'])('asks for a path, and not for %s', async (target) => {
    const { raw, port, cookie } = await inspected();
    expect(
      await raw(`GET ${target} HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\nCookie: ${cookie}\r\nConnection: close\r\n\r\n`),
    ).toMatch(/^HTTP\/1\.1 400 /);
  });

  it('that only reads comes without a body', async () => {
    const { ask } = await inspected();
    expect((await ask('/api/sessions', { body: 'x', headers: { 'content-length': 1 } })).status).toBe(400);
  });
});
