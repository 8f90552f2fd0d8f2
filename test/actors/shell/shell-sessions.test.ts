/** Shells and the end of their sessions, when somebody else brings it about. */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createSimulatedClock } from '../../../src/actors/clock/simulated-clock.ts';
import type { SimulatedClock } from '../../../src/actors/clock/simulated-clock.ts';
import { until } from '../../support/session-setup.ts';
import { isAlive } from '../../cli/processes.ts';
import { followedSession } from './followed-session.ts';
import type { FollowedSession } from './followed-session.ts';
import { openShellStage } from './shell-stage.ts';
import type { ShellStage } from './shell-stage.ts';

let clock: SimulatedClock;
let session: FollowedSession;
let stage: ShellStage;
beforeEach(async () => {
  clock = createSimulatedClock();
  session = await followedSession(clock);
  stage = await openShellStage({ sessions: session.ports });
});
afterEach(async () => {
  await stage[Symbol.asyncDispose]();
  expect(session.held()).toBe(0);
});

const openTasks = (): number => stage.tasks.list().length;
const pidIn = async (name: string): Promise<number> => Number(await readFile(join(stage.workspace, name), 'utf8'));

describe('a session that others terminate', () => {
  it('has no shell any more, and what was run in it can still be read', async () => {
    await stage.exec('sleep 300 & echo $! > child; echo hello');
    const child = await pidIn('child');
    await session.terminate();
    await until(() => openTasks() === 0);
    expect(isAlive(child)).toBe(false);
    expect(await stage.call('shell_history')).toMatchObject({
      open: false,
      ended: 'its session was terminated',
      entries: [{ status: 'exited', exitCode: 0 }],
    });
    expect(await stage.call('shell_read_last_output')).toMatchObject({ output: 'hello\n' });
    await expect(stage.exec('echo x', { shell: 'main' })).rejects.toMatchObject({
      code: 'SHELL_CLOSED',
      message: expect.stringContaining('its session was terminated'),
    });
  });

  it('opens no other one', async () => {
    await stage.exec('echo x');
    await session.terminate();
    await until(() => openTasks() === 0);
    await expect(stage.call('shell_open', { name: 'late' })).rejects.toMatchObject({
      code: 'SHELL_NOT_OPENED',
      message: expect.stringContaining('its session was terminated'),
    });
    await expect(stage.exec('echo x')).rejects.toMatchObject({ code: 'SHELL_NOT_OPENED' });
    expect(openTasks()).toBe(0);
  });

  it('keeps no shell that was just being opened', async () => {
    await session.terminate();
    // Whichever comes first, the shell or the news of the end.
    await stage.call('shell_open', { name: 'late' }).catch((error: unknown) => error);
    await until(() => openTasks() === 0);
    expect(openTasks()).toBe(0);
  });

  it('ends the command that runs in it once, also when its call is stopped at the same time', async () => {
    const controller = new AbortController();
    const running = stage
      .exec('echo $$ > leader; echo begun; sleep 300; echo no', {}, { signal: controller.signal })
      .catch((error: unknown) => error);
    await until(async () => (await pidIn('leader').catch(() => 0)) > 0);
    const leader = await pidIn('leader');
    await session.terminate();
    controller.abort(new Error('the wake was interrupted'));
    expect(await running).toMatchObject({ message: 'the wake was interrupted' });
    await until(() => openTasks() === 0);
    expect(isAlive(leader)).toBe(false);
    expect(await stage.call('shell_history')).toMatchObject({
      open: false,
      entries: [{ status: expect.stringMatching(/stopped|shell_ended/) }],
    });
  });

  it('ends a command that is only waited for, and says why', async () => {
    const running = stage.exec('echo $$ > leader; sleep 300');
    await until(async () => (await pidIn('leader').catch(() => 0)) > 0);
    await session.terminate();
    expect(await running).toMatchObject({ exitCode: null, shellEnded: 'its session was terminated' });
  });

  it('is closed here too at the same time, and nothing is known of its shells then', async () => {
    await stage.exec('echo x');
    await Promise.all([session.terminate(), stage.closeSession(session.sessionId)]);
    expect(openTasks()).toBe(0);
    await expect(stage.call('shell_history')).rejects.toMatchObject({ code: 'SHELL_CLOSED' });
    expect(session.held()).toBe(0);
  });
});

describe('a session that others delete and bring back', () => {
  it('finds nothing of the shells before, not even their history, and may open one of the same name at once', async () => {
    await stage.exec('MARK=old; trap "" TERM HUP; sleep 300 & echo $! > child; echo hello');
    const child = await pidIn('child');
    session.replace();
    expect(await stage.exec('echo "${MARK-none}"')).toMatchObject({ opened: true, output: 'none\n' });
    expect(await stage.call('shell_history')).toMatchObject({ open: true, entries: [{ exitCode: 0 }] });
    await until(() => openTasks() === 1);
    expect(isAlive(child)).toBe(false);
    expect(session.held()).toBe(1);
  });

  it('is checked before every call on a shell', async () => {
    await stage.exec('echo hello');
    session.replace();
    for (const [tool, input] of [
      ['shell_wait', {}],
      ['shell_history', {}],
      ['shell_read_last_output', {}],
      ['shell_set_cwd', { shell: 'main', cwd: '.' }],
      ['shell_set_env', { shell: 'main', name: 'A', value: 'b' }],
      ['shell_close', {}],
    ] as const) {
      await expect(stage.call(tool, input)).rejects.toMatchObject({ code: 'SHELL_CLOSED' });
    }
    await until(() => openTasks() === 0);
  });

  it('runs nothing in a shell while nobody can see which session is there', async () => {
    await stage.exec('echo hello');
    await until(() => clock.pendingTimers === 1);
    session.hide(1);
    await expect(stage.exec('echo x > ran')).rejects.toThrow('the disk is gone');
    await expect(pidIn('ran')).rejects.toThrow();
    expect(await stage.exec('echo x')).toMatchObject({ output: 'x\n' });
  });
});

describe('following a session', () => {
  it('begins with its first shell and ends with the last thing that is known of one', async () => {
    expect(session.held()).toBe(0);
    await Promise.all([stage.call('shell_open', { name: 'one' }), stage.call('shell_open', { name: 'two' })]);
    expect(session.held()).toBe(1);
    await stage.call('shell_close', { shell: 'one' });
    expect(session.held()).toBe(1);
    await stage.call('shell_close', { shell: 'two' });
    await until(() => session.held() === 0);
    expect(clock.pendingTimers).toBe(0);
  });

  it('is given up with a shell that does not open, and refuses one when it cannot begin', async () => {
    session.hide(1);
    await expect(stage.call('shell_open', {})).rejects.toMatchObject({
      code: 'SHELL_NOT_OPENED',
      message: expect.stringContaining('the disk is gone'),
    });
    expect(session.held()).toBe(0);
    await stage.call('shell_open', {});
    expect(session.held()).toBe(1);
  });

  it('ends with all shells', async () => {
    const opening = stage.call('shell_open', {}).catch((error: unknown) => error);
    await stage.close();
    expect(await opening).toMatchObject({ code: expect.stringMatching(/SHELLS_CLOSED|SHELL_NOT_OPENED/) });
    await until(() => session.held() === 0);
    expect(clock.pendingTimers).toBe(0);
  });
});
