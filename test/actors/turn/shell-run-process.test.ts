import { mkdir, mkdtemp, readdir, realpath, rename, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createSystemClock } from '../../../src/actors/clock/system-clock.ts';
import { BackgroundTaskManager } from '../../../src/actors/task/background-task-manager.ts';
import { createShellRunTool } from '../../../src/actors/turn/shell-run-tool.ts';
import type { ShellRunOptions } from '../../../src/actors/turn/shell-run-tool.ts';
import type { KeptOutput } from '../../../src/actors/turn/output-store.ts';
import type { ShellRunInput, ShellRunOutput } from '../../../src/machines/turn/shell-run.ts';
import type { PermissionSubject } from '../../../src/machines/permission/permission-subject.ts';
import { createProcessTree } from '../../../src/adapters/process-tree/process-tree.ts';
import { createManagedShellProcessRunner } from '../../../src/adapters/shell/shell-runner.ts';
import { IDENTITY } from '../../support/session-events.ts';
import { nodeShellHost } from '../shell/shell-stage.ts';

let workspace: string;
let outside: string;
let tasks: BackgroundTaskManager;

beforeEach(async () => {
  outside = await realpath(await mkdtemp(join(tmpdir(), 'run-')));
  workspace = join(outside, 'workspace');
  await mkdir(join(workspace, 'sub'), { recursive: true });
  const clock = createSystemClock();
  const process = createManagedShellProcessRunner({
    processTree: createProcessTree({ clock }),
    clock,
    environment: () => ({}),
  });
  tasks = new BackgroundTaskManager({ runners: { process }, clock });
});
afterEach(async () => {
  await tasks.shutdown();
  await rm(outside, { recursive: true, force: true });
});

const toolWith = (options: ShellRunOptions = {}): ReturnType<typeof createShellRunTool> =>
  createShellRunTool(tasks, { host: nodeShellHost, ...options });
const run = async (
  input: ShellRunInput,
  options: ShellRunOptions = {},
  subject?: PermissionSubject,
): Promise<ShellRunOutput> =>
  (await toolWith(options).run(input, {
    session: IDENTITY,
    callId: 'call_1',
    workspaceDirectory: workspace,
    signal: new AbortController().signal,
    subject,
  })) as ShellRunOutput;
const subjectOf = (input: ShellRunInput): PermissionSubject =>
  toolWith().subject(input, { session: IDENTITY, workspaceDirectory: workspace });

describe('shell_run with real processes', () => {
  it('runs in the folder that is asked for, and says so to the rules', async () => {
    await symlink('sub', join(workspace, 'link'));
    expect(await run({ command: 'pwd', cwd: 'link' })).toMatchObject({
      output: `${join(workspace, 'sub')}\n`,
      exitCode: 0,
    });
    expect(
      toolWith().subject({ command: 'pwd', cwd: 'link' }, { session: IDENTITY, workspaceDirectory: workspace }),
    ).toEqual({ kind: 'shell', command: 'pwd', cwd: join(workspace, 'sub') });
    expect(toolWith().subject({ command: 'pwd' }, { session: IDENTITY, workspaceDirectory: workspace })).toEqual({
      kind: 'shell',
      command: 'pwd',
      cwd: workspace,
    });
  });

  it.each(['..', '/', 'out', 'missing'])('runs nothing in %s, which is not in the workspace', async (cwd) => {
    await symlink(outside, join(workspace, 'out'));
    await expect(run({ command: 'touch ran', cwd })).rejects.toThrow();
    expect(
      toolWith().subject({ command: 'pwd', cwd }, { session: IDENTITY, workspaceDirectory: workspace }),
    ).toMatchObject({ cwd });
    expect(tasks.list()).toEqual([]);
  });

  it.each(['sub', 'sub/deep', 'link/deep'])(
    'runs nothing when %s is another folder than the one that was allowed',
    async (cwd) => {
      await mkdir(join(workspace, 'sub/deep'));
      await mkdir(join(workspace, 'other/deep'), { recursive: true });
      await symlink('sub', join(workspace, 'link'));
      const subject = subjectOf({ command: 'touch ran', cwd });
      await rename(join(workspace, 'sub'), join(workspace, 'aside'));
      await symlink('other', join(workspace, 'sub'));
      await expect(run({ command: 'touch ran', cwd }, {}, subject)).rejects.toMatchObject({
        code: 'FOLDER_CHANGED',
        hint: expect.stringContaining('again'),
      });
      expect([
        tasks.list(),
        (await readdir(workspace, { recursive: true })).filter((name) => name.endsWith('ran')),
      ]).toEqual([[], []]);
      // Asked again, it is allowed for where it would run.
      expect(await run({ command: 'pwd', cwd }, {}, subjectOf({ command: 'pwd', cwd }))).toMatchObject({
        output: `${join(workspace, cwd.endsWith('deep') ? 'other/deep' : 'other')}\n`,
      });
    },
  );

  it('runs no program of the workspace that is not named by its path', async () => {
    await mkdir(join(workspace, 'bin'));
    await writeFile(join(workspace, 'bin/ls'), '#!/bin/sh\necho hijacked\n', { mode: 0o755 });
    await symlink(join(workspace, 'bin'), join(outside, 'tools'));
    for (const PATH of [
      'bin:/usr/bin:/bin',
      './bin:/bin',
      `${workspace}/bin:/bin`,
      `${outside}/tools:/bin`,
      `${outside}/workspace/../tools:/bin`,
    ]) {
      const host = { ...nodeShellHost, environment: () => ({ PATH }) };
      expect((await run({ command: 'ls; echo "$PATH"' }, { host })).output).not.toMatch(/hijacked|tools|workspace/);
    }
    expect((await run({ command: 'bin/ls' })).output).toBe('hijacked\n');
  });

  it('has git take the workspace or a folder in it for a repository, and none above it', async () => {
    const git = { environment: { set: { GIT_CONFIG_NOSYSTEM: '1', HOME: outside } } };
    const top = async (cwd: string): Promise<string> =>
      (await run({ command: 'git rev-parse --show-toplevel 2>&1', cwd }, git)).output;
    // The one above, as somebody has it who keeps the runtime's home in a project.
    await run({ command: 'cd .. && git init -q' }, git);
    expect([await top('.'), await top('sub')]).toEqual([
      expect.stringContaining('not a git repository'),
      expect.stringContaining('not a git repository'),
    ]);
    await run({ command: 'git init -q' }, git);
    expect([await top('.'), await top('sub')]).toEqual([`${workspace}\n`, `${workspace}\n`]);
  });

  it('takes no folder where nobody can say which is inside', async () => {
    await expect(run({ command: 'pwd', cwd: 'sub' }, { host: undefined })).rejects.toMatchObject({
      code: 'SHELL_FOLDERS_UNSUPPORTED',
    });
  });

  it('has what a command put out until its time was up, and nothing of it is left', async () => {
    const reply = await run({
      command: 'echo before; trap "" TERM; sleep 300 & echo $! > pid; wait; wait',
      timeoutMs: 300,
    });
    expect(reply).toMatchObject({ output: 'before\n', exitCode: null, timedOut: true });
    const { output } = await run({ command: 'cut -d" " -f3 "/proc/$(cat pid)/stat" 2>/dev/null || echo gone' });
    expect(['gone\n', 'Z\n']).toContain(output);
  });

  it('gives a command the usual variables and those that were named, and no secret of the runtime', async () => {
    const environment = {
      PATH: '/usr/bin:/bin',
      HOME: '/nowhere',
      LC_ALL: 'C',
      NPM_TOKEN: 'secret-1',
      AWS_SECRET_ACCESS_KEY: 'secret-2',
      API_KEY: 'secret-3',
      NAMED: 'yes',
    };
    const host = { ...nodeShellHost, environment: () => environment };
    const { output } = await run(
      { command: 'env; cat /proc/self/environ /proc/$$/environ' },
      { host, environment: { pass: ['NAMED'], set: { ADDED: 'too' } } },
    );
    expect(output).toMatch(/^HOME=\/nowhere$/m);
    expect(output).toMatch(/^LC_ALL=C$/m);
    expect(output).toMatch(/^NAMED=yes$/m);
    expect(output).toMatch(/^ADDED=too$/m);
    expect(output).not.toContain('secret');
  });

  it('shows the beginning and the end of long output and keeps all of it', async () => {
    const files: KeptOutput[] = [];
    const keeper = {
      keep: async (output: KeptOutput) => {
        files.push(output);
        return '.outputs/call_1';
      },
    };
    const reply = await run({ command: 'seq 1 100000' }, { keeper });
    expect(reply).toMatchObject({ outputBytes: 588_895, outputFile: '.outputs/call_1', exitCode: 0 });
    expect(reply.output).toMatch(
      /^1\n2\n[^]*\n\[558895 bytes left out here: bytes 10000 to 568895 of the output\]\n[^]*\n100000\n$/,
    );
    expect(files).toEqual([
      {
        session: IDENTITY,
        callId: 'call_1',
        text: Array.from({ length: 100_000 }, (_, index) => `${index + 1}\n`).join(''),
      },
    ]);
  });

  it('keeps the two ends of a flood and says how much is missing between them', async () => {
    const files: KeptOutput[] = [];
    const reply = await run(
      { command: 'yes | head -c 10000000; echo end' },
      {
        keeper: {
          keep: async (output) => {
            files.push(output);
            return 'f';
          },
        },
      },
    );
    expect(reply).toMatchObject({ outputBytes: 10_000_004, outputFile: 'f' });
    expect(reply.output).toMatch(/y\nend\n$/);
    expect(files[0]?.text).toContain(`\n[${10_000_004 - 2 * 524_288} bytes of the output were not kept]\n`);
  });

  it('is no worse for output that cannot be kept', async () => {
    const reply = await run(
      { command: 'seq 1 100000' },
      { keeper: { keep: () => Promise.reject(new Error('the disk is full')) } },
    );
    expect(reply).toMatchObject({ outputBytes: 588_895, exitCode: 0 });
    expect(reply).not.toHaveProperty('outputFile');
  });

  it('stops with everything it started', async () => {
    const controller = new AbortController();
    await writeFile(join(workspace, 'pid'), '');
    const running = toolWith().run(
      { command: 'setsid sh -c "echo \\$\\$ > pid; exec sleep 300" & wait' },
      { session: IDENTITY, callId: 'call_1', workspaceDirectory: workspace, signal: controller.signal },
    );
    while ((await run({ command: 'cat pid' })).output === '') await new Promise((resolve) => setTimeout(resolve, 5));
    controller.abort('enough');
    await expect(running).rejects.toThrow('enough');
    const { output } = await run({ command: 'cut -d" " -f3 "/proc/$(cat pid)/stat" 2>/dev/null || echo gone' });
    expect(['gone\n', 'Z\n']).toContain(output);
  });
});
