/** Tools of real MCP servers in wakes: many of them, and others while a wake goes on. */
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createSystemClock } from '../../../src/actors/clock/system-clock.ts';
import type { AgentRunParams } from '../../../src/actors/run/agent-runtime.ts';
import { createEmbeddedAgentRuntime } from '../../../src/adapters/embedded/embedded-agent-runtime.ts';
import type { ProviderTable } from '../../../src/machines/run/provider-settings.ts';
import { answers, failsWithError } from '../../support/http-models/behaviors.ts';
import { ModelServer } from '../../support/http-models/model-server.ts';
import type { EmbeddedApi } from '../../support/http-models/protocol.ts';
import { requestProblems } from '../../support/http-models/strict-rules.ts';
import { openTurnSetup } from '../../support/turn-setup.ts';
import type { TurnSetup } from '../../support/turn-setup.ts';
import { mcpSetup } from './mcp-setup.ts';
import type { McpSetup } from './mcp-setup.ts';

let mcp: McpSetup;
let setup: TurnSetup;
let server: ModelServer;

beforeEach(async () => {
  [mcp, server] = await Promise.all([mcpSetup(), ModelServer.start()]);
});
afterEach(async () => {
  await setup[Symbol.asyncDispose]();
  await mcp.close();
  await server.close();
});

const namesOf = ({ tools = [] }: AgentRunParams): string[] => tools.map(({ name }) => name);

describe('tools that a server announces while a wake goes on', () => {
  it('can be called from its next step on', async () => {
    setup = await openTurnSetup({ toolSource: mcp.source });
    const offered: string[][] = [];
    const calls = [{ name: 's__add_tool', input: { name: 'fresh' } }, { name: 's__fresh' }];
    await setup.agent(
      'worker',
      (params) => {
        const call = calls[offered.push(namesOf(params)) - 1];
        return call === undefined ? { text: 'Done.' } : { calls: [call] };
      },
      { tools: [{ mcp: 's' }], mcp: { s: mcp.fixtureServer() } },
    );
    const id = await setup.start('worker');
    expect(await setup.runtime.wake(id)).toMatchObject({ outcome: 'sleep', summary: 'Done.' });
    expect(offered.map((names) => names.includes('s__fresh'))).toEqual([false, true, true]);
    expect((await setup.results(id)).at(-1)).toEqual({ outcome: 'completed', output: 'fresh was added' });
    expect(await setup.dataOf(id, 'wake.started')).toHaveLength(1);
  });
});

describe('a thousand tools of a server', () => {
  const open = async (providers: ProviderTable): Promise<void> => {
    setup = await openTurnSetup({
      toolSource: mcp.source,
      runtimes: [createEmbeddedAgentRuntime({ clock: createSystemClock(), environment: {} })],
      runConfig: { providers },
    });
  };
  const at = (api: EmbeddedApi): ProviderTable[string] => ({
    backend: 'embedded',
    api,
    baseUrl: server.baseUrl(api),
    needsKey: false,
  });
  const agent = {
    tools: [{ custom: 'deploy', description: 'Deploys.' }, { mcp: 's' }],
    context: { maxTokens: 200_000 },
  };
  const offered = (): number => (server.request.body['tools'] as unknown[]).length;

  it.each(['openai', 'openai-chat'] as const)(
    'are left out as far as %s does not take them, which the log and the model are told',
    async (api) => {
      await open({ many: at(api) });
      server.when('m', (exchange) => {
        const problems = requestProblems(api, exchange.request.body);
        return problems.length === 0
          ? answers([{ text: 'Fine.' }])(exchange)
          : failsWithError(400, { type: 'invalid_request_error', message: problems.join() })(exchange);
      });
      await setup.agent('worker', [], {
        provider: 'many',
        model: 'm',
        ...agent,
        mcp: { s: mcp.fixtureServer('--tools=3000') },
      });
      const id = await setup.start('worker');
      expect(await setup.runtime.wake(id)).toMatchObject({ outcome: 'sleep', summary: 'Fine.' });
      expect(offered()).toBe(128);
      expect(server.request.text).toContain('"deploy"');
      const reason =
        '873 of its 1000 tools are left out: the provider many takes at most 128, and the agent has 1001. Name the tools that the agent needs in its file: under tools, - { mcp: SERVER, tools: [NAME, …] } in place of the whole server.';
      expect(await setup.dataOf(id, 'tool.skipped')).toEqual([{ name: 's', reason }]);
      expect(server.request.text).toContain(`You do not have all your tools:\\n- s: ${reason}`);
    },
  );

  it('are all given to a provider without such a limit, and as many to each as its settings say or a fallback takes', async () => {
    await open({ all: at('anthropic'), raised: { ...at('openai-chat'), maxTools: 500 }, less: at('openai') });
    server.when('m', answers([{ text: 'Fine.' }]));
    const counts = async (agentId: string, provider: string, fallbacks: readonly string[]): Promise<number> => {
      await setup.agent(agentId, [], {
        provider,
        model: 'm',
        fallbacks: fallbacks.map((each) => ({ provider: each, model: 'm' })),
        ...agent,
        mcp: { s: mcp.fixtureServer('--tools=3000') },
      });
      await setup.runtime.wake(await setup.start(agentId));
      return offered();
    };
    expect(await counts('one', 'all', [])).toBe(1_001);
    expect(await counts('two', 'raised', [])).toBe(500);
    expect(await counts('three', 'all', ['raised', 'less'])).toBe(128);
  });

  it('that leave no room in a small context are named in the error, with what to do about them', async () => {
    await open({ all: at('anthropic') });
    await setup.agent('worker', [], {
      provider: 'all',
      model: 'm',
      ...agent,
      context: { maxTokens: 8_000 },
      mcp: { s: mcp.fixtureServer('--tools=3000') },
    });
    const outcome = await setup.runtime.wake(await setup.start('worker'));
    expect(outcome).toMatchObject({
      outcome: 'failed',
      error: {
        code: 'CONTEXT_TOO_LARGE',
        hint: expect.stringMatching(/^Name the tools that the agent needs in its file/),
      },
    });
    expect('error' in outcome && outcome.error?.message).toMatch(
      /the definitions of its 1001 tools \(1000 of the MCP server "s", 1 others\) take about \d+ of the 8000 tokens of its context$/,
    );
    expect(server.requests).toHaveLength(0);
  });

  it('that a provider finds too much are named where it only says that the context is full', async () => {
    await open({ all: at('anthropic') });
    server.when(
      'm',
      failsWithError(400, {
        type: 'invalid_request_error',
        message: 'prompt is too long: 210000 tokens > 200000 maximum',
      }),
    );
    await setup.agent('worker', [], {
      provider: 'all',
      model: 'm',
      ...agent,
      context: { maxTokens: 100_000 },
      mcp: { s: mcp.fixtureServer('--tools=3000') },
    });
    const outcome = await setup.runtime.wake(await setup.start('worker'));
    expect('error' in outcome && outcome.error?.message).toMatch(
      /prompt is too long.*1000 of the MCP server "s".*Name the tools/,
    );
  });
});
