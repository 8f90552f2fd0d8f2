/** Process tasks as a task manager's callers see them. */
import { mkdtemp, readFile, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createSimulatedClock } from '../../../src/actors/clock/simulated-clock.ts';
import { createSystemClock } from '../../../src/actors/clock/system-clock.ts';
import { BackgroundTaskManager } from '../../../src/actors/task/background-task-manager.ts';
import { createProcessTree } from '../../../src/adapters/process-tree/process-tree.ts';
import { createManagedShellProcessRunner } from '../../../src/adapters/shell/shell-runner.ts';
import { processesWith } from '../process-tree/system-processes.ts';

const PROBE = `manager-${process.pid}`;
let home: string;
let manager: BackgroundTaskManager;

beforeEach(async () => {
  home = await mkdtemp(join(tmpdir(), 'manager-'));
  const clock = createSystemClock();
  const processTree = createProcessTree({ clock, directory: join(home, 'processes') });
  manager = new BackgroundTaskManager({
    clock,
    runners: {
      process: createManagedShellProcessRunner({
        processTree,
        clock,
        logDirectory: join(home, 'logs'),
        killGraceMs: 50,
        lingerMs: 1,
      }),
    },
  });
});
afterEach(async () => {
  await manager.shutdown('the test is over');
  expect(processesWith(`PROBE=${PROBE}`)).toEqual([]);
  expect(await readdir(join(home, 'processes')).catch(() => [])).toEqual([]);
  await rm(home, { recursive: true, force: true });
});

const spawn = (
  command: string,
  changes: { readonly timeoutMs?: number } = {},
): ReturnType<BackgroundTaskManager['spawn']> =>
  manager.spawn({ kind: 'process', label: 'a command', cwd: home, command, env: { PROBE }, ...changes });

describe('a process task', () => {
  it('completes with any exit code, and its log is where its state says', async () => {
    const { id } = await spawn('echo working; exit 3');
    expect(await manager.wait(id)).toMatchObject({ output: 'working\n', exitCode: 3 });
    const { status, pid, logPath } = manager.get(id) ?? {};
    expect({ status, pid }).toEqual({ status: 'completed', pid: expect.any(Number) });
    expect(await readFile(logPath ?? '', 'utf8')).toBe('[stdout] working\n');
    expect((await manager.readLog(id)).lines).toEqual(['[stdout] working']);
  });

  it('that is cancelled is gone before it counts as cancelled', async () => {
    const { id } = await spawn("trap '' TERM; setsid sleep 1000 & sleep 1000");
    await manager.cancel(id, 'enough');
    expect(processesWith(`PROBE=${PROBE}`)).toEqual([]);
    expect(manager.get(id)?.status).toBe('cancelled');
  });

  it('that takes too long fails with the reason', async () => {
    const { id } = await spawn('sleep 1000', { timeoutMs: 20 });
    await expect(manager.wait(id)).rejects.toMatchObject({ category: 'timeout', code: 'TASK_TIMED_OUT' });
    expect(manager.get(id)).toMatchObject({ status: 'failed', timeoutReason: 'max_runtime' });
  });

  it('that writes is not idle, and one that falls silent is', async () => {
    const simulated = createSimulatedClock();
    const clock = createSystemClock();
    const runner = createManagedShellProcessRunner({
      processTree: createProcessTree({ clock }),
      clock,
      killGraceMs: 50,
    });
    const watched = new BackgroundTaskManager({ clock: simulated, cancelDeadlineMs: 0, runners: { process: runner } });
    const { id } = await watched.spawn({
      kind: 'process',
      label: 'an echo',
      cwd: home,
      command: 'cat',
      env: { PROBE },
      idleTimeoutMs: 1_000,
    });
    for (let line = 1; line <= 3; line += 1) {
      await simulated.advance(900);
      await watched.send(id, { stdin: 'still here\n', end: false });
      while ((await watched.readLog(id)).lines.length < line) await new Promise((resolve) => setImmediate(resolve));
    }
    expect(watched.get(id)?.status).toBe('running');
    await simulated.advance(1_000);
    await expect(watched.wait(id)).rejects.toMatchObject({ code: 'TASK_IDLE' });
    await watched.shutdown();
  });

  it('that cannot start fails with what to do', async () => {
    const { id } = await manager.spawn({
      kind: 'process',
      label: 'nowhere',
      cwd: join(home, 'nowhere'),
      command: 'true',
    });
    await expect(manager.wait(id)).rejects.toMatchObject({
      category: 'process',
      code: 'TASK_CWD_INVALID',
      hint: expect.any(String),
    });
  });

  it('takes input while it runs', async () => {
    const { id } = await spawn('cat');
    await manager.send(id, { stdin: 'hello' });
    expect(await manager.wait(id)).toMatchObject({ output: 'hello' });
  });

  it('is ended by a shutdown, with all the others', async () => {
    for (let count = 0; count < 6; count += 1) await spawn('sleep 1000 & sleep 1000');
    await manager.shutdown('closing');
    expect(processesWith(`PROBE=${PROBE}`)).toEqual([]);
    expect(manager.list().map(({ status }) => status)).toEqual(Array.from({ length: 6 }, () => 'cancelled'));
  });
});
