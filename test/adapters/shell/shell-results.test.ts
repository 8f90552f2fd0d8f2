/** What a command's end and its output become. */
import { chmod, mkdir, readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createSystemClock } from '../../../src/actors/clock/system-clock.ts';
import { createProcessTree } from '../../../src/adapters/process-tree/process-tree.ts';
import { createManagedShellProcessRunner } from '../../../src/adapters/shell/shell-runner.ts';
import type { ManagedShellProcessRunnerOptions } from '../../../src/adapters/shell/shell-runner.ts';
import { quietPeriod } from '../../../src/adapters/shell/deadline.ts';
import type { OnShellOutput } from '../../../src/adapters/shell/shell-output.ts';
import { eventually, isRunning, stateLetter } from '../process-tree/system-processes.ts';
import { logOf, logged, openShellWorkbench } from './shell-workbench.ts';
import type { ShellWorkbench } from './shell-workbench.ts';

let bench: ShellWorkbench;
const reopen = async (options: Partial<ManagedShellProcessRunnerOptions>): Promise<void> => {
  await bench[Symbol.asyncDispose]();
  bench = await openShellWorkbench(options);
};

beforeEach(async () => {
  bench = await openShellWorkbench();
});
afterEach(() => bench[Symbol.asyncDispose]());

describe('the result of a command', () => {
  it.each([
    ['exit 0', { exitCode: 0, signalCode: undefined }],
    ['exit 3', { exitCode: 3, signalCode: undefined }],
    ['kill -TERM $$', { exitCode: undefined, signalCode: 'SIGTERM' }],
    ['kill -SEGV $$', { exitCode: undefined, signalCode: 'SIGSEGV' }],
    ['no-such-command-here', { exitCode: 127, signalCode: undefined }],
  ])('of %j is %j and no error', async (command, expected) => {
    const handle = await bench.start(command);
    const { exitCode, signalCode, taskId } = await handle.result;
    expect({ exitCode, signalCode }).toEqual(expected);
    expect(taskId).toBe(handle.taskId);
  });

  it('knows the environment of this process, without the URL of its store', async () => {
    Object.assign(process.env, { WAKECHART_STORE: 'postgres://worker:geheim@db/work', OURS: 'yes' });
    try {
      const handle = await bench.start('echo "[$OURS][$WAKECHART_STORE]"');
      expect((await handle.result).output).toBe('[yes][]\n');
    } finally {
      delete process.env['WAKECHART_STORE'];
      delete process.env['OURS'];
    }
  });

  it('has stdout and stderr in the order they came, and the log each line with its source', async () => {
    const handle = await bench.start('echo one; read -r next; echo two >&2; read -r next; echo three');
    for (const line of ['[stdout] one', '[stderr] two']) {
      await logged(handle, line);
      await handle.send({ stdin: 'next\n', end: false });
    }
    expect((await handle.result).output).toBe('one\ntwo\nthree\n');
    expect(await logOf(handle)).toEqual(['[stdout] one', '[stderr] two', '[stdout] three']);
  });

  it('is there for a command that prints nothing', async () => {
    const handle = await bench.start(':');
    expect(await handle.result).toEqual({ taskId: handle.taskId, output: '', exitCode: 0 });
    expect(await handle.readLog()).toEqual({ taskId: handle.taskId, cursor: { offset: 0 }, lines: [] });
  });

  it('keeps characters and lines whole that arrive in pieces', async () => {
    const pieces: string[] = [];
    await reopen({ onOutput: ({ chunk }) => void pieces.push(Buffer.from(chunk).toString('latin1')) });
    const parts = [
      "printf '\\360\\237'",
      "printf 'x' >&2",
      "printf '\\246\\212 he'",
      "printf 'llo\\r'",
      "printf '\\nend'",
    ];
    const handle = await bench.start(parts.join('; read -r next; '));
    for (let count = 1; count < parts.length; count += 1) {
      await eventually(() => pieces.length === count, `piece ${count} came`);
      await handle.send({ stdin: 'next\n', end: false });
    }
    expect((await handle.result).output).toBe('x🦊 hello\r\nend');
    // What has no end when a stream closes is a line then, and streams close in any order.
    const log = await logOf(handle);
    expect(log.filter((line) => line.startsWith('[stdout]'))).toEqual(['[stdout] 🦊 hello', '[stdout] end']);
    expect(log.filter((line) => line.startsWith('[stderr]'))).toEqual(['[stderr] x']);
  });

  it('keeps the head of long output, and the tail beside it', async () => {
    const handle = await bench.start('echo begin; yes € | head -n 20000; echo end', { outputLimitBytes: 1000 });
    const { output, metadata } = await handle.result;
    expect(output.startsWith('begin\n€\n€\n')).toBe(true);
    expect(output.endsWith('€\n[output truncated]\n') || output.endsWith('\n\n[output truncated]\n')).toBe(true);
    expect(Buffer.byteLength(output)).toBeLessThanOrEqual(1000 + '\n[output truncated]\n'.length);
    expect(output).not.toContain('\ufffd');
    expect(metadata).toMatchObject({ outputBytes: 80_010 });
    expect(metadata?.['outputTail']).toMatch(/^\n\[output truncated\]\n[\s€]*end\n$/);
  });

  it('keeps 30,000 bytes unless told otherwise', async () => {
    const { output } = await (await bench.start('head -c 40000 /dev/zero | tr "\\0" x')).result;
    expect(output).toBe(`${'x'.repeat(30_000)}\n[output truncated]\n`);
  });

  it('takes binary output as it comes', async () => {
    const handle = await bench.start("printf 'a\\000b\\377c\\n'");
    expect((await handle.result).output).toBe('a\0b\ufffdc\n');
    expect(await logOf(handle)).toEqual(['[stdout] a\0b\ufffdc']);
  });
});

describe('the surroundings of a command', () => {
  it('are its own folder, the inherited environment, and what the request adds', async () => {
    await reopen({ environment: () => ({ PATH: process.env['PATH'], INHERITED: 'yes', BOTH: 'inherited' }) });
    await mkdir(join(bench.folder, 'a folder'));
    const handle = await bench.start('pwd; echo "$INHERITED $BOTH $ADDED [$HOME]"; echo "$WAKECHART_TASK"', {
      cwd: join(bench.folder, 'a folder'),
      env: { BOTH: 'request', ADDED: 'a b', WAKECHART_TASK: 'forged' },
    });
    const [folder, variables, tag] = (await handle.result).output.split('\n');
    expect(folder).toBe(join(bench.folder, 'a folder'));
    expect(variables).toBe('yes request a b []');
    expect(tag).toMatch(/^[0-9a-f-]{36}$/);
  });

  it('include the shell that the request names', async () => {
    const handle = await bench.start('echo "${BASH_VERSION:+bash} $0"', { shell: 'bash' });
    expect((await handle.result).output).toBe('bash bash\n');
  });

  it('are a process group and a session of its own', async () => {
    const handle = await bench.start('exec ps -o pid=,pgid=,sess= -p $$');
    const [pid, group, session] = (await handle.result).output.trim().split(/\s+/).map(Number);
    expect([pid, group, session]).toEqual([handle.pid, handle.pid, handle.pid]);
  });
});

describe('a command that cannot be started', () => {
  it.each([
    ['a folder that is not there', { cwd: '/no/such/folder' }, 'TASK_CWD_INVALID', /\/no\/such\/folder/],
    ['a file as its folder', { cwd: '/dev/null' }, 'TASK_CWD_INVALID', /is no folder/],
    ['a shell that is not there', { shell: '/no/such/shell' }, 'TASK_SHELL_MISSING', /\/no\/such\/shell/],
    ['a shell that is no program', { shell: '/etc/passwd' }, 'TASK_SHELL_MISSING', /may not be executed/],
  ])('for %s says so and what to do', async (_what, request, code, message) => {
    await expect(bench.start('true', request)).rejects.toMatchObject({
      category: 'process',
      code,
      message: expect.stringMatching(message),
      hint: expect.any(String),
    });
    expect(await readdir(bench.records).catch(() => [])).toEqual([]);
  });

  it('because it is too long says so', async () => {
    await expect(bench.start(`: ${'x'.repeat(300_000)}`)).rejects.toMatchObject({
      category: 'process',
      code: 'TASK_COMMAND_TOO_LONG',
    });
  });

  it('because of a NUL character says so', async () => {
    await expect(bench.start('echo a\0b')).rejects.toMatchObject({ category: 'process', code: 'TASK_SPAWN_FAILED' });
    await expect(bench.start('true', { env: { A: 'b\0c' } })).rejects.toMatchObject({
      category: 'process',
      code: 'TASK_SPAWN_FAILED',
    });
  });

  it('because its folder may not be entered says so', async () => {
    const locked = join(bench.folder, 'locked');
    await mkdir(locked);
    await writeFile(join(locked, 'file'), '');
    await chmod(locked, 0o600);
    const attempt = bench.start('true', { cwd: locked });
    // The superuser may enter any folder.
    if (process.getuid?.() === 0) await (await attempt).result;
    else await expect(attempt).rejects.toMatchObject({ category: 'process', code: 'TASK_CWD_INVALID' });
    await chmod(locked, 0o700);
  });
});

describe('a listener to output', () => {
  it('hears every byte, by source', async () => {
    const heard: Parameters<OnShellOutput>[0][] = [];
    await reopen({ onOutput: (output) => void heard.push(output) });
    const handle = await bench.start('printf out; printf err >&2');
    await handle.result;
    const textOf = (source: string): string =>
      Buffer.concat(heard.filter((one) => one.source === source).map(({ chunk }) => chunk)).toString();
    expect([textOf('stdout'), textOf('stderr'), heard[0]?.taskId]).toEqual(['out', 'err', handle.taskId]);
  });

  it('is not sent more while it is busy, and hears the rest after the end', async () => {
    let heardBytes = 0;
    let release: (() => void) | undefined;
    const gate = new Promise<void>((resolve) => (release = resolve));
    await reopen({
      onOutput: ({ chunk }) => {
        heardBytes += chunk.length;
        return gate;
      },
    });
    const handle = await bench.start('exec head -c 3000000 /dev/zero');
    await eventually(() => heardBytes > 0 && stateLetter(handle.pid) === 'S', 'the command waits');
    expect(heardBytes).toBeLessThan(1_000_000);
    release?.();
    await handle.result;
    expect(heardBytes).toBe(3_000_000);
  });

  it('is waited for after the end of the command, unless it is cancelled', async () => {
    let isHeard = false;
    await reopen({
      onOutput: () => {
        isHeard = true;
        return new Promise(() => undefined);
      },
    });
    const handle = await bench.start('echo a word; exit 4');
    await eventually(() => isHeard && !isRunning(handle.pid), 'the command is over, the listener is not');
    let isSettled = false;
    void handle.result.then(() => (isSettled = true));
    await quietPeriod(200);
    expect(isSettled).toBe(false);
    await handle.cancel();
    expect(await handle.result).toMatchObject({ output: 'a word\n', exitCode: 4 });
  });

  it('that throws or rejects is dropped, and harms nothing', async () => {
    for (const onOutput of [
      () => {
        throw new Error('deaf');
      },
      () => Promise.reject(new Error('deaf')),
    ]) {
      await reopen({ onOutput });
      const handle = await bench.start('echo one; read -r next; echo two');
      await logged(handle, '[system] the output listener failed and hears no more: deaf');
      await handle.send({ stdin: 'next\n' });
      expect(await handle.result).toMatchObject({ output: 'one\ntwo\n', exitCode: 0 });
      expect(await logOf(handle)).toEqual([
        '[stdout] one',
        '[system] the output listener failed and hears no more: deaf',
        '[stdout] two',
      ]);
    }
  });
});

describe('shell runner options', () => {
  it.each([
    { killGraceMs: NaN },
    { killGraceMs: -1 },
    { lingerMs: Infinity },
    { outputLimitBytes: -5 },
    { logFileLimitBytes: 1000 },
    { logLimitBytes: Infinity },
    { defaultShell: '' },
  ])('are refused when they make no sense: %j', (options) => {
    const clock = createSystemClock();
    expect(() =>
      createManagedShellProcessRunner({ processTree: createProcessTree({ clock }), clock, ...options }),
    ).toThrow(expect.objectContaining({ category: 'validation', code: 'TASK_OPTIONS_INVALID' }));
  });
});
