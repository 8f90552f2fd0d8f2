/**
 * Whatever happened to a session before, what is sent to a provider is legal: servers that are as strict as the
 * documentation take every request.
 */
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createSystemClock } from '../../../src/actors/clock/system-clock.ts';
import { createEmbeddedAgentRuntime } from '../../../src/adapters/embedded/embedded-agent-runtime.ts';
import type { ProviderSettings } from '../../../src/machines/run/provider-settings.ts';
import { answers, failsWithError, hangsAfter, truncates } from '../../support/http-models/behaviors.ts';
import { ModelServer } from '../../support/http-models/model-server.ts';
import type { Exchange } from '../../support/http-models/model-server.ts';
import type { ApiName, EmbeddedApi, Said } from '../../support/http-models/protocol.ts';
import { requestProblems, sealOf } from '../../support/http-models/strict-rules.ts';
import { openTurnSetup } from '../../support/turn-setup.ts';
import type { TurnSetup } from '../../support/turn-setup.ts';
import { noteTools } from '../../support/turn-tools.ts';

let server: ModelServer;
let setup: TurnSetup;

/** What the models do, one for each time that one is asked; then they answer. */
let plays: Play[];
/** What was refused, in words. */
let refused: string[];
let session: string;
let cases = 0;
let callIds = 0;

const THINKING = { thinking: { type: 'enabled', budget_tokens: 2_000 } };

/** Two of Anthropic that think, and one of each interface of OpenAI. */
const MODELS = [
  { provider: 'claude', model: 'claude-thinker', api: 'anthropic' },
  { provider: 'other', model: 'claude-other', api: 'anthropic' },
  { provider: 'gpt', model: 'gpt-5', api: 'openai' },
  { provider: 'local', model: 'local-model', api: 'openai-chat' },
] as const satisfies readonly { provider: string; model: string; api: EmbeddedApi }[];

beforeAll(async () => {
  server = await ModelServer.start();
  for (const { model } of MODELS) server.when(model, strictly);
  const { tool } = noteTools();
  const stop = async (): Promise<string> => {
    await setup.runtime.sessions.interrupt(session, { reason: 'stop' });
    return 'stopped';
  };
  const settings = (api: EmbeddedApi): ProviderSettings => ({
    backend: 'embedded',
    api,
    baseUrl: server.baseUrl(api),
    needsKey: false,
    ...(api === 'anthropic' ? { options: THINKING } : {}),
  });
  setup = await openTurnSetup({
    runtimes: [createEmbeddedAgentRuntime({ clock: createSystemClock(), environment: {} })],
    runConfig: { providers: Object.fromEntries(MODELS.map(({ provider, api }) => [provider, settings(api)])) },
    tools: [
      tool('check', { run: async () => 'Seen. '.repeat(40) }),
      tool('silent', { run: async () => '' }),
      tool('stop', { run: stop }),
      tool('launch', { permissionPolicy: 'always_ask' }),
    ],
  });
});

afterAll(async () => {
  await setup[Symbol.asyncDispose]();
  await server.close();
});

type ToolName = 'check' | 'silent' | 'stop' | 'launch' | 'unknown';

/** What a model wrote of its arguments until its limit of output cut it off. */
const CUT = '{"path":"notes/a';

type Play =
  | {
      readonly do: 'say';
      readonly parts: readonly ('thought' | 'sealed' | 'text' | 'blank' | 'continue' | 'cut' | ToolName)[];
      readonly meanwhile: 'nothing' | 'steer' | 'queue' | 'interrupt';
      readonly end: 'whole' | 'length' | 'refusal';
    }
  | { readonly do: 'fail'; readonly how: 'overloaded' | 'rejected' | 'too_long' | 'cut' };

async function strictly(exchange: Exchange): Promise<void> {
  const { api, body } = exchange.request;
  const problems = problemsOf(api, body);
  if (problems.length > 0) {
    refused.push(...problems.map((problem) => `${api}: ${problem}`));
    return failsWithError(400, { type: 'invalid_request_error', message: problems.join('; ') })(exchange);
  }
  const play = plays.shift() ?? { do: 'say', parts: ['thought', 'text'], meanwhile: 'nothing', end: 'whole' };
  return play.do === 'fail' ? fail(play, exchange) : say(play, exchange);
}

function problemsOf(api: ApiName, body: Readonly<Record<string, unknown>>): string[] {
  try {
    return requestProblems(api, body);
  } catch (error) {
    return [`not understood: ${String(error)}`];
  }
}

function fail({ how }: Extract<Play, { do: 'fail' }>, exchange: Exchange): Promise<void> | void {
  if (how === 'cut') return truncates([{ text: 'I was' }])(exchange);
  if (how === 'too_long')
    return failsWithError(400, {
      type: 'invalid_request_error',
      code: 'context_length_exceeded',
      message: 'prompt is too long: 210000 tokens > 200000 maximum',
    })(exchange);
  const [status, type] =
    how === 'overloaded' ? ([529, 'overloaded_error'] as const) : ([401, 'authentication_error'] as const);
  return failsWithError(status, { type, message: how })(exchange);
}

async function say({ parts, meanwhile, end }: Extract<Play, { do: 'say' }>, exchange: Exchange): Promise<void> {
  const said = parts.flatMap((part) => saidOf(part, exchange));
  const { sessions } = setup.runtime;
  if (meanwhile === 'interrupt') {
    await hangsAfter(said)(exchange);
    await sessions.interrupt(session, { reason: 'enough' });
    return;
  }
  if (meanwhile !== 'nothing')
    await sessions.send(session, { type: 'user.message', text: 'By the way.' }, { delivery: meanwhile });
  return answers(said, end === 'whole' ? {} : { reason: end })(exchange);
}

/** Who does not think, or only over another interface, says nothing instead. */
function saidOf(
  part: Extract<Play, { do: 'say' }>['parts'][number],
  { request: { api, model, body } }: Exchange,
): Said[] {
  const thinks = api === 'openai' || (api === 'anthropic' && body['thinking'] !== undefined);
  if (part === 'thought') return thinks ? [{ reasoning: 'I think.', seal: sealOf(api, model, 'I think.') }] : [];
  if (part === 'sealed') return thinks ? [{ sealed: sealOf(api, model, '') }] : [];
  if (part === 'text') return [{ text: 'It is so.\n' }];
  if (part === 'blank') return [{ text: '\n' }];
  if (part === 'continue')
    return [{ text: 'More:\n```wakechart-directive\n{"outcome":"continue","summary":"on"}\n```' }];
  callIds += 1;
  // Some servers number the calls of each answer from the start.
  const callId = callIds % 3 === 0 ? 'call_0' : `call_${callIds}`;
  return part === 'cut' ? [{ tool: 'check', callId, input: CUT }] : [{ tool: part, callId, input: '{}' }];
}

type Act = 'wake' | 'write' | 'steer' | 'interrupt' | 'allow' | 'deny' | 'later';

const play: fc.Arbitrary<Play> = fc.oneof(
  {
    weight: 5,
    arbitrary: fc.record({
      do: fc.constant('say' as const),
      parts: fc.oneof(
        fc.constantFrom<Extract<Play, { do: 'say' }>['parts']>(
          ['thought', 'check'],
          ['check'],
          ['text', 'check'],
          ['sealed', 'text', 'check', 'check'],
          ['thought', 'launch'],
          ['check', 'stop'],
          ['thought', 'continue'],
        ),
        fc.array(
          fc.constantFrom(
            'thought',
            'sealed',
            'text',
            'blank',
            'continue',
            'check',
            'silent',
            'stop',
            'launch',
            'unknown',
            'cut',
          ),
          { minLength: 1, maxLength: 5 },
        ),
      ),
      meanwhile: fc.constantFrom('nothing', 'nothing', 'nothing', 'steer', 'queue', 'interrupt'),
      end: fc.constantFrom('whole', 'whole', 'whole', 'whole', 'length', 'refusal'),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      do: fc.constant('fail' as const),
      how: fc.constantFrom('overloaded', 'rejected', 'too_long', 'cut'),
    }),
  },
);
const story = fc.record({
  models: fc.shuffledSubarray([...MODELS], { minLength: 1 }),
  context: fc.constantFrom(
    undefined,
    undefined,
    { maxTokens: 1_500, whenFull: 'omit' as const },
    { maxTokens: 1_500, whenFull: 'summarize' as const },
  ),
  plays: fc.array(play, { minLength: 1, maxLength: 8 }),
  acts: fc.array(fc.constantFrom<Act>('wake', 'write', 'steer', 'interrupt', 'allow', 'deny', 'later'), {
    maxLength: 6,
  }),
});

async function act(what: Act): Promise<void> {
  const { sessions } = setup.runtime;
  const [request] = await setup.requests(session);
  if (what === 'write' || what === 'steer')
    await sessions.send(
      session,
      { type: 'user.message', text: 'And now?' },
      { delivery: what === 'write' ? 'queue' : 'steer' },
    );
  else if (what === 'interrupt') await sessions.interrupt(session, { reason: 'changed my mind' });
  else if (what === 'later') await setup.clock.advance(3_600_000);
  else if (what !== 'wake' && request !== undefined)
    await setup.confirm(session, { requestId: request, allowed: what === 'allow' });
  await setup.runtime.wake(session);
}

type Story = typeof story extends fc.Arbitrary<infer Told> ? Told : never;

async function tell({ models: [first, ...others], context, plays: given, acts }: Story): Promise<void> {
  plays = [...given];
  refused = [];
  cases += 1;
  const choice = ({ provider, model }: (typeof MODELS)[number]): { provider: string; model: string } => ({
    provider,
    model,
  });
  const agentId = `worker${cases}`;
  await setup.agent(agentId, [], {
    ...choice(first ?? MODELS[0]),
    fallbacks: others.map(choice),
    tools: ['check', 'silent', 'stop', 'launch'],
    ...(context === undefined ? {} : { context }),
  });
  session = await setup.start(agentId);
  for (const each of ['wake', ...acts, 'write', 'wake'] as const) await act(each);
  expect(refused).toEqual([]);
}

describe('arguments that are cut off', () => {
  it.each(MODELS)('are told to $model as no whole JSON, and it goes on', async ({ provider, model }) => {
    [plays, refused] = [[{ do: 'say', parts: ['thought', 'cut'], meanwhile: 'nothing', end: 'length' }], []];
    await setup.agent(`cut-by-${provider}`, [], { provider, model, tools: ['check'] });
    session = await setup.start(`cut-by-${provider}`);
    expect(await setup.runtime.wake(session)).toMatchObject({ outcome: 'sleep', modelSteps: 2 });
    const told = `The arguments of check are not valid JSON: they end at character ${CUT.length}, after ${JSON.stringify(CUT)}, before they are complete; perhaps the limit of output cut them off.`;
    expect(await setup.results(session)).toEqual([{ outcome: 'failed', output: expect.stringContaining(told) }]);
    expect(refused).toEqual([]);
  });
});

describe('every request of a session', () => {
  it('is taken by providers that are strict, whatever was said, failed, steered, interrupted, left out or summarized before', async () => {
    await fc.assert(fc.asyncProperty(story, tell), { numRuns: 25 });
    // A limit for what hangs: a loaded machine takes its time over a hundred requests.
  }, 240_000);
});
