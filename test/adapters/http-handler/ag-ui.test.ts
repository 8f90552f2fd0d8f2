/** AG-UI over a session: its own client, its own schemas, our log. */
import { EventType, HttpAgent } from '@ag-ui/client';
import type { BaseEvent, RunAgentInput, RunAgentParameters } from '@ag-ui/client';
import { EventSchemas } from '@ag-ui/core/schemas';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { z } from 'zod';
import { defineTool } from '../../../src/actors/turn/define-tool.ts';
import { SPEAKER, speakingBackend } from '../../support/speaking-backend.ts';
import { AT, codeIn, serve, sessionOf } from './served.ts';
import type { Served } from './served.ts';

const greet = defineTool({
  name: 'greet',
  input: z.object({ who: z.string() }),
  run: ({ who }) => `Hello, ${who}`,
});

interface Client {
  readonly agent: HttpAgent;
  readonly events: BaseEvent[];
  run(parameters?: RunAgentParameters): Promise<unknown>;
}

function clientOf(served: Served, threadId: string): Client {
  const events: BaseEvent[] = [];
  const agent = new HttpAgent({
    url: `${AT}/ag-ui`,
    threadId,
    headers: { 'x-subject': 'ada' },
    fetch: async (url, init) => {
      const response = await served.handler(new Request(url, init));
      if (response.ok) void served.setup.runtime.trigger(threadId);
      return response;
    },
  });
  return {
    agent,
    events,
    run: (parameters = {}) =>
      agent.runAgent(parameters, { onEvent: ({ event }) => void events.push(EventSchemas.parse(event) as BaseEvent) }),
  };
}

// The client compares when requests expire with the time of day; that of the test's runtime is another one.
beforeEach(() => void vi.useFakeTimers({ toFake: ['Date'], now: new Date('2026-01-01') }));
afterEach(() => void vi.useRealTimers());

const typesOf = ({ events }: Client): readonly string[] => events.map(({ type }) => type);

describe('a run of AG-UI', () => {
  it('streams what the agent says, with its calls, and keeps the messages of the client', async () => {
    await using served = await serve({}, { tools: [greet] });
    const id = await sessionOf(
      served,
      [
        { reasoning: 'Hm.', text: 'I greet.', toolCalls: [{ name: 'greet', input: { who: 'Bob' } }] },
        { text: 'Greeted.' },
      ],
      { agent: { permission: 'preapproved', tools: ['greet'] } },
    );
    const client = clientOf(served, id);
    client.agent.addMessage({ id: 'm1', role: 'user', content: 'Hi' });
    await client.run();
    expect(typesOf(client)[0]).toBe(EventType.RUN_STARTED);
    expect(client.events.at(-1)).toMatchObject({ type: EventType.RUN_FINISHED, outcome: { type: 'success' } });
    expect(
      client.agent.messages.map((message) => [
        message.role,
        'toolCalls' in message ? message.toolCalls?.[0]?.function.name : message.content,
      ]),
    ).toEqual([
      ['user', 'Hi'],
      ['reasoning', 'Hm.'],
      ['assistant', 'I greet.'],
      ['assistant', 'greet'],
      ['tool', 'Hello, Bob'],
      ['assistant', 'Greeted.'],
    ]);
  });

  it.each([true, false])(
    'ends with an interrupt where a person is asked, and goes on with approved=%s',
    async (approved) => {
      await using served = await serve({}, { tools: [greet] });
      const id = await sessionOf(
        served,
        [{ toolCalls: [{ name: 'greet', input: { who: 'Bob' } }] }, { text: 'Over.' }],
        {
          agent: { permission: 'ask', tools: ['greet'] },
        },
      );
      const client = clientOf(served, id);
      client.agent.addMessage({ id: 'm1', role: 'user', content: 'Hi' });
      await client.run();
      const last = client.events.at(-1) as BaseEvent & {
        readonly outcome: { readonly interrupts: readonly { readonly id: string }[] };
      };
      expect(last).toMatchObject({ outcome: { type: 'interrupt', interrupts: [{ reason: 'tool_approval' }] } });
      const interruptId = last.outcome.interrupts[0]?.id ?? '';
      await client.run({ resume: [{ interruptId, status: 'resolved', payload: { approved, note: 'so' } }] });
      expect(client.agent.messages.at(-1)).toMatchObject({ role: 'assistant', content: 'Over.' });
      expect(client.agent.messages.find(({ role }) => role === 'tool')?.content).toMatch(
        approved ? /^Hello, Bob$/ : /denied/,
      );
    },
  );

  it('takes back what was said in vain', async () => {
    const backend = speakingBackend();
    await using served = await serve({}, { runtimes: [backend.runtime] });
    const id = await sessionOf(served, [], { agent: SPEAKER });
    const client = clientOf(served, id);
    client.agent.addMessage({ id: 'm1', role: 'user', content: 'Hi' });
    const running = client.run();
    (await backend.voice()).say('Once');
    await expect.poll(() => typesOf(client)).toContain(EventType.TEXT_MESSAGE_CONTENT);
    await served.setup.runtime.sessions.interrupt(id);
    backend.end();
    await running;
    expect(client.agent.messages.filter(({ role }) => role === 'assistant').map(({ content }) => content)).toEqual(
      (await served.setup.log(id)).flatMap((event) => (event.type === 'agent.message' ? event.data.text : [])),
    );
  });

  it.each([
    ['tools of the client', { tools: [{ name: 't', description: 'd', parameters: {} }] }],
    ['what the client is looking at', { context: [{ description: 'd', value: 'v' }] }],
    ['a state', { state: { a: 1 } }],
  ])('refuses %s, since it would be of no effect', async (_, more) => {
    await using served = await serve();
    const id = await sessionOf(served, []);
    const input: Partial<RunAgentInput> = {
      ...{ threadId: id, runId: 'r', messages: [{ id: 'm', role: 'user', content: 'Hi' }], tools: [], context: [] },
      ...more,
    };
    const response = await served.post('/ag-ui', input);
    expect([response.status, await codeIn(response)]).toEqual([400, 'API_REQUEST_INVALID']);
  });
});
