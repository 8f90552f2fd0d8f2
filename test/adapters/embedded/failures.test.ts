/** How requests and answers fail over each protocol, and as what that counts. */
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { RunFailureKind } from '../../../src/machines/run/run-failure.ts';
import {
  answers,
  drops,
  dropsAfter,
  failsInMidStream,
  failsWith,
  failsWithError,
  says,
  truncates,
} from '../../support/http-models/behaviors.ts';
import type { Behavior } from '../../support/http-models/model-server.ts';
import type { WireError } from '../../support/http-models/protocol.ts';
import { APIS, EmbeddedSetup, KEY } from './embedded-setup.ts';

let setup: EmbeddedSetup;

beforeEach(async () => {
  setup = await EmbeddedSetup.open();
});

afterEach(() => setup.close());

const HELLO = [{ text: 'Hello' }] as const;
const RATE: WireError = { type: 'rate_limit_error', code: 'rate_limit_exceeded', message: 'Slow down.' };
const OVERLOADED: WireError = { type: 'overloaded_error', code: 'server_is_overloaded', message: 'Overloaded' };
const INTERNAL: WireError = { type: 'api_error', code: 'server_error', message: 'Something broke.' };
const SPENT: WireError = {
  type: 'insufficient_quota',
  code: 'insufficient_quota',
  message: 'You exceeded your current quota.',
};
const WRONG_KEY: WireError = {
  type: 'authentication_error',
  code: 'invalid_api_key',
  message: `Incorrect API key provided: ${KEY}.`,
};
const TOO_LONG: WireError = {
  type: 'invalid_request_error',
  code: 'context_length_exceeded',
  message: 'prompt is too long: 210000 tokens > 200000 maximum',
};
const HTML = {
  status: 500,
  headers: { 'content-type': 'text/html' },
  body: '<html><body><h1>502 Bad Gateway</h1>nginx</body></html>',
} as const;

const SCENARIOS: readonly (readonly [string, Behavior, RunFailureKind])[] = [
  ['429', failsWithError(429, RATE), 'rate_limit'],
  ['429 for a spent account', failsWithError(429, SPENT), 'billing'],
  ['529', failsWithError(529, OVERLOADED), 'overloaded'],
  ['503', failsWithError(503, OVERLOADED), 'overloaded'],
  ['401', failsWithError(401, WRONG_KEY), 'auth'],
  ['403', failsWithError(403, { type: 'permission_error', message: 'Your key may not use this.' }), 'auth'],
  [
    '404 for a model',
    failsWithError(404, { type: 'not_found_error', code: 'model_not_found', message: 'model: dreams-9' }),
    'model_not_found',
  ],
  [
    '413',
    failsWithError(413, { type: 'request_too_large', message: 'Request exceeds the maximum size' }),
    'context_overflow',
  ],
  ['400 for a long conversation', failsWithError(400, TOO_LONG), 'context_overflow'],
  [
    '400 for anything else',
    failsWithError(400, { type: 'invalid_request_error', message: 'temperature: expected at most 1' }),
    'format',
  ],
  ['500', failsWithError(500, INTERNAL), 'server_error'],
  ['500 with a page of HTML', failsWith(HTML), 'server_error'],
  ['500 with nothing', failsWith({ status: 500 }), 'server_error'],
  ['504', failsWith({ status: 504, body: 'upstream timed out' }), 'timeout'],
  ['a page of HTML as a success', failsWith({ ...HTML, status: 200 }), 'server_error'],
  ['JSON instead of a stream', failsWith({ status: 200, body: '{"object":"chat.completion"}' }), 'format'],
  [
    'an error in JSON as a success',
    failsWith({ status: 200, body: ({ protocol }) => protocol.errorBody(OVERLOADED) }),
    'overloaded',
  ],
  ['a redirection', failsWith({ status: 307, headers: { location: 'http://127.0.0.1:1/elsewhere' } }), 'format'],
  ['a connection that is dropped before the answer', drops, 'server_error'],
  ['a connection that is dropped in mid-stream', dropsAfter(HELLO), 'server_error'],
  ['an answer that ends too early', truncates(HELLO), 'server_error'],
  ['an answer that ends before it began', truncates([]), 'server_error'],
  ['an overloaded provider in mid-stream', failsInMidStream(HELLO, () => OVERLOADED), 'overloaded'],
  [
    'an overloaded provider at the start of the stream',
    says([], ({ protocol }) => protocol.streamedError(OVERLOADED)),
    'overloaded',
  ],
  ['a limit in mid-stream', failsInMidStream(HELLO, () => RATE), 'rate_limit'],
  ['a broken provider in mid-stream', failsInMidStream(HELLO, () => INTERNAL), 'server_error'],
  [
    'an error of an unknown kind in mid-stream',
    failsInMidStream(HELLO, () => ({ type: 'dream_error', code: 'dream_error', message: 'I dreamed.' })),
    'server_error',
  ],
  [
    'JSON that is none, in mid-stream',
    says(HELLO, ({ protocol }) => `data: {"type": "cont\n\n${protocol.closing({}, HELLO).join('')}`),
    'server_error',
  ],
  ['a stream that is none', says([], () => 'this is no stream at all\nof anything\n\n'), 'server_error'],
];

describe.each(APIS)('over %s', (api) => {
  it.each(SCENARIOS)('%s is a failure of the kind that it is', async (_, behavior, kind) => {
    const run = setup.ask(api, behavior);
    const { meta } = await run.result;
    expect(meta?.error).toMatchObject({ kind, message: expect.stringMatching(/\S/) });
    expect(run.events.at(-1)?.data).toEqual({ phase: 'error', error: meta?.error });
    expect(JSON.stringify([meta, run.events])).not.toContain(KEY);
    expect(setup.server.requests).toHaveLength(1);
  });

  it('a key that is refused is named by its variable, where it came from one', async () => {
    const { meta } = await setup.ask(api, failsWithError(401, WRONG_KEY)).result;
    expect(meta?.error?.message).toMatch(/\(the key is that of [A-Z_]+\)$/);
    const { meta: other } = await setup.ask(api, failsWithError(429, RATE)).result;
    expect(other?.error?.message).not.toContain('the key is');
  });

  it('a wait that the provider asks for is told, in seconds, milliseconds or as a moment', async () => {
    const inTwoMinutes = new Date(Math.ceil(Date.now() / 1_000) * 1_000 + 120_000).toUTCString();
    for (const [headers, least, most] of [
      [{ 'retry-after': '7' }, 7_000, 7_000],
      [{ 'retry-after-ms': '1500' }, 1_500, 1_500],
      [{ 'retry-after': inTwoMinutes }, 60_000, 121_000],
    ] as const) {
      const { meta } = await setup.ask(api, failsWithError(429, RATE, headers)).result;
      expect(meta?.error?.retryAfterMs).toBeGreaterThanOrEqual(least);
      expect(meta?.error?.retryAfterMs).toBeLessThanOrEqual(most);
    }
  });

  it('what was said before a failure is in the payloads, and what was asked for is not run', async () => {
    const run = setup.ask(
      api,
      failsInMidStream([{ text: 'Hello' }, { tool: 'read', callId: 'call_a', input: '{}' }], () => OVERLOADED),
    );
    expect((await run.result).payloads).toEqual([{ type: 'text', text: 'Hello' }]);
  });

  it('a server that nobody listens at is a failure that can pass', async () => {
    const gone = await EmbeddedSetup.open();
    const baseUrl = gone.server.baseUrl(api);
    await gone.close();
    const { meta } = await setup.ask(api, answers(HELLO), { settings: { baseUrl } }).result;
    expect(meta?.error?.kind).toBe('server_error');
  });

  it('a redirection is told by where it leads, without what its address carries', async () => {
    const { meta } = await setup.ask(
      api,
      failsWith({
        status: 307,
        headers: { location: 'http://me:hunter22@other.example/v1?access_token=abcdef1234567890#sig=XYZ' },
      }),
    ).result;
    expect(meta?.error?.message).toMatch(/to http:\/\/other\.example\/v1\)/);
    expect(meta?.error?.message).not.toMatch(/hunter22|abcdef|XYZ/);
  });

  it.each([
    ['base64', Buffer.from(KEY).toString('base64')],
    ['base64 beside a name', Buffer.from(`me:${KEY}!`).toString('base64').slice(4, -4)],
    ['base64 for addresses', Buffer.from(`a${KEY}`).toString('base64url').slice(2)],
    ['hex', Buffer.from(KEY).toString('hex')],
    ['upper-case hex', Buffer.from(KEY).toString('hex').toUpperCase()],
  ])('a key that is quoted in %s is told to nobody', async (_, form) => {
    const { meta } = await setup.ask(
      api,
      failsWithError(401, { type: 'authentication_error', code: 'invalid_api_key', message: `not known: ${form}.` }),
    ).result;
    expect(meta?.error?.message).toContain('[redacted]');
    expect(meta?.error?.message).not.toContain(form.slice(4, 20));
  });

  it('an event that does not end is given up, however much of it comes', async () => {
    const endless: Behavior = async ({ response }) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      const pieces = ['data: {"x":"', ...Array.from({ length: 32 }, () => 'x'.repeat(1024 * 1024))];
      await pipeline(Readable.from(pieces), response).catch(() => undefined);
    };
    const { meta } = await setup.ask(api, endless).result;
    expect(meta?.error).toMatchObject({
      kind: 'server_error',
      message: expect.stringMatching(/one event of it has more than 16777216 bytes/),
    });
    expect(await setup.server.request.ended).toBe('cut');
  });

  it('a failure leaves no connection with an answer that goes on', async () => {
    await setup.ask(
      api,
      says(HELLO, ({ protocol }) => protocol.streamedError(OVERLOADED)),
    ).result;
    const hanging: Behavior = ({ protocol, request, response }) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      response.write(
        [...protocol.opening(request.model), ...protocol.saying(HELLO[0], 0), protocol.streamedError(OVERLOADED)].join(
          '',
        ),
      );
    };
    await setup.ask(api, hanging).result;
    expect(await setup.server.request.ended).toBe('cut');
    expect(setup.server.openAnswers).toBe(0);
  });
});
