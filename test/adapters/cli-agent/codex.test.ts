import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { cliHouse, textOf, told } from './cli-house.ts';
import type { CliHouse } from './cli-house.ts';

let house: CliHouse;
beforeEach(async () => {
  house = await cliHouse('codex');
});
afterEach(() => house.close());

const user = (text: string) => ({ role: 'user', content: [{ type: 'text', text }] }) as const;
const item = (type: string, id: string, rest: object) => ({ message: { type: `item.${type}`, item: { id, ...rest } } });

describe('a turn of Codex', () => {
  it('streams texts as they grow, tells tools, and what was used', async () => {
    const model = await house.scenario(
      { think: 'Hm.' },
      item('started', 'm', { type: 'agent_message', text: 'One' }),
      item('updated', 'm', { type: 'agent_message', text: 'One two' }),
      item('completed', 'm', { type: 'agent_message', text: 'One two.' }),
      { use: { name: 'command_execution', input: { command: 'ls' }, output: 'a', fails: true } },
      { use: { name: 'lookup', input: { word: 'x' }, output: 'found' } },
      { use: { name: 'command_execution', input: { command: 'rm' } }, refuse: true },
      item('completed', 'f', { type: 'file_change', changes: [{ path: 'a', kind: 'add' }], status: 'completed' }),
      item('completed', 'w', { type: 'web_search', query: 'trees' }),
      item('completed', 'p', { type: 'todo_list', items: [] }),
    );
    const run = house.start({ model });
    expect(await run.result).toMatchObject({
      payloads: [
        { type: 'reasoning', text: 'Hm.' },
        { type: 'text', text: 'One two.' },
      ],
      usage: { inputTokens: 100, cachedInputTokens: 60, cacheWriteTokens: 0, outputTokens: 20, reasoningTokens: 5 },
      meta: { modelSteps: 1 },
    });
    expect(told(run.events).slice(2)).toEqual([
      'assistant text One',
      'assistant text  two',
      'assistant text .',
      'tool requested command_execution',
      'tool started',
      'tool ended failed',
      'tool requested mcp__fixture__lookup',
      'tool started',
      'tool ended completed',
      'tool requested command_execution',
      'tool started',
      'tool ended denied',
      'tool requested file_change',
      'tool started',
      'tool ended completed',
      'tool requested web_search',
      'tool started',
      'tool ended completed',
      'lifecycle end',
    ]);
    expect(run.events.flatMap(({ data }) => ('output' in data ? [data.output] : [])).slice(0, 2)).toEqual([
      { output: 'a', exitCode: 1 },
      'found',
    ]);
  });

  it('is started in a sandbox, asks nobody, and reads its prompt from its input', async () => {
    await house.run({ prompt: 'the prompt', instructions: 'the instructions' });
    const [note] = house.notes();
    expect(note?.args).toEqual([
      'exec',
      '--json',
      '--config',
      'approval_policy="never"',
      '--sandbox=workspace-write',
      `--cd=${house.workspaceDir}`,
      '--skip-git-repo-check',
    ]);
    expect(note?.prompt).toBe('<instructions>\nthe instructions\n</instructions>\n\nthe prompt');
  });

  it('is given the model, flags, and its configuration in TOML', async () => {
    const options = {
      sandbox: 'read-only',
      'add-dir': ['/a', '/b'],
      config: {
        model_reasoning_effort: 'high',
        sandbox_workspace_write: { network_access: true },
        'odd key': [1, 'x', { a: 1.5 }],
      },
    };
    await house.run({ model: 'gpt-5', config: { providers: { agent: house.settings({ options }) } } });
    expect(house.notes()[0]?.args?.slice(2)).toEqual([
      '--config',
      'approval_policy="never"',
      '--config',
      'model_reasoning_effort="high"',
      '--config',
      'sandbox_workspace_write.network_access=true',
      '--config',
      '"odd key"=[1,"x",{a=1.5}]',
      '--model=gpt-5',
      `--cd=${house.workspaceDir}`,
      '--skip-git-repo-check',
      '--sandbox=read-only',
      '--add-dir=/a',
      '--add-dir=/b',
    ]);
  });

  it.each<[unknown]>([['text'], [{ a: null }], [[1]]])('refuses the configuration %j', async (config) => {
    const { meta } = await house.run({
      config: { providers: { agent: house.settings({ options: { config: config as string } }) } },
    });
    expect(meta?.error?.kind).toBe('format');
  });

  it('takes no message while it runs', async () => {
    const run = house.start({ model: await house.scenario({ say: 'Hi.' }, { hang: true }) });
    await run.until(({ stream }) => stream === 'assistant');
    expect(await house.runtime.queueMessage?.('run_1', 'x')).toBe(false);
    await house.runtime.abort('run_1');
    await run.result;
  });
});

describe('the sessions of Codex', () => {
  it('go on with nothing but what is new, instructions included', async () => {
    const sessionId = (await house.run({ prompt: 'one', instructions: 'be brief' })).meta?.sessionId ?? '';
    const { meta } = await house.run({
      instructions: 'be brief',
      messages: [user('one'), user('two')],
      resume: { sessionId, generation: 1, newMessages: [user('two')] },
    });
    expect(meta).toEqual({ sessionId, modelSteps: 1 });
    const second = house.notes().at(-1);
    expect([second?.args?.slice(-2), second?.prompt]).toEqual([['resume', sessionId], 'two']);
  });

  it.each([
    ['when the program says so', {}],
    ['when the program begins another without a word', { FIXTURE_FORGETFUL: '1' }],
  ])('that are gone give way to a new one that is told everything, %s', async (_name, set) => {
    const settings = house.settings();
    const providers = {
      agent: { ...settings, program: { command: '', ...settings.program, set: { ...settings.program?.set, ...set } } },
    };
    const result = await house.run({
      config: { providers },
      messages: [user('one'), { role: 'assistant', content: [{ type: 'text', text: 'so' }] }, user('two')],
      resume: { sessionId: 'gone', generation: 3, newMessages: [user('two')] },
    });
    expect(result.meta?.reseeded).toMatch(/session gone of codex could not go on/);
    expect([textOf(result), result.meta?.error]).toEqual(['Hello.', undefined]);
    expect(house.notes().map(({ prompt }) => prompt?.includes('{"user":"one"}'))).toEqual([false, true]);
  });
});
