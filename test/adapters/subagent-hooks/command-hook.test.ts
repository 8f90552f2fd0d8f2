/** Hooks that are commands, as real processes. */
import { mkdtemp, readFile, readdir, rm } from 'node:fs/promises';
import { readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createSystemClock } from '../../../src/actors/clock/system-clock.ts';
import type { HookTypeExecutor } from '../../../src/actors/subagent/worktree-hooks.ts';
import { createProcessTree } from '../../../src/adapters/process-tree/process-tree.ts';
import { createCommandHookExecutor } from '../../../src/adapters/subagent-hooks/command-hook.ts';
import type { WorktreeHookInput } from '../../../src/machines/subagent/hook-config.ts';

let folder = '';
let executor: HookTypeExecutor;

const input: WorktreeHookInput = {
  session_id: 's',
  cwd: '/repo',
  hook_event_name: 'WorktreeCreate',
  tool_name: 'Agent',
  tool_input: { jobId: 'agent_1', agentType: 'fixer', worktreePath: '/w', branchName: 'b', removed: false },
};

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'hook-'));
  const processTree = createProcessTree({ clock: createSystemClock(), directory: join(folder, 'processes') });
  executor = createCommandHookExecutor({
    processTree,
    environment: { PATH: process.env['PATH'], GIT_DIR: '/elsewhere', SECRET_TOKEN: 'x' },
    killGraceMs: 50,
  });
});

afterEach(async () => {
  // Nothing is left on record, so nothing is left running.
  expect(await readdir(join(folder, 'processes')).catch(() => [])).toEqual([]);
  await rm(folder, { recursive: true, force: true });
});

const run = (command: unknown, signal = new AbortController().signal): Promise<unknown> =>
  Promise.resolve(executor({ hook: { type: 'command', command }, input, cwd: folder, signal }));

async function pidIn(name: string): Promise<number> {
  for (;;) {
    const text = await readFile(join(folder, name), 'utf8').catch(() => '');
    if (text.trim() !== '') return Number(text);
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
}

const isRunning = (pid: number): boolean => {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, 'utf8');
    return !['Z', 'X'].includes(text.slice(text.lastIndexOf(')') + 2, text.lastIndexOf(')') + 3));
  } catch {
    return false;
  }
};

describe('a command that is a hook', () => {
  it('runs in its folder, and reads on its input what has happened', async () => {
    await run('cat > told.json; pwd > folder');
    expect(JSON.parse(await readFile(join(folder, 'told.json'), 'utf8'))).toEqual(input);
    expect((await readFile(join(folder, 'folder'), 'utf8')).trim()).toBe(folder);
  });

  it('has the variables that programs need, and none of the secrets and git settings of the runtime', async () => {
    await run('env > env');
    const names = (await readFile(join(folder, 'env'), 'utf8')).split('\n').map((line) => line.split('=')[0]);
    expect(names).toContain('PATH');
    expect(names).not.toContain('GIT_DIR');
    expect(names).not.toContain('SECRET_TOKEN');
  });

  it('need not read its input', async () => {
    await expect(run('exec 0<&-; true')).resolves.toBeUndefined();
  });

  it('refuses with exit code 2, and says why', async () => {
    await expect(run('echo not here >&2; exit 2')).rejects.toMatchObject({
      code: 'SUBAGENT_HOOK_REFUSED',
      category: 'permission',
      message: expect.stringContaining('not here'),
    });
  });

  it('fails with any other, and with a signal', async () => {
    await expect(run('echo broken >&2; exit 7')).rejects.toMatchObject({
      code: 'SUBAGENT_HOOK_FAILED',
      message: expect.stringMatching(/exit code 7: broken/),
      details: { exitCode: 7 },
    });
    await expect(run('kill -9 $$')).rejects.toMatchObject({
      code: 'SUBAGENT_HOOK_FAILED',
      message: expect.stringContaining('SIGKILL'),
    });
  });

  it('that writes without end is heard to its end only', async () => {
    const error = (await run(
      'i=0; while [ $i -lt 20000 ]; do echo 0123456789 >&2; i=$((i+1)); done; echo last >&2; exit 1',
    ).catch((thrown: unknown) => thrown)) as Error;
    expect(error.message.endsWith('last')).toBe(true);
    expect(error.message.length).toBeLessThan(6_000);
  });

  it('is stopped with all that it started when nobody waits any more, though it ignores being asked', async () => {
    const abort = new AbortController();
    const running = run(
      `trap '' TERM; setsid sh -c 'trap "" TERM; echo $$ > child; sleep 1000' & echo $$ > pid; sleep 1000`,
      abort.signal,
    );
    running.catch(() => undefined);
    const pids = [await pidIn('pid'), await pidIn('child')];
    abort.abort('enough');
    await expect(running).rejects.toMatchObject({ code: 'SUBAGENT_HOOK_FAILED' });
    expect(pids.map(isRunning)).toEqual([false, false]);
  });

  it('leaves nothing running behind it', async () => {
    await run('sh -c "echo \\$\\$ > child; sleep 1000" & while [ ! -s child ]; do sleep 0.01; done');
    expect(isRunning(await pidIn('child'))).toBe(false);
  });

  it('that is none, or has no folder to run in, fails', async () => {
    await expect(run('')).rejects.toMatchObject({ code: 'SUBAGENT_HOOKS_INVALID' });
    await expect(run(7)).rejects.toMatchObject({ code: 'SUBAGENT_HOOKS_INVALID' });
    await expect(
      Promise.resolve(
        executor({
          hook: { type: 'command', command: 'true' },
          input,
          cwd: join(folder, 'gone'),
          signal: new AbortController().signal,
        }),
      ),
    ).rejects.toMatchObject({ code: 'SUBAGENT_HOOK_FAILED' });
  });

  it('is not run when nobody waits for it', async () => {
    await expect(run('touch ran', AbortSignal.abort(new Error('too late')))).rejects.toThrow('too late');
    expect(await readdir(folder)).toEqual([]);
  });
});
