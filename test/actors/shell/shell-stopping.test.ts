import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createSimulatedClock } from '../../../src/actors/clock/simulated-clock.ts';
import type { ShellCommandReply } from '../../../src/machines/turn/shell/shell-results.ts';
import { openShellStage } from './shell-stage.ts';
import type { ShellStage } from './shell-stage.ts';

let stage: ShellStage;
beforeEach(async () => {
  stage = await openShellStage();
});
afterEach(() => stage[Symbol.asyncDispose]());

const until = async (isSo: () => Promise<boolean> | boolean): Promise<void> => {
  while (!(await isSo())) await new Promise((resolve) => setTimeout(resolve, 5));
};
const contentOf = (name: string): Promise<string> => readFile(join(stage.workspace, name), 'utf8').catch(() => '');
const isRunning = async (pid: number): Promise<boolean> => {
  const stat = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => '');
  return stat !== '' && !/\) [ZX] /.test(stat);
};

/** Runs the command until it has made the file `up`, then stops its call. */
async function stopOnceUp(command: string): Promise<void> {
  const controller = new AbortController();
  const running = stage.exec(command, {}, { signal: controller.signal });
  await Promise.race([until(async () => (await contentOf('up')) !== ''), running]);
  controller.abort('the user said stop');
  await expect(running).rejects.toBe('the user said stop');
}

describe('a command that is not over in time', () => {
  it('goes on, and can be waited for and read meanwhile', async () => {
    const first = await stage.exec('echo one; while [ ! -e go ]; do sleep 0.01; done; echo two; (exit 6)', {
      timeoutMs: 0,
    });
    expect(first).toMatchObject({ exitCode: null, running: true });
    const second = await stage.call<ShellCommandReply>('shell_wait', { timeoutMs: 100 });
    expect(second).toMatchObject({ exitCode: null, running: true });
    expect(first.output + second.output).toBe('one\n');
    expect(await stage.call('shell_read_last_output')).toMatchObject({ output: 'one\n', running: true });
    expect(await stage.call('shell_history')).toMatchObject({ open: true, entries: [{ status: 'running' }] });
    await stage.call('shell_open', { name: 'other' });
    await stage.exec('touch go', { shell: 'other' });
    expect(await stage.call('shell_wait')).toEqual({
      shell: 'main',
      output: 'two\n',
      exitCode: 6,
      cwd: stage.workspace,
    });
    expect(await stage.call('shell_wait')).toEqual({ shell: 'main', output: '', exitCode: 6, cwd: stage.workspace });
    expect(await stage.call('shell_history')).toMatchObject({ entries: [{ status: 'exited', exitCode: 6 }] });
  });

  it('takes no second one beside it, nor a change of folder or variables', async () => {
    await stage.exec('sleep 300', { timeoutMs: 0 });
    await expect(stage.exec('echo x')).rejects.toMatchObject({ code: 'SHELL_BUSY' });
    await expect(stage.call('shell_set_cwd', { cwd: '.' })).rejects.toMatchObject({ code: 'SHELL_BUSY' });
    await expect(stage.call('shell_set_env', { name: 'A', value: '1' })).rejects.toMatchObject({ code: 'SHELL_BUSY' });
    await expect(stage.call('shell_open', {})).rejects.toMatchObject({ code: 'SHELL_ALREADY_OPEN' });
    expect(await stage.call('shell_close')).toEqual({ shell: 'main', closed: true });
    await expect(stage.call('shell_wait')).rejects.toMatchObject({ code: 'SHELL_CLOSED' });
  });

  it('refuses one of two that begin at the same time, wherever the first has come', async () => {
    const both = await Promise.allSettled([stage.exec('echo a'), stage.exec('echo b')]);
    expect(both.map(({ status }) => status)).toEqual(['fulfilled', 'rejected']);
    const again = await Promise.allSettled([
      stage.exec('echo c'),
      stage.exec('cd /'),
      stage.call('shell_set_cwd', { cwd: '.' }),
    ]);
    expect(again.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'rejected']);
    expect(await stage.exec('pwd')).toMatchObject({ output: `${stage.workspace}\n` });
  });
});

describe('a stop of the call', () => {
  it.each([
    'touch up; echo x > up; sleep 300; echo no > after',
    'echo x > up; while :; do :; done; echo no > after',
    'echo x > up; sleep 300 | cat; echo no > after',
    'echo x > up; (sleep 300; echo no > after); echo no > after',
    'echo x > up; y=$(sleep 300; echo no > after); echo no > after',
    'f() { echo x > up; sleep 300; echo no > after; }; f; echo no > after',
    'echo x > up; sleep 300 & wait; echo no > after',
  ])('ends all of %j and leaves the shell as it is', async (command) => {
    await stage.exec('kept=yes');
    await stopOnceUp(command);
    expect(await stage.exec('echo $kept; cat after')).toMatchObject({
      output: expect.stringMatching(/^yes\ncat: after/),
    });
    expect(await stage.call('shell_history')).toMatchObject({
      entries: [{}, { status: 'stopped' }, { status: 'exited' }],
    });
  });

  it('leaves jobs in the background alone, as a terminal does', async () => {
    await stage.exec('sleep 300 & echo $! > job');
    await stopOnceUp('echo x > up; sleep 300');
    expect(await isRunning(Number(await contentOf('job')))).toBe(true);
    await stage.call('shell_close');
    expect(await isRunning(Number(await contentOf('job')))).toBe(false);
  });

  it('ends the shell, and everything in it, over a command that does not heed it', async () => {
    await stopOnceUp(
      `setsid sh -c 'trap "" INT TERM; echo $$ > hidden; while :; do sleep 0.05; done' & trap "" INT TERM; sh -c 'echo $$ > up; while :; do sleep 0.05; done'`,
    );
    for (const name of ['hidden', 'up']) expect(await isRunning(Number(await contentOf(name)))).toBe(false);
    await expect(stage.exec('echo x', { shell: 'main' })).rejects.toMatchObject({
      code: 'SHELL_CLOSED',
      message: expect.stringContaining('had to be ended'),
    });
    expect(stage.tasks.list()).toEqual([]);
    expect(await stage.exec('echo new')).toMatchObject({ output: 'new\n', opened: true });
  });

  it.each(['set -n', 'kill -STOP $$', 'exec 2>&1; trap - INT; kill -STOP $$'])(
    'ends a shell that does not answer any more after %j',
    async (command) => {
      const controller = new AbortController();
      const running = stage.exec(command, {}, { signal: controller.signal });
      expect(await stage.call('shell_open', { name: 'other' })).toMatchObject({ shell: 'other' });
      controller.abort('enough');
      await expect(running).rejects.toBe('enough');
      expect(await stage.exec('echo x', { shell: 'other' })).toMatchObject({ output: 'x\n' });
    },
  );

  it('ends a command that is only being waited for', async () => {
    await stage.exec('echo $$ > up; exec sleep 300', { timeoutMs: 0 });
    const controller = new AbortController();
    const waiting = stage.call('shell_wait', {}, { signal: controller.signal });
    await until(async () => (await contentOf('up')) !== '');
    controller.abort('enough');
    await expect(waiting).rejects.toBe('enough');
    expect(await isRunning(Number(await contentOf('up')))).toBe(false);
  });

  it('touches no other shell and no command that nobody waits for', async () => {
    await stage.call('shell_open', { name: 'server' });
    await stage.exec('while [ ! -e go ]; do sleep 0.01; done; echo served', { shell: 'server', timeoutMs: 0 });
    await stopOnceUp('echo x > up; sleep 300');
    await stage.exec('touch go');
    expect(await stage.call('shell_wait', { shell: 'server' })).toMatchObject({ output: 'served\n', exitCode: 0 });
  });

  it('that comes first starts nothing', async () => {
    await expect(stage.exec('touch ran', {}, { signal: AbortSignal.abort('enough') })).rejects.toBe('enough');
    expect(stage.tasks.list()).toEqual([]);
  });

  it('that races the end of the command hits that command or nothing', async () => {
    await stage.exec('kept=yes');
    for (let round = 0; round < 60; round += 1) {
      const controller = new AbortController();
      const running = stage.exec('echo done', {}, { signal: controller.signal }).catch((error: unknown) => error);
      // Spread over the few milliseconds that such a command takes.
      setTimeout(() => controller.abort('enough'), (round % 12) / 4);
      await running;
      expect(await stage.exec('echo next $kept')).toEqual({
        shell: 'main',
        output: 'next yes\n',
        exitCode: 0,
        cwd: stage.workspace,
      });
    }
  });
});

describe('a shell whose process is killed from outside', () => {
  it('says so when it was at rest', async () => {
    await stage.exec('echo x');
    process.kill(stage.shellPid(), 'SIGKILL');
    await until(async () => !(await stage.call<{ open: boolean }>('shell_history')).open);
    await expect(stage.exec('echo x', { shell: 'main' })).rejects.toMatchObject({
      message: expect.stringContaining('it ended by itself: the signal SIGKILL'),
    });
  });

  it('ends the call that runs in it, and what it had started', async () => {
    const running = stage.exec('sleep 300 & echo $! > job; wait');
    await until(async () => (await contentOf('job')) !== '');
    process.kill(stage.shellPid(), 'SIGKILL');
    expect(await running).toMatchObject({
      exitCode: null,
      shellEnded: 'it ended with its command: the signal SIGKILL',
    });
    expect(await isRunning(Number(await contentOf('job')))).toBe(false);
  });
});

describe('time, for shells', () => {
  it('closes one that is not used, and forgets it after as long again', async () => {
    const clock = createSimulatedClock();
    await using own = await openShellStage({ clock });
    await own.exec('echo x');
    await clock.advance(1_799_999);
    expect(await own.exec('echo y')).toMatchObject({ output: 'y\n' });
    await clock.advance(1_800_000);
    await until(() => own.tasks.list().length === 0);
    await expect(own.exec('echo z', { shell: 'main' })).rejects.toMatchObject({
      message: expect.stringContaining('closed after 30 minutes in which it was not used'),
    });
    await clock.advance(1_800_000);
    await expect(own.exec('echo z', { shell: 'main' })).rejects.toMatchObject({
      message: expect.stringContaining('never opened'),
    });
    expect(clock.pendingTimers).toBe(0);
  });

  it('leaves a command running for six hours before it is given up', async () => {
    const clock = createSimulatedClock();
    await using own = await openShellStage({ clock });
    await own.call('shell_open');
    const running = own.exec('sleep 300', { timeoutMs: 1000 });
    await clock.advance(1000);
    expect(await running).toMatchObject({ running: true });
    await clock.advance(21_599_999);
    expect(await own.call('shell_history')).toMatchObject({ open: true });
    await clock.advance(21_600_000);
    await until(() => own.tasks.list().length === 0);
    expect(await own.call('shell_wait')).toMatchObject({
      exitCode: null,
      shellEnded: expect.stringContaining('closed after 360 minutes'),
    });
  });
});
