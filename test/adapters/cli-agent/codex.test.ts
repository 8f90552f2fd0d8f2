import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { RunPermissionRequest } from '../../../src/actors/run/agent-runtime.ts';
import type { Step } from '../../fixtures/cli-agents/scenario.mjs';
import { cliSetup, textOf, told } from './cli-setup.ts';
import type { CliSetup } from './cli-setup.ts';

let setup: CliSetup;
beforeEach(async () => {
  setup = await cliSetup('codex');
});
afterEach(() => setup.close());

const user = (text: string) => ({ role: 'user', content: [{ type: 'text', text }] }) as const;
const news = (method: string, params: object): Step => ({ message: { method, params } });
const over = (item: object): Step => news('item/completed', { item });
const withOptions = (options: object) => ({ providers: { agent: setup.settings({ options: { ...options } }) } });
const toolsOf = (run: { readonly events: Parameters<typeof told>[0] }) =>
  told(run.events).filter((line) => line.startsWith('tool'));

describe('a turn of Codex', () => {
  it('streams texts as they grow, tells tools, and what was used', async () => {
    const model = await setup.scenario(
      { think: 'Hm.' },
      news('item/agentMessage/delta', { itemId: 'm', delta: 'One' }),
      news('item/agentMessage/delta', { itemId: 'm', delta: ' two' }),
      over({ id: 'm', type: 'agentMessage', text: 'One two.' }),
      { use: { name: 'command_execution', input: { command: 'ls' }, output: 'a', fails: true } },
      { use: { name: 'lookup', input: { word: 'x' }, output: 'found' } },
      { use: { name: 'command_execution', input: { command: 'rm' } }, refuse: true },
      over({ id: 'f', type: 'fileChange', changes: [{ path: 'a', kind: { type: 'add' } }], status: 'completed' }),
      over({ id: 'w', type: 'webSearch', query: 'trees' }),
      over({ id: 's', type: 'collabAgentToolCall', tool: 'spawnAgent', prompt: 'go', status: 'completed' }),
      news('turn/plan/updated', { plan: [{ step: 'one', status: 'pending' }] }),
      news('item/commandExecution/terminalInteraction', { itemId: 'call_1', stdin: 'yes' }),
      news('item/commandExecution/terminalInteraction', { itemId: 'call_1', stdin: '' }),
    );
    const run = setup.start({ model });
    expect(await run.result).toMatchObject({
      payloads: [
        { type: 'reasoning', text: 'Hm.' },
        { type: 'text', text: 'One two.' },
      ],
      usage: { inputTokens: 100, cachedInputTokens: 60, cacheWriteTokens: 0, outputTokens: 20, reasoningTokens: 5 },
      meta: { modelSteps: 1 },
    });
    expect(told(run.events).filter((line) => line.startsWith('assistant text'))).toEqual([
      'assistant text One',
      'assistant text  two',
      'assistant text .',
    ]);
    expect(toolsOf(run)).toEqual([
      'tool requested command_execution',
      'tool started',
      'tool ended failed',
      'tool requested mcp__fixture__lookup',
      'tool started',
      'tool ended completed',
      'tool requested command_execution',
      'tool ended denied',
      ...['file_change', 'web_search', 'spawn_agent', 'update_plan', 'write_stdin'].flatMap((name) => [
        `tool requested ${name}`,
        'tool started',
        'tool ended completed',
      ]),
    ]);
    expect(run.events.flatMap(({ data }) => ('output' in data ? [data.output] : [])).slice(0, 2)).toEqual([
      { output: 'a', exitCode: 1 },
      'found',
    ]);
  });

  it('tells what a subagent does, and not what it says', async () => {
    const threadId = 'child';
    const item = { id: 'call_0', type: 'commandExecution', command: 'ls', status: 'completed' };
    const model = await setup.scenario(
      { use: { name: 'command_execution', input: { command: 'pwd' } } },
      news('item/completed', { threadId, item }),
      news('item/completed', { threadId, item: { id: 'm', type: 'agentMessage', text: 'Aside.' } }),
      news('turn/completed', { threadId, turn: { id: 't', status: 'completed' } }),
      { say: 'Done.' },
    );
    const run = setup.start({ model });
    expect(textOf(await run.result)).toBe('Done.');
    expect(toolsOf(run).filter((line) => line.includes('requested'))).toHaveLength(2);
  });

  it('is begun in a sandbox that decides, where no permissions bind it', async () => {
    await setup.run({ prompt: 'the prompt', instructions: 'the instructions', model: 'gpt-5' });
    expect(setup.notes()[0]?.args).toEqual([
      'app-server',
      '--config',
      'features.unbounded_connection_retries=false',
      '--config',
      'features.goals=false',
      '--config',
      'project_root_markers=[]',
      '--config',
      `projects={${JSON.stringify(setup.workspaceDir)}={trust_level="untrusted"}}`,
    ]);
    expect(setup.notes()[1]?.thread).toEqual({
      cwd: setup.workspaceDir,
      approvalPolicy: 'never',
      sandbox: 'workspace-write',
      model: 'gpt-5',
      developerInstructions: 'the instructions',
    });
    expect(setup.notes()[2]?.prompt).toBe('the prompt');
  });

  it('is given options, and its configuration in TOML', async () => {
    const options = {
      sandbox: 'read-only',
      'add-dir': ['/a', '/b'],
      enable: 'one',
      config: {
        model_reasoning_effort: 'high',
        'sandbox_workspace_write.network_access': true,
        projects: { '/some/where': { trust: [1, 'x', { a: 1.5 }] } },
      },
    };
    await setup.run({ config: withOptions(options) });
    expect(setup.notes()[0]?.args?.slice(5)).toEqual([
      '--config',
      'sandbox_workspace_write.writable_roots=["/a","/b"]',
      '--config',
      'model_reasoning_effort="high"',
      '--config',
      'sandbox_workspace_write.network_access=true',
      '--config',
      'projects={"/some/where"={trust=[1,"x",{a=1.5}]}}',
      // After them: no option opens the workspace again.
      '--config',
      'project_root_markers=[]',
      '--config',
      `projects={${JSON.stringify(setup.workspaceDir)}={trust_level="untrusted"}}`,
      '--enable=one',
    ]);
    expect(setup.notes()[1]?.thread).toMatchObject({ sandbox: 'read-only', approvalPolicy: 'never' });
  });

  it.each<[object, string]>([
    [{ config: 'text' }, 'an object of settings'],
    [{ config: { a: null } }, 'which TOML cannot say'],
    [{ config: [[1]] }, 'an object of settings'],
    [{ config: { 'odd key': 1 } }, 'names as Codex has them'],
    [{ config: { sandbox_mode: 'read-only' } }, 'as the option "sandbox"'],
    [{ sandbox: 'none' }, 'to be one of read-only'],
    [{ json: true }, 'received "json"'],
  ])('refuses the options %j', async (options, words) => {
    const { meta } = await setup.run({ config: withOptions(options) });
    expect(meta?.error).toMatchObject({ kind: 'format', message: expect.stringContaining(words) });
  });

  it('that ends as failed is told by what it names, by a status, or by its words', async () => {
    const failing = async (error: object) => {
      const model = await setup.scenario({ result: { status: 'failed', error } });
      return (await setup.run({ model })).meta?.error?.kind;
    };
    expect(await failing({ message: 'x', codexErrorInfo: 'serverOverloaded' })).toBe('overloaded');
    expect(await failing({ message: 'x', codexErrorInfo: { httpConnectionFailed: { httpStatusCode: 401 } } })).toBe(
      'auth',
    );
    expect(await failing({ message: 'x', codexErrorInfo: 'usageLimitExceeded' })).toBe('rate_limit');
    expect(
      await failing({
        message: 'Quota exceeded. Check your plan and billing details.',
        codexErrorInfo: 'usageLimitExceeded',
      }),
    ).toBe('billing');
    expect(await failing({ message: '{"error":{"message":"Invalid value: foo"}}', codexErrorInfo: 'other' })).toBe(
      'format',
    );
  });
});

describe('the permissions of Codex', () => {
  const asking = async (requests: RunPermissionRequest[], ...steps: readonly Step[]) => {
    const run = setup.start({
      model: await setup.scenario(...steps, { say: 'Done.' }),
      permissionsBind: true,
      requestPermission: async (request) => {
        requests.push(request);
        return request.name === 'file_change' ? { decision: 'deny', message: 'Not there.' } : { decision: 'allow' };
      },
    });
    await run.result;
    return run;
  };

  it('are asked for before each tool, and judged by what it comes to', async () => {
    const requests: RunPermissionRequest[] = [];
    const run = await asking(
      requests,
      { use: { name: 'command_execution', input: { command: 'ls -l' } }, ask: true },
      { use: { name: 'lookup', input: { word: 'x' } }, ask: true },
      { use: { name: 'file_change', input: { changes: [{ path: '/w/a', kind: { type: 'add' } }] } }, ask: true },
      { awaitMessage: true },
    );
    const cwd = setup.workspaceDir;
    expect(requests.map(({ name, means }) => [name, means])).toEqual([
      ['command_execution', { kind: 'command', command: 'ls -l', cwd }],
      ['mcp__fixture__lookup', undefined],
      ['file_change', { kind: 'write', path: '/w/a' }],
    ]);
    expect(toolsOf(run)).toEqual([
      'tool requested command_execution',
      'tool started',
      'tool ended completed',
      'tool requested mcp__fixture__lookup',
      'tool started',
      'tool ended completed',
      'tool requested file_change',
      'tool ended denied',
    ]);
    expect(textOf(await run.result)).toContain('file_change was not permitted: Not there.');
    expect(setup.notes()[1]?.thread).toMatchObject({ approvalPolicy: 'untrusted' });
  });

  it.each<[string, object, object]>([
    ['an edit', [{ path: 'a', kind: { type: 'update', move_path: null } }], { kind: 'write', path: 'a', edits: true }],
    [
      'a move',
      [{ path: 'a', kind: { type: 'update', move_path: 'b' } }],
      { kind: 'unclear', as: 'write', paths: ['a', 'b'] },
    ],
    ['a deletion', [{ path: 'a', kind: { type: 'delete' } }], { kind: 'unclear', as: 'write', paths: ['a'] }],
    [
      'two files',
      [
        { path: 'a', kind: { type: 'add' } },
        { path: 'b', kind: { type: 'add' } },
      ],
      { kind: 'unclear', as: 'write', paths: ['a', 'b'] },
    ],
  ])('of %s', async (_name, changes, means) => {
    const requests: RunPermissionRequest[] = [];
    await asking(requests, { use: { name: 'file_change', input: { changes } }, ask: true });
    expect(requests.map((request) => request.means)).toEqual([means]);
  });

  it('to leave the sandbox ask a person, whatever is allowed', async () => {
    const requests: RunPermissionRequest[] = [];
    const asks = {
      id: 'q',
      method: 'item/commandExecution/requestApproval',
      params: { threadId: 't', itemId: 'i', command: "/bin/bash -lc 'touch x'", reason: 'may I?' },
    };
    await asking(requests, { raw: `${JSON.stringify(asks)}\n` }, { use: { name: 'lookup', input: {} }, ask: true });
    expect(requests[0]).toMatchObject({
      name: 'command_execution',
      input: { command: 'touch x' },
      means: { kind: 'unclear', as: 'command', paths: ['/'] },
    });
  });
});

describe('a message for Codex', () => {
  it('is read in the turn that runs', async () => {
    const run = setup.start({ model: await setup.scenario({ say: 'Hi.' }, { awaitMessage: true }) });
    await run.until(({ stream }) => stream === 'assistant');
    expect(await setup.runtime.queueMessage?.('run_1', 'And this.')).toBe(true);
    expect(textOf(await run.result)).toContain('And this.');
  });
});

describe('the sessions of Codex', () => {
  it('go on with nothing but what is new, instructions included', async () => {
    const sessionId = (await setup.run({ prompt: 'one', instructions: 'be brief' })).meta?.sessionId ?? '';
    const { meta } = await setup.run({
      instructions: 'be brief',
      messages: [user('one'), user('two')],
      resume: { sessionId, generation: 1, newMessages: [user('two')] },
    });
    expect(meta).toEqual({ sessionId, modelSteps: 1 });
    const [thread, turn] = setup.notes().slice(-2);
    expect(thread?.thread).toMatchObject({ threadId: sessionId, excludeTurns: true });
    expect([thread?.thread, turn?.prompt]).toEqual([
      expect.not.objectContaining({ developerInstructions: 'be brief' }),
      'two',
    ]);
  });

  it.each([
    ['when the program says so', {}],
    ['when the program begins another without a word', { FIXTURE_FORGETFUL: '1' }],
  ])('that are gone give way to a new one that is told everything, %s', async (_name, set) => {
    const settings = setup.settings();
    const providers = {
      agent: { ...settings, program: { command: '', ...settings.program, set: { ...settings.program?.set, ...set } } },
    };
    const result = await setup.run({
      config: { providers },
      messages: [user('one'), { role: 'assistant', content: [{ type: 'text', text: 'so' }] }, user('two')],
      resume: { sessionId: 'gone', generation: 3, newMessages: [user('two')] },
    });
    expect(result.meta?.reseeded).toMatch(/session gone of codex could not go on/);
    expect([textOf(result), result.meta?.error]).toEqual(['Hello.', undefined]);
    expect(setup.notes().at(-1)?.prompt).toContain('{"user":"one"}');
  });
});
