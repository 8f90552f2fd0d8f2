/** How much is read for one request, and what it tells of the server and of other callers. */
import { describe, expect, it } from 'vitest';
import { bears } from '../../../src/cli/serve/bearer-token.ts';
import { told } from '../../../src/adapters/http-handler/event-view.ts';
import { codeIn, serve, sessionOf } from './served.ts';
import type { Served } from './served.ts';

interface Page {
  readonly events: readonly { readonly seq: number; readonly type: string; readonly data: object }[];
  readonly next: number;
}

const LONG = 'x'.repeat(250_000);

/** More than a page may have. */
async function filled(served: Served): Promise<string> {
  const id = await sessionOf(served, []);
  for (let count = 0; count < 20; count += 1)
    await served.setup.runtime.sessions.send(id, { type: 'user.message', text: `${count} ${LONG}` });
  return id;
}

describe('a page of a log', () => {
  it('ends when it is large enough, and says where the next one begins', async () => {
    await using served = await serve();
    const id = await filled(served);
    const page = (await (await served.get(`/sessions/${id}/events`)).json()) as Page;
    expect(page.events.length).toBeLessThan(19);
    const rest = (await (await served.get(`/sessions/${id}/events?from=${page.next}`)).json()) as Page;
    expect([...page.events, ...rest.events].map(({ seq }) => seq)).toEqual(
      Array.from({ length: 21 }, (_, at) => at + 1),
    );
  });

  it('of a chat has the newest messages, and a link to those before', async () => {
    await using served = await serve();
    const id = await filled(served);
    const seen: string[] = [];
    for (let query: string | undefined = ''; query !== undefined;) {
      const response = await served.get(`/chat/${id}/messages${query}`);
      const messages = (await response.json()) as { readonly parts: readonly { readonly text: string }[] }[];
      expect(messages.length).toBeLessThan(19);
      seen.unshift(...messages.map(({ parts }) => parts[0]?.text.split(' ')[0] ?? ''));
      query = /^<(.+)>; rel="prev"$/.exec(response.headers.get('link') ?? '')?.[1];
    }
    expect(seen).toEqual(Array.from({ length: 20 }, (_, at) => String(at)));
  });

  it('is one of few that a subject reads at once', async () => {
    await using served = await serve();
    const id = await filled(served);
    const asked = await Promise.all(Array.from({ length: 24 }, () => served.get(`/sessions/${id}/events`)));
    const refused = asked.filter(({ status }) => status === 429);
    expect(refused).toHaveLength(16);
    expect(await codeIn(refused[0] as Response)).toBe('API_STREAMS_LIMITED');
    expect((await served.get(`/sessions/${id}/events`)).status).toBe(200);
  });
});

describe('a number in a query', () => {
  it.each([
    ['events?from=abc', 'from 0 on'],
    ['events?from=1e3', 'from 0 on'],
    ['events?from=-1', 'from 0 on'],
    ['events?from=', 'from 0 on'],
    ['events?limit=0', 'from 1 to 1000'],
    ['events?limit=1.5', 'from 1 to 1000'],
  ])('that is none is refused with what was expected: %s', async (query, range) => {
    await using served = await serve();
    const response = await served.get(`/sessions/${await sessionOf(served, [])}/${query}`);
    const { error } = (await response.json()) as { readonly error: { readonly message: string } };
    expect(response.status).toBe(400);
    expect(error.message).toContain(`expected a whole number ${range}, in digits`);
    expect(error.message).not.toContain('NaN');
  });

  it('is described as one', async () => {
    await using served = await serve();
    const text = await (await served.get('/openapi.json')).text();
    expect(text).toMatch(/"name":"limit","in":"query","required":false,"schema":\{[^}]*"type":"integer"/);
  });
});

describe('what a caller hears', () => {
  const TROUBLE = [{ error: { kind: 'auth', message: 'Set SECRET_KEY in /srv/agents' } }];

  it.each([
    ['does not say why the agent could not go on, nor which process woke it', {}, false],
    ['says so to those who see all', { sees: 'all' as const }, true],
  ])('%s', async (_, more, isTold) => {
    await using served = await serve({ authorize: () => ({ subject: 'ada', ...more }) });
    const id = await sessionOf(served, TROUBLE);
    await served.setup.runtime.sessions.send(id, { type: 'user.message', text: 'Hi' });
    await served.setup.runtime.wake(id);
    expect((await (await served.get(`/sessions/${id}`)).text()).includes('SECRET_KEY')).toBe(isTold);
    const { events } = (await (await served.get(`/sessions/${id}/events`)).json()) as Page;
    const started = events.find(({ type }) => type === 'wake.started');
    expect(Object.keys(started?.data ?? {}).includes('owner')).toBe(isTold);
  });

  it('is not where the folder of a session lies, which is told as a dot', () => {
    const place = { sessionId: '0192f0c1-2345-7abc-8def-0123456789ab', workspace: '/srv/work' };
    const said = `write "/srv/.wakechart/sessions/${place.sessionId}/workspace/a.txt" or /srv/work/b.txt`;
    expect(told(said, place, { seesAll: false, homes: [] })).toBe('write "./a.txt" or ./b.txt');
    expect(told(said, place, { seesAll: true, homes: [] })).toBe(said);
  });

  it('is no id of a session of another caller', async () => {
    await using served = await serve();
    const id = await sessionOf(served, []);
    const { sessions } = served.setup.runtime;
    const others = new Set<string>();
    for (let count = 0; count < 1_001; count += 1)
      others.add((await sessions.create({ agentId: 'player', owner: 'bob' })).sessionId);
    const first = (await (await served.get('/sessions')).json()) as { readonly next: string };
    expect([first, others.has(first.next)]).toEqual([{ sessions: [], next: expect.any(String) }, false]);
    const second = await (await served.get(`/sessions?before=${first.next}`)).json();
    expect(second).toMatchObject({ sessions: [{ sessionId: id }] });
  });
});

it('takes the name of the scheme of a token as it is written', () => {
  const asked = (authorization: string): boolean =>
    bears(new Request('http://agents.example', { headers: { authorization } }), 'secret');
  expect(['Bearer secret', 'bearer secret', 'BEARER secret', 'bearer Secret', 'secret'].map(asked)).toEqual([
    ...[true, true, true],
    ...[false, false],
  ]);
});
