/** What models and networks do wrong under Codex, and what our log says of it. */
import { expect, it } from 'vitest';
import {
  drops,
  dropsAfter,
  failsInMidStream,
  failsWithError,
  hangs,
  says as saysRaw,
  truncates,
} from '../support/http-models/behaviors.ts';
import { says } from '../support/http-models/conversation.ts';
import type { Behavior } from '../support/http-models/model-server.ts';
import { openCodex } from './codex-stage.ts';
import { describeProgram } from './programs.ts';
import type { Stage } from './stage.ts';

const LIMIT = { type: 'tokens', code: 'rate_limit_exceeded', message: 'Rate limit reached. Please try again in 77s.' };
const FULL = { type: 'invalid_request_error', code: 'context_length_exceeded', message: 'Your input is too long.' };

const FAILURES: readonly (readonly [what: string, behavior: Behavior, kind: string])[] = [
  ['401', failsWithError(401, { type: 'invalid_request_error', message: 'Incorrect API key provided.' }), 'auth'],
  ['403', failsWithError(403, { type: 'permission_error', message: 'Your key may not do this.' }), 'auth'],
  [
    '404',
    failsWithError(404, {
      type: 'invalid_request_error',
      code: 'model_not_found',
      message: 'The model does not exist',
    }),
    'model_not_found',
  ],
  ['429', failsWithError(429, LIMIT, { 'retry-after': '1' }), 'rate_limit'],
  [
    '429 without credit',
    failsWithError(429, {
      type: 'insufficient_quota',
      code: 'insufficient_quota',
      message: 'You exceeded your quota.',
    }),
    'billing',
  ],
  ['500', failsWithError(500, { type: 'server_error', message: 'The server had an error' }), 'server_error'],
  ['503', failsWithError(503, { type: 'server_error', message: 'Overloaded' }), 'overloaded'],
  ['400', failsWithError(400, { type: 'invalid_request_error', message: 'Invalid value: foo' }), 'format'],
  ['400 of a full context', failsWithError(400, FULL), 'context_overflow'],
  ['a full context in mid-stream', failsInMidStream([], () => FULL), 'context_overflow'],
  ['a limit in mid-stream', failsInMidStream([], () => LIMIT), 'rate_limit'],
  ['a connection that is reset', drops, 'server_error'],
  ['a connection that drops in mid-stream', dropsAfter([{ text: 'Half' }]), 'server_error'],
  ['a stream that ends too early', truncates([{ text: 'Half' }]), 'server_error'],
  ['a stream that is malformed', saysRaw([], () => 'data: {"type": nonsense\n\n'), 'server_error'],
  ['silence', hangs, 'timeout'],
];

async function errorsOf(stage: Stage): Promise<readonly { readonly kind: string; readonly message: string }[]> {
  const id = await stage.session('Go.');
  await stage.wake(id);
  return (await stage.log(id)).flatMap((event) =>
    event.type === 'span.completed' && event.data.error !== undefined ? [event.data.error] : [],
  );
}

describeProgram('codex', () => {
  it.each(FAILURES)('tells of %s', async (_what, behavior, kind) => {
    await using stage = await openCodex({
      idleTimeoutMs: kind === 'timeout' ? 4_000 : 60_000,
      runtime: { runLimits: { maxBackOffs: 0 } },
    });
    stage.conversation().always(behavior);
    const errors = await errorsOf(stage);
    expect(errors).toEqual([expect.objectContaining({ kind })]);
  });

  it('gives up where its model cannot be reached', async () => {
    await using stage = await openCodex({
      options: { config: { 'model_providers.fixture.base_url': 'http://127.0.0.1:9/v1' } },
      runtime: { runLimits: { maxBackOffs: 0 } },
    });
    const errors = await errorsOf(stage);
    expect(errors.map((error) => error.kind)).toEqual(['server_error']);
  });

  it('tries again by itself, and nothing of it is in the log', async () => {
    await using stage = await openCodex({ options: { config: { 'model_providers.fixture.request_max_retries': 2 } } });
    const busy = failsWithError(500, { type: 'server_error', message: 'Try again.' });
    stage.conversation().script(busy, busy, says('At last.'));
    const id = await stage.session('Go.');
    expect(await stage.wake(id)).toMatchObject({ outcome: 'sleep', summary: 'At last.' });
    expect((await stage.log(id)).filter(({ type }) => type === 'run.attempt_failed')).toEqual([]);
  });
});
