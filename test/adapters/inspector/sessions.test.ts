/** Sessions, and answers to what they wait for. */
import { describe, expect, it, vi } from 'vitest';
import { RuntimeError } from '../../../src/machines/errors.ts';
import type { InspectedSession, InspectionSource } from '../../../src/actors/inspection/inspection-source.ts';
import { inspected } from './inspector-client.ts';
import type { Answer, Inspected } from './inspector-client.ts';
import { RecordedSource, SESSION, receipt } from './recorded-source.ts';

const ALLOW = { type: 'allow', requestId: 'r1' };

function post(
  { ask, server }: Inspected,
  body: unknown,
  {
    session = SESSION,
    headers = {},
  }: { readonly session?: string; readonly headers?: Readonly<Record<string, string>> } = {},
): Promise<Answer> {
  const content = typeof body === 'string' || Buffer.isBuffer(body) ? body : JSON.stringify(body);
  return ask(`/api/sessions/${session}/answers`, {
    method: 'POST',
    body: content,
    headers: { origin: server.origin, 'content-type': 'application/json', ...headers },
  });
}

function codeOf({ status, text }: Answer): unknown[] {
  return [status, (JSON.parse(text) as { readonly code?: string }).code];
}

describe('sessions', () => {
  it('are listed, as many as are asked for', async () => {
    const { ask, source } = await inspected();
    const limits: number[] = [];
    const list = source.sessions;
    source.sessions = (options) => {
      limits.push(options.limit);
      return list(options);
    };
    expect(JSON.parse((await ask('/api/sessions')).text)).toEqual({
      sessions: [
        {
          sessionId: SESSION,
          agentId: 'reviewer',
          status: 'idle',
          pendingActions: 1,
          words: { text: 'waits for you', status: 'waiting' },
          need: 'answer',
        },
      ],
      total: 1,
    });
    await ask('/api/sessions?limit=1000');
    expect(limits).toEqual([200, 1_000]);
    for (const wrong of ['limit=0', 'limit=1001', 'limit=x', 'limit=1&limit=1', 'more=1'])
      expect((await ask(`/api/sessions?${wrong}`)).status).toBe(400);
  });

  it('are shown with their state, why they wait, and what for', async () => {
    const { ask, source } = await inspected();
    const session = {
      state: { sessionId: SESSION, pendingActions: [] },
      why: { reasons: [] },
      pendingActions: [],
      usage: { inputTokens: 1, outputTokens: 2, isCostPartial: false, wakes: [], wakeCount: 0 },
    } as unknown as InspectedSession;
    source.session = async (id) => (id === SESSION ? session : undefined);
    expect(JSON.parse((await ask(`/api/sessions/${SESSION}`)).text)).toEqual({
      ...session,
      words: { text: 'rests', status: 'quiet' },
      usage: { ...session.usage, words: '0 wakes · 1 tokens read, 2 written' },
    });
  });

  it.each(['x', '..', '%2e%2e%2fetc', SESSION.toUpperCase(), SESSION.replace('0', '1'), '__proto__'])(
    'that are not there are said to be not there: %s',
    async (id) => {
      const setup = await inspected();
      expect(codeOf(await setup.ask(`/api/sessions/${id}`))).toEqual([404, 'INSPECTOR_SESSION_UNKNOWN']);
    },
  );

  it('that cannot be read in time are a clear error', async () => {
    const setup = await inspected({ limits: { requestMs: 30 } });
    setup.source.session = () => new Promise(() => undefined);
    expect(codeOf(await setup.ask(`/api/sessions/${SESSION}`))).toEqual([504, 'INSPECTOR_SOURCE_SLOW']);
  });
});

describe('an answer', () => {
  it.each([
    ALLOW,
    { ...ALLOW, scope: 'session', note: 'fine' },
    { type: 'deny', requestId: 'r1', note: 'not on a Friday' },
    { type: 'answer', requestId: 'r1', text: 'ü'.repeat(256_000) },
  ])('goes to the source, and its receipt comes back: %#', async (answer) => {
    const setup = await inspected();
    const { status, text } = await post(setup, answer);
    expect([status, JSON.parse(text)]).toEqual([200, { receipt: receipt(1) }]);
    expect(setup.source.answers).toEqual([{ sessionId: SESSION, answer }]);
  });

  it('counts once, however often and however nearly at once it is sent', async () => {
    const setup = await inspected();
    const all = await Promise.all(
      [ALLOW, { requestId: 'r1', type: 'allow' }, ALLOW].map((answer) => post(setup, answer)),
    );
    expect(new Set([...all, await post(setup, ALLOW)].map(({ status, text }) => `${status} ${text}`)).size).toBe(1);
    expect(setup.source.answers).toHaveLength(1);
    expect((await post(setup, { ...ALLOW, requestId: 'r2' })).status).toBe(200);
    expect(setup.source.answers).toHaveLength(2);
  });

  it('that says something else than the one before is refused, also while that is on its way', async () => {
    const setup = await inspected();
    const [allowed, denied] = await Promise.all([post(setup, ALLOW), post(setup, { type: 'deny', requestId: 'r1' })]);
    expect(new Set([allowed.status, denied.status])).toEqual(new Set([200, 409]));
    expect(codeOf(await post(setup, { ...ALLOW, note: 'and more' }))).toEqual([409, 'INSPECTOR_ANSWERED_OTHERWISE']);
    expect(setup.source.answers).toHaveLength(1);
  });

  it('that the source refused may be given again, or another', async () => {
    const setup = await inspected();
    const take = setup.source.answer;
    setup.source.answer = () =>
      Promise.reject(
        new RuntimeError('REQUEST_EXPIRED', 'the request has expired', {
          category: 'conflict',
          hint: 'Check the session.',
        }),
      );
    expect(await post(setup, ALLOW)).toMatchObject({
      status: 409,
      text: JSON.stringify({
        code: 'REQUEST_EXPIRED',
        message: 'the request has expired',
        hint: 'Check the session.',
      }),
    });
    setup.source.answer = take;
    expect((await post(setup, { type: 'deny', requestId: 'r1' })).status).toBe(200);
  });

  it('that came late is not given twice when it is sent again', async () => {
    const setup = await inspected({ limits: { requestMs: 40 } });
    const { promise, resolve } = deferred();
    const take = vi.fn<() => Promise<ReturnType<typeof receipt>>>(() => promise.then(() => receipt(7)));
    setup.source.answer = take;
    expect((await post(setup, ALLOW)).status).toBe(504);
    resolve();
    expect(JSON.parse((await post(setup, ALLOW)).text)).toEqual({ receipt: receipt(7) });
    expect(take).toHaveBeenCalledOnce();
  });

  it.each([
    ['null', 'null'],
    ['a list', '[]'],
    ['nothing known', '{"type":"maybe","requestId":"r1"}'],
    ['no request', '{"type":"allow"}'],
    ['an empty request', '{"type":"allow","requestId":""}'],
    ['a long request', JSON.stringify({ ...ALLOW, requestId: 'r'.repeat(201) })],
    ['unknown keys', '{"type":"allow","requestId":"r1","extra":1}'],
    ['a prototype', '{"type":"allow","requestId":"r1","__proto__":{"scope":"always"}}'],
    ['another scope', '{"type":"allow","requestId":"r1","scope":"everything"}'],
    ['an empty answer', '{"type":"answer","requestId":"r1","text":""}'],
    ['a long answer', JSON.stringify({ type: 'answer', requestId: 'r1', text: 'x'.repeat(256_001) })],
    ['deep nesting', `{"type":"allow","requestId":${'['.repeat(50_000)}${']'.repeat(50_000)}}`],
  ])('that is none is refused before the source hears of it: %s', async (_what, body) => {
    const setup = await inspected();
    expect(codeOf(await post(setup, body))).toEqual([400, 'INSPECTOR_ANSWER_INVALID']);
    expect(setup.source.answers).toEqual([]);
  });

  it.each([
    { body: '' },
    { body: '{' },
    { body: '{} {}' },
    { body: Buffer.from('{"type":"answer","requestId":"r1","text":"\u00ff"}', 'latin1') },
    { body: '\ufeff' },
  ])('that is not JSON is refused: %#', async ({ body }) => {
    const setup = await inspected();
    expect(codeOf(await post(setup, body))).toEqual([400, 'INSPECTOR_JSON_INVALID']);
  });

  it.each([
    'text/plain',
    'application/x-www-form-urlencoded',
    'multipart/form-data; boundary=x',
    '',
    'application/json, text/plain',
    'application/json; charset=utf-16',
    'application/jsonp',
    'text/json',
  ])('of another type is refused: "%s"', async (type) => {
    const setup = await inspected();
    expect(codeOf(await post(setup, ALLOW, { headers: { 'content-type': type } }))).toEqual([
      415,
      'INSPECTOR_JSON_EXPECTED',
    ]);
  });

  it('that is compressed is refused, and one that says its encoding is not', async () => {
    const setup = await inspected();
    expect(codeOf(await post(setup, ALLOW, { headers: { 'content-encoding': 'gzip' } }))).toEqual([
      415,
      'INSPECTOR_JSON_EXPECTED',
    ]);
    expect((await post(setup, ALLOW, { headers: { 'content-type': 'Application/JSON; charset=UTF-8' } })).status).toBe(
      200,
    );
  });

  it('that is too long is refused, whether it says so or not', async () => {
    const setup = await inspected({ limits: { maxBodyBytes: 100 } });
    const body = JSON.stringify({ ...ALLOW, note: 'x'.repeat(100) });
    expect(codeOf(await post(setup, body))).toEqual([413, 'INSPECTOR_BODY_TOO_LONG']);
    expect(codeOf(await post(setup, body, { headers: { 'transfer-encoding': 'chunked' } }))).toEqual([
      413,
      'INSPECTOR_BODY_TOO_LONG',
    ]);
    const { raw, port, place, cookie, server } = setup;
    const head = `POST ${place}/api/sessions/${SESSION}/answers HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\nOrigin: ${server.origin}\r\nCookie: ${cookie}\r\nConnection: close\r\nContent-Type: application/json\r\n`;
    expect(await raw(`${head}Content-Length: 999999999\r\n\r\n{`)).toMatch(/^HTTP\/1\.1 413 /);
    expect(await raw(`${head}Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n`)).toMatch(
      /^HTTP\/1\.1 400 /,
    );
  });

  it('that never comes whole ends with its connection', async () => {
    const { raw, port, place, cookie, server, source } = await inspected({ limits: { requestMs: 50 } });
    const answer = await raw(
      `POST ${place}/api/sessions/${SESSION}/answers HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\nOrigin: ${server.origin}\r\nCookie: ${cookie}\r\nContent-Type: application/json\r\nContent-Length: 50\r\n\r\n{`,
    );
    expect([/^(?:HTTP\/1\.1 408 .*)?$/s.test(answer), source.answers]).toEqual([true, []]);
  });

  it('needs a browser that has signed in, and our own page', async () => {
    const setup = await inspected();
    const path = `/api/sessions/${SESSION}/answers`;
    const json = { 'content-type': 'application/json' };
    expect((await setup.ask(path, { method: 'POST', body: '{}', headers: json })).status).toBe(403);
    expect(
      (await setup.ask(path, { method: 'POST', body: '{}', headers: { ...json, origin: 'http://evil.example' } }))
        .status,
    ).toBe(403);
    expect(
      (
        await setup.ask(path, {
          method: 'POST',
          body: '{}',
          headers: { ...json, origin: setup.server.origin, 'sec-fetch-site': 'cross-site' },
        })
      ).status,
    ).toBe(403);
    expect(
      (
        await setup.ask(path, {
          method: 'POST',
          body: '{}',
          headers: { ...json, origin: setup.server.origin },
          isStranger: true,
        })
      ).status,
    ).toBe(401);
    expect(setup.source.answers).toEqual([]);
  });

  it('to a session that cannot be is refused', async () => {
    const setup = await inspected();
    expect(codeOf(await post(setup, ALLOW, { session: 'x' }))).toEqual([404, 'INSPECTOR_SESSION_UNKNOWN']);
  });
});

describe('an error of the source', () => {
  it.each([
    ['validation', 400],
    ['permission', 403],
    ['not_found', 404],
    ['conflict', 409],
    ['capacity', 503],
    ['timeout', 504],
  ] as const)(
    'that the client can do something about is told, without the paths in it: %s',
    async (category, status) => {
      const setup = await inspected();
      setup.source.session = () =>
        Promise.reject(
          new RuntimeError(
            'SOME_CODE',
            'cannot read /srv/data/log.ndjson, file:///srv/x and C:\\data\\x (see http://127.0.0.1:1/docs/a)',
            { category, hint: 'Examine ~/x/y: "/srv/data".' },
          ),
        );
      const { text, status: given } = await setup.ask(`/api/sessions/${SESSION}`);
      expect([given, JSON.parse(text)]).toEqual([
        status,
        {
          code: 'SOME_CODE',
          message: 'cannot read (path), (path) and (path) (see http://127.0.0.1:1/docs/a)',
          hint: 'Examine (path): "(path)".',
        },
      ]);
    },
  );

  it.each(['storage', 'process', 'provider', 'runner', 'crash'] as const)(
    'that is our own says no more than that: %s',
    async (category) => {
      const setup = await inspected();
      const error = new RuntimeError('SOME_CODE', 'EACCES: /srv/data', {
        category,
        details: { secret: 'x' },
        cause: new Error('inside'),
      });
      setup.source.sessions = () => Promise.reject(error);
      const { status, text } = await setup.ask('/api/sessions');
      expect([status, JSON.parse(text)]).toEqual([
        500,
        {
          code: 'SOME_CODE',
          message: `what was asked for failed (${category})`,
          hint: 'The program that runs the inspector was told why.',
        },
      ]);
      expect(setup.problems).toEqual([error]);
    },
  );

  it.each([new TypeError('x is not a function'), 'a string', undefined, 1n])(
    'of any other kind says nothing, and a listener that throws changes nothing: %s',
    async (thrown) => {
      const source = new RecordedSource();
      // oxlint-disable-next-line typescript/prefer-promise-reject-errors
      source.sessions = () => Promise.reject(thrown);
      const setup = await inspected({
        source,
        onProblem: () => {
          throw new Error('deaf');
        },
      });
      const answer = await setup.ask('/api/sessions');
      expect([codeOf(answer), Object.keys(JSON.parse(answer.text) as object)]).toEqual([
        [500, 'INSPECTOR_FAILED'],
        ['code', 'message', 'hint'],
      ]);
    },
  );
});

function deferred(): { readonly promise: Promise<void>; readonly resolve: () => void } {
  let resolve = (): void => undefined;
  const promise = new Promise<void>((settle) => (resolve = settle));
  return { promise, resolve };
}

describe('ending a process', () => {
  const end = ({ ask, server }: Inspected, body: unknown): Promise<Answer> =>
    ask(`/api/sessions/${SESSION}/processes/end`, {
      method: 'POST',
      body: JSON.stringify(body),
      headers: { origin: server.origin, 'content-type': 'application/json' },
    });

  it('is asked of the source, and what the source refuses is said', async () => {
    const opened = await inspected();
    const ended: unknown[] = [];
    const source: InspectionSource = opened.source;
    Object.assign(source, {
      endProcess: async (...asked: unknown[]) => {
        ended.push(asked);
        if (ended.length > 1)
          throw new RuntimeError('INSPECTION_PROCESS_GONE', 'gone', { category: 'not_found', hint: 'None.' });
      },
    });
    expect((await end(opened, { pid: 7 })).status).toBe(200);
    expect(codeOf(await end(opened, { pid: 7, isFar: true }))).toEqual([404, 'INSPECTION_PROCESS_GONE']);
    expect(ended).toEqual([
      [SESSION, 7, { isFar: false }],
      [SESSION, 7, { isFar: true }],
    ]);
  });

  it('is refused where nothing can be ended, and for what is no pid', async () => {
    const opened = await inspected();
    expect(codeOf(await end(opened, { pid: 7 }))).toEqual([409, 'INSPECTOR_ENDS_NOTHING']);
    for (const wrong of [{}, { pid: 0 }, { pid: -1 }, { pid: '7' }, { pid: 7, signal: 'KILL' }, 7])
      expect((await end(opened, wrong)).status).toBe(400);
  });

  it('is refused for another page', async () => {
    const opened = await inspected();
    const { status } = await opened.ask(`/api/sessions/${SESSION}/processes/end`, {
      method: 'POST',
      body: JSON.stringify({ pid: 7 }),
      headers: { origin: 'http://elsewhere.example', 'content-type': 'application/json' },
    });
    expect(status).toBe(403);
  });
});
