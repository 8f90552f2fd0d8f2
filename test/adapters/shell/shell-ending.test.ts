/** How commands are stopped, what they leave when they end, and that nothing of them lives afterwards. */
import { existsSync } from 'node:fs';
import { readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { createSimulatedClock } from '../../../src/actors/clock/simulated-clock.ts';
import type { ProcessTree, TrackedProcessTree } from '../../../src/actors/task/process-tree.ts';
import { BackgroundTaskError } from '../../../src/machines/task/task-error.ts';
import type { ManagedShellProcessRunnerOptions } from '../../../src/adapters/shell/shell-runner.ts';
import {
  eventually,
  fixturePath,
  isRunning,
  parentOf,
  pidFrom,
  processesWith,
} from '../process-tree/system-processes.ts';
import { logOf, logged, openShellWorkbench } from './shell-workbench.ts';
import type { ProcessRequestInput, ShellHandle, ShellWorkbench } from './shell-workbench.ts';

let bench: ShellWorkbench | undefined;
const open = async (options: Partial<ManagedShellProcessRunnerOptions> = {}): Promise<ShellWorkbench> =>
  (bench = await openShellWorkbench(options));
afterEach(() => bench?.[Symbol.asyncDispose]());

/** Marks the processes of one test, independently of the runner's own tag. */
const PROBE = `PROBE=${process.pid}`;
const probe = { PROBE: String(process.pid) };

describe('a cancelled command', () => {
  it('is gone with everything it started when cancel resolves, and its result says how it ended', async () => {
    const { start, records } = await open();
    const handle = await start('echo up; sleep 1000 & setsid sleep 1000 & sleep 1000', { env: probe });
    await logged(handle, '[stdout] up');
    await handle.cancel('enough');
    expect(processesWith(PROBE)).toEqual([]);
    expect(await handle.result).toMatchObject({ output: 'up\n', signalCode: 'SIGTERM' });
    expect(await logOf(handle)).toEqual(['[stdout] up', '[system] cancelled: enough']);
    expect(await readdir(records)).toEqual([]);
  });

  it('may end in its own way when it is asked to', async () => {
    const { start } = await open();
    const handle = await start("trap 'echo cleaning; exit 7' TERM; echo up; while :; do sleep 0.01; done");
    await logged(handle, '[stdout] up');
    await handle.cancel();
    expect(await handle.result).toMatchObject({ output: expect.stringMatching(/^up\n.*cleaning\n$/s), exitCode: 7 });
  });

  it('is killed when it ignores that, after the grace and not before', async () => {
    const clock = createSimulatedClock();
    const { start } = await open({ clock, killGraceMs: 5000 });
    const handle = await start("trap 'echo no' TERM; echo up; while :; do sleep 0.01; done", { env: probe });
    await logged(handle, '[stdout] up');
    const cancelled = handle.cancel('please');
    await logged(handle, '[stdout] no');
    await clock.advance(4999);
    expect(isRunning(handle.pid)).toBe(true);
    await clock.advance(1);
    await cancelled;
    expect(processesWith(PROBE)).toEqual([]);
    expect(await handle.result).toMatchObject({ signalCode: 'SIGKILL' });
    expect(clock.pendingTimers).toBe(0);
  });

  it('is stopped once, however often and by whomever', async () => {
    const { start } = await open();
    const handle = await start('echo up; sleep 1000', { env: probe, timeoutMs: 60_000 });
    await logged(handle, '[stdout] up');
    await Promise.all([handle.cancel('first'), handle.cancel('second'), handle.cancel()]);
    await handle.cancel('late');
    expect((await logOf(handle)).filter((line) => line.startsWith('[system]'))).toEqual(['[system] cancelled: first']);
  });

  it('that has already ended keeps its own end', async () => {
    const { start } = await open();
    const handle = await start('exit 5');
    await eventually(() => !isRunning(handle.pid), 'it is over');
    await handle.cancel('too late');
    expect(await handle.result).toMatchObject({ exitCode: 5 });
    // The system may not have told of the end by the time of the first cancel; it has by now.
    const told = await logOf(handle);
    await handle.cancel('later still');
    expect(await logOf(handle)).toEqual(told);
  });

  it('takes daemons and stubborn broods along', async () => {
    const { start, folder } = await open({ killGraceMs: 50 });
    const pidFile = join(folder, 'daemon.pid');
    const handle = await start(`sh ${fixturePath('daemonize.sh')} ${pidFile}; exec sh ${fixturePath('breed.sh')} 40`, {
      env: probe,
    });
    const daemon = await pidFrom(pidFile);
    await logged(handle, '[stdout] breeding');
    await handle.cancel();
    expect(isRunning(daemon)).toBe(false);
    expect(processesWith(PROBE)).toEqual([]);
  });

  it('cancelled at once after the start leaves nothing', async () => {
    const { start, records } = await open();
    const handles = await Promise.all(
      Array.from({ length: 8 }, () => start('sleep 1000 & sleep 1000', { env: probe })),
    );
    await Promise.all(handles.map((handle) => handle.cancel()));
    expect(processesWith(PROBE)).toEqual([]);
    expect(await readdir(records)).toEqual([]);
  });
});

describe('a command with a time limit', () => {
  it('is stopped when the time is over and fails with what happened', async () => {
    const clock = createSimulatedClock();
    const { start } = await open({ clock });
    const handle = await start('echo up; sleep 1000', { timeoutMs: 3_000_000, env: probe });
    await logged(handle, '[stdout] up');
    await clock.advance(2_999_999);
    expect(isRunning(handle.pid)).toBe(true);
    await clock.advance(1);
    await expect(handle.result).rejects.toMatchObject({
      category: 'timeout',
      code: 'TASK_TIMED_OUT',
      message: `task ${handle.taskId} ran longer than 3000000 ms`,
      details: { timeoutReason: 'max_runtime', timeoutMs: 3_000_000, signalCode: 'SIGTERM' },
    });
    expect(processesWith(PROBE)).toEqual([]);
    expect(await logOf(handle)).toEqual(['[stdout] up', '[system] timed out after 3000000 ms']);
    expect(clock.pendingTimers).toBe(0);
  });

  it('that ends in time leaves no timer behind', async () => {
    const clock = createSimulatedClock();
    const { start } = await open({ clock });
    await (
      await start('true', { timeoutMs: 2 ** 40 })
    ).result;
    expect(clock.pendingTimers).toBe(0);
  });

  it('of 0 runs without one', async () => {
    const { start } = await open();
    expect(await (await start('sleep 0.05', { timeoutMs: 0 })).result).toMatchObject({ exitCode: 0 });
  });
});

describe('a command that ends and leaves processes', () => {
  it('resolves with its own exit code once they are ended, and the log says how many', async () => {
    const { start, records } = await open({ lingerMs: 1 });
    const handle = await start('sleep 1000 & setsid sleep 1000 >/dev/null 2>&1 </dev/null & exit 4', { env: probe });
    const result = await handle.result;
    expect(result).toMatchObject({ exitCode: 4, metadata: { endedProcesses: 2 } });
    expect(processesWith(PROBE)).toEqual([]);
    expect(await logOf(handle)).toEqual(['[system] the command ended and left 2 processes running; ended']);
    expect(await readdir(records)).toEqual([]);
  });

  it('hears what they still had to say', async () => {
    const { start } = await open({ lingerMs: 60_000 });
    const handle = await start('(sleep 0.2; echo last words) & echo main; exit 0');
    expect(await handle.result).toMatchObject({ output: 'main\nlast words\n', exitCode: 0, metadata: undefined });
  });

  it('ends one that hides from everything but holds the output', async () => {
    const { start, folder } = await open({ lingerMs: 1 });
    const pidFile = join(folder, 'hidden.pid');
    // Without the tag, without a parent, in another session: nothing but its open output connects it.
    const hide = `env -i PATH="$PATH" setsid sh -c 'echo $$ > ${pidFile}.new; mv ${pidFile}.new ${pidFile}; exec sleep 1000' & while [ ! -e ${pidFile} ]; do sleep 0.01; done`;
    const handle = await start(`sh -c '${hide.replaceAll("'", "'\\''")}'; exit 6`);
    const hidden = await pidFrom(pidFile);
    expect(await handle.result).toMatchObject({ exitCode: 6 });
    expect(isRunning(hidden)).toBe(false);
    expect(await logOf(handle)).toEqual([expect.stringMatching(/^\[system\] .*1 process.*; ended$/)]);
  });

  it('gives those that ignore SIGTERM the grace and no more', async () => {
    const clock = createSimulatedClock();
    const { start, folder } = await open({ clock, lingerMs: 1, killGraceMs: 7000 });
    const asked = join(folder, 'asked');
    const ready = join(folder, 'ready');
    const stubborn = `trap ': > ${asked}' TERM; : > ${ready}; while :; do sleep 0.01; done`;
    const handle = await start(`sh -c "${stubborn}" & while [ ! -e ${ready} ]; do sleep 0.01; done; exit 0`, {
      env: probe,
    });
    await eventually(() => !isRunning(handle.pid), 'the command is over');
    await eventually(() => clock.pendingTimers > 0, 'the linger is timed');
    await clock.advance(1);
    await eventually(() => existsSync(asked), 'it was asked');
    await eventually(() => clock.pendingTimers > 0, 'the grace is timed');
    expect(processesWith(PROBE)).not.toEqual([]);
    await clock.advance(7000);
    expect(await handle.result).toMatchObject({ exitCode: 0 });
    expect(processesWith(PROBE)).toEqual([]);
  });
});

describe('a process that has shed its environment, its session, its output and its parents', () => {
  /** Starts one; resolves once it is on its own. */
  const hide = async (
    { start, folder }: ShellWorkbench,
    command: (hiding: string) => string,
    request: ProcessRequestInput = {},
  ): Promise<{ handle: ShellHandle; hidden: number }> => {
    const pidFile = join(folder, 'hidden.pid');
    const handle = await start(command(`sh ${fixturePath('hide.sh')} ${pidFile} 0.1`), request);
    const hidden = await pidFrom(pidFile);
    await eventually(() => parentOf(hidden) === 1, 'its parents have left');
    return { handle, hidden };
  };

  it('is ended with a command that ends by itself', async () => {
    const { handle, hidden } = await hide(await open({ lingerMs: 1 }), (hiding) => `${hiding}; exit 6`);
    expect(await handle.result).toMatchObject({ exitCode: 6, metadata: { endedProcesses: 1 } });
    expect(isRunning(hidden)).toBe(false);
  });

  it.each(['sh', '/bin/bash'])(
    'is ended when a command of %s is cancelled, and nothing is left before that is said',
    async (shell) => {
      const { handle, hidden } = await hide(await open(), (hiding) => `${hiding}; exec sleep 1000`, { shell });
      expect(isRunning(hidden)).toBe(true);
      await handle.cancel();
      expect(isRunning(hidden)).toBe(false);
    },
  );

  it('is ended when its command is run by a program that is no shell by its name', async () => {
    const around = await open();
    const own = join(around.folder, 'my-runner');
    await writeFile(own, '#!/bin/sh\nexec /bin/sh "$@"\n', { mode: 0o755 });
    const { handle, hidden } = await hide(around, (hiding) => `${hiding}; exec sleep 1000`, { shell: own });
    await handle.cancel();
    expect(isRunning(hidden)).toBe(false);
  });
});

describe('a tree that cannot be ended', () => {
  /** Refuses to end `failures` times; then does it. */
  const stubbornTrees = (failures: number): { readonly wrap: (inner: ProcessTree) => ProcessTree } => ({
    wrap: (inner) => ({
      ...{ reconcile: (options) => inner.reconcile(options), adopted: (tag) => inner.adopted(tag) },
      async prepare(work) {
        const tree = await inner.prepare(work);
        let left = failures;
        const end: TrackedProcessTree['end'] = (options) => {
          left -= 1;
          if (left >= 0)
            return Promise.reject(
              new BackgroundTaskError('process', 'process 42 is still running', { details: { pids: [42] } }),
            );
          return tree.end(options);
        };
        return {
          tag: tree.tag,
          launch: (launch) => tree.launch(launch),
          attach: (pid) => tree.attach(pid),
          survivors: () => tree.survivors(),
          end,
        };
      },
    }),
  });

  const openStubborn = async (failures: number): Promise<ShellWorkbench> => {
    const { createProcessTree } = await import('../../../src/adapters/process-tree/process-tree.ts');
    const { createSystemClock } = await import('../../../src/actors/clock/system-clock.ts');
    return open({ processTree: stubbornTrees(failures).wrap(createProcessTree({ clock: createSystemClock() })) });
  };

  it('fails cancel with who is left, and keeps the result open until they are gone', async () => {
    const { start } = await openStubborn(2);
    const handle = await start('exec sleep 1000');
    let isSettled = false;
    void handle.result.finally(() => (isSettled = true));
    await expect(handle.cancel()).rejects.toMatchObject({ category: 'process', details: { pids: [42] } });
    expect(isSettled).toBe(false);
    await handle.cancel();
    expect(await handle.result).toMatchObject({ signalCode: 'SIGTERM' });
  });

  it('fails a task that timed out as such, and names who is left', async () => {
    const { start } = await openStubborn(1);
    const handle = await start('exec sleep 0.3', { timeoutMs: 1 });
    await expect(handle.result).rejects.toMatchObject({
      category: 'timeout',
      message: expect.stringContaining('process 42 is still running'),
      details: { timeoutReason: 'max_runtime', pids: [42] },
    });
    await eventually(() => !isRunning(handle.pid), 'it ends by itself');
  });

  it('fails a command that ended by itself', async () => {
    const { start } = await openStubborn(1);
    await expect((await start('true')).result).rejects.toMatchObject({ category: 'process', details: { pids: [42] } });
  });
});
