/**
 * The work of a job, done by a session: in the folder and within the bounds it was given, asked of whoever runs it, and
 * stopped for good.
 */
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import type { SubagentJobHandle, SubagentJobRequest } from '../../../src/actors/subagent/subagent-runner.ts';
import { RuntimeError } from '../../../src/machines/errors.ts';
import { SESSION_KEY } from '../../../src/machines/subagent/subagent-request.ts';
import type { AgentTaskRequest } from '../../../src/machines/task/task-request.ts';
import type { BackgroundTaskRunnerEvent } from '../../../src/machines/task/task-state.ts';
import { until } from '../../support/session-setup.ts';
import { openTurnSetup } from '../../support/turn-setup.ts';
import type { Model, Said, TurnSetup, TurnSetupOptions } from '../../support/turn-setup.ts';
import { noteTools } from '../../support/turn-tools.ts';

let setup: TurnSetup;
let ran: string[];
let said: BackgroundTaskRunnerEvent[];
afterEach(() => setup[Symbol.asyncDispose]());

const SESSION = '0192f0c1-2345-7abc-8def-0123456789ab';
const launch: Said = { calls: [{ name: 'launch', input: { code: 7 } }] };

async function open(model: Model | readonly Said[], options: TurnSetupOptions = {}): Promise<void> {
  const tools = noteTools();
  ran = tools.ran;
  said = [];
  setup = await openTurnSetup({
    tools: [tools.tool('launch', { permissionPolicy: 'always_ask' }), tools.tool('check')],
    ...options,
  });
  await setup.agent('fixer', model, { tools: ['launch', 'check', 'ask_human'] });
}

const request = (changes: Partial<AgentTaskRequest> = {}): SubagentJobRequest => ({
  kind: 'agent',
  label: 'fixer',
  agentType: 'fixer',
  prompt: 'Fix it.',
  mode: 'background',
  parentSessionId: 'local',
  depth: 0,
  priority: 0,
  cwd: setup.layout.home,
  permissionPolicy: 'prompt',
  metadata: { [SESSION_KEY]: SESSION },
  ...changes,
});

async function start(changes: Partial<AgentTaskRequest> = {}): Promise<SubagentJobHandle> {
  const signal = new AbortController().signal;
  return setup.runtime.localSubagents.start({
    jobId: 'agent_1',
    request: request(changes),
    emit: (event) => said.push(event),
    signal,
  });
}

const asked = (): readonly string[] =>
  said.flatMap((event) => (event.type === 'background_task_permission_request' ? [event.requestId] : []));
const codeOf = (working: Promise<unknown>): Promise<string> =>
  working.then(
    () => 'none',
    (error: unknown) => (RuntimeError.is(error) ? error.code : 'other'),
  );

describe('a job in this process', () => {
  it('is a session in the folder it was asked for, whose last words are the answer', async () => {
    await open([
      { calls: [{ name: 'check' }], text: 'Let me see.' },
      { text: 'All fixed.', usage: { inputTokens: 5, outputTokens: 2 } },
    ]);
    const folder = join(setup.layout.home, 'project');
    await mkdir(folder);
    const { result } = await start({ cwd: folder });
    expect(await result).toEqual({
      jobId: 'agent_1',
      output: 'All fixed.',
      metadata: { sessionId: SESSION, summary: 'All fixed.', usage: { tokens: 7, cost: 0 } },
    });
    expect(await setup.state(SESSION)).toMatchObject({ workspace: folder, status: 'idle', agentId: 'fixer' });
    expect(ran).toEqual(['check']);
    const told = said.map(({ type }) => type.replace('background_task_', '')).filter((type) => type !== 'activity');
    expect(told).toEqual(['tool_start', 'tool_end']);
  });

  it('begins once, however often it is begun', async () => {
    await open([{ text: 'First.' }, { text: 'Second.' }]);
    await (
      await start()
    ).result;
    expect(await (await start()).result).toMatchObject({ output: 'First.' });
    expect(await setup.dataOf(SESSION, 'user.message')).toHaveLength(1);
  });

  it('of an agent that nobody knows fails before anything is made', async () => {
    await open([]);
    expect(await codeOf((await start({ agentType: 'nobody' })).result)).toBe('AGENT_NOT_FOUND');
    expect(await setup.runtime.sessions.list()).toEqual([]);
  });

  it('that fails says why, with the code of its model', async () => {
    await open(() => ({ error: { kind: 'auth', message: 'no key' } }));
    await expect((await start()).result).rejects.toMatchObject({
      code: 'RUN_FAILED',
      message: expect.stringContaining('no key'),
    });
  });

  it('is not woken by workers: whoever runs the job does that', async () => {
    await open([launch, { text: 'Done.' }]);
    const { result } = await start();
    await until(() => asked().length === 1);
    expect(await setup.due()).toEqual([]);
    await setup.confirm(SESSION);
    expect(await setup.due()).toEqual([]);
    expect(await result).toMatchObject({ output: 'Done.' });
  });

  it('that plans to go on later sleeps until then, and is told to be asleep', async () => {
    const later = { outcome: 'sleep', summary: 'Later.', queuedWakes: [{ reason: 'check again', delaySeconds: 60 }] };
    await open([{ payloads: [{ type: 'directive', directive: later }] }, { text: 'Checked again.' }]);
    const { result } = await start();
    await until(() => said.some(({ type }) => type === 'background_task_sleeping'));
    await setup.clock.advance(60_000);
    expect(await result).toMatchObject({ output: 'Checked again.' });
    expect(said.map(({ type }) => type)).toContain('background_task_waking');
  });
});

describe('what a job asks', () => {
  it.each([
    [true, ['launch']],
    [false, []],
  ] as const)('is answered by whoever runs it: allowed is %s', async (allowed, expected) => {
    await open([launch, { text: 'Done.' }]);
    const handle = await start();
    await until(() => asked().length === 1);
    expect(said.find(({ type }) => type === 'background_task_permission_request')).toMatchObject({
      toolName: 'launch',
      toolArgs: { code: 7 },
    });
    await handle.answerPermission?.(asked()[0] ?? '', allowed);
    expect(await handle.result).toMatchObject({ output: 'Done.' });
    expect(ran).toEqual(expected);
  });

  it('may be answered elsewhere, and is taken back then', async () => {
    await open([launch, { text: 'Done.' }]);
    const { result } = await start();
    await until(() => asked().length === 1);
    await setup.confirm(SESSION);
    expect(await result).toMatchObject({ output: 'Done.' });
    expect(ran).toEqual(['launch']);
  });

  it('as a question is answered by the next follow-up', async () => {
    await open([{ calls: [{ name: 'ask_human', input: { question: 'Which?' } }] }, { text: 'Blue it is.' }]);
    const handle = await start();
    await until(() => asked().length === 1);
    await handle.send?.('The blue one.');
    expect(await handle.result).toMatchObject({ output: 'Blue it is.' });
    expect(await setup.dataOf(SESSION, 'user.answer')).toMatchObject([{ response: 'The blue one.' }]);
  });

  it.each(['inherit-allowlist', 'preapproved'] as const)(
    'under %s is denied at once, since nobody is there to ask',
    async (permissionPolicy) => {
      await open([launch, { text: 'I may not.' }]);
      expect(await (await start({ permissionPolicy })).result).toMatchObject({ output: 'I may not.' });
      expect([ran, asked()]).toEqual([[], []]);
    },
  );

  it('under deny is nothing: it has no tools', async () => {
    await open([{ calls: [{ name: 'check' }] }, { text: 'I have none.' }]);
    expect(await (await start({ permissionPolicy: 'deny' })).result).toMatchObject({ output: 'I have none.' });
    expect(ran).toEqual([]);
  });

  it('is refused an answer that does not fit it', async () => {
    await open([{ calls: [{ name: 'ask_human', input: { question: 'Which?' } }] }, { text: 'Thanks.' }]);
    const handle = await start();
    await until(() => asked().length === 1);
    expect(await codeOf(Promise.resolve(handle.answerPermission?.(asked()[0] ?? '', true)))).toBe(
      'REQUEST_KIND_MISMATCH',
    );
    expect(await codeOf(Promise.resolve(handle.answerPermission?.('nothing', true)))).toBe('REQUEST_NOT_PENDING');
    await handle.send?.('This.');
    await handle.result;
    expect(await codeOf(Promise.resolve(handle.send?.('Late.')))).toBe('SUBAGENT_ENDED');
  });
});

describe('a job', () => {
  it('has no tools beyond those it is allowed', async () => {
    await open([{ calls: [{ name: 'check' }, { name: 'launch' }] }, { text: 'Done.' }]);
    await (
      await start({ allowedTools: ['check', 'launch'], disallowedTools: ['launch'] })
    ).result;
    expect(ran).toEqual(['check']);
  });

  it('reads a follow-up that comes while it works, before it ends', async () => {
    const begun: SubagentJobHandle[] = [];
    let steps = 0;
    await open(async () => {
      steps += 1;
      if (steps > 1) return { text: 'Both done.' };
      await begun[0]?.send?.('And the other one.');
      return { text: 'One done.' };
    });
    begun.push(await start());
    expect(await begun[0]?.result).toMatchObject({ output: 'Both done.' });
    expect(setup.asked.at(-1)?.read).toContain('And the other one.');
  });

  it('that goes on with a session answers with what was said since', async () => {
    await open([{ text: 'First answer.' }, {}]);
    await (
      await start()
    ).result;
    const again = await setup.runtime.localSubagents.start({
      jobId: 'agent_2',
      request: request({ prompt: 'And now?' }),
      emit: () => undefined,
      signal: new AbortController().signal,
    });
    expect((await again.result).output).not.toContain('First');
  });

  it('that is stopped in the middle of a step ends its session, and nothing of it goes on', async () => {
    let isAsked = false;
    await open(async ({ abortSignal }) => {
      isAsked = true;
      await new Promise((resolve) => abortSignal?.addEventListener('abort', resolve));
      return { text: 'too late' };
    });
    const handle = await start();
    await until(() => isAsked);
    await handle.cancel('enough');
    expect(await codeOf(handle.result)).toBe('SUBAGENT_STOPPED');
    expect(await setup.state(SESSION)).toMatchObject({
      status: 'terminated',
      summary: expect.stringContaining('enough'),
      openToolCalls: [],
    });
  });

  it('that is stopped while it waits for somebody ends at once', async () => {
    await open([launch]);
    const handle = await start();
    await until(() => asked().length === 1);
    await handle.cancel('enough');
    expect(await codeOf(handle.result)).toBe('SUBAGENT_STOPPED');
    expect(await setup.state(SESSION)).toMatchObject({ status: 'terminated' });
  });

  it('whose session somebody ends elsewhere fails, and says so', async () => {
    await open([launch]);
    const { result } = await start();
    await until(() => asked().length === 1);
    await setup.runtime.sessions.terminate(SESSION, { reason: 'not wanted' });
    await expect(result).rejects.toMatchObject({
      code: 'SUBAGENT_SESSION_TERMINATED',
      message: expect.stringContaining('not wanted'),
    });
  });
});
