/** What agents that speak ACP make of the errors of their models, and what kind of failure it is here. */
import { describe, expect, it } from 'vitest';
import { failsWithError } from '../support/http-models/behaviors.ts';
import { says } from '../support/http-models/conversation.ts';
import type { Behavior } from '../support/http-models/model-server.ts';
import { ACP_PROGRAMS, openAcp, played } from './acp-stage.ts';
import type { AcpProgram } from './acp-stage.ts';
import { describeProgram } from './programs.ts';

type Failures = Readonly<Record<string, Behavior>>;

const google = (code: number, type: string, message: string): Behavior => failsWithError(code, { type, message, code });
const openAi = (status: number, message: string, code?: string): Behavior =>
  failsWithError(status, { type: 'invalid_request_error', message, code });
const anthropic = (status: number, type: string, message: string): Behavior =>
  failsWithError(status, { type, message });

/** Others OpenCode tries again without end. */
const FAILURES: Readonly<Record<AcpProgram, Failures>> = {
  opencode: {
    auth: openAi(401, 'Incorrect API key provided', 'invalid_api_key'),
    billing: openAi(402, 'You exceeded your current quota, please check your plan and billing details.'),
    model_not_found: openAi(404, 'The model `model-1` does not exist', 'model_not_found'),
  },
  gemini: {
    auth: google(400, 'INVALID_ARGUMENT', 'API key not valid. Please pass a valid API key.'),
    model_not_found: google(404, 'NOT_FOUND', 'models/gemini-2.5-pro is not found for API version v1beta.'),
    context_overflow: google(400, 'INVALID_ARGUMENT', 'The input token count exceeds the maximum number of tokens.'),
    format: google(400, 'INVALID_ARGUMENT', 'temperature: at most 2'),
    rate_limit: google(429, 'RESOURCE_EXHAUSTED', 'Resource has been exhausted. Please try again later.'),
    server_error: google(500, 'INTERNAL', 'An internal error has occurred.'),
    overloaded: google(503, 'UNAVAILABLE', 'The model is overloaded. Please try again later.'),
  },
  'claude-agent-acp': {
    auth: anthropic(401, 'authentication_error', 'invalid x-api-key'),
    billing: anthropic(400, 'invalid_request_error', 'Your credit balance is too low to access the Anthropic API.'),
    model_not_found: anthropic(404, 'not_found_error', 'model: model-1'),
    context_overflow: anthropic(400, 'invalid_request_error', 'prompt is too long: 210000 tokens > 200000 maximum'),
    rate_limit: anthropic(429, 'rate_limit_error', 'Slow down.'),
    server_error: anthropic(500, 'api_error', 'Internal server error'),
    overloaded: anthropic(529, 'overloaded_error', 'Overloaded'),
  },
};

/** What a model tells for a while: of itself when it can be asked again, where its interface has a word for that. */
const BUSY: readonly (readonly [string, Behavior])[] = [
  ['429', failsWithError(429, { type: 'rate_limit_error', message: 'Slow down.' }, { 'retry-after': '1' })],
  ['500', openAi(500, 'The server had an error')],
  ['503', openAi(503, 'Overloaded')],
];

describeProgram('opencode', () => {
  it.each(BUSY)('tries again by itself after %s, and nothing of it is in the log', async (_what, busy) => {
    await using stage = await openAcp('opencode');
    played(stage, 'opencode').script(busy, says('At last.'));
    const id = await stage.session('Hello?');
    expect(await stage.wake(id)).toMatchObject({ outcome: 'sleep', summary: expect.stringMatching(/At last\.$/) });
    expect((await stage.log(id)).filter(({ type }) => type === 'run.attempt_failed')).toEqual([]);
  });

  it('that is told so for ever is given up once it has said nothing for too long', async () => {
    const runtime = { runLimits: { maxBackOffs: 0 } };
    await using stage = await openAcp('opencode', { idleTimeoutMs: 45_000, runtime });
    played(stage, 'opencode').always(openAi(503, 'Overloaded'));
    const id = await stage.session('Hello?');
    expect(await stage.wake(id)).toMatchObject({ outcome: 'failed', error: { details: { kind: 'timeout' } } });
    expect(played(stage, 'opencode').requests.length).toBeGreaterThan(1);
    expect(stage.processes()).toEqual([]);
  });

  it('makes room by itself when its context is full, and asks again', async () => {
    await using stage = await openAcp('opencode');
    const full = openAi(400, "This model's maximum context length is 8192 tokens.", 'context_length_exceeded');
    played(stage, 'opencode').script(full).always(says('Hello.'));
    const id = await stage.session('Hello?');
    expect(await stage.wake(id)).toMatchObject({
      outcome: 'sleep',
      summary: expect.stringMatching(/Hello\.$/),
    });
  });
});

describe.each(ACP_PROGRAMS)('%s', (program) => {
  describeProgram(program, () => {
    it.each(Object.entries(FAILURES[program]))('tells of %s', async (kind, behavior) => {
      const runtime = { runLimits: { maxBackOffs: 0 } };
      await using stage = await openAcp(program, { triesOnce: true, runtime });
      played(stage, program).always(behavior);
      const id = await stage.session('Hello?');
      expect(await stage.wake(id)).toMatchObject({ outcome: 'failed', error: { details: { kind } } });
    });

    it('is asked nothing where it does not have the model', async () => {
      await using stage = await openAcp(program, { agent: { model: 'no-such-model' } });
      const id = await stage.session('Hello?');
      expect(await stage.wake(id)).toMatchObject({ outcome: 'failed', summary: expect.stringContaining('it has no') });
      expect(played(stage, program).requests).toEqual([]);
    });

    it('is put into the mode that its settings name', async () => {
      await using stage = await openAcp(program, { mode: 'plan' });
      played(stage, program).script(says('Planned.'));
      const id = await stage.session('Plan.');
      expect(await stage.wake(id)).toMatchObject({ outcome: 'sleep', summary: 'Planned.' });
      expect(played(stage, program).requests.some(({ text }) => /plan mode/i.test(text))).toBe(true);
    });
  });
});
