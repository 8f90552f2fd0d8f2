import { realpathSync } from 'node:fs';
import { mkdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { PassThrough, Readable, Writable } from 'node:stream';
import { client, ndJsonStream } from '@agentclientprotocol/sdk';
import type {
  ClientConnection,
  RequestPermissionRequest,
  RequestPermissionResponse,
  SessionNotification,
} from '@agentclientprotocol/sdk';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { serveAcp } from '../../../src/adapters/acp-agent/acp-agent.ts';
import type { AcpService } from '../../../src/adapters/acp-agent/acp-agent.ts';
import { CAREFUL, ProtocolStage, asks, runs, says } from '../../support/protocol-stage.ts';

let stage: ProtocolStage;
let project: string;
const services: AcpService[] = [];

beforeAll(async () => {
  stage = await ProtocolStage.open();
  project = join(stage.home, 'project');
  await mkdir(project);
  await stage.agent('greeter', [runs('pwd > where.txt; cat where.txt', 'I greet.'), says('Greeted.')]);
  await stage.agent('careful', [runs('rm -f x'), says('Removed.')], CAREFUL);
  await stage.agent('curious', [asks('Which one?', 'left', 'right'), says('Thanks.')]);
  await stage.agent('slow', [runs('sleep 60'), says('Woke.')]);
  await stage.agent('failing', [{ error: { kind: 'format', message: 'no such model' } }]);
});
afterEach(async () => {
  for (const service of services.splice(0)) await service.close();
});
afterAll(async () => {
  await stage.close();
});

interface Editor {
  readonly agent: ClientConnection['agent'];
  readonly connection: ClientConnection;
  readonly service: AcpService;
  readonly updates: SessionNotification['update'][];
  readonly asked: RequestPermissionRequest[];
  /** All that the agent said. */
  said(): string;
}

type Person = (request: RequestPermissionRequest) => RequestPermissionResponse | Promise<RequestPermissionResponse>;

const choose =
  (optionId: string): Person =>
  () => ({ outcome: { outcome: 'selected', optionId } });

/** An editor made with the client side of the SDK. */
async function editor(agentId: string, person: Person = choose('deny')): Promise<Editor> {
  const [input, output] = [new PassThrough(), new PassThrough()];
  const service = await serveAcp(stage.runtime, {
    version: '0.0.0',
    input,
    output,
    agentId,
    workspaceOf: ({ workspace }) => workspace ?? stage.home,
    onTrouble: () => undefined,
  });
  services.push(service);
  const updates: SessionNotification['update'][] = [];
  const asked: RequestPermissionRequest[] = [];
  const connection = client({ name: 'editor' })
    .onNotification('session/update', ({ params }) => void updates.push(params.update))
    .onRequest('session/request_permission', ({ params }) => {
      asked.push(params);
      return person(params);
    })
    .connect(ndJsonStream(Writable.toWeb(input), Readable.toWeb(output) as ReadableStream<Uint8Array>));
  const { agent } = connection;
  await agent.request('initialize', { protocolVersion: 1, clientCapabilities: {} });
  return {
    agent,
    connection,
    service,
    updates,
    asked,
    said: () =>
      updates
        .flatMap((update) =>
          update.sessionUpdate === 'agent_message_chunk' && update.content.type === 'text' ? [update.content.text] : [],
        )
        .join(''),
  };
}

async function newSession({ agent }: Editor): Promise<string> {
  return (await agent.request('session/new', { cwd: project, mcpServers: [] })).sessionId;
}

function prompt({ agent }: Editor, sessionId: string, text = 'Go'): Promise<{ readonly stopReason: string }> {
  return agent.request('session/prompt', { sessionId, prompt: [{ type: 'text', text }] });
}

describe('a prompt', () => {
  it('is a message of a session that works in the folder of the editor, which is shown all that happens', async () => {
    const one = await editor('greeter');
    const sessionId = await newSession(one);
    expect(await prompt(one, sessionId)).toEqual({ stopReason: 'end_turn' });
    expect(one.said()).toBe('I greet.Greeted.');
    expect(one.updates.filter(({ sessionUpdate }) => sessionUpdate.startsWith('tool_call'))).toMatchObject([
      {
        sessionUpdate: 'tool_call',
        kind: 'execute',
        title: 'shell_run: pwd > where.txt; cat where.txt',
        status: 'pending',
      },
      { sessionUpdate: 'tool_call_update', status: 'in_progress' },
      { sessionUpdate: 'tool_call_update', status: 'completed' },
    ]);
    expect((await readFile(join(project, 'where.txt'), 'utf8')).trim()).toBe(realpathSync(project));
  });

  it('asks its permissions in the editor, and goes on as the person chose', async () => {
    const allowing = await editor('careful', choose('once'));
    expect(await prompt(allowing, await newSession(allowing))).toEqual({ stopReason: 'end_turn' });
    expect(allowing.said()).toBe('Removed.');
    expect(allowing.asked).toMatchObject([
      {
        toolCall: { kind: 'execute', rawInput: { command: 'rm -f x' } },
        options: expect.arrayContaining([
          { optionId: 'once', name: 'Allow once', kind: 'allow_once' },
          { optionId: 'deny', name: 'Deny', kind: 'reject_once' },
        ]) as unknown[],
      },
    ]);
    const denying = await editor('careful');
    const denied = await newSession(denying);
    await prompt(denying, denied);
    expect((await stage.events(denied)).map(({ type, data }) => ({ type, data }))).toContainEqual({
      type: 'permission.resolved',
      data: expect.objectContaining({ decision: 'denied' }) as object,
    });
  });

  it('ends with a question, which the next prompt answers', async () => {
    const one = await editor('curious');
    const sessionId = await newSession(one);
    expect(await prompt(one, sessionId)).toEqual({ stopReason: 'end_turn' });
    expect(one.said()).toBe('Which one?\n- left\n- right');
    expect(await prompt(one, sessionId, 'left')).toEqual({ stopReason: 'end_turn' });
    expect(one.said()).toMatch(/Thanks\.$/);
    expect((await stage.events(sessionId)).filter(({ type }) => type.startsWith('user.'))).toMatchObject([
      { type: 'user.message' },
      { type: 'user.answer', data: { response: 'left' } },
    ]);
  });

  it('is cancelled: what runs has ended when the editor is told', async () => {
    const one = await editor('slow');
    const sessionId = await newSession(one);
    const prompted = prompt(one, sessionId);
    await expect
      .poll(() => one.updates.some((update) => 'status' in update && update.status === 'in_progress'))
      .toBe(true);
    await one.agent.notify('session/cancel', { sessionId });
    expect(await prompted).toEqual({ stopReason: 'cancelled' });
    expect(await stage.runtime.sessions.status(sessionId)).toMatchObject({ status: 'idle', openToolCalls: [] });
    expect(one.updates.at(-1)).toMatchObject({ sessionUpdate: 'tool_call_update', status: 'failed' });
  });

  it('is cancelled while it asks', async () => {
    const one = await editor('careful', () => new Promise(() => undefined));
    const sessionId = await newSession(one);
    const prompted = prompt(one, sessionId);
    await expect.poll(() => one.asked.length).toBe(1);
    await one.agent.notify('session/cancel', { sessionId });
    expect(await prompted).toEqual({ stopReason: 'cancelled' });
  });

  it('that fails says why', async () => {
    const one = await editor('failing');
    const sessionId = await newSession(one);
    await expect(prompt(one, sessionId)).rejects.toThrow(/no such model.*ACP_TURN_FAILED/);
    expect(one.said()).toContain('no such model');
  });

  it.each([
    ['an image', [{ type: 'image', data: '', mimeType: 'image/png' }]],
    ['nothing', []],
  ] as const)('with %s is refused', async (_, blocks) => {
    const one = await editor('greeter');
    const sessionId = await newSession(one);
    await expect(one.agent.request('session/prompt', { sessionId, prompt: [...blocks] })).rejects.toThrow(
      /ACP_PROMPT_INVALID/,
    );
  });
});

describe('a session', () => {
  it('is listed, and loaded with its whole history, in another editor', async () => {
    const one = await editor('greeter');
    const sessionId = await newSession(one);
    await prompt(one, sessionId, 'Hello there');
    const other = await editor('greeter');
    expect((await other.agent.request('session/list', { cwd: project })).sessions[0]).toMatchObject({
      sessionId,
      cwd: project,
      title: 'Greeted.',
    });
    await other.agent.request('session/load', { sessionId, cwd: project, mcpServers: [] });
    expect(other.updates[0]).toEqual({
      sessionUpdate: 'user_message_chunk',
      content: { type: 'text', text: 'Hello there' },
    });
    expect(other.said()).toBe('I greet.Greeted.');
    // What one does is shown in both.
    await prompt(other, sessionId, 'And again');
    await expect
      .poll(() => one.updates)
      .toContainEqual({
        sessionUpdate: 'user_message_chunk',
        content: { type: 'text', text: 'And again' },
      });
    expect(other.updates.filter(({ sessionUpdate }) => sessionUpdate === 'user_message_chunk')).toHaveLength(1);
  });

  it('goes on when its editor has gone, and can be resumed', async () => {
    const one = await editor('careful', () => new Promise(() => undefined));
    const sessionId = await newSession(one);
    void prompt(one, sessionId).catch(() => undefined);
    await expect.poll(() => one.asked.length).toBe(1);
    one.connection.close();
    await one.service.close();
    expect(await stage.runtime.sessions.status(sessionId)).toMatchObject({ stopReason: 'requires_action' });
    const other = await editor('careful', choose('once'));
    await other.agent.request('session/resume', { sessionId, cwd: project });
    expect(await prompt(other, sessionId, 'Still there?')).toEqual({ stopReason: 'end_turn' });
    expect(other.asked).toHaveLength(1);
  });

  it.each([
    ['a folder that is not there', 'session/new', { cwd: '/no/such/folder', mcpServers: [] }, /ACP_FOLDER_INVALID/],
    [
      'a session that is not there',
      'session/load',
      { sessionId: 'x', cwd: '/', mcpServers: [] },
      /SESSION_REQUEST_INVALID/,
    ],
    [
      'one that is not open',
      'session/prompt',
      { sessionId: 'x', prompt: [{ type: 'text', text: 'Go' }] },
      /ACP_SESSION_NOT_OPEN/,
    ],
  ])('of %s is refused with what to do', async (_, method, params, words) => {
    const one = await editor('greeter');
    await expect(one.agent.request(method, params)).rejects.toThrow(words);
  });

  it('needs an agent: which one has to be said where there are several', async () => {
    const [input, output] = [new PassThrough(), new PassThrough()];
    await expect(
      serveAcp(stage.runtime, {
        version: '0.0.0',
        input,
        output,
        workspaceOf: () => stage.home,
        onTrouble: () => undefined,
      }),
    ).rejects.toMatchObject({ code: 'ACP_AGENT_UNCLEAR' });
  });
});
