/** What probes of `wakechart serve http` are told. */
import { expect, it } from 'vitest';
import { withHealth } from '../../src/cli/serve/http.ts';

const TOKEN = '0123456789abcdef0123';

const served = (host: string): ((request: Request) => Promise<Response>) =>
  withHealth({
    sessions: async () => new Response('sessions', { status: 401 }),
    health: async () =>
      Response.json({ status: 'unavailable', reasons: [{ because: 'store_failed' }] }, { status: 503 }),
    token: TOKEN,
    host,
  });

async function ask(path: string, headers: Record<string, string>, host = '127.0.0.1'): Promise<[number, string]> {
  const response = await served(host)(new Request(`http://localhost${path}`, { headers }));
  return [response.status, (await response.text()).trim()];
}

it('is told why it is not ready only with the token', async () => {
  expect(await ask('/readyz', { host: 'localhost:8080' })).toEqual([503, '{"status":"unavailable"}']);
  const [status, told] = await ask('/readyz', { authorization: `Bearer ${TOKEN}` });
  expect([status, told]).toEqual([503, expect.stringContaining('store_failed')]);
  expect(await ask('/metrics', {})).toEqual([401, 'sessions']);
});

it('is told nothing on loopback by a name that is not that of this machine', async () => {
  for (const path of ['/readyz', '/healthz']) expect((await ask(path, { host: 'evil.example:8080' }))[0]).toBe(421);
  for (const host of ['127.0.0.1:8080', '[::1]:8080', 'localhost'])
    expect((await ask('/readyz', { host }))[0]).toBe(503);
  expect((await ask('/readyz', { host: 'api.example.com' }, '0.0.0.0'))[0]).toBe(503);
});
