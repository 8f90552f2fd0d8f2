import { randomUUID } from 'node:crypto';
import {
  ClientFactory,
  ClientFactoryOptions,
  DefaultAgentCardResolver,
  JsonRpcTransportFactory,
} from '@a2a-js/sdk/client';
import type { Client } from '@a2a-js/sdk/client';
import { Role, TaskState } from '@a2a-js/sdk';
import type { Message, SendMessageRequest, StreamResponse, Task } from '@a2a-js/sdk';
import { connect } from 'node:net';
import { text as textOf } from 'node:stream/consumers';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { createA2aHandler } from '../../../src/adapters/a2a/a2a-handler.ts';
import { listenA2a } from '../../../src/adapters/a2a/a2a-listener.ts';
import { CAREFUL, ProtocolStage, asks, runs, says } from '../../support/protocol-stage.ts';

const TOKEN = 'a-token-that-is-long';
let stage: ProtocolStage;
const closing: (() => Promise<void>)[] = [];

beforeAll(async () => {
  stage = await ProtocolStage.open();
  await stage.agent('greeter', [runs('echo hello', 'I greet.'), says('Greeted.')]);
  await stage.agent('careful', [runs('rm -f x'), says('Removed.')], CAREFUL);
  await stage.agent('cleaner', [runs('rm -f x'), runs('rm -f y'), says('Removed both.')], CAREFUL);
  await stage.agent('curious', [asks('Which one?'), says('Thanks.')]);
  await stage.agent('slow', [runs('sleep 60'), says('Woke.')]);
});
afterEach(async () => {
  for (const close of closing.splice(0)) await close();
});
afterAll(async () => {
  await stage.close();
});

/** An agent that is served over HTTP. */
async function served(agentId: string, { allowAnswers = false } = {}): Promise<string> {
  const listener = await listenA2a(
    async (url) => {
      const handler = await createA2aHandler(stage.runtime, {
        agentId,
        url,
        version: '0.0.0',
        authorize: (request) => request.headers.get('authorization') === `Bearer ${TOKEN}`,
        allowAnswers,
        onTrouble: () => undefined,
      });
      closing.push(async () => handler.close());
      return (request) => handler.handle(request);
    },
    { port: 0, onTrouble: () => undefined },
  );
  closing.push(() => listener.close());
  return listener.origin;
}

/** The client of the protocol's SDK, which finds the agent by its card. */
function clientOf(url: string): Promise<Client> {
  const fetchImpl: typeof fetch = (input, init) => {
    const headers = new Headers(init?.headers);
    headers.set('authorization', `Bearer ${TOKEN}`);
    return fetch(input, { ...init, headers });
  };
  return new ClientFactory(
    ClientFactoryOptions.createFrom(ClientFactoryOptions.default, {
      transports: [new JsonRpcTransportFactory({ fetchImpl })],
      cardResolver: new DefaultAgentCardResolver({ fetchImpl }),
    }),
  ).createFromUrl(url);
}

let messages = 0;
function messageOf(
  text: string,
  ids: Partial<Pick<Message, 'contextId' | 'taskId' | 'messageId'>> = {},
): SendMessageRequest {
  messages += 1;
  return {
    tenant: '',
    configuration: undefined,
    metadata: undefined,
    message: {
      messageId: `message-${messages}`,
      contextId: '',
      taskId: '',
      role: Role.ROLE_USER,
      parts: [{ content: { $case: 'text', value: text }, metadata: undefined, filename: '', mediaType: '' }],
      metadata: undefined,
      extensions: [],
      referenceTaskIds: [],
      ...ids,
    },
  };
}

async function send(client: Client, request: SendMessageRequest): Promise<Task> {
  const result = await client.sendMessage(request);
  if ('messageId' in result) throw new Error('expected a task');
  return result;
}

const textsOf = ({ parts = [] }: Partial<Pick<Message, 'parts'>> = {}): string[] =>
  parts.flatMap(({ content }) => (content?.$case === 'text' ? [content.value] : []));

describe('a message', () => {
  it('that comes again without a context begins no second session', async () => {
    const client = await clientOf(await served('greeter'));
    const before = await stage.runtime.sessions.list({ agentId: 'greeter' });
    const request = messageOf('Hi', { messageId: randomUUID() });
    const [one, other] = await Promise.all([send(client, request), send(client, request)]);
    expect([other.id, (await send(client, request)).id]).toEqual([one.id, one.id]);
    expect(await stage.runtime.sessions.list({ agentId: 'greeter' })).toHaveLength(before.length + 1);
  });

  it('that comes again after the server was started anew is not done twice; another text under its id is', async () => {
    const messageId = `message-${randomUUID().replaceAll('-', '')}`;
    const request = messageOf('Hi', { messageId });
    const task = await send(await clientOf(await served('greeter')), request);
    const client = await clientOf(await served('greeter'));
    expect((await send(client, request)).id).toBe(task.id);
    const other = await send(client, messageOf('Hello', { messageId }));
    expect(other.contextId).not.toBe(task.contextId);
  });

  it('whose id may be counted is of no other client: it begins a session of its own', async () => {
    const client = await clientOf(await served('greeter'));
    for (const messageId of ['1', 'message-1', '00000000-0000-0000-0000-000000000001']) {
      const first = await send(client, messageOf('Hello', { messageId }));
      expect((await send(client, messageOf('Hello', { messageId }))).contextId).not.toBe(first.contextId);
    }
  });

  it('with another text is another one, also under an id that was there', async () => {
    const client = await clientOf(await served('greeter'));
    const { contextId, id } = await send(client, messageOf('My PIN is 1234', { messageId: '1' }));
    const other = await send(client, messageOf('What is 2 + 2?', { messageId: '1', contextId }));
    expect(other.id).not.toBe(id);
    expect(other.history.map(textsOf)).toEqual([['What is 2 + 2?']]);
  });

  it('is a task in a context, which is a session, and ends with its answer', async () => {
    const client = await clientOf(await served('greeter'));
    const task = await send(client, messageOf('Hi'));
    expect(task.status?.state).toBe(TaskState.TASK_STATE_COMPLETED);
    expect(task.artifacts.map(textsOf)).toEqual([['Greeted.']]);
    expect(task.history.map(textsOf)).toEqual([['Hi']]);
    const next = await send(client, messageOf('Again', { contextId: task.contextId }));
    expect(next).toMatchObject({ contextId: task.contextId, status: { state: TaskState.TASK_STATE_COMPLETED } });
    expect(next.id).not.toBe(task.id);
    expect(await client.getTask({ tenant: '', id: task.id })).toEqual(task);
    const { tasks } = await client.listTasks({
      tenant: '',
      contextId: task.contextId,
      status: TaskState.TASK_STATE_UNSPECIFIED,
      pageToken: '',
      statusTimestampAfter: undefined,
    });
    expect(tasks.map(({ id }) => id)).toEqual([next.id, task.id]);
  });

  it('that comes twice is stored once', async () => {
    const client = await clientOf(await served('greeter'));
    const { contextId } = await send(client, messageOf('Hi'));
    const again = messageOf('Once', { contextId });
    expect((await send(client, again)).id).toBe((await send(client, again)).id);
  });

  it('is streamed: the task, what is said, the answer, the end', async () => {
    const client = await clientOf(await served('greeter'));
    const told: string[] = [];
    let last: StreamResponse | undefined;
    for await (const event of client.sendMessageStream(messageOf('Hi'))) {
      const { payload } = event;
      last = event;
      if (payload?.$case === 'statusUpdate') told.push(...textsOf(payload.value.status?.message));
      else told.push(payload?.$case ?? '');
    }
    expect(told).toEqual(['task', 'I greet.', 'Greeted.', 'artifactUpdate']);
    expect(last?.payload).toMatchObject({
      $case: 'statusUpdate',
      value: { status: { state: TaskState.TASK_STATE_COMPLETED } },
    });
  });

  it('can be cancelled, and a stream of it taken up again', async () => {
    const client = await clientOf(await served('slow'));
    const request = messageOf('Go');
    const { id } = await send(client, {
      ...request,
      configuration: { acceptedOutputModes: [], taskPushNotificationConfig: undefined, returnImmediately: true },
    });
    const states: (TaskState | undefined)[] = [];
    const followed = (async () => {
      for await (const { payload } of client.resubscribeTask({ tenant: '', id }))
        if (payload?.$case === 'statusUpdate') states.push(payload.value.status?.state);
    })();
    await expect.poll(() => states).toContain(TaskState.TASK_STATE_WORKING);
    const cancelled = await client.cancelTask({ tenant: '', id, metadata: undefined });
    expect(cancelled.status?.state).toBe(TaskState.TASK_STATE_CANCELED);
    await followed;
    expect(states.at(-1)).toBe(TaskState.TASK_STATE_CANCELED);
    await expect(client.cancelTask({ tenant: '', id, metadata: undefined })).rejects.toThrow(/has ended/);
  });
});

describe('what a session asks', () => {
  it('makes its task need input, which the next message of the task is', async () => {
    const client = await clientOf(await served('curious'));
    const asked = await send(client, messageOf('Go'));
    expect(asked.status?.state).toBe(TaskState.TASK_STATE_INPUT_REQUIRED);
    expect(textsOf(asked.status?.message)).toEqual(['curious asks: Which one?']);
    const answered = await send(client, messageOf('the left', { taskId: asked.id }));
    expect(answered).toMatchObject({ id: asked.id, status: { state: TaskState.TASK_STATE_COMPLETED } });
  });

  it('is no permission that the other agent could give; it can deny it', async () => {
    const client = await clientOf(await served('careful'));
    const asked = await send(client, messageOf('Clean up'));
    expect(textsOf(asked.status?.message).join('')).toContain('rm -f x');
    await expect(client.sendMessage(messageOf('allow', { taskId: asked.id }))).rejects.toThrow(/given by a person/);
    const denied = await send(client, messageOf('deny', { taskId: asked.id }));
    expect(denied.status?.state).toBe(TaskState.TASK_STATE_COMPLETED);
    expect(await stage.events(asked.contextId)).toContainEqual(
      expect.objectContaining({
        type: 'permission.resolved',
        data: expect.objectContaining({ decision: 'denied' }) as object,
      }),
    );
  });

  it('is allowed by the other agent where the person wants that', async () => {
    const client = await clientOf(await served('careful', { allowAnswers: true }));
    const asked = await send(client, messageOf('Clean up'));
    const allowed = await send(client, messageOf('allow', { taskId: asked.id }));
    expect(allowed.artifacts.map(textsOf)).toEqual([['Removed.']]);
  });

  it('is answered once by a message, however often that comes and whatever is asked next', async () => {
    const client = await clientOf(await served('cleaner', { allowAnswers: true }));
    const { id, contextId } = await send(client, messageOf('Clean up'));
    const allow = messageOf('allow', { taskId: id });
    const state = TaskState.TASK_STATE_INPUT_REQUIRED;
    expect(await send(client, allow)).toMatchObject({ id, status: { state } });
    const restarted = await clientOf(await served('cleaner', { allowAnswers: true }));
    const again = await send(restarted, allow);
    expect(again).toMatchObject({ id, status: { state } });
    expect(textsOf(again.status?.message).join('')).toContain('rm -f y');
    await send(client, messageOf('allow', { taskId: id }));
    expect(await send(client, allow)).toMatchObject({ id, status: { state: TaskState.TASK_STATE_COMPLETED } });
    const types = (await stage.events(contextId)).map(({ type }) => type);
    expect(types.filter((type) => type.startsWith('user.'))).toEqual([
      ...['user.message', 'user.tool_confirmation', 'user.tool_confirmation'],
    ]);
  });
});

describe('the address', () => {
  it('shows the card to everyone, and answers nothing else without the token', async () => {
    const url = await served('greeter');
    const card = await fetch(`${url}/.well-known/agent-card.json`, { headers: { 'A2A-Version': '1.0' } });
    expect(await card.json()).toMatchObject({
      name: 'greeter',
      supportedInterfaces: [{ url: `${url}/a2a`, protocolBinding: 'JSONRPC' }, {}],
      capabilities: { streaming: true },
    });
    const init = { method: 'POST', headers: { 'content-type': 'application/json' }, body: '{}' };
    expect((await fetch(`${url}/a2a`, init)).status).toBe(401);
    expect((await fetch(`${url}/a2a`)).status).toBe(405);
    expect((await fetch(`${url}/elsewhere`)).status).toBe(404);
    const headers = { ...init.headers, authorization: `Bearer ${TOKEN}` };
    expect((await fetch(`${url}/a2a`, { ...init, headers, body: 'x'.repeat(1_048_577) })).status).toBe(413);
    expect((await fetch(`${url}/a2a`, { ...init, headers: { ...headers, 'content-type': 'text/plain' } })).status).toBe(
      415,
    );
    const answer = await fetch(`${url}/a2a`, { ...init, headers, body: '{' });
    expect(await answer.json()).toMatchObject({ error: { code: expect.any(Number) as number } });
  });

  it('serves clients of version 0.3 too', async () => {
    const url = await served('greeter');
    expect(await (await fetch(`${url}/.well-known/agent-card.json`)).json()).toMatchObject({
      protocolVersion: '0.3.0',
      url: `${url}/a2a`,
      preferredTransport: 'JSONRPC',
    });
    const answer = await fetch(`${url}/a2a`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', authorization: `Bearer ${TOKEN}` },
      body: JSON.stringify({
        jsonrpc: '2.0',
        id: 1,
        method: 'message/send',
        params: { message: { kind: 'message', messageId: 'old', role: 'user', parts: [{ kind: 'text', text: 'Hi' }] } },
      }),
    });
    expect(await answer.json()).toMatchObject({
      result: {
        kind: 'task',
        status: { state: 'completed' },
        artifacts: [{ parts: [{ kind: 'text', text: 'Greeted.' }] }],
      },
    });
  });

  it.each([
    ['GET // HTTP/1.1\r\nHost: 127.0.0.1', 400],
    ['TRACE /a2a HTTP/1.1\r\nHost: 127.0.0.1', 400],
    ['GET /.well-known/agent-card.json HTTP/1.1\r\nHost: evil.example', 421],
    ['GET /.well-known/agent-card.json HTTP/1.1\r\nHost: localhost', 200],
  ])('answers %j with %i, and tells its operator of no trouble', async (head, status) => {
    const trouble: unknown[] = [];
    const listener = await listenA2a(async () => async () => new Response('card'), {
      port: 0,
      onTrouble: (error) => void trouble.push(error),
    });
    closing.push(() => listener.close());
    const connection = connect(Number(new URL(listener.origin).port), '127.0.0.1');
    connection.write(`${head}\r\nConnection: close\r\n\r\n`);
    expect(await textOf(connection)).toMatch(new RegExp(`^HTTP/1.1 ${status} `));
    expect(trouble).toEqual([]);
  });

  it('knows only the sessions of its agent, and no task that is none', async () => {
    const { sessionId } = await stage.runtime.sessions.create({ agentId: 'slow' });
    const client = await clientOf(await served('greeter'));
    await expect(client.sendMessage(messageOf('Hi', { contextId: sessionId }))).rejects.toThrow(/no context/);
    await expect(client.getTask({ tenant: '', id: `${sessionId}.1` })).rejects.toThrow(/no context|no task/);
    await expect(client.getTask({ tenant: '', id: 'x' })).rejects.toThrow(/no task/);
  });
});
