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

/** Others they try again for minutes, before they tell of them. */
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
  },
  'claude-agent-acp': {
    auth: anthropic(401, 'authentication_error', 'invalid x-api-key'),
    billing: anthropic(400, 'invalid_request_error', 'Your credit balance is too low to access the Anthropic API.'),
    model_not_found: anthropic(404, 'not_found_error', 'model: model-1'),
    context_overflow: anthropic(400, 'invalid_request_error', 'prompt is too long: 210000 tokens > 200000 maximum'),
  },
};

describeProgram('opencode', () => {
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
      await using stage = await openAcp(program);
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
