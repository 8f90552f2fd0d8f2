import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { createRetrievalTools } from '../../../src/actors/retrieval/retrieval-tools.ts';
import { createRetrievalHook, Retrieval } from '../../../src/actors/retrieval/retrieval.ts';
import { createSessionTools } from '../../../src/actors/session/session-tools.ts';
import { FileRetrievalIndex } from '../../../src/adapters/retrieval-files/file-retrieval-index.ts';
import type { Tool, ToolContext } from '../../../src/actors/turn/tool.ts';
import type { RetrievalSearchOutput } from '../../../src/machines/retrieval/retrieval-tool.ts';
import { readToolInput } from '../../../src/machines/turn/tool-schema.ts';
import { openTurnSetup } from '../../support/turn-setup.ts';
import type { Said, TurnSetup } from '../../support/turn-setup.ts';

interface ToolSetup extends TurnSetup {
  readonly tools: Map<string, Tool>;
}

const SESSION_TOOLS = ['session', 'retrieval'] as const;

async function openToolSetup(): Promise<ToolSetup> {
  const tools = new Map<string, Tool>();
  let indexFolder = '';
  const setup = await openTurnSetup({
    hookSources: [
      (services) => {
        const onTrouble = (error: unknown): void => services.onListenerError(error, 'listener');
        const index = new FileRetrievalIndex({
          folderOf: (agentId) => join(indexFolder, agentId, 'retrieval'),
          onTrouble,
        });
        const retrieval = new Retrieval({
          index,
          sources: { sessions: services.sessions },
          clock: services.clock,
          onTrouble,
        });
        const made = [
          ...createSessionTools(services, { retrieval }),
          ...createRetrievalTools({ retrieval, store: services.store }),
        ];
        for (const tool of made) tools.set(tool.definition.name, tool);
        return { tools: made, hook: createRetrievalHook(retrieval), close: () => index.close() };
      },
    ],
  });
  indexFolder = setup.layout.agents;
  return Object.assign(setup, { tools });
}

/** Lets the agent call the tools, one a step, and gives what each put out. */
async function outputs(
  setup: ToolSetup,
  calls: readonly NonNullable<Said['calls']>[0][],
  { agentId = 'scribe', tools = [...SESSION_TOOLS] as unknown[], text = 'Go on.' } = {},
): Promise<{
  readonly sessionId: string;
  readonly results: readonly { readonly outcome: string; readonly output: unknown }[];
}> {
  await setup.agent(
    agentId,
    calls.map((call) => ({ calls: [call] })),
    { tools: tools as [] },
  );
  const sessionId = await setup.start(agentId, text);
  await setup.runtime.wake(sessionId);
  expect(setup.reported).toEqual([]);
  return { sessionId, results: await setup.results(sessionId) };
}

/** Without a wake, as a call of `context.session` only. */
function run(setup: ToolSetup, name: string, sessionId: string, input: unknown, agentId = 'scribe'): Promise<unknown> {
  const context: ToolContext = {
    session: { sessionId, agentId },
    callId: 'c',
    workspaceDirectory: '',
    signal: new AbortController().signal,
  };
  return Promise.resolve(setup.tools.get(name)?.run?.(input, context));
}

describe('the tools about sessions', () => {
  it('put out what their schemas say, inputs and results alike', async () => {
    await using setup = await openToolSetup();
    const calls = [
      { name: 'session_list', input: {} },
      { name: 'session_describe', input: {} },
      { name: 'session_describe_context', input: {} },
      { name: 'session_search_context', input: { query: 'lighthouse' } },
      { name: 'retrieval_search', input: { query: 'lighthouse' } },
    ];
    const { results } = await outputs(setup, calls);
    expect(results.map(({ outcome }) => outcome)).toEqual(calls.map(() => 'completed'));
    for (const [index, { name }] of calls.entries())
      expect(setup.tools.get(name)?.definition.outputSchema?.safeParse(results[index]?.output).error).toBeUndefined();
    for (const { definition } of setup.tools.values())
      expect(definition).toMatchObject({
        ownership: 'managed',
        family: expect.stringMatching(/^(?:session|retrieval)$/) as string,
        effects: expect.any(Array) as unknown,
      });
  });

  it('open nothing of another agent', async () => {
    await using setup = await openToolSetup();
    await setup.agent('stranger', [{ text: 'The vault code is marmalade.' }]);
    const foreign = await setup.start('stranger', 'Say it.');
    await setup.runtime.wake(foreign);
    const { sessionId } = await outputs(setup, []);
    for (const [name, input] of [
      ['session_get_snapshot', {}],
      ['session_get_events', {}],
      ['session_get_trace', { callId: 'x' }],
      ['session_search_context', { query: 'marmalade' }],
    ] as const) {
      await expect(run(setup, name, sessionId, { sessionId: foreign, ...input })).rejects.toMatchObject({
        code: 'SESSION_OF_ANOTHER_AGENT',
      });
    }
    expect(JSON.stringify(await run(setup, 'session_list', sessionId, {}))).not.toContain(foreign);
    expect(await run(setup, 'retrieval_search', sessionId, { query: 'vault code marmalade' })).toMatchObject({
      candidates: [],
    });
  });

  it.each([
    ['alice', 'bob'],
    ['alice', undefined],
    [undefined, 'bob'],
  ])('open for a session of %s nothing of one of %s, by the same agent', async (mine, theirs) => {
    await using setup = await openToolSetup();
    const say = async (owner: string | undefined, text: string): Promise<string> => {
      await setup.agent('scribe', [{ text }]);
      const { sessionId } = await setup.runtime.sessions.create({ agentId: 'scribe', owner });
      await setup.runtime.sessions.send(sessionId, { type: 'user.message', text: `Say: ${text}` });
      await setup.runtime.wake(sessionId);
      return sessionId;
    };
    const foreign = await say(theirs, 'The vault code is marmalade.');
    const sister = await say(mine, 'The lighthouse keeper is Amara.');
    const own = await say(mine, 'Hello.');
    const found = (query: string): Promise<unknown> => run(setup, 'retrieval_search', own, { query });
    expect(await found('vault code marmalade')).toMatchObject({ candidates: [] });
    expect(JSON.stringify(await found('lighthouse keeper'))).toContain(sister);
    const list = await run(setup, 'session_list', own, {});
    expect(list).toMatchObject({ total: 2, sessions: [{ sessionId: own }, { sessionId: sister }] });
    expect(await run(setup, 'session_get_events', own, { sessionId: sister })).toMatchObject({ sessionId: sister });
    for (const [name, input] of [
      ['session_get_snapshot', {}],
      ['session_get_events', {}],
      ['session_get_trace', { callId: 'x' }],
      ['session_search_context', { query: 'marmalade' }],
    ] as const)
      await expect(run(setup, name, own, { sessionId: foreign, ...input })).rejects.toMatchObject({
        code: 'SESSION_OF_ANOTHER_AGENT',
      });
  });

  it('plan calls that are valid inputs of the tools, and that show what was found', async () => {
    await using setup = await openToolSetup();
    await setup.agent('scribe', [
      { text: 'The lighthouse keeper is Amara.' },
      { calls: [{ name: 'session_list', input: {} }] },
    ]);
    const first = await setup.start('scribe', 'Who keeps the lighthouse?');
    await setup.runtime.wake(first);
    const { sessionId } = await outputs(setup, [], { agentId: 'scribe', text: 'Now something else.' }).catch(
      async () => ({ sessionId: await setup.start('scribe', 'Now something else.') }),
    );
    const { candidates } = (await run(setup, 'retrieval_search', sessionId, {
      query: 'keeper of the lighthouse',
    })) as RetrievalSearchOutput;
    expect(candidates.length).toBeGreaterThan(0);
    for (const { tool: name, input } of candidates.flatMap(({ expansionPlan }) => expansionPlan)) {
      const tool = setup.tools.get(name);
      if (tool === undefined) throw new Error(`there is no tool ${name}`);
      const reading = readToolInput(tool.definition, input);
      expect(reading).toMatchObject({ ok: true });
      expect(JSON.stringify(await run(setup, name, sessionId, input))).toContain('lighthouse');
    }
  });

  it('leave the current turn out of what is found', async () => {
    await using setup = await openToolSetup();
    const { results } = await outputs(setup, [{ name: 'retrieval_search', input: { query: 'unicorn saddle' } }], {
      text: 'Find the unicorn saddle.',
    });
    expect(results[0]?.output).toMatchObject({ candidates: [] });
  });

  it('read events in pages, by type and bounded in characters', async () => {
    await using setup = await openToolSetup();
    const { sessionId } = await outputs(setup, [{ name: 'session_list', input: {} }]);
    for (let n = 0; n < 30; n += 1)
      await setup.runtime.sessions.send(sessionId, { type: 'user.message', text: `${n} ${'x'.repeat(20_000)}` });
    const page = (await run(setup, 'session_get_events', sessionId, {
      sessionId,
      from: 1,
      limit: 200,
      types: ['user.*'],
    })) as { events: { data: { text: string } }[]; nextFrom: number; head: number };
    expect(JSON.stringify(page).length).toBeLessThan(60_000);
    expect(page.nextFrom).toBeLessThanOrEqual(page.head);
    expect(page.events[1]?.data.text).toMatch(/left out here/);
    const rest = (await run(setup, 'session_get_events', sessionId, {
      sessionId,
      from: page.nextFrom,
      types: ['user.*'],
    })) as { events: { seq: number }[] };
    expect(rest.events[0]?.seq).toBe(page.nextFrom);
    const newest = (await run(setup, 'session_get_events', sessionId, {
      sessionId,
      limit: 2,
      types: ['user.message'],
    })) as { events: { data: { text: string } }[] };
    expect(newest.events.map(({ data }) => data.text.slice(0, 2))).toEqual(['28', '29']);
  });

  it('open a tool call, a model step and a wake whole, and say when there is none', async () => {
    await using setup = await openToolSetup();
    const { sessionId } = await outputs(setup, [{ name: 'session_list', input: {} }]);
    const log = await setup.log(sessionId);
    const use = log.find((event) => event.type === 'agent.tool_use');
    const span = log.find((event) => event.type === 'span.started');
    const wake = log.find((event) => event.type === 'wake.started');
    if (use?.type !== 'agent.tool_use' || span?.type !== 'span.started' || wake?.type !== 'wake.started')
      throw new Error('expected a call');
    const types = async (input: object): Promise<unknown> =>
      (
        (await run(setup, 'session_get_trace', sessionId, { sessionId, ...input })) as { events: { type: string }[] }
      ).events.map(({ type }) => type);
    expect(await types({ callId: use.data.callId })).toEqual([
      'agent.tool_use',
      'agent.tool_started',
      'agent.tool_result',
    ]);
    expect(await types({ callId: use.data.callId, nearSeq: 1 })).toHaveLength(3);
    expect(await types({ spanId: span.data.spanId })).toEqual(
      expect.arrayContaining(['span.started', 'agent.tool_use', 'span.completed']),
    );
    const whole = (await types({ wakeId: wake.data.wakeId })) as string[];
    expect([whole[0], whole.at(-1)]).toEqual(['wake.started', 'wake.ended']);
    expect(await types({ callId: 'nothing' })).toEqual([]);
    expect(
      readToolInput((setup.tools.get('session_get_trace') as Tool).definition, { sessionId, callId: 'a', wakeId: 'b' }),
    ).toMatchObject({ ok: false });
  });

  it('tell what the context is spent on and what is protected', async () => {
    await using setup = await openToolSetup();
    const { results } = await outputs(setup, [{ name: 'session_describe_context', input: {} }]);
    expect(results[0]?.output).toMatchObject({
      isKnown: true,
      pressure: { level: 'low' },
      protected: { exchanges: expect.any(Number) as number },
    });
  });
});

describe('delegation', () => {
  const NAMED = [...SESSION_TOOLS, { agent: 'helper' }];

  it('is refused for an agent that the file does not name, or that does not exist', async () => {
    await using setup = await openToolSetup();
    await setup.agent('helper', []);
    const { sessionId, results } = await outputs(setup, [
      { name: 'session_delegate', input: { agentId: 'helper', message: 'Do it.' } },
    ]);
    expect(results).toMatchObject([
      { outcome: 'failed', output: expect.stringContaining('does not name helper') as string },
    ]);
    expect((await setup.state(sessionId)).children).toEqual([]);
  });

  it('makes a child that works by itself, and tells the parent when it rests', async () => {
    await using setup = await openToolSetup();
    await setup.agent('helper', [{ text: 'Done.' }]);
    const { sessionId, results } = await outputs(
      setup,
      [{ name: 'session_delegate', input: { agentId: 'helper', message: 'Paint the fence.', title: 'Fence' } }],
      { tools: NAMED },
    );
    expect(results).toMatchObject([{ outcome: 'completed', output: { agentId: 'helper' } }]);
    await setup.settle();
    const { children } = await setup.state(sessionId);
    expect(children).toMatchObject([{ agentId: 'helper', label: 'Fence', rest: { reason: 'idle' } }]);
  });

  it('binds the child by whatever binds the parent', async () => {
    await using setup = await openToolSetup();
    await setup.agent('helper', []);
    await setup.agent(
      'scribe',
      [{ calls: [{ name: 'session_delegate', input: { agentId: 'helper', message: 'Do it.' } }] }],
      {
        tools: NAMED,
        permission: { mode: 'ask', deny: ['shell_run(git push)'], allow: ['session_delegate'] },
        budget: { maxTokensPerSession: 100_000 },
      },
    );
    const sessionId = await setup.start('scribe', 'Go on.');
    await setup.runtime.wake(sessionId);
    const [child] = (await setup.state(sessionId)).children;
    const state = await setup.state(child?.sessionId ?? '');
    expect(state.restriction).toMatchObject({ mode: 'ask', deny: ['shell_run(git push)'] });
    expect(state.allowance?.tokens).toBeGreaterThan(0);
    expect(state.allowance?.tokens).toBeLessThanOrEqual(50_000);
  });
});
