import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { RunPermissionRequest } from '../../../src/actors/run/agent-runtime.ts';
import { cliSetup, program, textOf, told } from './cli-setup.ts';
import type { CliSetup } from './cli-setup.ts';

let setup: CliSetup;
beforeEach(async () => {
  setup = await cliSetup('claude');
});
afterEach(() => setup.close());

const user = (text: string) => ({ role: 'user', content: [{ type: 'text', text }] }) as const;
const assistant = (text: string) => ({ role: 'assistant', content: [{ type: 'text', text }] }) as const;

describe('a turn of Claude Code', () => {
  it('streams text and thoughts in pieces, tells tools, and adds up what was used', async () => {
    const model = await setup.scenario(
      { think: 'Hm, yes.' },
      { say: 'I check.' },
      { use: { name: 'Read', input: { file_path: 'a' }, output: [{ type: 'text', text: 'one' }, { type: 'image' }] } },
      { say: 'It says one.' },
    );
    const run = setup.start({ model });
    const result = await run.result;
    expect(result).toEqual({
      payloads: [
        { type: 'reasoning', text: 'Hm, yes.' },
        { type: 'text', text: 'I check.' },
        { type: 'text', text: 'It says one.' },
      ],
      usage: { inputTokens: 95, outputTokens: 25, cachedInputTokens: 35, cacheWriteTokens: 45, cost: 0.5 },
      meta: { sessionId: expect.stringMatching(/^[0-9a-f-]{36}$/) as string, modelSteps: 1 },
    });
    expect(told(run.events)).toEqual([
      'lifecycle start',
      'assistant reasoning Hm, ',
      'assistant reasoning yes.',
      'assistant text I ch',
      'assistant text eck.',
      'tool requested Read',
      'tool started',
      'tool ended completed',
      'assistant text It say',
      'assistant text s one.',
      'lifecycle end',
    ]);
    expect(run.events.find(({ data }) => 'output' in data)?.data).toMatchObject({
      output: 'one\n[image that is no text]',
    });
    expect(setup.news).toEqual([]);
  });

  it('is told whole blocks by a program that does not stream', async () => {
    const run = setup.start({ model: await setup.scenario({ say: 'All at once.', whole: true }) });
    expect(textOf(await run.result)).toBe('All at once.');
    expect(told(run.events)).toContain('assistant text All at once.');
  });

  it('takes the text of the result where nothing was said before it', async () => {
    expect(textOf(await setup.run({ model: await setup.scenario({ result: { result: 'Only here.' } }) }))).toBe(
      'Only here.',
    );
  });

  it('leaves the words of an error out of the answer', async () => {
    const message = {
      type: 'assistant',
      error: 'rate_limit',
      parent_tool_use_id: null,
      message: { model: '<synthetic>', content: [{ type: 'text', text: 'API Error: slow down' }] },
    };
    const { payloads, meta } = await setup.run({
      model: await setup.scenario(
        { say: 'Half' },
        { message },
        { result: { is_error: true, result: 'API Error: slow down' } },
      ),
    });
    expect([payloads, meta?.error?.kind]).toEqual([[{ type: 'text', text: 'Half' }], 'rate_limit']);
  });

  it('tells the tools of subagents, and not what they say', async () => {
    const inner = (content: unknown) => ({
      type: 'assistant',
      parent_tool_use_id: 'toolu_1',
      message: { content: [content] },
    });
    const run = setup.start({
      model: await setup.scenario(
        { message: inner({ type: 'text', text: 'inside' }) },
        { message: inner({ type: 'tool_use', id: 'in', name: 'Bash', input: {} }) },
        { say: 'out' },
      ),
    });
    expect(textOf(await run.result)).toBe('out');
    expect(told(run.events)).toEqual([
      'lifecycle start',
      'tool requested Bash',
      'assistant text ou',
      'assistant text t',
      'tool ended unknown',
      'lifecycle end',
    ]);
  });

  it('is asked with the prompt and the instructions on its input, and never among its arguments', async () => {
    await setup.run({ prompt: 'the prompt', instructions: 'the instructions', model: 'default' });
    const notes = setup.notes();
    expect(notes.find(({ initialize }) => initialize !== undefined)?.initialize?.appendSystemPrompt).toBe(
      'the instructions',
    );
    expect(notes.find(({ prompt }) => prompt !== undefined)?.prompt).toBe('the prompt');
    expect(notes[0]?.args).toEqual([
      '-p',
      '--output-format=stream-json',
      '--input-format=stream-json',
      '--verbose',
      '--include-partial-messages',
      '--permission-prompt-tool=stdio',
      '--setting-sources=user',
      '--permission-mode=default',
      '--disallowedTools=ScheduleWakeup,Monitor',
    ]);
    expect(notes[0]?.cwd).toBe(setup.workspaceDir);
  });

  it('is given the model and the options that the settings name', async () => {
    await setup.run({
      model: 'opus',
      config: {
        providers: {
          agent: setup.settings({
            options: {
              'max-turns': 3,
              'allowed-tools': ['Read', 'Bash(ls:*)'],
              'setting-sources': 'user,project',
              settings: { a: 1 },
              brief: true,
              off: false,
            },
          }),
        },
      },
    });
    expect(setup.notes()[0]?.args?.slice(6)).toEqual([
      '--permission-mode=default',
      '--disallowedTools=ScheduleWakeup,Monitor',
      '--model=opus',
      '--max-turns=3',
      '--allowed-tools=Read',
      '--allowed-tools=Bash(ls:*)',
      '--setting-sources=user,project',
      '--settings={"a":1}',
      '--brief',
    ]);
  });

  it.each([
    ['output-format', 'text'],
    ['resume', 'x'],
    ['--verbose', true],
    ['a b', 1],
  ])('refuses the option %s', async (name, value) => {
    const { meta } = await setup.run({
      config: { providers: { agent: setup.settings({ options: { [name]: value } }) } },
    });
    expect(meta?.error).toMatchObject({ kind: 'format', message: expect.stringContaining(name) as string });
    expect(setup.notes()).toEqual([]);
  });

  it('tells of messages that it does not know, and of lines that are none', async () => {
    await setup.run({
      model: await setup.scenario(
        { message: { type: 'from_the_future' } },
        { raw: 'a warning\n[1]\n{"type":"assistant"}\n' },
        { say: 'ok' },
      ),
    });
    expect(setup.news).toEqual([
      expect.stringContaining('3 lines of its output are no messages, the last is: {"type":"assistant"}'),
      expect.stringContaining('1 messages of kinds that are not known'),
    ]);
  });
});

describe('the sessions of Claude Code', () => {
  it('go on under their id with nothing but what is new', async () => {
    const first = await setup.run({ prompt: 'one' });
    const sessionId = first.meta?.sessionId ?? '';
    const second = await setup.run({
      messages: [user('one'), assistant('Hello.'), user('two'), user('three')],
      resume: { sessionId, generation: 1, newMessages: [user('two'), user('three')] },
    });
    expect(second.meta).toEqual({ sessionId, modelSteps: 1 });
    expect(setup.notes().flatMap(({ prompt }) => prompt ?? [])).toEqual(['one', 'two\n\nthree']);
    expect(second.usage).toMatchObject({
      inputTokens: 80,
      outputTokens: 20,
      cost: expect.closeTo((0.5 * (10 + 100 + 3 + 50)) / (15 + 125 + 3.5 + 56.25), 10) as number,
    });
  });

  it('are taken over when they go on under another id', async () => {
    const sessionId = (await setup.run()).meta?.sessionId ?? '';
    const { meta } = await setup.run({
      messages: [user('on')],
      resume: { sessionId, generation: 1, newMessages: [user('on')] },
      config: { providers: { agent: setup.settings({ options: { fork: 'yes' } }) } },
    });
    expect(meta?.sessionId).not.toBe(sessionId);
    expect(meta?.reseeded).toBeUndefined();
  });

  it('that are gone give way to a new one that is told everything', async () => {
    const sessionId = (await setup.run({ prompt: 'one' })).meta?.sessionId ?? '';
    await rm(join(setup.directory, 'claude-sessions', sessionId));
    const messages = [user('one'), assistant('Hello.'), user('two')];
    const run = setup.start({ messages, resume: { sessionId, generation: 1, newMessages: [user('two')] } });
    const { meta, payloads } = await run.result;
    expect(meta?.reseeded).toContain(`No conversation found with session ID: ${sessionId}`);
    expect(meta?.error).toBeUndefined();
    expect(payloads).toEqual([{ type: 'text', text: 'Hello.' }]);
    expect(told(run.events).filter((line) => line.startsWith('lifecycle'))).toEqual([
      'lifecycle start',
      'lifecycle end',
    ]);
    const seeded = setup.notes().findLast(({ prompt }) => prompt !== undefined)?.prompt ?? '';
    expect(seeded).toContain('{"user":"one"}\n{"assistant":"Hello."}');
    expect(seeded.endsWith('\n\ntwo')).toBe(true);
  });

  it('whose ids could be taken for arguments are never asked for', async () => {
    const { meta } = await setup.run({
      messages: [user('x')],
      resume: { sessionId: '--dangerously-skip-permissions', generation: 1, newMessages: [user('x')] },
    });
    expect(meta?.reseeded).toContain('its id is none');
    expect(setup.notes().filter(({ args }) => args !== undefined)).toHaveLength(1);
    expect(setup.notes()[0]?.args?.join(' ')).not.toContain('dangerously');
  });

  it('are not begun anew once something has happened', async () => {
    const sessionId = (await setup.run()).meta?.sessionId ?? '';
    const model = await setup.scenario(
      { say: 'I act.' },
      { result: { is_error: true, result: 'No conversation found with session ID: x' } },
    );
    const { meta } = await setup.run({
      model,
      messages: [user('on')],
      resume: { sessionId, generation: 1, newMessages: [user('on')] },
    });
    expect([meta?.error?.kind, meta?.reseeded]).toEqual(['session_expired', undefined]);
  });
});

describe('the permissions of Claude Code', () => {
  const bash = { use: { name: 'Bash', input: { command: 'ls' } }, ask: true };

  it.each([
    ['Bash', { command: 'rm x' }, { kind: 'command', command: 'rm x', keepsShell: true }],
    ['Read', { file_path: '/a' }, { kind: 'read', path: '/a' }],
    ['Write', { file_path: '/b', content: '' }, { kind: 'write', path: '/b' }],
    ['Edit', { file_path: '/b' }, { kind: 'write', path: '/b', edits: true }],
    ['NotebookEdit', { notebook_path: '/n' }, { kind: 'write', path: '/n', edits: true }],
    ['Grep', { pattern: '/x/..', glob: '**/*.ts' }, { kind: 'read', path: '.', reachesBelow: true }],
    ['Grep', { pattern: 'x', glob: '.env' }, undefined],
    ['Grep', { pattern: 'x', path: ['/root'] }, undefined],
    ['Glob', { pattern: 'src/*.{ts,js}', path: 'a' }, { kind: 'read', path: 'a', reachesBelow: true }],
    ['Glob', { pattern: '/srv/**' }, undefined],
    ['Glob', { pattern: '~/*' }, undefined],
    ['Glob', { pattern: 'a/../../*' }, undefined],
    ['Glob', { pattern: '{src,/etc}/*' }, undefined],
    ['WebFetch', { url: 'https://example.org' }, undefined],
    ['Bash', { command: 7 }, undefined],
    ['constructor', {}, undefined],
  ])('asks for %s with what it means', async (name, input, means) => {
    const asked: RunPermissionRequest[] = [];
    await setup.run({
      model: await setup.scenario({ use: { name, input }, ask: true }, { say: 'done' }),
      requestPermission: (request) => {
        asked.push(request);
        return Promise.resolve({ decision: 'allow' });
      },
    });
    expect(asked).toMatchObject([{ name, input }]);
    expect(asked[0]?.means).toEqual(means);
    expect(setup.notes().find(({ answer }) => answer !== undefined)?.answer?.response).toEqual({
      behavior: 'allow',
      updatedInput: input,
    });
  });

  it('announces the start of what was permitted before the program hears of it', async () => {
    const run = setup.start({
      model: await setup.scenario({ ...bash, use: { ...bash.use, hangs: true } }),
      requestPermission: () => Promise.resolve({ decision: 'allow' }),
    });
    await run.until(({ data }) => 'phase' in data && data.phase === 'started');
    await setup.runtime.abort('run_1');
    await run.result;
    expect(told(run.events)).toEqual([
      'lifecycle start',
      'tool requested Bash',
      'tool started',
      'tool ended cancelled',
      'lifecycle aborted',
    ]);
  });

  it('tells the model why something is denied', async () => {
    const run = setup.start({
      model: await setup.scenario(bash, { say: 'Pity.' }),
      requestPermission: () => Promise.resolve({ decision: 'deny', message: 'Not on Sundays.' }),
    });
    await run.result;
    expect(run.events.findLast(({ stream }) => stream === 'tool')?.data).toMatchObject({
      outcome: 'denied',
      output: 'Not on Sundays.',
    });
  });

  it('denies what cannot be asked for', async () => {
    const run = setup.start({
      model: await setup.scenario(bash, { say: 'Pity.' }),
      requestPermission: () => Promise.reject(new Error('the store is gone')),
    });
    await run.result;
    expect(run.events.findLast(({ stream }) => stream === 'tool')?.data).toMatchObject({
      outcome: 'denied',
      output: 'It could not be permitted: the store is gone',
    });
  });

  it('are asked for about what would run, and show nothing that is secret', async () => {
    const secret = '/etc/credentials.json';
    const asked: RunPermissionRequest[] = [];
    await setup.run({
      model: await setup.scenario({ use: { name: 'Read', input: { file_path: secret } }, ask: true }, { say: 'done' }),
      credential: { profileId: 'work', secret },
      requestPermission: (request) => {
        asked.push(request);
        return Promise.resolve({ decision: 'deny', message: 'no' });
      },
    });
    expect(asked).toMatchObject([
      { means: { kind: 'read', path: secret }, input: { file_path: '[redacted ANTHROPIC_API_KEY]' } },
    ]);
    expect(asked[0]?.conceal?.(secret)).toBe('[redacted ANTHROPIC_API_KEY]');
  });

  it('tells what the program itself refuses as denied', async () => {
    const run = setup.start({
      model: await setup.scenario({ use: { name: 'Bash', input: {} }, refuse: true }, { say: 'Pity.' }),
    });
    await run.result;
    expect(told(run.events)).toContain('tool ended denied');
  });

  it('answers questions for a person by saying that nobody is there', async () => {
    const run = setup.start({
      model: await setup.scenario(
        { use: { name: 'AskUserQuestion', input: { questions: [] } }, ask: true },
        { say: 'Pity.' },
      ),
      requestPermission: () => Promise.resolve({ decision: 'allow' }),
    });
    await run.result;
    expect(told(run.events)).toContain('tool ended denied');
  });

  it('are withdrawn by the program, and by its end', async () => {
    const signals: (AbortSignal | undefined)[] = [];
    const request = {
      type: 'control_request',
      request_id: 'r',
      request: { subtype: 'can_use_tool', tool_name: 'Bash', tool_use_id: 't', input: {} },
    };
    const run = setup.start({
      model: await setup.scenario(
        { message: request },
        { message: request },
        { message: { type: 'control_cancel_request', request_id: 'r' } },
        { message: { ...request, request_id: 's' } },
        { say: 'done' },
      ),
      requestPermission: ({ signal }) => {
        signals.push(signal);
        return new Promise(() => undefined);
      },
    });
    expect((await run.result).meta?.error).toBeUndefined();
    expect(signals.map((signal) => signal?.aborted)).toEqual([true, true]);
    expect(told(run.events).filter((line) => line.startsWith('tool'))).toEqual([
      'tool requested Bash',
      'tool ended unknown',
    ]);
  });

  it('leave no other request of the program without an answer', async () => {
    await setup.run({
      model: await setup.scenario(
        { message: { type: 'control_request', request_id: 'r', request: { subtype: 'mcp_message' } } },
        { awaitMessage: true },
      ),
      prompt: 'x',
      abortSignal: AbortSignal.timeout(500),
    });
    expect(setup.notes().find(({ answer }) => answer !== undefined)?.answer).toEqual({
      request_id: 'r',
      subtype: 'error',
      error: 'mcp_message is not supported here',
    });
  });
});

describe('a message for a turn of Claude Code that runs', () => {
  it.each([
    ['Claude Code', []],
    ['one that does not tell what it has read', ['--old']],
  ])('is answered by %s in a turn of its own when it comes late', async (_name, more) => {
    const asked: (() => void)[] = [];
    const run = setup.start({
      model: await setup.scenario({ use: { name: 'Bash', input: {} }, ask: true }, { say: 'Done. ' }),
      config: {
        providers: {
          agent: setup.settings({ program: { command: process.execPath, args: [program('claude'), ...more] } }),
        },
      },
      requestPermission: () =>
        new Promise((resolve) => {
          asked.push(() => resolve({ decision: 'allow' }));
        }),
    });
    await run.until(({ stream }) => stream === 'tool');
    await expect.poll(() => asked.length).toBe(1);
    expect(await setup.runtime.queueMessage?.('run_1', 'and this')).toBe(true);
    asked[0]?.();
    await expect.poll(() => asked.length).toBe(2);
    asked[1]?.();
    const result = await run.result;
    expect(await setup.runtime.queueMessage?.('run_1', 'too late')).toBe(false);
    expect(textOf(result)).toBe('Done. Done. ');
    expect(result.meta?.modelSteps).toBe(2);
    expect(setup.notes().flatMap(({ prompt }) => prompt ?? [])).toEqual(['Hello?', 'and this']);
  });
});

describe('what is delivered to Claude Code', () => {
  it.each([
    ['/clear', true],
    ['read @/etc/passwd', true],
    ['plain words', undefined],
  ])('as %j is no command and no mention', async (prompt, composed) => {
    const lines: string[] = [];
    const { claudeDialect } = await import('../../../src/adapters/cli-agent/claude-dialect.ts');
    lines.push(
      ...claudeDialect
        .converse({
          model: undefined,
          instructions: undefined,
          prompt,
          resumedSessionId: undefined,
          workspaceDir: '/',
          options: {},
        })
        .opening.trim()
        .split('\n'),
    );
    expect(JSON.parse(lines[1] ?? '')).toMatchObject({ type: 'user', message: { content: [{ text: prompt }] } });
    expect((JSON.parse(lines[1] ?? '') as { client_composed?: boolean }).client_composed).toBe(composed);
  });
});
