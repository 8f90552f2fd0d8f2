import type { CallToolResult } from '@modelcontextprotocol/sdk/types.js';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { CAREFUL, ProtocolStage, asks, runs, says } from '../../support/protocol-stage.ts';
import { connect, disconnectAll } from './mcp-client.ts';

let stage: ProtocolStage;

beforeAll(async () => {
  stage = await ProtocolStage.open();
  await stage.agent('greeter', [runs('echo hello', 'I greet.'), says('Greeted.')]);
  await stage.agent('careful', [runs('rm -f x'), says('Removed.')], CAREFUL);
  await stage.agent('curious', [asks('Which one?', 'left', 'right'), says('Thanks.')]);
  await stage.agent('slow', [runs('sleep 60'), says('Woke.')]);
});
afterEach(disconnectAll);
afterAll(async () => {
  await stage.close();
});

describe('the tools', () => {
  it('are listed with what they can do, and commands only where the person allowed them', async () => {
    const { client } = await connect(stage);
    const { tools } = await client.listTools();
    expect(tools.map(({ name }) => name)).not.toContain('task_start');
    expect(tools.find(({ name }) => name === 'sessions_list')?.annotations).toMatchObject({ readOnlyHint: true });
    expect(tools.find(({ name }) => name === 'session_stop')?.annotations).toMatchObject({ destructiveHint: true });
    const trusting = await connect(stage, { allowCommands: true });
    expect((await trusting.client.listTools()).tools.map(({ name }) => name)).toContain('task_start');
  });

  it('start a session, tell how it goes on, and answer with what it said', async () => {
    const { client, call } = await connect(stage);
    const told: unknown[] = [];
    const { structuredContent } = (await client.callTool(
      { name: 'session_start', arguments: { agent: 'greeter', message: 'Hi' } },
      undefined,
      { onprogress: ({ message }) => void told.push(message) },
    )) as CallToolResult;
    expect(structuredContent).toMatchObject({ state: 'completed', answer: 'Greeted.' });
    expect(told).toEqual(['I greet.', 'uses shell_run', 'Greeted.']);
    const session = String(structuredContent?.['session']);
    expect(await call('session_send', { session, message: 'Again' })).toMatchObject({ session, state: 'completed' });
    expect(await call('session_read', { session, limit: 2 })).toMatchObject({
      events: [{ type: 'session.created' }, { type: 'user.message' }],
      next: 3,
    });
    expect(await call('sessions_list', { agent: 'greeter' })).toMatchObject({
      sessions: [{ session, status: 'idle' }],
    });
    expect(await call('session_stop', { session, reason: 'enough' })).toMatchObject({ status: 'terminated' });
    expect(await call('agents_list')).toMatchObject({ agents: [{}, {}, { agent: 'greeter' }, {}] });
  });

  it.each([
    ['session_start', { agent: 'not-here', message: 'Hi' }, 'AGENT_NOT_FOUND'],
    ['session_start', { agnet: 'greeter' }, 'MCP_CALL_INVALID'],
    ['session_wait', { turn: 'x' }, 'TURN_NOT_FOUND'],
    ['session_read', { session: 'x' }, 'SESSION_REQUEST_INVALID'],
    ['session_answer', { session: 'x', request: 'y' }, 'MCP_CALL_INVALID'],
    ['task_read', { task: 'x' }, 'MCP_TASK_NOT_FOUND'],
  ])('%s with %o says what is wrong and what to do', async (name, input, code) => {
    const { call } = await connect(stage);
    expect(await call(name, input)).toMatchObject({ error: { code, hint: expect.any(String) as string } });
  });

  it('choose where a session runs only where the person allowed commands', async () => {
    const start = { agent: 'greeter', environment: 'host' };
    const { call } = await connect(stage);
    const before = await call('sessions_list');
    expect(await call('session_start', start)).toMatchObject({ error: { code: 'MCP_ALLOWANCE_REFUSED' } });
    expect(await call('sessions_list')).toEqual(before);
    const trusting = await connect(stage, { allowCommands: true });
    expect(await trusting.call('session_start', start)).toMatchObject({ agent: 'greeter', status: 'idle' });
  });

  it('run commands in the background, where that is allowed', async () => {
    const { call } = await connect(stage, { allowCommands: true });
    const { task } = await call('task_start', { command: 'echo one; echo two' });
    expect(await call('task_read', { task, waitSeconds: 20 })).toMatchObject({
      status: 'completed',
      exitCode: 0,
      lines: ['[stdout] one', '[stdout] two'],
    });
    const { task: long } = await call('task_start', { command: 'sleep 60' });
    expect(await call('task_stop', { task: long })).toMatchObject({ status: 'cancelled' });
  });
});

describe('what a session asks', () => {
  it('is asked of the person in a form, which shows the command, and goes on with the answer', async () => {
    const shown: string[] = [];
    const { call } = await connect(stage, {
      person: (message) => {
        shown.push(message);
        return { action: 'accept', content: { decision: 'allow once' } };
      },
    });
    expect(await call('session_start', { agent: 'careful', message: 'Clean up' })).toMatchObject({
      state: 'completed',
      answer: 'Removed.',
    });
    expect(shown).toEqual([expect.stringContaining('rm -f x')]);
  });

  it('is denied by a form that is declined, and left open by one that is closed', async () => {
    const declining = await connect(stage, { person: () => ({ action: 'decline' }) });
    const denied = await declining.call('session_start', { agent: 'careful', message: 'Clean up' });
    expect(denied).toMatchObject({ state: 'completed' });
    expect(await stage.events(String(denied['session']))).toContainEqual(
      expect.objectContaining({
        type: 'permission.resolved',
        data: expect.objectContaining({ decision: 'denied' }) as object,
      }),
    );
    const closing = await connect(stage, { person: () => ({ action: 'cancel' }) });
    expect(await closing.call('session_start', { agent: 'careful', message: 'Clean up' })).toMatchObject({
      state: 'asking',
      asked: [{ kind: 'permission', tool: 'shell_run', input: { command: 'rm -f x' } }],
    });
  });

  it('comes back where the client shows no forms; a call of a tool may deny it, and not allow it', async () => {
    const { call } = await connect(stage);
    const { session, turn, asked } = await call('session_start', { agent: 'careful', message: 'Clean up' });
    const [{ request }] = asked as [{ request: string }];
    expect(await call('session_answer', { session, request, decision: 'allow' })).toMatchObject({
      error: { code: 'MCP_ALLOWANCE_REFUSED' },
    });
    expect(await call('session_answer', { session, request, decision: 'deny' })).toMatchObject({ request });
    expect(await call('session_wait', { turn })).toMatchObject({ state: 'completed' });
  });

  it('is allowed by a call of a tool where the person who started the server wants that', async () => {
    const { call } = await connect(stage, { allowAnswers: true });
    const { session, turn, asked } = await call('session_start', { agent: 'careful', message: 'Clean up' });
    const [{ request }] = asked as [{ request: string }];
    await call('session_answer', { session, request, decision: 'allow' });
    expect(await call('session_wait', { turn })).toMatchObject({ state: 'completed', answer: 'Removed.' });
  });

  it('is a question that a call of a tool answers, or the person', async () => {
    const { call } = await connect(stage);
    const { session, turn, asked } = await call('session_start', { agent: 'curious', message: 'Go' });
    expect(asked).toMatchObject([{ kind: 'answer', question: 'Which one?', choices: ['left', 'right'] }]);
    const [{ request }] = asked as [{ request: string }];
    await call('session_answer', { session, request, answer: 'left' });
    expect(await call('session_wait', { turn })).toMatchObject({ state: 'completed', answer: 'Thanks.' });
    const person = await connect(stage, { person: () => ({ action: 'accept', content: { answer: 'right' } }) });
    expect(await person.call('session_start', { agent: 'curious', message: 'Go' })).toMatchObject({
      answer: 'Thanks.',
    });
  });

  it('closes its form when another client answers', async () => {
    let isShown: () => void = () => undefined;
    const shown = new Promise<void>((resolve) => (isShown = resolve));
    const waiting = await connect(stage, {
      person: () => {
        isShown();
        return new Promise(() => undefined);
      },
    });
    const started = waiting.call('session_start', { agent: 'careful', message: 'Clean up', title: 'two clients' });
    await shown;
    const sessions = await stage.runtime.sessions.list({ agentId: 'careful' });
    const state = sessions.find(({ title }) => title === 'two clients');
    const other = await connect(stage, { allowAnswers: true });
    const [request] = state?.pendingActions ?? [];
    await other.call('session_answer', { session: state?.sessionId, request: request?.requestId, decision: 'allow' });
    expect(await started).toMatchObject({ state: 'completed', answer: 'Removed.' });
  });
});

describe('a turn as a task of the protocol', () => {
  it('goes from working to completed, by way of a form, and has its answer as its result', async () => {
    const { client } = await connect(stage, {
      person: () => ({ action: 'accept', content: { decision: 'allow once' } }),
    });
    const statuses = new Set<string>();
    let result: unknown;
    for await (const message of client.experimental.tasks.callToolStream(
      { name: 'session_start', arguments: { agent: 'careful', message: 'Clean up' } },
      undefined,
      { task: {} },
    )) {
      if (message.type === 'taskStatus') statuses.add(message.task.status);
      if (message.type === 'result') result = message.result;
    }
    expect([...statuses]).toEqual(expect.arrayContaining(['working', 'input_required']));
    expect(result).toMatchObject({ structuredContent: { state: 'completed', answer: 'Removed.' } });
  });

  it('is known to every client under the same id, and is cancelled by an interruption of its session', async () => {
    const { client } = await connect(stage);
    const stream = client.experimental.tasks.callToolStream(
      { name: 'session_start', arguments: { agent: 'slow', message: 'Go' } },
      undefined,
      { task: {} },
    );
    const first = (await stream.next()).value;
    const taskId = first?.type === 'taskCreated' ? first.task.taskId : '';
    const other = await connect(stage);
    await expect.poll(() => other.client.experimental.tasks.getTask(taskId)).toMatchObject({ status: 'working' });
    expect(await other.client.experimental.tasks.cancelTask(taskId)).toMatchObject({ status: 'cancelled' });
    expect(await client.experimental.tasks.getTask(taskId)).toMatchObject({ taskId, status: 'cancelled' });
    expect((await client.experimental.tasks.listTasks()).tasks).toMatchObject([{ taskId }]);
    await expect(client.experimental.tasks.getTask('no.task')).rejects.toThrow(/not found/i);
  });
});

describe('a client that stops waiting', () => {
  it('takes its call back: the session is interrupted', async () => {
    const { client } = await connect(stage);
    const cancel = new AbortController();
    const call = client.callTool(
      { name: 'session_start', arguments: { agent: 'slow', message: 'Go', title: 'taken back' } },
      undefined,
      {
        signal: cancel.signal,
      },
    );
    const session = async () =>
      (await stage.runtime.sessions.list({ agentId: 'slow' })).find(({ title }) => title === 'taken back');
    await expect.poll(async () => (await session())?.openToolCalls.length).toBe(1);
    cancel.abort();
    await expect(call).rejects.toThrow();
    await expect.poll(async () => (await session())?.lastWake?.outcome).toBe('interrupted');
  });

  it('goes without a word: the service ends, and the session goes on', async () => {
    const { client, service, leave } = await connect(stage);
    void client
      .callTool({ name: 'session_start', arguments: { agent: 'slow', message: 'Go', title: 'left' } })
      .catch(() => undefined);
    const session = async () =>
      (await stage.runtime.sessions.list({ agentId: 'slow' })).find(({ title }) => title === 'left');
    await expect.poll(async () => (await session())?.openToolCalls.length).toBe(1);
    leave();
    await service.closed;
    expect(await session()).toMatchObject({ status: 'running' });
    await stage.runtime.sessions.interrupt((await session())?.sessionId ?? '');
  });
});
