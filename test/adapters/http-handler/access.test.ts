/** What a caller may not do unless it is plainly allowed, and what it hears of that. */
import { describe, expect, it } from 'vitest';
import type { HttpCaller } from '../../../src/adapters/http-handler/handler-options.ts';
import { callerOf, codeIn, serve, sessionOf } from './served.ts';
import type { Served } from './served.ts';

const statusAndCode = async (response: Response): Promise<readonly unknown[]> => [
  response.status,
  response.ok ? undefined : await codeIn(response),
];

const caller = (more: object) => ({
  authorize: (request: Request) => ({ ...callerOf(request), ...more }) as HttpCaller,
});

const FORBIDDEN = [403, 'API_FORBIDDEN'];

const ASKING = [{ toolCalls: [{ name: 'shell_run', input: { command: 'echo hello' } }] }, { text: 'Done.' }] as const;

/** A session that asks whether it may run a command. */
async function asking(served: Served): Promise<{ readonly id: string; readonly requestId: string }> {
  const id = await sessionOf(served, ASKING, { agent: { permission: 'ask', tools: ['shell_run'] } });
  await served.setup.runtime.sessions.send(id, { type: 'user.message', text: 'Hi' });
  await served.setup.runtime.wake(id);
  const { pendingActions } = await served.setup.runtime.sessions.get(id);
  return { id, requestId: pendingActions[0]?.requestId ?? '' };
}

describe('what authorize says', () => {
  it.each([undefined, null, 0, 'yes', {}])('allows nothing where may gives %j', async (answer) => {
    await using served = await serve(caller({ may: () => answer }));
    expect(await statusAndCode(await served.get('/sessions'))).toEqual(FORBIDDEN);
  });

  it.each([{ sees: 'user-12' }, { sees: ['ada', 1] }, { sees: null }, { may: true }, { may: null }])(
    'is not taken where it is not as it should be: %j',
    async (more) => {
      await using served = await serve(caller(more));
      expect(await statusAndCode(await served.get('/sessions'))).toEqual([500, 'API_FAILED']);
      expect(served.errors).toMatchObject([{ code: 'API_SUBJECT_INVALID' }]);
    },
  );
});

describe('what reaches beyond the sessions of a caller', () => {
  it('is no answer of its own: it allows nothing for ever, by whatever route', async () => {
    await using served = await serve();
    const { id, requestId } = await asking(served);
    const always = { scope: 'always' } as const;
    const approval = { state: 'approval-responded', approval: { id: requestId, approved: true } };
    for (const [path, body] of [
      [`/sessions/${id}/answers`, { kind: 'permission', requestId, allowed: true, ...always }],
      ['/chat', { id, messages: [{ id: 'm', role: 'assistant', parts: [{ type: 'x', ...approval }] }], ...always }],
      [
        '/ag-ui',
        {
          ...{ threadId: id, runId: 'r', messages: [] },
          resume: [{ interruptId: requestId, status: 'resolved', payload: { approved: true, ...always } }],
        },
      ],
    ] as const)
      expect(await statusAndCode(await served.post(path, body))).toEqual(FORBIDDEN);
    expect((await served.setup.runtime.sessions.get(id)).pendingActions).toHaveLength(1);
    const once = { kind: 'permission', requestId, allowed: true };
    expect((await served.post(`/sessions/${id}/answers`, once)).status).toBe(202);
  });

  it.each([
    ['may', { may: () => true }],
    ['sees', { sees: 'all' }],
  ])('is for those who are allowed it: by %s', async (_, more) => {
    await using served = await serve(caller(more));
    const { id, requestId } = await asking(served);
    const answer = { kind: 'permission', requestId, allowed: true, scope: 'always' };
    // The sessions have heard of it: no rule stands for this command.
    expect(await codeIn(await served.post(`/sessions/${id}/answers`, answer))).toBe('REQUEST_SCOPE_REFUSED');
  });

  it('is no session in an environment of its choice, and no list of those there are', async () => {
    await using served = await serve();
    await served.setup.session([]);
    for (const environmentId of ['host', 'there-is-none'])
      expect(await statusAndCode(await served.post('/sessions', { agentId: 'player', environmentId }))).toEqual(
        FORBIDDEN,
      );
    const asked: unknown[] = [];
    const may = (...given: readonly unknown[]): boolean => asked.push(given) > 0;
    await using open = await serve(caller({ may }));
    await open.setup.session([]);
    expect((await open.post('/sessions', { agentId: 'player', environmentId: 'host' })).status).toBe(201);
    expect(asked).toContainEqual(['choose-environment', { agentId: 'player', environmentId: 'host' }]);
  });

  it('is an interruption by a message, where it may only send', async () => {
    await using served = await serve(caller({ may: (action: string) => action !== 'interrupt' }));
    const id = await sessionOf(served, []);
    const send = (delivery: string): Promise<Response> =>
      served.post(`/sessions/${id}/messages`, { text: 'Hi', delivery });
    expect(await statusAndCode(await send('interrupt'))).toEqual(FORBIDDEN);
    expect((await send('steer')).status).toBe(202);
  });
});
