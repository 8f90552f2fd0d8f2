/**
 * How jobs end whose workers die, hang, or do not listen: always once, always with a reason, and with nothing left
 * running.
 */
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, describe, expect, it, vi } from 'vitest';
import type { ChildProcessSubagentRunnerOptions } from '../../../src/adapters/child-process/runner-options.ts';
import { isRunning, pidFrom } from '../process-tree/system-processes.ts';
import { jobRequest, runnerSetup } from './runner-setup.ts';
import type { RunnerSetup } from './runner-setup.ts';

let setups: RunnerSetup[] = [];
const open = async (options: Partial<ChildProcessSubagentRunnerOptions> = {}): Promise<RunnerSetup> => {
  const setup = await runnerSetup({ killGraceMs: 50, ...options });
  setups.push(setup);
  return setup;
};
afterEach(async () => {
  for (const setup of setups) {
    // No record of a process is left, so no start has anything to clear away.
    const records = readdirSync(setup.folder).includes('processes')
      ? readdirSync(join(setup.folder, 'processes')).filter((name) => name.endsWith('.json'))
      : [];
    expect(records).toEqual([]);
    await setup.close();
  }
  setups = [];
});

describe('a worker that dies', () => {
  it.each([
    ['exits 0', /exited with code 0 without a result$/, { exitCode: 0 }],
    [
      'exits 7',
      /exited with code 7 without a result; its error output ended with: it is all over$/,
      { exitCode: 7, stderr: 'it is all over' },
    ],
    ['kills itself', /was ended by SIGKILL without a result$/, { signal: 'SIGKILL' }],
    ['throws', /exited with code 1 without a result; .*thrown by the worker/s, { exitCode: 1 }],
    [
      'prints what is no text',
      /exited with code 3 without a result; its error output ended with: before \uFFFD\uFFFD\uFFFD after ✓$/,
      { exitCode: 3 },
    ],
  ])('is a crash that says how: %s', async (behavior, message, details) => {
    const { start } = await open();
    const { handle } = await start({ behavior });
    await expect(handle.result).rejects.toMatchObject({
      category: 'crash',
      code: 'SUBAGENT_WORKER_CRASHED',
      message: expect.stringMatching(message) as string,
      details,
    });
  });

  it('is a crash also before it is ready', async () => {
    const { start } = await open({ env: { BEHAVIOR: 'dies at once' } });
    const { handle } = await start('');
    await expect(handle.result).rejects.toMatchObject({
      category: 'crash',
      details: { exitCode: 9, stderr: 'cannot begin' },
    });
  });

  it.each([
    ['answers and dies', 12],
    ['answers by file and dies', 1_000_000],
  ])('has answered if it answered before: %s', async (behavior, length) => {
    const { start } = await open();
    const { handle } = await start({ behavior });
    expect((await handle.result).output).toHaveLength(length);
  });

  it('has answered if it answered before it said that it was ready', async () => {
    const { start } = await open({ env: { BEHAVIOR: 'result before ready' } });
    const { handle } = await start('');
    expect((await handle.result).output).toBe('early');
  });

  it('settles follow-ups that are on their way', async () => {
    const { start } = await open({ env: { BEHAVIOR: 'confirms' } });
    const { handle } = await start({ behavior: 'kills itself' });
    await expect(handle.send?.('anybody there?')).rejects.toMatchObject({ code: 'SUBAGENT_NOT_RUNNING' });
    await expect(handle.result).rejects.toMatchObject({ category: 'crash' });
  });
});

describe('a worker that does not do its part', () => {
  it('fails the job when it never says that it is ready', async () => {
    const { start } = await open({ readyTimeoutMs: 50, env: { BEHAVIOR: 'never ready' } });
    const { handle } = await start('');
    await expect(handle.result).rejects.toMatchObject({
      category: 'timeout',
      code: 'SUBAGENT_WORKER_NOT_READY',
      details: { readyTimeoutMs: 50 },
    });
    expect(isRunning(handle.pid ?? 0)).toBe(false);
  });

  it('fails the job when it closes its channel and goes on', async () => {
    const { start } = await open();
    const { handle } = await start({ behavior: 'closes the channel' });
    await expect(handle.result).rejects.toMatchObject({ category: 'crash', code: 'SUBAGENT_WORKER_SILENT' });
    expect(isRunning(handle.pid ?? 0)).toBe(false);
  });

  it('is ended when it has answered and stays', async () => {
    const { start } = await open();
    const { handle } = await start({ behavior: 'answers and stays' });
    expect((await handle.result).output).toBe('and stays');
    expect(isRunning(handle.pid ?? 0)).toBe(false);
  });
});

describe('cancelling', () => {
  it.each(['listens', 'silent', 'ignores cancel', 'ignores SIGTERM', 'is busy'])(
    'ends a worker that %s, and all that it said',
    async (behavior) => {
      const { start } = await open();
      const { handle, events } = await start({ behavior });
      if (behavior === 'ignores SIGTERM' || behavior === 'is busy')
        await vi.waitFor(() => expect(events).not.toEqual([]));
      await handle.cancel('no longer needed');
      expect(isRunning(handle.pid ?? 0)).toBe(false);
      await expect(handle.result).rejects.toMatchObject({
        category: 'runner',
        code: 'SUBAGENT_CANCELLED',
        message: 'the subagent was cancelled: no longer needed',
      });
    },
  );

  it('ends what the worker started in a session of its own', async () => {
    const { start, folder } = await open();
    const pidFile = join(folder, 'daemon.pid');
    const { handle } = await start({ behavior: 'forks a daemon', pidFile });
    const daemon = await pidFrom(pidFile);
    expect(isRunning(daemon)).toBe(true);
    await handle.cancel();
    expect(isRunning(daemon)).toBe(false);
  });

  it('may be asked for more than once, and by the signal too', async () => {
    const { start } = await open();
    const { handle, stop } = await start({ behavior: 'listens' });
    stop.abort(new Error('first'));
    await Promise.all([handle.cancel('second'), handle.cancel('third')]);
    await expect(handle.result).rejects.toMatchObject({ details: { reason: 'first' } });
    await handle.cancel('fourth');
  });

  it('works while the worker is not ready', async () => {
    const { start } = await open({ env: { BEHAVIOR: 'never ready' } });
    const { handle } = await start('');
    const sent = Promise.resolve(handle.send?.('waits')).catch((error: unknown) => error);
    await handle.cancel('too slow');
    await expect(handle.result).rejects.toMatchObject({ code: 'SUBAGENT_CANCELLED' });
    expect(await sent).toMatchObject({ code: 'SUBAGENT_NOT_RUNNING' });
  });

  it('works while the worker is forked', async () => {
    const setup = await open();
    const stop = new AbortController();
    stop.abort(new Error('changed my mind'));
    const request = jobRequest({ cwd: setup.folder });
    await expect(
      setup.runner.start({ jobId: 'a', request, emit: () => undefined, signal: stop.signal }),
    ).rejects.toMatchObject({ code: 'SUBAGENT_CANCELLED' });
    const later = new AbortController();
    const starting = setup.runner.start({
      jobId: 'b',
      request: { ...request, prompt: '{"behavior":"silent"}' },
      emit: () => undefined,
      signal: later.signal,
    });
    later.abort(new Error('changed my mind'));
    const outcome = await starting
      .then(({ result }) => result)
      .then(
        () => undefined,
        (error: unknown) => error,
      );
    expect(outcome).toMatchObject({ code: 'SUBAGENT_CANCELLED' });
  });

  it('changes nothing about an answer that was given', async () => {
    const { start } = await open();
    const { handle } = await start('quick');
    await handle.result;
    await handle.cancel('late');
    expect((await handle.result).output).toBe('done: quick');
  });
});
