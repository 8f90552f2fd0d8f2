/** What a model says over each protocol is told as it comes, and is what the run resolves with. */
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import {
  answers,
  answersByEvent,
  answersInBytes,
  answersWithPause,
  says,
} from '../../support/http-models/behaviors.ts';
import { APIS, EmbeddedSetup } from './embedded-setup.ts';

const UNICODE = 'Häuser: 東京 and 🏠, "quoted",\nin two lines.';

let setup: EmbeddedSetup;

beforeEach(async () => {
  setup = await EmbeddedSetup.open();
});

afterEach(() => setup.close());

describe.each(APIS)('a model over %s', (api) => {
  it('says a text in pieces, which are told as they come and joined in the result', async () => {
    const run = setup.ask(api, answersByEvent([{ text: ['One, ', 'two, ', 'three.'] }]));
    expect(await run.result).toMatchObject({
      payloads: [{ type: 'text', text: 'One, two, three.' }],
      usage: { inputTokens: 11, outputTokens: 7 },
      meta: { modelSteps: 1 },
    });
    expect(run.events.map(({ stream, data }) => [stream, 'phase' in data ? data.phase : data.text])).toEqual([
      ['lifecycle', 'start'],
      ['assistant', 'One, '],
      ['assistant', 'two, '],
      ['assistant', 'three.'],
      ['lifecycle', 'end'],
    ]);
    expect(setup.server.openAnswers).toBe(0);
  });

  it('tells each piece before the next one is sent', async () => {
    let release = (): void => undefined;
    const run = setup.ask(
      api,
      answersWithPause([{ text: 'First. ' }], new Promise<void>((resolve) => (release = resolve)), [
        { text: 'Second.' },
      ]),
    );
    await run.told('First. '.length);
    expect(run.text).toBe('First. ');
    release();
    await run.result;
    expect(run.text).toBe('First. Second.');
  });

  it('reasons, says something and asks for two tools at once', async () => {
    const run = setup.ask(
      api,
      answersByEvent([
        { reasoning: ['Let me ', 'see.'] },
        { text: 'I check.' },
        { tool: 'read', callId: 'call_a', input: ['{"path"', ':"a.txt"}'] },
        { tool: 'grep', callId: 'call_b', input: '{"pattern":"x"}' },
      ]),
    );
    const { payloads } = await run.result;
    expect(payloads.map(({ type }) => type)).toEqual(['reasoning', 'text', 'tool_call', 'tool_call']);
    expect(payloads.slice(1)).toEqual([
      { type: 'text', text: 'I check.' },
      { type: 'tool_call', callId: 'call_a', name: 'read', input: { path: 'a.txt' } },
      { type: 'tool_call', callId: 'call_b', name: 'grep', input: { pattern: 'x' } },
    ]);
    expect(run.reasoning).toBe('Let me see.');
    expect(run.events.filter(({ stream }) => stream === 'tool').map(({ data }) => data)).toEqual([
      { phase: 'requested', callId: 'call_a', name: 'read', input: { path: 'a.txt' } },
      { phase: 'requested', callId: 'call_b', name: 'grep', input: { pattern: 'x' } },
    ]);
  });

  it('asks for a tool without any input', async () => {
    const { payloads } = await setup.ask(api, answers([{ tool: 'list', callId: 'call_a', input: '' }])).result;
    expect(payloads).toEqual([{ type: 'tool_call', callId: 'call_a', name: 'list', input: {} }]);
  });

  it('gives the input of a tool as it came when it is no JSON', async () => {
    const { payloads, meta } = await setup.ask(
      api,
      answers([{ tool: 'read', callId: 'call_a', input: '{"path": "a.t' }]),
    ).result;
    expect(payloads).toEqual([{ type: 'tool_call', callId: 'call_a', name: 'read', input: '{"path": "a.t' }]);
    expect(meta?.error).toBeUndefined();
  });

  it.each([1, 3, 7])('is understood when its bytes come %i at a time, characters torn apart', async (size) => {
    const run = setup.ask(api, answersInBytes(size, [{ text: UNICODE }]));
    expect((await run.result).payloads).toEqual([{ type: 'text', text: UNICODE }]);
  });

  it('says a megabyte in one piece', async () => {
    const text = 'äb'.repeat(500_000);
    expect((await setup.ask(api, answers([{ text }])).result).payloads).toEqual([{ type: 'text', text }]);
  });

  it('says ten thousand tiny pieces, each of them told', async () => {
    const pieces = Array.from({ length: 10_000 }, (_, index) => `${index} `);
    const run = setup.ask(api, answers([{ text: pieces }]));
    expect((await run.result).payloads).toEqual([{ type: 'text', text: pieces.join('') }]);
    expect(run.events.length).toBe(10_002);
  });

  it('is heard out when an event of an unknown kind comes in between', async () => {
    const said = { text: 'Still there.' } as const;
    const run = setup.ask(
      api,
      says([{ text: 'Hello. ' }], ({ protocol }) =>
        [protocol.unknownEvent, ': a comment\n\n', ...protocol.saying(said, 1), ...protocol.closing({}, [said])].join(
          '',
        ),
      ),
    );
    const { meta } = await run.result;
    expect(meta?.error).toBeUndefined();
    expect(run.text).toBe('Hello. Still there.');
  });

  it('keeps what it has said when it reaches its limit of output', async () => {
    const { payloads, meta } = await setup.ask(api, answers([{ text: 'And so' }], { reason: 'length' })).result;
    expect(payloads).toEqual([{ type: 'text', text: 'And so' }]);
    expect(meta).toEqual({ modelSteps: 1 });
  });

  it('fails as empty when it says nothing, or blanks only', async () => {
    for (const said of [[], [{ text: ' \n' }], [{ reasoning: 'Hm.' }]]) {
      expect((await setup.ask(api, answers(said)).result).meta?.error?.kind).toBe('empty_response');
    }
  });

  it('fails as a refusal when its provider stops it, and keeps what was paid for', async () => {
    const { usage, meta } = await setup.ask(api, answers([{ text: 'I would' }], { reason: 'refusal' })).result;
    expect(meta?.error).toMatchObject({ kind: 'refusal', message: expect.stringContaining('I would') });
    expect(usage).toMatchObject({ outputTokens: 7 });
  });

  it('is listened to by somebody who throws, and does not mind', async () => {
    const errors: unknown[] = [];
    const other = await EmbeddedSetup.open({ onListenerError: (error) => errors.push(error) });
    try {
      const run = other.ask(api, answers([{ text: 'Fine.' }]), {
        onEvent: () => {
          throw new Error('no');
        },
      });
      expect((await run.result).payloads).toEqual([{ type: 'text', text: 'Fine.' }]);
      expect(errors).toHaveLength(1);
    } finally {
      await other.close();
    }
  });
});

describe('what a step costs', () => {
  it('is told by Anthropic with what its cache has read and written', async () => {
    const usage = { input: 10, output: 5, cached: 100, cacheWrites: 20 };
    expect((await setup.ask('anthropic', answers([{ text: 'Hi.' }], { usage })).result).usage).toMatchObject({
      inputTokens: 130,
      outputTokens: 5,
      cachedInputTokens: 100,
      cacheWriteTokens: 20,
    });
  });

  it('is told by OpenAI with what its cache has read and what was reasoned', async () => {
    const usage = { input: 110, output: 50, cached: 100, reasoning: 40 };
    const told = { inputTokens: 110, outputTokens: 50, cachedInputTokens: 100, reasoningTokens: 40 };
    expect((await setup.ask('openai', answers([{ text: 'Hi.' }], { usage })).result).usage).toMatchObject(told);
    expect((await setup.ask('openai-chat', answers([{ text: 'Hi.' }], { usage })).result).usage).toMatchObject(told);
  });

  it('is told in money by a provider that says so', async () => {
    expect(
      (
        await setup.ask('openai-chat', answers([{ text: 'Hi.' }], { usage: { input: 1, output: 2, cost: 0.0123 } }))
          .result
      ).usage,
    ).toMatchObject({ cost: 0.0123 });
  });

  it('is not known when the server counts nothing', async () => {
    const run = setup.ask('openai-chat', answers([{ text: 'Hi.' }], { usage: { input: 0, output: 0 } }));
    expect((await run.result).usage).toBeUndefined();
  });
});
