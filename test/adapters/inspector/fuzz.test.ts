/** Whatever is sent, the server answers with a clear status or ends the connection, and goes on. */
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { inspected } from './inspector-client.ts';
import { SESSION } from './recorded-source.ts';

const PATHS = [
  '/',
  '/?token=',
  '/api/',
  '/api/records',
  '/api/records?from=',
  '/api/charts/',
  '/api/charts/task.svg',
  '/api/sessions',
  `/api/sessions/${SESSION}`,
  `/api/sessions/${SESSION}/answers`,
  '/%',
  '/..',
  '//',
];
/** What stands for the place, which is another one each time. */
const PLACE = '/PLACE';
const HEADERS = [
  'Host',
  'Origin',
  'Cookie',
  'Sec-Fetch-Site',
  'Content-Type',
  'Content-Length',
  'Transfer-Encoding',
  'Accept-Encoding',
  'If-None-Match',
  'Connection',
  'Upgrade',
  'Expect',
  'Range',
  'Last-Event-ID',
  'Accept',
];
const VALUES = [
  '',
  '0',
  '-1',
  '5',
  'chunked',
  'gzip',
  'gzip;q=',
  'null',
  'application/json',
  'upgrade',
  'websocket',
  '100-continue',
  'bytes=0-',
  '"',
  '*',
  '\u0000',
  'keep-alive',
  ',',
];

/** Bytes of a request line or a header as they can be sent; line ends among them make something else of it. */
const noise = fc.string({ unit: 'binary', maxLength: 40 }).map((text) => Buffer.from(text).toString('latin1'));
const path = fc.oneof(
  fc.constantFrom(...PATHS).map((each) => PLACE + each),
  fc.constantFrom(...PATHS),
  fc.tuple(fc.constantFrom(...PATHS), noise).map(([start, rest]) => PLACE + start + rest),
  fc.webPath(),
  noise,
);
const header = fc.tuple(
  fc.oneof({ weight: 5, arbitrary: fc.constantFrom(...HEADERS) }, { weight: 1, arbitrary: noise }),
  fc.oneof(fc.constantFrom(...VALUES), noise),
);
const request = fc.record({
  method: fc.oneof(fc.constantFrom('GET', 'HEAD', 'POST', 'OPTIONS', 'CONNECT', 'PRI', 'get', ''), noise),
  path,
  headers: fc.array(header, { maxLength: 5 }),
  isOurs: fc.boolean(),
  body: fc.oneof(fc.json(), noise, fc.constant('')),
});

/** A server that ends a connection with bytes of it unread resets it. */
function endedByServer(error: unknown): string {
  if ((error as { readonly code?: unknown }).code === 'ECONNRESET') return '';
  throw error;
}

it('answers random requests with a clear status, and goes on', async () => {
  const { raw, port, place, cookie, server, ask, problems } = await inspected({
    limits: { requestMs: 50, stallMs: 60, heartbeatMs: 30 },
  });
  const run = fc.asyncProperty(request, async ({ method, path: target, headers, isOurs, body }) => {
    const own = isOurs
      ? [
          `Host: 127.0.0.1:${port}`,
          `Cookie: ${cookie}`,
          `Origin: ${server.origin}`,
          'Content-Type: application/json',
          `Content-Length: ${Buffer.byteLength(body)}`,
        ]
      : [];
    const lines = [
      `${method} ${target.replace(PLACE, () => place)} HTTP/1.1`,
      ...own,
      'Connection: close',
      ...headers.map(([name, value]) => `${name}: ${value}`),
    ];
    const answer = await raw(`${lines.join('\r\n')}\r\n\r\n${body}`).catch(endedByServer);
    const status = /^HTTP\/1\.1 (\d{3}) /.exec(answer)?.[1];
    expect(
      answer === '' ||
        [
          '100',
          '200',
          '303',
          '304',
          '400',
          '401',
          '403',
          '404',
          '405',
          '408',
          '409',
          '413',
          '415',
          '417',
          '421',
          '431',
          '503',
        ].includes(status ?? answer),
    ).toBe(true);
    expect(answer).not.toMatch(/node:internal|\.ts:\d|\.js:\d|node_modules/);
  });
  await fc.assert(run, { numRuns: 400, seed: 20_261_122 });
  expect((await ask('/api/sessions')).status).toBe(200);
  expect(problems).toEqual([]);
});

it('takes only answers that are answers', async () => {
  const { ask, server, source, problems } = await inspected();
  const field = fc.oneof(
    fc.string({ maxLength: 300 }),
    fc.constantFrom('allow', 'deny', 'answer', 'r1', 'once', 'always'),
    fc.jsonValue(),
  );
  const body = fc.oneof(
    fc.jsonValue(),
    fc.record({ type: field, requestId: field, scope: field, note: field, text: field }, { requiredKeys: [] }),
    fc.record(
      { type: fc.constantFrom('allow', 'deny', 'answer'), requestId: fc.uuid(), text: field, note: field },
      { requiredKeys: ['type', 'requestId'] },
    ),
  );
  let taken = 0;
  const run = fc.asyncProperty(body, async (value) => {
    const { status, text } = await ask(`/api/sessions/${SESSION}/answers`, {
      method: 'POST',
      body: JSON.stringify(value),
      headers: { origin: server.origin, 'content-type': 'application/json' },
    });
    expect([200, 400, 409]).toContain(status);
    if (status === 200) taken += 1;
    else
      expect(JSON.parse(text)).toEqual({
        code: expect.any(String),
        message: expect.any(String),
        hint: expect.any(String),
      });
  });
  await fc.assert(run, { numRuns: 300, seed: 20_261_122 });
  expect(source.answers.length).toBeLessThanOrEqual(taken);
  for (const { answer } of source.answers) expect(['allow', 'deny', 'answer']).toContain(answer.type);
  expect(problems).toEqual([]);
});
