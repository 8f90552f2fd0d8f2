/** What a client hears of a session that is due and that no process takes. */
import { rename } from 'node:fs/promises';
import { describe, expect, it } from 'vitest';
import { TAKEN_MS } from '../../../src/machines/session/session-activations.ts';
import { AGENT } from '../../support/session-setup.ts';
import { historyOf, openChat } from './chat-client.ts';
import { serve, sessionOf } from './served.ts';
import type { Served } from './served.ts';

const BUSY_MS = 300_000;

const agentOf = ({ setup: { home } }: Served): string => `${home}/agents/${AGENT}`;
const without = (served: Served): Promise<void> => rename(agentOf(served), `${agentOf(served)}-away`);
const withAgain = (served: Served): Promise<void> => rename(`${agentOf(served)}-away`, agentOf(served));

const viewOf = async (served: Served, id: string): Promise<unknown> =>
  ((await (await served.get(`/sessions/${id}`)).json()) as { readonly waiting?: unknown }).waiting;

/** What is there once so much time has passed. */
async function after<Found>(served: Served, ms: number, find: () => Found): Promise<Found> {
  await served.setup.clock.advance(ms);
  return find();
}

describe('a session that is due', () => {
  it('says nothing while a worker may be about to take it, then that none has, and what it lacks here', async () => {
    await using served = await serve({}, { leavesToOthers: true });
    const id = await sessionOf(served, [{ text: 'Hello.' }]);
    expect(await viewOf(served, id)).toBeUndefined();
    const { acceptedAs } = (await (await served.post(`/sessions/${id}/messages`, { text: 'Hi' })).json()) as {
      readonly acceptedAs: string;
    };
    const [sent] = (await served.setup.log(id)).slice(-1);
    expect([acceptedAs, await viewOf(served, id)]).toEqual(['queue', undefined]);
    await served.setup.clock.advance(TAKEN_MS);
    expect(await viewOf(served, id)).toEqual({ phase: 'waiting', reason: 'untaken', since: sent?.at });
    await without(served);
    const elsewhere = { phase: 'elsewhere', reason: 'agent_missing', since: sent?.at };
    expect(await viewOf(served, id)).toEqual(elsewhere);
    expect(await (await served.get('/sessions')).json()).toMatchObject({ sessions: [{ waiting: elsewhere }] });
    await withAgain(served);
    await served.setup.runtime.wake(id);
    expect(await viewOf(served, id)).toBeUndefined();
  });

  it('says that its environment is missing', async () => {
    await using served = await serve({}, { leavesToOthers: true });
    const id = await sessionOf(served, [], { agent: { environment: 'lab' } });
    await served.post(`/sessions/${id}/messages`, { text: 'Hi' });
    await served.setup.clock.advance(TAKEN_MS);
    expect(await viewOf(served, id)).toMatchObject({ phase: 'elsewhere', reason: 'environment_missing' });
  });
});

describe('a chat whose agent this server has not got', () => {
  it('hears so once, and waits: processes that have it may be busy for long', async () => {
    await using served = await serve({}, { leavesToOthers: true });
    const id = await sessionOf(served, [{ text: 'Hello.' }]);
    await without(served);
    const client = await openChat(served, id, { wakes: false });
    const sent = client.chat.sendMessage({ text: 'Hi' });
    await expect.poll(() => served.setup.types(id)).toContain('user.message');
    const told = [{ type: 'data-waiting', data: expect.objectContaining(ELSEWHERE) as object }];
    await expect.poll(() => after(served, TAKEN_MS, () => client.data)).toMatchObject(told);
    for (let ms = 0; ms < BUSY_MS; ms += TAKEN_MS) await served.setup.clock.advance(TAKEN_MS);
    expect([client.chat.status, client.data]).toMatchObject(['submitted', told]);
    await withAgain(served);
    await served.setup.runtime.wake(id);
    await sent;
    expect([client.chat.status, historyOf(client)]).toEqual(['ready', ['user: Hi', 'assistant: Hello.']]);
    expect(served.errors).toEqual([]);
  });
});

const ELSEWHERE = { phase: 'elsewhere', reason: 'agent_missing' };

it('a run of AG-UI hears the same', async () => {
  await using served = await serve({}, { leavesToOthers: true });
  const id = await sessionOf(served, [{ text: 'Hello.' }]);
  await without(served);
  const messages = [{ id: 'm1', role: 'user', content: 'Hi' }];
  const response = await served.post('/ag-ui', { threadId: id, runId: 'r', messages });
  const heard: string[] = [];
  const read = (async () => {
    for await (const chunk of response.body as ReadableStream<Uint8Array>) heard.push(new TextDecoder().decode(chunk));
  })();
  await expect.poll(() => after(served, TAKEN_MS, () => heard.join(''))).toContain('CUSTOM');
  await withAgain(served);
  await served.setup.runtime.wake(id);
  await read;
  const both = /"CUSTOM","name":"waiting","value":\{"phase":"elsewhere","reason":"agent_missing".*RUN_FINISHED/s;
  expect(heard.join('')).toMatch(both);
});
