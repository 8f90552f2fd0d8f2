/** `wakechart task list | show | logs | attach | cancel`: tasks of a program over the same home. */
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { completionOf } from '../../src/cli/completion/completion.ts';
import { createProgram } from '../../src/cli/program.ts';
import { createNodeRuntime } from '../../src/node/node-runtime.ts';
import type { NodeRuntime } from '../../src/node/node-runtime.ts';
import { temporaryHome } from '../support/temporary-home.ts';
import type { TemporaryHome } from '../support/temporary-home.ts';
import type { Ended } from './command-line.ts';
import { records, run, start, until } from './command-line.ts';
import { runInProcess } from './in-process.ts';

let folder: TemporaryHome;
let home: string;
let runtime: NodeRuntime;

beforeEach(async () => {
  folder = await temporaryHome();
  home = join(folder.path, 'a home');
  runtime = await createNodeRuntime({ home });
});
afterEach(async () => {
  await runtime.shutdown();
  await folder.remove();
});

const task = (...words: readonly string[]): Promise<Ended> => runInProcess(['task', ...words, '--home', home]);

async function begin(command: string, label = command, of = runtime): Promise<string> {
  const { tasks } = of;
  const { id } = await tasks.spawn({ kind: 'process', label, mode: 'background', command, cwd: folder.path });
  await expect.poll(() => tasks.get(id)?.logPath).toBeDefined();
  return id;
}

async function ended(command: string): Promise<string> {
  const id = await begin(command);
  await runtime.tasks.wait(id);
  return id;
}

describe('task list', () => {
  it('says that there is none, and leaves nothing in the home', async () => {
    expect(await task('list')).toEqual({
      code: 0,
      stdout: `No process over ${home} has a task now.\n`,
      stderr: '',
    });
    expect(await task('list', '--home', join(folder.path, 'none'))).toMatchObject({ code: 0 });
    expect(JSON.parse((await task('list', '--json')).stdout)).toEqual({
      tasks: [],
      tasksLeftOut: 0,
      processesOutOfReach: 0,
    });
  });

  it('shows the tasks of every process, with how they stand', async () => {
    await begin('sleep 1000');
    await ended('exit 3');
    const { stdout } = await task('list');
    const rows = stdout.trimEnd().split('\n');
    expect(rows[0]).toMatch(/^TASK +STATUS +PID +STARTED +SESSION +WHAT$/);
    expect(rows[1]).toMatch(new RegExp(`^[0-9a-f]{8}/task_1 +running +${process.pid} +.* sleep 1000$`));
    expect(rows[2]).toMatch(/^[0-9a-f]{8}\/task_2 +exit code 3 .* exit 3$/);
    const running = JSON.parse((await task('list', '--status', 'running', '--json')).stdout) as { tasks: object[] };
    expect(running.tasks).toMatchObject([{ taskId: 'task_1', process: { pid: process.pid, reach: 'answers' } }]);
    expect((await task('list', '--status', 'cancelled')).stdout).toBe(
      `No process over ${home} has such a (cancelled) task now.\n`,
    );
  });
});

describe('the id of a task', () => {
  it('may be typed by its first characters, or as its process calls it', async () => {
    await begin('sleep 1000', 'sleeper');
    const { stdout } = await task('show', 'task_1');
    const [, id = ''] = /task +(\S+)/.exec(stdout) ?? [];
    expect(stdout).toContain(`run by   process ${process.pid}\n`);
    expect(stdout).toContain(`Next: `);
    for (const typed of [id, id.slice(0, 4), id.slice(0, 8), `${id.slice(0, 4)}/task_1`])
      expect((await task('show', typed)).stdout).toBe(stdout);
    expect(JSON.parse((await task('show', id, '--json')).stdout)).toMatchObject({ id, label: 'sleeper' });
  });

  it('that is whole is no beginning of another one', async () => {
    for (let count = 0; count < 9; count += 1) await runtime.tasks.close(await ended('exit 0'));
    await begin('sleep 1000');
    const [, id = ''] = /(\S+)\/task_10 /.exec((await task('list')).stdout) ?? [];
    for (const typed of [`${id}/task_1`, `${id.slice(0, 4)}/task_1`, `${id}/`])
      expect(await task('cancel', typed)).toMatchObject({ code: 1, stdout: '' });
    expect(runtime.tasks.get('task_10')?.status).toBe('running');
  });

  it('is asked for in full where it means several', async () => {
    const other = await createNodeRuntime({ home });
    try {
      await begin('sleep 1000', 'one');
      await begin('sleep 1000', 'two', other);
      const { code, stderr } = await task('cancel', 'task_1');
      expect(code).toBe(1);
      expect(stderr).toContain('2 processes have a task "task_1" [ID_AMBIGUOUS]');
      expect(stderr).toMatch(/[0-9a-f]{8}\/task_1 {2}running {2}two/);
    } finally {
      await other.shutdown();
    }
  });

  it('that is none names those that there are, and the one that is meant by what it does', async () => {
    const wrong = await task('logs', 'nothing');
    expect(wrong.code).toBe(1);
    expect(wrong.stderr).toContain('has a task "nothing" [TASK_NOT_FOUND]');
    expect(wrong.stderr).toContain('has one now');
    await begin('sleep 1000', 'sleeper');
    const [, id = ''] = /([0-9a-f]{8}\/task_1) /.exec((await task('list')).stdout) ?? [];
    expect((await task('show', id.slice(0, 2))).stderr).toContain(`Did you mean "${id}"?`);
    for (const command of ['show', 'logs', 'attach', 'cancel']) {
      const { code, stderr } = await task(command, 'sleper');
      expect(code).toBe(1);
      expect(stderr).toMatch(/Did you mean "[0-9a-f]{8}\/task_1"\?/);
    }
    expect((await task('logs', '')).code).toBe(1);
    expect(await task('logs')).toMatchObject({ code: 2 });
    expect(await task('lst')).toMatchObject({ code: 2, stderr: expect.stringContaining('list') as string });
  });

  it('is known to the shell that completes it', async () => {
    await begin('sleep 1000', 'sleeper');
    for (const verb of ['show', 'logs', 'attach', 'cancel'])
      expect(
        completionOf(
          createProgram(() => Promise.resolve()),
          ['task', verb, ''],
        ).values,
      ).toBe('tasks');
    const { stdout } = await runInProcess(['completion', 'words', '--', '--home', home, 'task', 'logs', '']);
    expect(stdout).toMatch(/^[0-9a-f]{8}\/task_1\trunning: sleeper\n/);
  });
});

describe('task logs', () => {
  it('prints each stream where the program wrote it', async () => {
    const id = await ended('echo out; echo err >&2; seq 500; exit 3');
    const { code, stdout, stderr } = await task('logs', id);
    expect({ code, stderr }).toEqual({ code: 0, stderr: 'err\n' });
    expect(stdout.split('\n')).toHaveLength(502);
  });

  it('prints from a line on, or the last ones', async () => {
    // One stream: what two put out at once is logged in either order.
    const id = await ended('seq 500');
    expect((await task('logs', id, '--last', '2')).stdout).toBe('499\n500\n');
    expect((await task('logs', id, '--last', '0')).stdout).toBe('');
    expect((await task('logs', id, '--from', '499')).stdout).toBe('500\n');
    expect(await task('logs', id, '--last', '1', '--from', '1')).toMatchObject({ code: 2 });
  });

  it('follows to the end, and exits as the task did', async () => {
    await begin('echo one; read -r line; echo "got $line"; exit 3');
    const following = task('logs', 'task_1', '--follow');
    await runtime.tasks.send('task_1', { stdin: 'it\n' });
    const { code, stdout, stderr } = await following;
    expect({ code, stdout }).toEqual({ code: 3, stdout: 'one\ngot it\n' });
    expect(stderr).toMatch(/^task [0-9a-f]{8}\/task_1: exit code 3\n$/);
    const told = await task('logs', 'task_1', '--follow', '--json');
    expect(records(told.stdout)).toMatchObject([
      { offset: 0, stream: 'stdout', text: 'one' },
      { offset: 1, stream: 'stdout', text: 'got it' },
      { task: { status: 'completed', result: { exitCode: 3 } } },
    ]);
  });

  it('says of a task that was cancelled that it was', async () => {
    await begin('echo one; exec sleep 1000');
    const following = task('logs', 'task_1', '--follow');
    await runtime.tasks.cancel('task_1', 'it is late');
    const { code, stderr } = await following;
    expect(code).toBe(1);
    expect(stderr).toContain('cancelled');
    expect(stderr).toContain('it is late');
  });
});

describe('task cancel', () => {
  it('stops a task, and tells of one that has ended how it did', async () => {
    await begin('sleep 1000');
    const { code, stdout } = await task('cancel', 'task_1', '--reason', 'it is late');
    expect({ code, stdout }).toEqual({ code: 0, stdout: expect.stringMatching(/^Cancelled task \S+\n$/) as string });
    expect(runtime.tasks.get('task_1')?.error?.message).toContain('it is late');
    const again = await task('cancel', 'task_1');
    expect(again).toMatchObject({ code: 0, stdout: expect.stringContaining('had ended already: cancelled') as string });
    await ended('exit 3');
    expect((await task('cancel', 'task_2')).stdout).toMatch(/had ended already: exit code 3\n$/);
    expect(JSON.parse((await task('cancel', 'task_2', '--json')).stdout)).toMatchObject({
      task: { status: 'completed' },
    });
  });
});

describe('task attach', () => {
  it('passes what is piped in, and exits as the task did', async () => {
    await begin('while read -r line; do echo "got $line"; done; exit 4');
    const { code, stdout, stderr } = await run(['task', 'attach', 'task_1', '--home', home], { input: 'a\nb\n' });
    expect({ code, stdout }).toEqual({ code: 4, stdout: 'got a\ngot b\n' });
    expect(stderr).toMatch(/^attached to task [0-9a-f]{8}\/task_1: .*\ntask [0-9a-f]{8}\/task_1: exit code 4\n$/);
  });

  it('leaves the task running at Ctrl-C, and says so', async () => {
    await begin('seq 20; exec sleep 1000');
    const attached = start(['task', 'attach', 'task_1', '--last', '2', '--home', home]);
    await until('the log', () => attached.stdout().includes('20\n'));
    attached.process.kill('SIGINT');
    const { code, stdout, stderr } = await attached.ended;
    expect({ code, stdout }).toEqual({ code: 0, stdout: '19\n20\n' });
    expect(stderr).toMatch(/detached; task \S+ goes on\. To stop it: .* task cancel \S+ --home '.*a home'\n$/);
    expect(runtime.tasks.get('task_1')?.status).toBe('running');
  });

  it('says where a task takes no input, and refuses one that has ended', async () => {
    const { tasks } = runtime;
    const command = 'until test -e go; do sleep 0.02; done';
    await tasks.spawn({ kind: 'process', label: 'x', mode: 'foreground', command, cwd: folder.path });
    await expect.poll(() => tasks.get('task_1')?.logPath).toBeDefined();
    const attached = start(['task', 'attach', 'task_1', '--home', home], { input: 'a\n' });
    await until('a word about its input', () => attached.stderr().includes('It takes no input.'));
    await writeFile(join(folder.path, 'go'), '');
    expect(await attached.ended).toMatchObject({ code: 0 });
    const late = await task('attach', 'task_1');
    expect(late).toMatchObject({ code: 1, stderr: expect.stringContaining('[TASK_ENDED]') as string });
  });
});

describe('a task run at another terminal', () => {
  it('is followed to its last line, although it keeps no log file and its process leaves', async () => {
    const command = 'echo one; until test -e go; do sleep 0.02; done; seq 20000; exit 7';
    const running = start(['task', 'run', '--home', home, '--cwd', folder.path, '--', command]);
    await until('its task', async () => (await task('list')).stdout.includes('echo one'));
    const following = start(['task', 'logs', 'task_1', '--follow', '--home', home]);
    await until('its first line', () => following.stdout() === 'one\n');
    await writeFile(join(folder.path, 'go'), '');
    const { code, stdout, stderr } = await following.ended;
    expect(code).toBe(7);
    expect(stdout.split('\n').slice(-2)).toEqual(['20000', '']);
    expect({ lines: stdout.split('\n').length, stderr }).toEqual({
      lines: 20_002,
      stderr: expect.stringMatching(/^task \S+: exit code 7\n$/) as string,
    });
    expect((await running.ended).code).toBe(7);
  });

  it('is seen and cancelled as any other', async () => {
    const running = start(['task', 'run', '--home', home, '--', 'sleep 1000']);
    await until('its task', async () => (await task('list')).stdout.includes('sleep 1000'));
    expect((await task('cancel', 'task_1')).stdout).toMatch(/^Cancelled/);
    expect(await running.ended).toMatchObject({ stderr: expect.stringContaining('TASK_CANCELLED') as string });
  });
});
