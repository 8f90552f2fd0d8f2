/** What agents of others do in their own way, and what comes of it here: seen with the programs of test/programs. */
import { afterEach, describe, expect, it } from 'vitest';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { failureOf } from '../../../src/adapters/acp/run-failed.ts';
import { SecretRedaction } from '../../../src/machines/vault/secret-redaction.ts';
import { acpSetup, answering, told } from './acp-setup.ts';
import type { AcpSetup, AcpSetupOptions } from './acp-setup.ts';

let setup: AcpSetup | undefined;

async function opened(options?: AcpSetupOptions): Promise<AcpSetup> {
  return (setup = await acpSetup(options));
}

afterEach(async () => {
  await setup?.close();
  setup = undefined;
});

const noted = (home: AcpSetup, what: 'mode' | 'olderModel'): readonly unknown[] =>
  home.notes().flatMap((note) => (note[what] === undefined ? [] : [note[what]]));

describe('models and modes', () => {
  it('are chosen where older agents have their models', async () => {
    const home = await opened({ abilities: { olderModels: true } });
    const model = await home.scenario({ say: 'Chosen.' });
    const { payloads } = await home.run({ model });
    expect([payloads, noted(home, 'olderModel')]).toEqual([[{ type: 'text', text: 'Chosen.' }], [model]]);
    const { meta } = await home.run({ model: 'other' });
    expect(meta?.error).toMatchObject({ kind: 'model_not_found', message: expect.stringContaining(`it has ${model}`) });
  });

  it('are a setting where an agent has its modes there', async () => {
    const home = await opened({ abilities: { modeIsSetting: true } });
    await home.run({
      config: { providers: { agent: home.settings({ modeIsSetting: true }, { options: { mode: 'plan' } }) } },
    });
    expect(home.notes().find(({ setting }) => setting !== undefined)?.setting).toMatchObject({
      configId: 'how',
      value: 'plan',
    });
  });

  it('one in which an agent decides by itself is left, unless it was chosen', async () => {
    const home = await opened({ abilities: { beginsIn: 'auto' } });
    await home.run();
    expect(noted(home, 'mode')).toEqual(['default']);
    const chosen = home.settings({ beginsIn: 'auto' }, { options: { mode: 'auto' } });
    await home.run({ config: { providers: { agent: chosen } } });
    expect(noted(home, 'mode')).toEqual(['default', 'auto']);
  });

  it('one in which an agent decides by itself is refused where permissions bind it and it has none that asks', async () => {
    const home = await opened({ abilities: { modeIsSetting: true, beginsIn: 'yolo' } });
    const bound = await home.run({ permissionsBind: true });
    expect([bound.meta?.error?.kind, bound.payloads]).toEqual(['format', []]);
    expect(bound.meta?.error?.message).toContain('it begins in its mode "yolo", in which it asks for nothing');
    const unbound = await home.run({ permissionsBind: false });
    expect(unbound.meta?.error).toBeUndefined();
  });

  const changes: readonly (readonly [string, object])[] = [
    ['a mode', { sessionUpdate: 'current_mode_update', currentModeId: 'yolo' }],
    [
      'a mode that is a setting',
      {
        sessionUpdate: 'config_option_update',
        configOptions: [{ id: 'how', category: 'mode', currentValue: 'yolo', options: [{ value: 'yolo' }] }],
      },
    ],
  ];

  it.each(changes)('%s in which an agent asks for nothing ends the turn that changes to it', async (_what, update) => {
    const home = await opened();
    const model = await home.scenario(
      { say: 'Now I decide.' },
      { update },
      { use: { name: 'rm', input: {} }, ask: ['allow_once'] },
      { hang: true },
    );
    const gate = answering();
    const bound = await home.run({ model, permissionsBind: true, requestPermission: gate.requestPermission });
    expect(bound.meta?.error).toMatchObject({
      kind: 'format',
      message: expect.stringContaining('it has changed to its mode "yolo" in the middle of the turn') as string,
      hint: expect.stringContaining('options.mode') as string,
    });
    expect([bound.payloads, gate.asked, await home.left()]).toEqual([
      [{ type: 'text', text: 'Now I decide.' }],
      [],
      [],
    ]);
  });

  it.each(changes)('%s is changed as an agent likes where permissions do not bind it', async (_what, update) => {
    const home = await opened();
    const model = await home.scenario({ update }, { say: 'Done.' });
    const { meta, payloads } = await home.run({ model, permissionsBind: false });
    expect([meta?.error, payloads]).toEqual([undefined, [{ type: 'text', text: 'Done.' }]]);
  });

  it('one that asks may be changed to at any time, and none of another session counts', async () => {
    const home = await opened();
    const model = await home.scenario(
      { update: { sessionUpdate: 'current_mode_update', currentModeId: 'plan' } },
      { stray: { sessionUpdate: 'current_mode_update', currentModeId: 'yolo' } },
      { say: 'Planned.' },
    );
    const { meta, payloads } = await home.run({ model, permissionsBind: true });
    expect([meta?.error, payloads]).toEqual([undefined, [{ type: 'text', text: 'Planned.' }]]);
  });

  it('any other in which it begins is kept', async () => {
    const home = await opened({ abilities: { beginsIn: 'plan' } });
    await home.run();
    expect(noted(home, 'mode')).toEqual([]);
  });
});

const call = (update: object): { readonly update: object } => ({ update: { toolCallId: 'a', ...update } });

describe('a call', () => {
  it('is told with its command, where its folder is told first', async () => {
    const home = await opened();
    const model = await home.scenario(
      call({ sessionUpdate: 'tool_call', kind: 'execute', status: 'pending', rawInput: { cwd: '/w' } }),
      call({ sessionUpdate: 'tool_call_update', status: 'in_progress', rawInput: { command: 'make it', cwd: '/w' } }),
      call({ sessionUpdate: 'tool_call_update', status: 'completed' }),
    );
    const run = home.start({ model });
    await run.result;
    expect(run.events.find(({ data }) => 'input' in data)?.data).toMatchObject({
      input: { command: 'make it', cwd: '/w' },
    });
  });

  const question = (toolCall: object): { readonly request: object } => ({
    request: {
      method: 'session/request_permission',
      params: {
        toolCall: { toolCallId: 'a', ...toolCall },
        options: [
          { optionId: 'yes', name: 'Yes', kind: 'allow_once' },
          { optionId: 'no', name: 'No', kind: 'reject_once' },
        ],
      },
    },
  });

  it('that is said to go on before it is asked for has begun only when it was allowed', async () => {
    const home = await opened();
    const model = await home.scenario(
      call({ sessionUpdate: 'tool_call', kind: 'execute', status: 'pending', rawInput: {} }),
      call({ sessionUpdate: 'tool_call_update', status: 'in_progress', rawInput: { command: 'make it', cwd: '/w' } }),
      question({ kind: 'execute', rawInput: { command: 'make it' } }),
      call({ sessionUpdate: 'tool_call_update', status: 'failed', rawOutput: 'not allowed' }),
    );
    const gate = answering(() => 'deny');
    const run = home.start({ model, requestPermission: gate.requestPermission });
    await run.result;
    expect(told(run.events).filter((line) => line.startsWith('tool'))).toEqual([
      'tool requested execute',
      'tool ended denied',
    ]);
    // Its question leaves out the folder that it has told before.
    expect(gate.asked[0]?.means).toEqual({ kind: 'command', command: 'make it', cwd: '/w' });
  });

  it('keeps the folder that was told before it was asked for, with nothing else', async () => {
    const home = await opened();
    const model = await home.scenario(
      call({ sessionUpdate: 'tool_call', kind: 'execute', status: 'pending', rawInput: { cwd: '/w' } }),
      question({ kind: 'execute', rawInput: { command: 'make it' } }),
      call({ sessionUpdate: 'tool_call_update', status: 'failed', rawOutput: 'not allowed' }),
    );
    const gate = answering(() => 'deny');
    await home.start({ model, requestPermission: gate.requestPermission }).result;
    expect(gate.asked[0]?.means).toEqual({ kind: 'command', command: 'make it', cwd: '/w' });
  });

  it('gives what it gave, and not what its question has shown', async () => {
    const home = await opened();
    const shown = [{ type: 'content', content: { type: 'text', text: '[in /w]' } }];
    const model = await home.scenario(
      question({ kind: 'execute', title: 'make it', content: shown }),
      call({ sessionUpdate: 'tool_call_update', status: 'completed', content: [] }),
    );
    const run = home.start({ model, requestPermission: answering().requestPermission });
    await run.result;
    expect(run.events.find(({ data }) => 'outcome' in data)?.data).toMatchObject({ outcome: 'completed', output: '' });
  });

  it('may have us write what it has shown when it was allowed, and nothing else, without being asked for again', async () => {
    const home = await opened();
    const path = join(home.workspaceDir, 'new.txt');
    const write = (content: string): { readonly request: object } => ({
      request: { method: 'fs/write_text_file', params: { path, content } },
    });
    const model = await home.scenario(
      question({ kind: 'edit', title: 'new.txt', content: [{ type: 'diff', path, oldText: null, newText: 'shown' }] }),
      write('shown'),
      write('other'),
      call({ sessionUpdate: 'tool_call_update', status: 'completed' }),
      write('shown'),
    );
    const gate = answering();
    await home.run({ model, requestPermission: gate.requestPermission });
    expect(gate.asked.map(({ name, input }) => [name, input])).toEqual([
      ['edit', { title: 'new.txt', changes: [{ path, newText: 'shown' }] }],
      ['fs/write_text_file', { path, content: 'other' }],
      ['fs/write_text_file', { path, content: 'shown' }],
    ]);
    expect(readFileSync(path, 'utf8')).toBe('shown');
  });
});

it('an agent is offered what the settings leave of our services', async () => {
  const home = await opened();
  const options = { clientCapabilities: { fs: { readTextFile: false }, terminal: false } };
  await home.run({
    config: { providers: { agent: home.settings({}, { options }) } },
    requestPermission: answering().requestPermission,
  });
  expect(home.notes().find(({ initialize }) => initialize !== undefined)?.initialize?.clientCapabilities).toMatchObject(
    {
      fs: { readTextFile: false, writeTextFile: true },
      terminal: false,
    },
  );
});

it('what Claude Agent says itself is not what its model says', async () => {
  const home = await opened();
  const content = { type: 'text', text: '**Warning:** it is late.' };
  const model = await home.scenario(
    { say: 'Hello.' },
    { update: { sessionUpdate: 'agent_message_chunk', content, _meta: { claudeCode: { kind: 'informational' } } } },
  );
  expect((await home.run({ model })).payloads).toEqual([{ type: 'text', text: 'Hello.' }]);
});

it('tokens are counted where Gemini CLI tells them', async () => {
  const home = await opened();
  const model = await home.scenario(
    { say: 'x' },
    { meta: { quota: { token_count: { input_tokens: 5, output_tokens: 2 } } } },
  );
  expect((await home.run({ model })).usage).toEqual({ inputTokens: 5, outputTokens: 2 });
});

it.each([
  [
    'Claude Agent',
    'billing',
    -32_603,
    'Internal error: API Error: 402 Your account is spent',
    { errorKind: 'unknown' },
  ],
  ['Claude Agent', 'rate_limit', -32_603, 'Internal error: Slower.', { errorKind: 'rate_limit' }],
  ['Claude Agent', 'context_overflow', -32_603, 'Internal error: Prompt is too long', { errorKind: 'invalid_request' }],
  ['Claude Agent', 'format', -32_603, 'Internal error: API Error: 400 temperature', { errorKind: 'unknown' }],
  ['OpenCode', 'context_overflow', -32_603, 'Internal error: too large', { errorName: 'ContextOverflowError' }],
  ['OpenCode', 'auth', -32_603, 'Internal error: Incorrect API key provided', { errorName: 'APIError' }],
  ['OpenCode', 'server_error', -32_603, 'Internal error: Oops', { errorName: 'APIError' }],
  ['Gemini CLI', 'model_not_found', 500, 'models/gemini-99 is not found for API version v1beta', undefined],
  ['Gemini CLI', 'server_error', 500, 'Oops', undefined],
])('an error of %s is told as what it is: %s', (_agent, kind, code, message, data) => {
  const surroundings = { command: 'agent', redaction: new SecretRedaction(new Map()), now: 0 };
  expect(failureOf(Object.assign(new Error(message), { code, data }), surroundings)).toMatchObject({ kind });
});
