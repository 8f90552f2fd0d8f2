import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createSystemClock } from '../../src/actors/clock/system-clock.ts';
import { BackgroundTaskManager } from '../../src/actors/task/background-task-manager.ts';
import { taskKiller } from '../../src/cli/open/runtime.ts';
import { createProcessTree } from '../../src/adapters/process-tree/process-tree.ts';
import { createManagedShellProcessRunner } from '../../src/adapters/shell/shell-runner.ts';
import { temporaryHome } from '../support/temporary-home.ts';
import type { TemporaryHome } from '../support/temporary-home.ts';
import { until } from './command-line.ts';
import { isAlive, pidsIn } from './processes.ts';

let home: TemporaryHome;
let tasks: BackgroundTaskManager;
/** Lets it be known as which processes commands run. */
let tell: () => void;

beforeEach(async () => {
  home = await temporaryHome();
  const clock = createSystemClock();
  const runner = createManagedShellProcessRunner({ processTree: createProcessTree({ clock }), clock });
  const told = new Promise<void>((resolve) => (tell = resolve));
  const slow: typeof runner = {
    kind: 'process',
    start: async (start) => {
      const handle = await runner.start(start);
      await told;
      return handle;
    },
  };
  tasks = new BackgroundTaskManager({ runners: { process: slow }, clock });
});

afterEach(async () => {
  tell();
  await tasks.shutdown();
  await home.remove();
});

/** A command that runs, its task, and the pid that it wrote down. */
async function started(): Promise<{ readonly id: string; readonly pid: number }> {
  const { id } = await tasks.spawn({
    kind: 'process',
    label: 'sleep',
    mode: 'foreground',
    command: `trap '' TERM; echo $$ > pid; while :; do sleep 0.05; done`,
    cwd: home.path,
  });
  const [pid = 0] = await until('the command', () => {
    const pids = pidsIn(join(home.path, 'pid'));
    return pids.length > 0 && pids;
  });
  return { id, pid };
}

describe('whoever ends commands without asking', () => {
  it('ends those that run', async () => {
    tell();
    const { id, pid } = await started();
    await until('its process to be known', () => tasks.get(id)?.pid !== undefined);
    taskKiller(tasks)();
    expect(await tasks.wait(id)).toMatchObject({ signalCode: 'SIGKILL' });
    expect(isAlive(pid)).toBe(false);
  });

  it('ends those that run and are known as processes only a moment later', async () => {
    const { id, pid } = await started();
    const kill = taskKiller(tasks);
    kill();
    kill();
    expect(isAlive(pid)).toBe(true);
    tell();
    expect(await tasks.wait(id)).toMatchObject({ signalCode: 'SIGKILL' });
    expect(isAlive(pid)).toBe(false);
  });
});
