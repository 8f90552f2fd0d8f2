/** What a job in a worker of its own says, is told, and comes to. */
import { existsSync, readdirSync, readlinkSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { RuntimeError } from '../../../src/machines/errors.ts';
import type { ChildProcessSubagentRunnerOptions } from '../../../src/adapters/child-process/runner-options.ts';
import { isRunning } from '../process-tree/system-processes.ts';
import { runnerHouse } from './runner-house.ts';
import type { RunnerHouse } from './runner-house.ts';

let houses: RunnerHouse[] = [];
const open = async (options: Partial<ChildProcessSubagentRunnerOptions> = {}): Promise<RunnerHouse> => {
  const house = await runnerHouse(options);
  houses.push(house);
  return house;
};
afterEach(async () => {
  for (const house of houses) await house.close();
  houses = [];
});

describe('a job in a worker', () => {
  it('comes to what the worker answers, when no process of it is left', async () => {
    const { start } = await open();
    const { handle } = await start('count to three');
    expect(handle.pid).toBeGreaterThan(0);
    expect(await handle.result).toEqual({ jobId: 'job', output: 'done: count to three' });
    expect(isRunning(handle.pid ?? 0)).toBe(false);
  });

  it('tells what it says and does, in order', async () => {
    const { start } = await open();
    const { handle, events } = await start({ behavior: 'works' });
    expect(await handle.result).toEqual({
      jobId: 'job',
      output: 'fine',
      metadata: { usage: { inputTokens: 3 }, sessionId: 's' },
    });
    expect(events).toEqual([
      { type: 'background_task_text_delta', taskId: 'job', delta: 'Hello, ' },
      { type: 'background_task_text_delta', taskId: 'job', delta: 'world\nand more' },
      {
        type: 'background_task_tool_start',
        taskId: 'job',
        toolName: 'shell_run',
        firstArg: 'npm test',
        toolTimeoutMs: 1000,
      },
      { type: 'background_task_activity', taskId: 'job' },
      { type: 'background_task_progress', taskId: 'job', progress: { currentAction: 'shell_run' } },
      { type: 'background_task_tool_end', taskId: 'job', toolName: 'shell_run', success: false, error: 'exit code 1' },
    ]);
  });

  it('is given the whole request, and works in no folder of the job', async () => {
    const { start, folder } = await open({
      parentContext: { from: 'a test' },
      humans: 'none',
      providerConfig: { name: 'mine', provider: 'ollama', baseUrl: 'http://127.0.0.1:1/v1' },
    });
    const { handle } = await start(
      { behavior: 'tells' },
      { metadata: { note: 'kept' }, allowedTools: ['read'], model: 'm', worktreePath: '/w', branchName: 'b' },
    );
    const { output } = await handle.result;
    const told = JSON.parse(output) as {
      start: Record<string, unknown>;
      cwd: string;
      argv: string[];
      execArgv: string[];
    };
    expect(told.start).toMatchObject({
      v: 1,
      jobId: 'job',
      request: {
        cwd: folder,
        metadata: { note: 'kept' },
        allowedTools: ['read'],
        model: 'm',
        worktreePath: '/w',
        branchName: 'b',
        parentSessionId: 'parent',
      },
      parentContext: { from: 'a test' },
      parentConfig: { humans: 'none', providers: { mine: { backend: 'embedded', baseUrl: 'http://127.0.0.1:1/v1' } } },
      logsDir: join(folder, 'logs'),
    });
    expect(told.cwd.startsWith(folder)).toBe(false);
    expect(told.argv).toHaveLength(2);
    expect(told.execArgv).toEqual([]);
  });

  it('hears follow-ups while it runs, in order', async () => {
    const { start } = await open();
    const { handle, text } = await start({ behavior: 'listens' });
    await Promise.all([handle.send?.('one'), handle.send?.('two')]);
    await handle.send?.('end');
    expect((await handle.result).output).toBe('ended as asked');
    expect(text()).toBe('heard one; heard two; heard end; ');
  });

  it('counts a follow-up as sent when the worker says that it is stored', async () => {
    const { start } = await open({ env: { BEHAVIOR: 'confirms' } });
    const { handle } = await start({ behavior: 'listens' });
    await handle.send?.('yes');
    await expect(handle.send?.('refuse')).rejects.toMatchObject({
      code: 'SUBAGENT_FOLLOW_UP_REFUSED',
      message: 'the follow-up was not taken: not now',
    });
    await handle.cancel('enough');
    await expect(handle.result).rejects.toMatchObject({ code: 'SUBAGENT_CANCELLED' });
  });

  it('refuses follow-ups when it has ended', async () => {
    const { start } = await open();
    const { handle } = await start('');
    await handle.result;
    await expect(handle.send?.('too late')).rejects.toMatchObject({
      category: 'conflict',
      code: 'SUBAGENT_NOT_RUNNING',
    });
    await expect(handle.answerPermission?.('r1', true)).rejects.toMatchObject({ code: 'SUBAGENT_NOT_RUNNING' });
  });

  it.each([
    [true, 'allowed'],
    [false, 'denied'],
  ])('asks for permission and is told %s, once', async (allowed, output) => {
    const { start } = await open();
    const { handle, events } = await start({ behavior: 'asks' });
    await vi.waitFor(() =>
      expect(events).toContainEqual({
        type: 'background_task_permission_request',
        taskId: 'job',
        requestId: 'r1',
        toolName: 'shell_run',
        toolArgs: { command: 'ls' },
      }),
    );
    await expect(handle.answerPermission?.('r2', true)).rejects.toMatchObject({
      code: 'SUBAGENT_PERMISSION_NOT_ASKED',
    });
    const first = handle.answerPermission?.('r1', allowed);
    await expect(handle.answerPermission?.('r1', !allowed)).rejects.toMatchObject({
      code: 'SUBAGENT_PERMISSION_NOT_ASKED',
    });
    await first;
    expect((await handle.result).output).toBe(output);
    expect(events).toContainEqual({ type: 'background_task_permission_resolved', taskId: 'job', requestId: 'r1' });
  });

  it('fails in the words of its worker', async () => {
    const { start } = await open();
    const { handle } = await start({ behavior: 'fails in words' });
    await expect(handle.result).rejects.toMatchObject({
      category: 'provider',
      code: 'MODEL_REFUSED',
      message: 'the model refused',
      hint: 'Ask for something else.',
    });
    const odd = await start({ behavior: 'fails with an odd category' });
    await expect(odd.handle.result).rejects.toMatchObject({ category: 'runner', message: 'odd' });
  });

  it('counts the first outcome only', async () => {
    const { start } = await open();
    const { handle, events } = await start({ behavior: 'answers twice' });
    expect((await handle.result).output).toBe('first');
    expect(events).toEqual([]);
  });

  it('sends long prompts and takes long answers by file, and leaves neither', async () => {
    const { start } = await open();
    const prompt = 'ü'.repeat(60_000);
    const { handle } = await start(prompt);
    expect((await handle.result).output).toMatch(/^by file, 1\d{5} bytes$/);
    const answer = await start({ behavior: 'answers by file and dies' });
    expect((await answer.handle.result).output).toHaveLength(1_000_000);
    expect(readdirSync(process.env['TMPDIR'] ?? '').filter((name) => name.startsWith('wakechart-worker-'))).toEqual([]);
  });

  it('says that a follow-up cannot be sent, and goes on', async () => {
    const { start } = await open();
    const { handle, text } = await start({ behavior: 'listens' });
    await handle.send?.('short');
    await rm(readlinkSync(`/proc/${handle.pid ?? 0}/cwd`), { recursive: true });
    await expect(handle.send?.('x'.repeat(100_000))).rejects.toMatchObject({
      category: 'process',
      message: expect.stringContaining('ENOENT') as string,
    });
    await expect(handle.send?.('x'.repeat(65 * 1_048_576))).rejects.toMatchObject({
      category: 'capacity',
      code: 'WORKER_MESSAGE_TOO_LONG',
    });
    await handle.send?.('end');
    await handle.result;
    expect(text()).toBe('heard short; heard end; ');
  });

  it('keeps up with a hundred thousand pieces of text', async () => {
    const { start } = await open();
    const { handle, events } = await start({ behavior: 'floods deltas', count: 100_000 });
    await handle.result;
    expect(events).toHaveLength(100_000);
    expect(events.at(-1)).toMatchObject({ delta: '99999 ' });
  });
});

describe('messages that cannot be relied on', () => {
  it('are dropped and noted, while others count', async () => {
    const { start, transcript } = await open();
    const { handle, text } = await start({ behavior: 'one wrong' });
    expect((await handle.result).output).toBe('all the same');
    expect(text()).toBe('okok');
    const notes = (await transcript()).filter(({ type }) => type === 'system').map(({ data }) => data['text']);
    expect(notes).toHaveLength(2);
    expect(notes[0]).toMatch(/^An invalid message of the worker was dropped: /);
  });

  it('fail the job when three come in a row', async () => {
    const { start } = await open({ killGraceMs: 20 });
    const { handle } = await start({ behavior: 'garbage' });
    await expect(handle.result).rejects.toMatchObject({ category: 'crash', code: 'SUBAGENT_WORKER_PROTOCOL' });
    expect(isRunning(handle.pid ?? 0)).toBe(false);
  });

  it.each(['another version', 'ready in another version'])('name both versions: %s', async (behavior) => {
    const { start } = await open({ killGraceMs: 20, env: { BEHAVIOR: behavior } });
    const { handle } = await start({ behavior });
    await expect(handle.result).rejects.toMatchObject({
      code: 'SUBAGENT_WORKER_VERSION',
      message: expect.stringMatching(/version 1 .* version [27]/) as string,
    });
  });

  it('include long ones that did not come by file', async () => {
    const { start } = await open();
    const { handle } = await start({ behavior: 'too long inline' });
    expect((await handle.result).output).toBe('short');
  });

  it.each([
    { bytes: 5 },
    { bytes: 100_000_000 },
    { sha256: 'a'.repeat(64) },
    { sha256: 'A' },
    { content: '{' },
    { content: '' },
    { content: '{"v":1,"byFile":"child-1.json","bytes":1,"sha256":""}' },
  ])('include files that are not what was announced: %j', async (wrong) => {
    const { start } = await open();
    const { handle } = await start({ behavior: 'a wrong file', wrong });
    expect((await handle.result).output).toBe('honest');
  });

  it.each([
    '../../etc/passwd',
    '/etc/passwd',
    'child-1.json',
    'child-1.json/../x',
    '',
    'a'.repeat(5_000),
    'CHILD-1.json',
  ])('include files that lie elsewhere: %s', async (name) => {
    const { start } = await open();
    const { handle } = await start({ behavior: 'a file elsewhere', name });
    expect((await handle.result).output).toBe('honest');
    expect(existsSync('/etc/passwd')).toBe(true);
  });
});

describe('the environment of a worker', () => {
  interface Told {
    readonly env: Record<string, string>;
    /** What it was started with, as others can read it. */
    readonly born: string;
    readonly start: unknown;
    readonly argv: string[];
  }
  const told = async (house: RunnerHouse, more: Parameters<RunnerHouse['start']>[1] = {}): Promise<Told> => {
    const { handle } = await house.start({ behavior: 'tells' }, more);
    return JSON.parse((await handle.result).output) as Told;
  };

  it('is what programs need, and what was named: no keys', async () => {
    vi.stubEnv('SECRET_OF_THE_HOST', 'not yours');
    vi.stubEnv('NODE_OPTIONS', '--no-warnings');
    vi.stubEnv('ANTHROPIC_API_KEY', 'a-key-of-the-host');
    vi.stubEnv('PASSED_ON', 'by name');
    vi.stubEnv('WAKECHART_PASS_ENV', 'PASSED_ON');
    vi.stubEnv('GIT_AUTHOR_NAME', 'somebody');
    try {
      const { env } = await told(await open({ env: { MINE: '1' } }));
      expect(env).toMatchObject({
        MINE: '1',
        PASSED_ON: 'by name',
        GIT_AUTHOR_NAME: 'somebody',
        HOME: process.env['HOME'],
        TMPDIR: process.env['TMPDIR'],
      });
      expect(Object.keys(env)).not.toContain('SECRET_OF_THE_HOST');
      expect(Object.keys(env)).not.toContain('ANTHROPIC_API_KEY');
      expect(Object.keys(env)).not.toContain('NODE_OPTIONS');
    } finally {
      vi.unstubAllEnvs();
    }
  });

  it('has the variable that a profile names, and its value is nowhere else', async () => {
    vi.stubEnv('SOME_API_KEY', 'very-secret-value');
    try {
      const house = await open();
      expect((await told(house)).env['SOME_API_KEY']).toBeUndefined();
      const { env, start, argv, born } = await told(house, {
        providerProfile: { name: 'mine', provider: 'openai', apiKeyEnv: 'SOME_API_KEY' },
      });
      // The value is taken out of the answer, too.
      expect(env['SOME_API_KEY']).toBe('[redacted SOME_API_KEY]');
      expect(JSON.stringify([start, argv])).not.toContain('redacted');
      // Nor can another process of this user read it where the environments of processes are shown.
      expect(born).toContain('PATH=');
      expect(born).not.toContain('SOME_API_KEY');
    } finally {
      vi.unstubAllEnvs();
    }
  });

  it('has the keys that its job needs, and no others', async () => {
    vi.stubEnv('ANTHROPIC_API_KEY', 'key-of-anthropic');
    vi.stubEnv('OPENAI_API_KEY', 'key-of-openai');
    vi.stubEnv('SOME_API_KEY', 'very-secret-value');
    const keysOf = ({ env }: Told): string[] =>
      Object.keys(env)
        .filter((name) => name.endsWith('_API_KEY'))
        .toSorted();
    try {
      const asked: unknown[] = [];
      const catalog = await open({
        providerConfig: { providers: { mine: { backend: 'embedded', keyVariable: 'SOME_API_KEY' } } },
        keysFor: async (job) => {
          asked.push(job);
          return ['OPENAI_API_KEY', 'NOT_SET'];
        },
      });
      expect(keysOf(await told(catalog))).toEqual(['OPENAI_API_KEY']);
      expect(keysOf(await told(catalog, { model: 'anthropic/large' }))).toEqual([
        'ANTHROPIC_API_KEY',
        'OPENAI_API_KEY',
      ]);
      expect(keysOf(await told(catalog, { providerProfile: 'mine' }))).toEqual(['OPENAI_API_KEY', 'SOME_API_KEY']);
      expect(asked[0]).toEqual({ agentType: 'worker', sessionId: undefined });
      expect(keysOf(await told(await open()))).toEqual([]);
      expect(keysOf(await told(await open({ providerConfig: { provider: 'anthropic' } })))).toEqual([
        'ANTHROPIC_API_KEY',
      ]);
    } finally {
      vi.unstubAllEnvs();
    }
  });

  it('says why the keys of a job cannot be found, before anything is forked', async () => {
    const { start, folder } = await open({ keysFor: () => Promise.reject(new Error('the catalog is closed')) });
    await expect(start('')).rejects.toThrow('the catalog is closed');
    expect(readdirSync(folder)).toEqual([]);
  });

  it('keeps secrets out of text, errors and transcripts, also where they come in pieces', async () => {
    const secret = 'very-secret-value';
    const house = await open({ env: { SOME_API_KEY: secret } });
    const { handle, events, text } = await house.start({ behavior: 'tells a secret' });
    const error = await handle.result.then(
      () => undefined,
      (thrown: unknown) => thrown,
    );
    expect(RuntimeError.is(error) && error.toJSON()).toMatchObject({
      message: 'refused [redacted SOME_API_KEY]',
      details: { secret: '[redacted SOME_API_KEY]' },
    });
    expect(text()).toBe('text [redacted SOME_API_KEY] end');
    const records = await house.transcript();
    expect(records.map(({ data }) => data['text'])).toEqual(
      expect.arrayContaining(['out [redacted SOME_API_KEY] end', 'err [redacted SOME_API_KEY]']),
    );
    expect(JSON.stringify([records, events])).not.toContain(secret);
  });
});

describe('what a worker says beside its answer', () => {
  it('is not read where it is more than its parent can deal with', async () => {
    const { start, transcript } = await open();
    const { handle, events } = await start({ behavior: 'asks for more than anybody reads', values: 100_000 });
    expect((await handle.result).output).toBe('asked');
    expect(events).toEqual([]);
    expect(JSON.stringify(await transcript())).toContain('expected a message of at most 4000 values, it has more');
  });

  it.each([
    [
      'arguments of many values',
      { type: 'permission_request', requestId: 'r', toolName: 't', toolArgs: new Array<number>(12_000).fill(0) },
      /4000 values/,
    ],
    [
      'arguments of many bytes',
      { type: 'permission_request', requestId: 'r', toolName: 't', toolArgs: { content: 'x*300000' } },
      /262144 bytes/,
    ],
    [
      'arguments that are nested deeply',
      {
        type: 'permission_request',
        requestId: 'r',
        toolName: 't',
        toolArgs: JSON.parse('['.repeat(70) + ']'.repeat(70)) as unknown,
      },
      /64 lists and objects/,
    ],
    ['metadata of many bytes', { type: 'result', output: '', metadata: { summary: 'x*300000' } }, /262144 bytes/],
    ['details of many bytes', { type: 'error', message: 'm', details: { text: 'x*300000' } }, /262144 bytes/],
    ['a long error', { type: 'error', message: 'x*100000' }, /message/],
    ['a long piece of text', { type: 'text_delta', delta: 'x*100000' }, /delta/],
  ])('is dropped and noted: %s', async (_what, message, complaint) => {
    const { start, transcript } = await open();
    const { handle, events } = await start({ behavior: 'says all at once', message });
    expect((await handle.result).output).toBe('said');
    expect(events).toEqual([]);
    expect(JSON.stringify(await transcript())).toMatch(complaint);
  });

  it('fails the job where it is long messages without end', async () => {
    const { start } = await open();
    const { handle, events } = await start({ behavior: 'says at length', count: 300 });
    await expect(handle.result).rejects.toMatchObject({
      code: 'SUBAGENT_WORKER_PROTOCOL',
      message: expect.stringMatching(/100 long messages in a row/) as string,
    });
    expect(events).toHaveLength(1);
  });

  it('takes no more requests than anybody could answer, and each once', async () => {
    const { start } = await open();
    const once = await start({ behavior: 'asks again and again', count: 1_000, sameId: true });
    expect((await once.handle.result).output).toBe('asked');
    expect(once.events).toHaveLength(1);
    const often = await start({ behavior: 'asks again and again', count: 1_000 }, { jobId: 'often' });
    await expect(often.handle.result).rejects.toMatchObject({
      code: 'SUBAGENT_TOO_MANY_REQUESTS',
      category: 'capacity',
      details: { maxOpenRequests: 100 },
    });
    expect(often.events).toHaveLength(100);
  });

  it('decides nothing about where things lie, and tells no secret', async () => {
    const secret = 'very-secret-value';
    const { start, transcript } = await open({ env: { SOME_API_KEY: secret } });
    const { handle, events } = await start({ behavior: 'puts a secret everywhere' });
    const mark = '[redacted SOME_API_KEY]';
    expect((await handle.result).metadata).toEqual({
      sessionId: mark,
      summary: `sum ${mark}`,
      usage: { [mark]: mark },
      __proto__x: 1,
    });
    expect(events).toEqual([
      { type: 'background_task_tool_start', taskId: 'job', toolName: mark },
      {
        type: 'background_task_permission_request',
        taskId: 'job',
        requestId: 'r',
        toolName: mark,
        toolArgs: undefined,
      },
      { type: 'background_task_tool_end', taskId: 'job', toolName: mark, success: true },
    ]);
    const log = JSON.stringify(await transcript());
    expect(log).not.toContain(secret);
    expect(log).toContain('its id holds a secret');
    expect(log).toContain('was dropped: outputPath, worktreePath, worktreeNextAction');
  });
});

describe('a runner', () => {
  it.each([
    [{ wormWorkers: 1 }, /unknown options: wormWorkers; the known ones are processTree/],
    [{ killGraceMs: -1 }, /killGraceMs/],
    [{ killGraceMs: Number.NaN }, /killGraceMs/],
    [{ readyTimeoutMs: 0 }, /readyTimeoutMs/],
    [{ warmWorkers: 1.5 }, /warmWorkers/],
    [{ warmWorkers: 1_000 }, /warmWorkers/],
    [{ env: { 'A=B': 'c' } }, /env/],
    [{ env: { A: 'b\0' } }, /env/],
    [{ execArgv: 'not a list' }, /execArgv/],
    [{ workerPath: '/nowhere/worker.js' }, /workerPath to be a file, there is none at \/nowhere\/worker.js/],
    [{ setup: '/nowhere/setup.js' }, /setup to be a file, there is none at/],
    [{ providerConfig: { name: 'mine', apiKey: 'leaked-key' } }, /^(?!.*leaked-key).*provider profile is not valid/],
    [
      { providerConfig: { providers: { mine: { backend: 1 } } } },
      /providerConfig is not valid: providers.mine.backend/,
    ],
    [{ limits: { transcriptBytes: 0 } }, /transcriptBytes/],
    [{ processTree: undefined }, /processTree/],
  ])('refuses %j before anything is forked', async (options, message) => {
    await expect(runnerHouse(options as Partial<ChildProcessSubagentRunnerOptions>)).rejects.toMatchObject({
      category: 'validation',
      message: expect.stringMatching(message) as string,
    });
  });

  it.each([
    [{ providerProfile: { name: 'x', provider: 'openai', apiKeyEnv: 'not a name' } }, 'PROVIDER_PROFILE_INVALID'],
    [{ metadata: { count: 1n } }, 'SUBAGENT_START_INVALID'],
    [{ agentType: '' }, 'SUBAGENT_START_INVALID'],
  ])('refuses a job with %o before anything is forked', async (more, code) => {
    const { start, folder } = await open();
    await expect(start('', more)).rejects.toMatchObject({ category: 'validation', code });
    expect(readdirSync(folder)).toEqual([]);
  });

  it('starts nothing once it is closed', async () => {
    const { start, runner } = await open();
    await runner.close();
    await expect(start('')).rejects.toMatchObject({ code: 'SUBAGENT_RUNNER_CLOSED' });
    await runner.close();
  });

  it('ends what runs when it is closed', async () => {
    const { start, runner } = await open({ killGraceMs: 20 });
    const jobs = await Promise.all([
      start({ behavior: 'silent' }, { jobId: 'a' }),
      start({ behavior: 'listens' }, { jobId: 'b' }),
    ]);
    await runner.close('the end');
    for (const { handle } of jobs) {
      await expect(handle.result).rejects.toMatchObject({ code: 'SUBAGENT_CANCELLED', details: { reason: 'the end' } });
      expect(isRunning(handle.pid ?? 0)).toBe(false);
    }
  });
});
