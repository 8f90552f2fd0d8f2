/** Sessions over HTTP: made, sent into, answered, ended; each caller sees its own. */
import { describe, expect, it } from 'vitest';
import { codeIn, serve, sessionOf } from './served.ts';

interface View {
  readonly sessionId: string;
  readonly status: string;
  readonly owner?: string;
  readonly unread: number;
  readonly pendingActions: readonly { readonly requestId: string; readonly kind: string; readonly toolName: string }[];
}

const view = async (response: Response): Promise<View> => (await response.json()) as View;

const ASKING = [{ toolCalls: [{ name: 'shell_run', input: { command: 'echo hello' } }] }, { text: 'Done.' }] as const;
const ASKS = { agent: { permission: 'ask' as const, tools: ['shell_run'] } };

describe('a session over HTTP', () => {
  it('is made for the caller, gets messages, and is read', async () => {
    await using served = await serve();
    await served.setup.session([{ text: 'Hello.' }]);
    const made = await served.post('/sessions', { agentId: 'player', title: 'A chat' });
    expect(made.status).toBe(201);
    const { sessionId, owner } = await view(made);
    expect(owner).toBe('ada');
    const sent = await served.post(`/sessions/${sessionId}/messages`, { text: 'Hi' });
    expect([sent.status, await sent.json()]).toEqual([
      202,
      { eventId: expect.any(String), seq: 2, acceptedAs: 'queue' },
    ]);
    expect(await view(await served.get(`/sessions/${sessionId}`))).toMatchObject({ status: 'idle', unread: 1 });
    await served.setup.runtime.wake(sessionId);
    const page = (await (await served.get(`/sessions/${sessionId}/events?from=2&limit=2`)).json()) as {
      readonly events: readonly { readonly seq: number }[];
      readonly next: number;
    };
    expect([page.events.map(({ seq }) => seq), page.next]).toEqual([[2, 3], 4]);
  });

  it('stores a message once for an idempotency key', async () => {
    await using served = await serve();
    const id = await sessionOf(served, [{ text: 'Hello.' }]);
    const send = (): Promise<Response> =>
      served.post(`/sessions/${id}/messages`, { text: 'Hi' }, { headers: { 'idempotency-key': 'k' } });
    const [one, other] = [await (await send()).json(), await (await send()).json()];
    expect(other).toEqual(one);
    expect(await view(await served.get(`/sessions/${id}`))).toMatchObject({ unread: 1 });
  });

  it('makes a session once for an idempotency key of a caller', async () => {
    await using served = await serve();
    await sessionOf(served, [{ text: 'Hello.' }]);
    const make = async (as: string): Promise<unknown> => {
      const headers = { 'idempotency-key': 'k' };
      return (await served.post('/sessions', { agentId: 'player' }, { as, headers })).json();
    };
    const one = await make('ada');
    expect(await make('ada')).toEqual(one);
    expect(await make('bob')).not.toEqual(one);
  });

  it('gives what has become of a session of the same key to those who may read it, and to no other body', async () => {
    const mayDo = new Set(['create']);
    await using served = await serve({ authorize: () => ({ subject: 'ada', may: (action) => mayDo.has(action) }) });
    await served.setup.session([{ text: 'Hello.' }]);
    const make = (title?: string): Promise<Response> =>
      served.post('/sessions', { agentId: 'player', title }, { headers: { 'idempotency-key': 'k' } });
    const { sessionId } = await view(await make());
    expect((await make()).status).toBe(201);
    const other = await make('Another');
    expect([other.status, await codeIn(other)]).toEqual([409, 'API_KEY_REUSED']);
    await served.setup.runtime.sessions.send(sessionId, { type: 'user.message', text: 'Secret' });
    const unread = await make();
    expect([unread.status, await codeIn(unread)]).toEqual([403, 'API_FORBIDDEN']);
    mayDo.add('read');
    expect(await view(await make())).toMatchObject({ sessionId, unread: 1 });
  });

  it('asks for permissions, and goes on with the answer', async () => {
    await using served = await serve();
    const id = await sessionOf(served, ASKING, ASKS);
    await served.post(`/sessions/${id}/messages`, { text: 'Hi' });
    await served.setup.runtime.wake(id);
    const [request] = (await view(await served.get(`/sessions/${id}`))).pendingActions;
    expect(request).toMatchObject({ kind: 'permission', toolName: 'shell_run' });
    const answered = await served.post(`/sessions/${id}/answers`, {
      kind: 'permission',
      requestId: request?.requestId,
      allowed: false,
      note: 'Not today',
    });
    expect(answered.status).toBe(202);
    expect(
      await codeIn(
        await served.post(`/sessions/${id}/answers`, {
          kind: 'permission',
          requestId: request?.requestId,
          allowed: true,
        }),
      ),
    ).toBe('REQUEST_NOT_PENDING');
    await served.setup.runtime.wake(id);
    expect(await served.setup.types(id)).toContain('permission.resolved');
  });

  it('is interrupted, and ended for ever', async () => {
    await using served = await serve();
    const id = await sessionOf(served, [{ text: 'Hello.' }]);
    expect((await served.post(`/sessions/${id}/interrupt`)).status).toBe(202);
    expect(await view(await served.post(`/sessions/${id}/terminate`, { reason: 'enough' }))).toMatchObject({
      status: 'terminated',
    });
    const late = await served.post(`/sessions/${id}/messages`, { text: 'Hi' });
    expect([late.status, await codeIn(late)]).toEqual([409, 'SESSION_TERMINATED']);
  });
});

describe('what a caller sees', () => {
  it('are its own sessions: those of others are not there', async () => {
    await using served = await serve();
    const id = await sessionOf(served, [{ text: 'Hello.' }]);
    const unowned = (await served.setup.runtime.sessions.list())[0]?.sessionId;
    for (const other of [id, unowned, '0192f0c1-2345-7abc-8def-0123456789ab']) {
      const response = await served.get(`/sessions/${other}`, { as: 'eve' });
      expect([response.status, await codeIn(response)]).toEqual([404, 'SESSION_NOT_FOUND']);
    }
    for (const path of ['messages', 'answers', 'interrupt', 'terminate'])
      expect((await served.post(`/sessions/${id}/${path}`, bodies[path], { as: 'eve' })).status).toBe(404);
    for (const path of [`/sessions/${id}/events`, `/chat/${id}/messages`, `/chat/${id}/stream`])
      expect((await served.get(path, { as: 'eve' })).status).toBe(404);
    expect(await (await served.get('/sessions', { as: 'eve' })).json()).toEqual({ sessions: [] });
    expect(await (await served.get('/sessions')).json()).toMatchObject({ sessions: [{ sessionId: id }] });
  });

  it('are others too where authorize says so, and what it may do is asked', async () => {
    const asked: unknown[] = [];
    await using served = await serve({
      authorize: () => ({
        subject: 'support',
        sees: 'all',
        may: (action, what) => {
          asked.push([action, what]);
          return action === 'read' || action === 'list';
        },
      }),
    });
    const id = await served.setup.session([{ text: 'Hello.' }]);
    expect((await served.get(`/sessions/${id}`)).status).toBe(200);
    const refused = await served.post(`/sessions/${id}/messages`, { text: 'Hi' });
    expect([refused.status, await codeIn(refused)]).toEqual([403, 'API_FORBIDDEN']);
    expect(asked).toEqual([
      ['read', { sessionId: id, agentId: 'player' }],
      ['send', { sessionId: id, agentId: 'player' }],
    ]);
  });

  it('is listed page by page, the newest first', async () => {
    await using served = await serve();
    const ids = [await sessionOf(served, [{ text: 'Hello.' }])];
    for (let count = 0; count < 4; count += 1)
      ids.push((await view(await served.post('/sessions', { agentId: 'player' }))).sessionId);
    const pages: string[][] = [];
    for (let next: string | undefined = ''; next !== undefined;) {
      const page = (await (await served.get(`/sessions?limit=2${next === '' ? '' : `&before=${next}`}`)).json()) as {
        readonly sessions: readonly View[];
        readonly next?: string;
      };
      pages.push(page.sessions.map(({ sessionId }) => sessionId));
      next = page.next;
    }
    expect(pages).toEqual([[ids[4], ids[3]], [ids[2], ids[1]], [ids[0]]]);
  });
});

const bodies: Readonly<Record<string, unknown>> = {
  messages: { text: 'Hi' },
  answers: { kind: 'answer', requestId: 'r', response: 'x' },
};
