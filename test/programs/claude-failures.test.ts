/** What models and networks do wrong under Claude Code, and what our log says of it. */
import { expect, it } from 'vitest';
import {
  drops,
  dropsAfter,
  failsWithError,
  hangs,
  says as saysRaw,
  truncates,
} from '../support/http-models/behaviors.ts';
import { says } from '../support/http-models/conversation.ts';
import type { Behavior } from '../support/http-models/model-server.ts';
import { openClaude } from './claude-stage.ts';
import { describeProgram } from './programs.ts';

const TOO_LONG = 'prompt is too long: 250000 tokens > 200000 maximum';

const FAILURES: readonly (readonly [what: string, behavior: Behavior, kind: string])[] = [
  ['401', failsWithError(401, { type: 'authentication_error', message: 'invalid x-api-key' }), 'auth'],
  ['403', failsWithError(403, { type: 'permission_error', message: 'Your API key may not do this.' }), 'auth'],
  ['402', failsWithError(402, { type: 'billing_error', message: 'Your credit balance is too low.' }), 'billing'],
  ['404', failsWithError(404, { type: 'not_found_error', message: 'model: model-1' }), 'model_not_found'],
  [
    '429',
    failsWithError(429, { type: 'rate_limit_error', message: 'Slow down.' }, { 'retry-after': '1' }),
    'rate_limit',
  ],
  ['500', failsWithError(500, { type: 'api_error', message: 'Internal server error' }), 'server_error'],
  ['529', failsWithError(529, { type: 'overloaded_error', message: 'Overloaded' }), 'overloaded'],
  [
    '400 of a full context',
    failsWithError(400, { type: 'invalid_request_error', message: TOO_LONG }),
    'context_overflow',
  ],
  ['400', failsWithError(400, { type: 'invalid_request_error', message: 'temperature: must be at most 1' }), 'format'],
  ['a connection that is reset', drops, 'server_error'],
  ['a connection that drops in mid-stream', dropsAfter([{ text: 'Half' }]), 'server_error'],
  ['a stream that ends too early', truncates([{ text: 'Half' }]), 'server_error'],
  [
    'a stream that is malformed',
    saysRaw([], () => 'event: message_delta\ndata: {"type": nonsense\n\n'),
    'server_error',
  ],
  ['silence', hangs, 'timeout'],
];

describeProgram('claude', () => {
  it.each(FAILURES)('tells of %s', async (_what, behavior, kind) => {
    await using stage = await openClaude({
      set: { CLAUDE_CODE_MAX_RETRIES: '0' },
      idleTimeoutMs: kind === 'timeout' ? 4_000 : 60_000,
      runtime: { runLimits: { maxBackOffs: 0 } },
    });
    stage.conversation().always(behavior);
    const id = await stage.session('Go.');
    await stage.wake(id);
    const errors = (await stage.log(id)).flatMap((event) =>
      event.type === 'span.completed' && event.data.error !== undefined ? [event.data.error] : [],
    );
    expect(errors.map((error) => error.kind)).toEqual([kind]);
  });

  it('asks again without streaming where a stream was malformed', async () => {
    const runtime = { runLimits: { maxBackOffs: 0 } };
    await using stage = await openClaude({ set: { CLAUDE_CODE_MAX_RETRIES: '0' }, runtime });
    stage.conversation().always(saysRaw([], () => 'event: message_delta\ndata: {"type": nonsense\n\n'));
    await stage.wake(await stage.session('Go.'));
    expect(stage.conversation().requests.map(({ body }) => body['stream'])).toEqual([true, false]);
  });

  it('tries again by itself, and nothing of it is in the log', async () => {
    await using stage = await openClaude();
    const busy = failsWithError(529, { type: 'overloaded_error', message: 'Overloaded' });
    stage.conversation().script(busy, busy, says('At last.'));
    const id = await stage.session('Go.');
    expect(await stage.wake(id)).toMatchObject({ outcome: 'sleep', summary: 'At last.' });
    expect((await stage.log(id)).filter(({ type }) => type === 'run.attempt_failed')).toEqual([]);
  });
});
