/**
 * What a provider is asked: the conversation, the tools, the limits and the account, each as its interface wants it.
 */
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { AgentRunParams } from '../../../src/actors/run/agent-runtime.ts';
import type { ProviderSettings } from '../../../src/machines/run/provider-settings.ts';
import type { ProviderMessage } from '../../../src/machines/turn/provider-message.ts';
import { answers, answersByEvent } from '../../support/http-models/behaviors.ts';
import type { EmbeddedApi, Said } from '../../support/http-models/protocol.ts';
import { APIS, EmbeddedSetup, KEY } from './embedded-setup.ts';

let setup: EmbeddedSetup;

beforeEach(async () => {
  setup = await EmbeddedSetup.open();
});

afterEach(() => setup.close());

const YES = [{ text: 'Yes.' }] as const;
const EPHEMERAL = { type: 'ephemeral' };
const user = (text: string): ProviderMessage => ({ role: 'user', content: [{ type: 'text', text }] });
const TOOL = {
  name: 'read',
  description: 'Reads a file.',
  inputSchema: {
    type: 'object',
    properties: { path: { type: 'string' }, offset: { type: 'number' } },
    required: ['path'],
  },
};

const CONVERSATION: readonly ProviderMessage[] = [
  user('Examine it.'),
  {
    role: 'assistant',
    content: [
      { type: 'reasoning', text: 'Of another model.' },
      { type: 'text', text: 'I check.' },
      { type: 'tool_call', callId: 'call_1', name: 'read', input: { path: 'a' } },
      { type: 'tool_call', callId: 'call_2', name: 'read', input: { path: 'b' } },
    ],
  },
  {
    role: 'tool',
    content: [
      {
        type: 'tool_result',
        callId: 'call_1',
        name: 'read',
        outcome: 'completed',
        output: { text: 'ä', lines: 1 },
        kept: { path: 'outputs/1.txt', characters: 9 },
      },
      { type: 'tool_result', callId: 'call_2', name: 'read', outcome: 'denied', output: 'Nobody allowed it.' },
    ],
  },
];

/** The body of the request that a run makes. */
async function bodyOf(
  api: EmbeddedApi,
  {
    settings,
    ...params
  }: Partial<Omit<AgentRunParams, 'messages' | 'prompt'>> & {
    messages?: readonly ProviderMessage[];
    settings?: Partial<ProviderSettings>;
  } = {},
): Promise<Readonly<Record<string, unknown>>> {
  const { messages, ...others } = params;
  const { meta } = await setup.ask(api, answers(YES), {
    ...others,
    ...(messages === undefined ? {} : { messages }),
    ...(settings === undefined ? {} : { settings }),
  }).result;
  expect(meta?.error).toBeUndefined();
  return setup.server.request.body;
}

describe('a conversation', () => {
  it('reaches Anthropic with its calls, their results, and four places to cache at', async () => {
    const body = await bodyOf('anthropic', { instructions: 'Be brief.', messages: CONVERSATION, tools: [TOOL] });
    expect(body).toMatchObject({
      stream: true,
      system: [{ type: 'text', text: 'Be brief.', cache_control: EPHEMERAL }],
      tools: [{ name: 'read', description: 'Reads a file.', input_schema: TOOL.inputSchema, cache_control: EPHEMERAL }],
      messages: [
        { role: 'user', content: [{ type: 'text', text: 'Examine it.', cache_control: EPHEMERAL }] },
        {
          role: 'assistant',
          content: [
            { type: 'text', text: 'I check.' },
            { type: 'tool_use', id: 'call_1', name: 'read', input: { path: 'a' } },
            { type: 'tool_use', id: 'call_2', name: 'read', input: { path: 'b' } },
          ],
        },
        {
          role: 'user',
          content: [
            {
              type: 'tool_result',
              tool_use_id: 'call_1',
              content: '{"text":"ä","lines":1}\n[The whole output is in outputs/1.txt in the workspace.]',
            },
            {
              type: 'tool_result',
              tool_use_id: 'call_2',
              content: 'Nobody allowed it.',
              is_error: true,
              cache_control: EPHEMERAL,
            },
          ],
        },
      ],
    });
    expect(setup.server.request.text.match(/cache_control/g)).toHaveLength(4);
  });

  it('reaches the Responses interface, which is to keep nothing, and is not strict', async () => {
    const body = await bodyOf('openai', {
      instructions: 'Be brief.',
      messages: CONVERSATION,
      tools: [TOOL],
      model: 'gpt-5',
    });
    expect(body).toMatchObject({
      stream: true,
      store: false,
      include: ['reasoning.encrypted_content'],
      prompt_cache_key: 'session_1',
    });
    expect(body['tools']).toMatchObject([
      { type: 'function', name: 'read', parameters: TOOL.inputSchema, strict: false },
    ]);
    expect(body['input']).toMatchObject([
      { role: 'developer', content: 'Be brief.' },
      { role: 'user', content: [{ type: 'input_text', text: 'Examine it.' }] },
      { role: 'assistant' },
      { type: 'function_call', call_id: 'call_1', name: 'read', arguments: '{"path":"a"}' },
      { type: 'function_call', call_id: 'call_2', name: 'read', arguments: '{"path":"b"}' },
      { type: 'function_call_output', call_id: 'call_1', output: expect.stringContaining('"lines":1') },
      { type: 'function_call_output', call_id: 'call_2', output: '[denied] Nobody allowed it.' },
    ]);
  });

  it('reaches Chat Completions with the usage asked for', async () => {
    const body = await bodyOf('openai-chat', { instructions: 'Be brief.', messages: CONVERSATION, tools: [TOOL] });
    expect(body).toMatchObject({
      stream: true,
      stream_options: { include_usage: true },
      tools: [{ type: 'function', function: { name: 'read', parameters: TOOL.inputSchema } }],
    });
    expect(body['messages']).toMatchObject([
      { role: 'system', content: 'Be brief.' },
      { role: 'user', content: 'Examine it.' },
      {
        role: 'assistant',
        content: 'I check.',
        tool_calls: [{ id: 'call_1', function: { name: 'read', arguments: '{"path":"a"}' } }, { id: 'call_2' }],
      },
      { role: 'tool', tool_call_id: 'call_1', content: expect.stringContaining('outputs/1.txt') },
      { role: 'tool', tool_call_id: 'call_2', content: '[denied] Nobody allowed it.' },
    ]);
  });

  it.each(APIS)('of one prompt reaches %s, and no instructions and no tools with it', async (api) => {
    setup.server.when('prompted', answers(YES));
    const { runtime, workspaceDir } = setup;
    await runtime.run({
      runId: 'r',
      sessionId: 's',
      provider: 'fixture',
      model: 'prompted',
      config: { providers: { fixture: setup.settings(api) } },
      workspaceDir,
      agentDir: workspaceDir,
      modelStepsTaken: 0,
      prompt: 'Hello?',
      instructions: ' ',
    });
    const { body, text } = setup.server.request;
    expect(text).toContain('Hello?');
    expect([body['tools'], body['system'], body['instructions']]).toEqual([undefined, undefined, undefined]);
  });
});

describe('what only the model that reasoned can read', () => {
  const thought = async (api: EmbeddedApi, said: readonly Said[]): Promise<readonly ProviderMessage[]> => {
    const { payloads } = await setup.ask(
      api,
      answersByEvent([...said, { tool: 'read', callId: 'call_1', input: '{}' }]),
      { model: 'thinker' },
    ).result;
    const content = payloads.flatMap((payload) =>
      payload.type === 'reasoning' || payload.type === 'tool_call' ? [payload] : [],
    );
    // As a log gives it back, after it was stored.
    const stored = JSON.parse(JSON.stringify(content)) as typeof content;
    return [
      user('Think.'),
      { role: 'assistant', content: stored },
      {
        role: 'tool',
        content: [{ type: 'tool_result', callId: 'call_1', name: 'read', outcome: 'completed', output: 'x' }],
      },
    ];
  };
  const SAID: readonly Said[] = [{ reasoning: ['I ', 'think.'], seal: 'signed-1' }, { sealed: 'hidden-2' }];

  it('is given back to it by Anthropic, with its signatures and what is hidden', async () => {
    const messages = await thought('anthropic', SAID);
    const body = await bodyOf('anthropic', { messages, model: 'thinker' });
    expect(body['messages']).toMatchObject([
      {},
      {
        role: 'assistant',
        content: [
          { type: 'thinking', thinking: 'I think.', signature: 'signed-1' },
          { type: 'redacted_thinking', data: 'hidden-2' },
          { type: 'tool_use', id: 'call_1' },
        ],
      },
      {},
    ]);
  });

  it('is given back to it by OpenAI, encrypted', async () => {
    const messages = await thought('openai', SAID);
    const body = await bodyOf('openai', { messages, model: 'thinker' });
    expect(body['input']).toMatchObject([
      {},
      {
        type: 'reasoning',
        id: 'rs_0',
        encrypted_content: 'signed-1',
        summary: [{ type: 'summary_text', text: 'I think.' }],
      },
      { type: 'reasoning', id: 'rs_1', encrypted_content: 'hidden-2', summary: [] },
      { type: 'function_call', call_id: 'call_1' },
      {},
    ]);
  });

  it('is not given back by OpenAI when it was not encrypted, since nothing was to be kept there', async () => {
    const messages = await thought('openai', [{ reasoning: 'I think.' }]);
    expect(messages[1]?.content[0]).toEqual({ type: 'reasoning', text: 'I think.' });
  });

  it.each([
    ['another model', 'anthropic', { model: 'other' }],
    ['another provider of the same interface', 'anthropic', { model: 'thinker', provider: 'second' }],
    ['another interface', 'openai-chat', { model: 'thinker' }],
  ] as const)('is kept from %s', async (_, api, params) => {
    const messages = await thought('anthropic', SAID);
    await bodyOf(api, {
      messages,
      ...params,
      config: { providers: { fixture: setup.settings(api), second: setup.settings(api) } },
    });
    for (const secret of ['signed-1', 'hidden-2', 'I think.']) expect(setup.server.request.text).not.toContain(secret);
  });

  describe('is not asked for anew in a turn that another model began', () => {
    const settings = { options: { thinking: { type: 'enabled', budget_tokens: 2_000 } } };
    const isAsked = async (messages: readonly ProviderMessage[], params: { model?: string } = {}): Promise<boolean> => {
      const body = await bodyOf('anthropic', { messages, settings, ...params });
      return (body['thinking'] as { type: string }).type === 'enabled';
    };
    const NO_THOUGHT = CONVERSATION.slice(1);

    it.each([
      ['while its results are to be read', CONVERSATION],
      ['when a message steers it, or tells of an interruption', [...CONVERSATION, user('Go on.')]],
    ])('%s', async (_, messages) => {
      expect(await isAsked(messages)).toBe(false);
    });

    it('though another turn, or the same one before a message, began with thoughts', async () => {
      const own = await thought('anthropic', SAID);
      expect(await isAsked([...own, ...NO_THOUGHT], { model: 'thinker' })).toBe(false);
      expect(setup.server.request.text).not.toContain('signed-1');
      expect(await isAsked([...own, user('And that?'), ...NO_THOUGHT], { model: 'thinker' })).toBe(false);
    });

    it('and is when the turn is over, or began with thoughts of its own', async () => {
      const own = await thought('anthropic', SAID);
      expect(
        await isAsked([
          ...CONVERSATION,
          { role: 'assistant', content: [{ type: 'text', text: 'Done.' }] },
          user('Go on.'),
        ]),
      ).toBe(true);
      expect(await isAsked(own, { model: 'thinker' })).toBe(true);
      expect(await isAsked([...own, user('Faster.')], { model: 'thinker' })).toBe(true);
      expect(setup.server.request.text).toContain('signed-1');
    });

    it('but is where thinking adapts itself, which takes a turn as it began', async () => {
      expect(
        await bodyOf('anthropic', {
          messages: CONVERSATION,
          settings: { options: { thinking: { type: 'adaptive' } } },
        }),
      ).toMatchObject({ thinking: { type: 'adaptive' } });
    });
  });

  it.each(['anthropic', 'openai'] as const)('is not given back by %s where nothing came of it', async (api) => {
    const [asked, said, results] = await thought(api, SAID);
    const content = said?.role === 'assistant' ? [...said.content].reverse() : [];
    await bodyOf(api, {
      messages: [asked, { role: 'assistant', content }, results] as readonly ProviderMessage[],
      model: 'thinker',
    });
    expect(setup.server.request.text).not.toContain('signed-1');
    expect(setup.server.request.text).toContain('call_1');
  });
});

describe('the account', () => {
  const keys = (): unknown => [setup.server.request.headers.authorization, setup.server.request.headers['x-api-key']];

  it('is opened by the variable of the provider, and by a credential before that', async () => {
    await bodyOf('anthropic');
    expect(keys()).toEqual([undefined, KEY]);
    await bodyOf('openai');
    expect(keys()).toEqual([`Bearer ${KEY}`, undefined]);
    await bodyOf('openai-chat', { credential: { profileId: 'work', secret: 'sk-of-a-profile\n' } });
    expect(keys()).toEqual(['Bearer sk-of-a-profile', undefined]);
  });

  it.each(APIS)('of a server without keys over %s is nobody, even where another is in the environment', async (api) => {
    await bodyOf(api, { settings: { keyVariable: undefined, needsKey: false, headers: { 'x-setup': 'ours' } } });
    expect(keys()).toEqual([undefined, undefined]);
    expect(setup.server.request.headers['x-setup']).toBe('ours');
  });

  it.each([
    [
      'a missing key',
      { keyVariable: 'NOT_SET' },
      /needs a key.*Set NOT_SET, or add an account with: wakechart auth add NAME --provider fixture --env NOT_SET$/,
    ],
    [
      'a provider without a variable',
      { keyVariable: undefined },
      /needs a key.*Add an account with: wakechart auth add NAME --provider fixture --env VARIABLE$/,
    ],
    [
      'a key where the name of a variable belongs',
      { keyVariable: 'a94f3b21c0de4455a94f3b21c0de4455' },
      /^(?!.*a94f3b21).*looks like a key itself.*--env VARIABLE$/,
    ],
  ] as const)('that lacks its key fails as auth: %s', async (_, settings, message) => {
    const { meta } = await setup.ask('openai', answers(YES), { settings }).result;
    expect(meta?.error).toMatchObject({ kind: 'auth', message: expect.stringMatching(message), isLocal: true });
    expect(setup.server.requests).toHaveLength(0);
  });

  it('whose key no header can carry fails as auth, without telling the key', async () => {
    const { meta } = await setup.ask('openai', answers(YES), {
      credential: { profileId: 'work', secret: 'sk-ünlikely\nkey' },
    }).result;
    expect(meta?.error?.kind).toBe('auth');
    expect(meta?.error?.message).not.toContain('nlikely');
  });
});

describe('a provider', () => {
  it.each([
    ['is neither known nor set up', {}, /"fixture" is not known and not set up/],
    ['has no interface', { fixture: { backend: 'embedded' } }, /has no "api"/],
    ['has no address', { fixture: { backend: 'embedded', api: 'openai-chat' } }, /has no "baseUrl"/],
    [
      'has settings that are not valid',
      { fixture: { backend: 'embedded', api: 'openai', baseUrl: 'ftp://x' } },
      /settings that are not valid/,
    ],
  ] as const)('that %s fails as format', async (_, providers, message) => {
    const run = setup.start({ model: 'm', config: { providers } });
    expect((await run.result).meta?.error).toMatchObject({ kind: 'format', message: expect.stringMatching(message) });
    expect(run.events).toHaveLength(2);
  });
});

describe('limits and options', () => {
  it('hold the output to the budget of the run, thinking included', async () => {
    const options = { thinking: { type: 'enabled', budget_tokens: 8_000 }, temperature: 1, stop_sequences: ['END'] };
    expect(await bodyOf('anthropic', { budget: { maxOutputTokens: 20_000 }, settings: { options } })).toMatchObject({
      max_tokens: 20_000,
      thinking: { budget_tokens: 8_000 },
      stop_sequences: ['END'],
    });
    expect(await bodyOf('anthropic', { budget: { maxOutputTokens: 4_000 }, settings: { options } })).toMatchObject({
      max_tokens: 4_000,
      thinking: { budget_tokens: 3_000 },
    });
    const small = await bodyOf('anthropic', { budget: { maxOutputTokens: 500 }, settings: { options } });
    expect([small['max_tokens'], small['thinking']]).toEqual([500, undefined]);
    expect(await bodyOf('openai', { budget: { maxOutputTokens: 500 } })).toMatchObject({ max_output_tokens: 500 });
    expect(
      await bodyOf('openai-chat', { budget: { maxOutputTokens: 500 }, settings: { options: { max_tokens: 300 } } }),
    ).toMatchObject({ max_tokens: 300 });
  });

  it('are named as the interface does or as the SDK does', async () => {
    expect(
      await bodyOf('openai', {
        model: 'gpt-5',
        settings: { options: { reasoning: { effort: 'low', summary: 'auto' }, service_tier: 'flex', store: true } },
      }),
    ).toMatchObject({ reasoning: { effort: 'low', summary: 'auto' }, service_tier: 'flex', store: false });
    expect(
      await bodyOf('openai', { model: 'gpt-5', settings: { options: { reasoningEffort: 'high' } } }),
    ).toMatchObject({ reasoning: { effort: 'high' } });
    expect(
      await bodyOf('openai-chat', {
        settings: { options: { reasoning_effort: 'low', top_k: 5, provider: { order: ['x'] }, top_p: 0.5 } },
      }),
    ).toMatchObject({ reasoning_effort: 'low', top_k: 5, provider: { order: ['x'] }, top_p: 0.5 });
    expect(
      await bodyOf('anthropic', {
        instructions: 'Be brief.',
        settings: { options: { cache_control: { type: 'ephemeral', ttl: '1h' } } },
      }),
    ).toMatchObject({ system: [{ cache_control: { type: 'ephemeral', ttl: '1h' } }] });
  });
});
