/** `useChat` of the AI SDK over a session: its own client, its own schemas, our log. */
import { describe, expect, it } from 'vitest';
import { validateUIMessages } from 'ai';
import type { UIMessage } from 'ai';
import { z } from 'zod';
import { defineTool } from '../../../src/actors/turn/define-tool.ts';
import { MAX_FAILURES_IN_A_ROW, MAX_RETRY_DELAY_MS } from '../../../src/machines/session/limits.ts';
import { SPEAKER, speakingBackend } from '../../support/speaking-backend.ts';
import { historyOf, openChat, shownOf } from './chat-client.ts';
import { codeIn, serve, sessionOf } from './served.ts';
import type { Served } from './served.ts';

const greet = defineTool({
  name: 'greet',
  description: 'Greets.',
  input: z.object({ who: z.string() }),
  run: ({ who }) => `Hello, ${who}`,
});

const ASKING = { agent: { permission: 'ask' as const, tools: ['greet'] } };
const GREETS = [{ text: 'I greet.', toolCalls: [{ name: 'greet', input: { who: 'Bob' } }] }, { text: 'Greeted.' }];

const history = async (served: Served, id: string): Promise<readonly UIMessage[]> =>
  (await (await served.get(`/chat/${id}/messages`)).json()) as UIMessage[];

describe('a chat', () => {
  it('streams what the agent says, and finds the same when it is opened again', async () => {
    await using served = await serve();
    const id = await sessionOf(served, [{ reasoning: 'Hm.', text: 'Hello, Ada.' }, { text: 'Bye.' }]);
    const client = await openChat(served, id);
    await client.chat.sendMessage({ text: 'Hi' });
    await client.chat.sendMessage({ text: 'Go' });
    expect(client.chat.error).toBeUndefined();
    const shown = ['user: Hi', 'assistant: (Hm.) Hello, Ada.', 'user: Go', 'assistant: Bye.'];
    expect(historyOf(client)).toEqual(shown);
    const stored = await history(served, id);
    expect(stored.map(shownOf)).toEqual(shown);
    await validateUIMessages({ messages: stored });
    expect(client.chat.messages.filter(({ role }) => role === 'assistant').map((message) => message.id)).toEqual(
      stored.filter(({ role }) => role === 'assistant').map((message) => message.id),
    );
  });

  it.each([
    [true, undefined, '[greet output-available="Hello, Bob"]'],
    [false, 'Not him', '[greet output-denied]'],
  ])('asks before a tool runs; with approved=%s it goes on in the same message', async (approved, reason, tool) => {
    await using served = await serve({}, { tools: [greet] });
    const id = await sessionOf(served, GREETS, ASKING);
    const client = await openChat(served, id);
    await client.chat.sendMessage({ text: 'Hi' });
    expect(historyOf(client)).toEqual(['user: Hi', 'assistant: I greet. [greet approval-requested]']);
    await validateUIMessages({ messages: await history(served, id) });
    const part = client.chat.lastMessage?.parts.find(({ type }) => type === 'dynamic-tool');
    const approvalId = part?.type === 'dynamic-tool' ? (part.approval?.id ?? '') : '';
    await client.chat.addToolApprovalResponse({ id: approvalId, approved, ...(reason && { reason }) });
    await expect.poll(() => client.chat.status).toBe('ready');
    await expect.poll(() => historyOf(client).at(-1)).toBe(`assistant: I greet. ${tool} Greeted.`);
    expect(client.chat.error).toBeUndefined();
    const stored = await history(served, id);
    expect(stored.map(shownOf)).toEqual(historyOf(client));
    await validateUIMessages({ messages: [...stored] });
    const resolved = (await served.setup.log(id)).find(({ type }) => type === 'permission.resolved');
    expect(resolved?.data).toMatchObject({
      decision: approved ? 'allowed' : 'denied',
      ...(reason && { note: reason }),
    });
  });

  it('tells a client how a permission was answered only where it holds it for answered otherwise', async () => {
    await using served = await serve({}, { tools: [greet] });
    const id = await sessionOf(served, GREETS, ASKING);
    await served.setup.runtime.sessions.send(id, { type: 'user.message', text: 'Hi' });
    await served.setup.runtime.wake(id);
    const [asked] = (await served.setup.runtime.sessions.get(id)).pendingActions;
    const answered = (approved: boolean): Promise<Response> => {
      const approval = { id: asked?.requestId, approved };
      const parts = [{ type: 'dynamic-tool', state: 'approval-responded', approval }];
      return served.post('/chat', { id, messages: [{ id: 'm', role: 'assistant', parts }] });
    };
    const streams = [await answered(true), await answered(false)];
    await served.setup.runtime.wake(id);
    const [own = '', other = ''] = await Promise.all(streams.map((stream) => stream.text()));
    // AI SDK 6 does not know that chunk, and needs it for no answer of its own.
    expect([own, other].map((text) => text.includes('"tool-approval-response"'))).toEqual([false, true]);
    expect([own, other].map((text) => text.includes('Greeted.'))).toEqual([true, true]);
  });

  it('asks questions, whose answer is the output of a tool of the client', async () => {
    await using served = await serve();
    const steps = [
      { toolCalls: [{ name: 'ask_human', input: { question: 'Which?', choices: ['a', 'b'] } }] },
      { text: 'So be it.' },
    ];
    const id = await sessionOf(served, steps, { agent: { tools: ['ask_human'] } });
    const client = await openChat(served, id);
    await client.chat.sendMessage({ text: 'Hi' });
    const part = client.chat.lastMessage?.parts.find(({ type }) => type === 'dynamic-tool');
    if (part?.type !== 'dynamic-tool') throw new Error('expected a call');
    expect([part.state, part.providerExecuted, part.input]).toEqual([
      'input-available',
      false,
      { question: 'Which?', choices: ['a', 'b'] },
    ]);
    await client.chat.addToolOutput({ tool: 'ask_human', toolCallId: part.toolCallId, output: 'b' });
    await client.chat.sendMessage();
    expect(historyOf(client).at(-1)).toMatch(/^assistant: \[ask_human output-available=.*b.*\] So be it\.$/);
    expect((await history(served, id)).map(shownOf)).toEqual(historyOf(client));
  });

  it('that is opened in mid-answer has it from its beginning on, and goes on with it', async () => {
    const backend = speakingBackend();
    await using served = await serve({}, { runtimes: [backend.runtime] });
    const id = await sessionOf(served, [], { agent: SPEAKER });
    const first = await openChat(served, id);
    const sent = first.chat.sendMessage({ text: 'Hi' });
    const voice = await backend.voice();
    voice.say('Once upon');
    await expect.poll(() => historyOf(first)).toEqual(['user: Hi', 'assistant: Once upon']);
    const second = await openChat(served, id);
    const resumed = second.chat.resumeStream();
    await expect.poll(() => historyOf(second)).toEqual(['user: Hi', 'assistant: Once upon']);
    voice.say(' a time.');
    await expect.poll(() => historyOf(second)).toEqual(['user: Hi', 'assistant: Once upon a time.']);
    backend.end();
    await Promise.all([sent, resumed]);
    expect([historyOf(first), historyOf(second)]).toEqual(
      Array.from({ length: 2 }, () => ['user: Hi', 'assistant: Once upon a time.']),
    );
    expect(second.chat.messages.length).toBe(2);
    await second.chat.resumeStream();
    expect([second.chat.status, second.asked.at(-1)]).toEqual(['ready', `GET /chat/${id}/stream`]);
  });

  it('needs no right to answer where nothing is answered, though old messages come along', async () => {
    await using served = await serve({
      authorize: () => ({ subject: 'ada', may: (action) => action !== 'answer' }),
    });
    const id = await sessionOf(served, [{ text: 'Hello.' }]);
    const client = await openChat(served, id);
    await client.chat.sendMessage({ text: 'Hi' });
    await client.chat.sendMessage({ text: 'And?' });
    expect(client.chat.error).toBeUndefined();
    expect(historyOf(client).slice(0, 3)).toEqual(['user: Hi', 'assistant: Hello.', 'user: And?']);
  });

  it('sent again with the same message stores it once', async () => {
    await using served = await serve();
    const id = await sessionOf(served, [{ text: 'Hello.' }]);
    const body = { id, messages: [{ id: 'm1', role: 'user', parts: [{ type: 'text', text: 'Hi' }] }] };
    const streams = [await served.post('/chat', body), await served.post('/chat', body)];
    await served.setup.runtime.wake(id);
    const [one, other] = await Promise.all(streams.map((stream) => stream.text()));
    expect(one).toBe(other);
    expect(one).toContain('"delta":"Hello."');
    expect((await history(served, id)).map(shownOf)).toEqual(['user: Hi', 'assistant: Hello.']);
  });

  it('says that the agent could not go on, once it has given up', async () => {
    await using served = await serve({ maxStreamMs: 2 ** 31 - 1 });
    const id = await sessionOf(served, [{ error: { kind: 'auth', message: 'no credentials' } }], {
      script: { onEnd: 'repeat-last' },
    });
    const client = await openChat(served, id, { wakes: false });
    const sent = client.chat.sendMessage({ text: 'Hi' });
    await expect.poll(() => served.setup.types(id)).toContain('user.message');
    for (let failures = 1; failures <= MAX_FAILURES_IN_A_ROW; failures += 1) {
      await served.setup.runtime.wake(id, { isAutonomous: true });
      await served.setup.clock.advance(MAX_RETRY_DELAY_MS);
    }
    await sent;
    expect(client.chat.status).toBe('error');
    expect(client.chat.error?.message).toBe('The agent could not go on. Those who run this server can see why.');
    expect((await history(served, id)).map(shownOf).slice(0, 1)).toEqual(['user: Hi']);
  });

  it.each([
    ['another answer to the same message', { trigger: 'regenerate-message' }, 'API_REQUEST_INVALID'],
    [
      'a file',
      { messages: [{ id: 'm', role: 'user', parts: [{ type: 'file', url: 'data:,x' }] }] },
      'API_REQUEST_INVALID',
    ],
    ['what it does not know', { model: 'x' }, 'API_REQUEST_INVALID'],
    ['nothing', { messages: [] }, 'API_REQUEST_INVALID'],
  ])('refuses %s, and stores nothing', async (_, body, code) => {
    await using served = await serve();
    const id = await sessionOf(served, [{ text: 'Hello.' }]);
    const messages = [{ id: 'm', role: 'user', parts: [{ type: 'text', text: 'Hi' }] }];
    const response = await served.post('/chat', { id, messages, ...body });
    expect([response.status, await codeIn(response)]).toEqual([400, code]);
    expect(await served.setup.types(id)).toEqual(['session.created']);
  });
});
