/** What a job in a worker of its own says, is told, and comes to. */
import { existsSync, readdirSync, readlinkSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, describe, expect, it, vi } from 'vitest';
import type { ChildProcessSubagentRunnerOptions } from '../../../src/adapters/child-process/runner-options.ts';
import { isRunning } from '../process-tree/system-processes.ts';
import { OpenRunners, runnerSetup } from './runner-setup.ts';

const setups = new OpenRunners();
const open = setups.open.bind(setups);
afterEach(() => setups.close());

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
    [{ config: '/nowhere/config.js' }, /config to be a file, there is none at/],
    [{ providerConfig: { name: 'mine', apiKey: 'leaked-key' } }, /^(?!.*leaked-key).*provider profile is not valid/],
    [
      { providerConfig: { providers: { mine: { backend: 1 } } } },
      /providerConfig is not valid: providers.mine.backend/,
    ],
    [{ limits: { transcriptBytes: 0 } }, /transcriptBytes/],
    [{ processTree: undefined }, /processTree/],
  ])('refuses %j before anything is forked', async (options, message) => {
    await expect(runnerSetup(options as Partial<ChildProcessSubagentRunnerOptions>)).rejects.toMatchObject({
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
