/** The tasks of one runtime, seen from another over the same home. */
import { execFileSync } from 'node:child_process';
import { readdir, rename, stat, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { FollowedTaskNews } from '../../src/actors/task/followed-task.ts';
import type { TaskElsewhere } from '../../src/actors/task/task-elsewhere.ts';
import { newToken, placeHere } from '../../src/adapters/host-life/socket-host-life.ts';
import { createNodeRuntime } from '../../src/node/node-runtime.ts';
import type { NodeRuntime } from '../../src/node/node-runtime.ts';
import { isRunning } from '../adapters/process-tree/system-processes.ts';
import { startTaskOwner } from '../support/task-owner.ts';
import type { TaskOwner } from '../support/task-owner.ts';
import { temporaryHome } from '../support/temporary-home.ts';
import type { TemporaryHome } from '../support/temporary-home.ts';

let folder: TemporaryHome;
let home: string;
const runtimes: NodeRuntime[] = [];
const owners: TaskOwner[] = [];

beforeEach(async () => {
  folder = await temporaryHome();
  home = join(folder.path, 'home');
});
afterEach(async () => {
  for (const owner of owners) await owner.kill();
  // What they left running.
  if (owners.splice(0).length > 0) await (await open()).reconcile();
  for (const runtime of runtimes.splice(0)) await runtime.shutdown();
  await folder.remove();
});

async function open(): Promise<NodeRuntime> {
  const runtime = await createNodeRuntime({ home, reconcileOnStart: false });
  runtimes.push(runtime);
  return runtime;
}

async function begin({ tasks }: NodeRuntime, command: string, mode: 'foreground' | 'background' = 'background') {
  const { id } = await tasks.spawn({ kind: 'process', label: command, mode, command, cwd: folder.path });
  await expect.poll(() => tasks.get(id)?.logPath).toBeDefined();
  return id;
}

async function one({ tasksElsewhere }: NodeRuntime): Promise<TaskElsewhere> {
  const [task, ...others] = await tasksElsewhere.list();
  if (task === undefined || others.length > 0) throw new Error(`there are ${others.length + 1} tasks or none`);
  return task;
}

async function lose(command: string): Promise<TaskOwner> {
  const owner = await startTaskOwner(home, [command]);
  owners.push(owner);
  return owner;
}

async function told(
  news: AsyncIterable<FollowedTaskNews>,
): Promise<{ lines: string[]; end: TaskElsewhere | undefined }> {
  const lines: string[] = [];
  let end: TaskElsewhere | undefined;
  for await (const each of news)
    if (each.type === 'lines') lines.push(...each.lines);
    else if (each.type === 'ended') end = each.task;
  return { lines, end };
}

describe('a task of another runtime', () => {
  it('is listed under an id of the whole home, with its process, and not by its own', async () => {
    const [ours, theirs] = [await open(), await open()];
    await begin(theirs, 'sleep 1000');
    const task = await one(ours);
    expect(task).toMatchObject({ taskId: 'task_1', status: 'running', label: 'sleep 1000', cwd: folder.path });
    expect(task.process).toMatchObject({ pid: process.pid, reach: 'answers' });
    expect(task.id).toBe(`${task.process.name}/task_1`);
    expect(await ours.tasksElsewhere.get(task.id)).toEqual(task);
    expect(await theirs.tasksElsewhere.list()).toEqual([]);
    expect(ours.tasks.list()).toEqual([]);
  });

  it('is told apart from one with the same name in a third process, and by what is asked for', async () => {
    const [ours, theirs, others] = [await open(), await open(), await open()];
    await begin(theirs, 'sleep 1000');
    await begin(others, 'exit 3');
    await expect.poll(() => others.tasks.get('task_1')?.status).toBe('completed');
    const all = await ours.tasksElsewhere.list();
    expect(all.map(({ taskId }) => taskId)).toEqual(['task_1', 'task_1']);
    expect(new Set(all.map(({ id }) => id)).size).toBe(2);
    expect((await ours.tasksElsewhere.list({ status: 'running' })).map(({ label }) => label)).toEqual(['sleep 1000']);
    await expect(ours.tasksElsewhere.list({ status: 'lively' as 'running' })).rejects.toMatchObject({
      code: 'TASK_FILTER_INVALID',
    });
  });

  it('takes input, and is followed from any line to its end', async () => {
    const [ours, theirs] = [await open(), await open()];
    await begin(theirs, 'echo begins; while read -r line; do echo "got $line"; done; exit 7');
    const { id } = await one(ours);
    const { tasksElsewhere } = ours;
    const followed = told(tasksElsewhere.follow(id));
    const later = told(tasksElsewhere.follow(id, { from: 2 }));
    await tasksElsewhere.send(id, { stdin: 'a\n', end: false });
    await tasksElsewhere.send(id, { stdin: 'b\n' });
    const { lines, end } = await followed;
    expect(lines).toEqual(['[stdout] begins', '[stdout] got a', '[stdout] got b']);
    expect(end).toMatchObject({ id, status: 'completed', result: { exitCode: 7, output: 'begins\ngot a\ngot b\n' } });
    expect((await later).lines).toEqual(['[stdout] got b']);
    expect(await tasksElsewhere.wait(id)).toMatchObject({ exitCode: 7 });
    expect(await tasksElsewhere.readLog(id, { offset: 1 })).toMatchObject({
      cursor: { offset: 1 },
      lines: ['[stdout] got a', '[stdout] got b'],
    });
    await expect(tasksElsewhere.send(id, { stdin: 'c' })).rejects.toMatchObject({ code: 'TASK_ENDED' });
  });

  it('is followed to its last line although its process forgets it as soon as it has ended', async () => {
    const [ours, theirs] = [await open(), await open()];
    const taskId = await begin(theirs, 'read -r line; seq 1000');
    const forgotten = theirs.tasks.wait(taskId).then(() => theirs.tasks.close(taskId));
    const { id } = await one(ours);
    const followed = told(ours.tasksElsewhere.follow(id));
    await ours.tasksElsewhere.send(id, { stdin: '\n' });
    await forgotten;
    const { lines, end } = await followed;
    expect(lines).toHaveLength(1_000);
    expect(end).toMatchObject({ status: 'completed', result: { exitCode: 0 } });
    expect(await ours.tasksElsewhere.get(id)).toBeUndefined();
  });

  it('is left alone by one who follows no more', async () => {
    const [ours, theirs] = [await open(), await open()];
    await begin(theirs, 'echo one; exec sleep 1000');
    const { id } = await one(ours);
    const leaving = new AbortController();
    const lines: FollowedTaskNews[] = [];
    for await (const news of ours.tasksElsewhere.follow(id, { signal: leaving.signal })) {
      lines.push(news);
      leaving.abort();
    }
    expect(lines).toEqual([{ type: 'lines', offset: 0, lines: ['[stdout] one'] }]);
    expect(await told(ours.tasksElsewhere.follow(id, { untilEnd: false }))).toMatchObject({
      lines: ['[stdout] one'],
      end: undefined,
    });
    expect(theirs.tasks.get('task_1')?.status).toBe('running');
  });

  it('is cancelled once by any number who ask, and each hears how it ended', async () => {
    const [ours, theirs, others] = [await open(), await open(), await open()];
    await begin(theirs, 'sleep 1000');
    const { id } = await one(ours);
    const waited = ours.tasksElsewhere.wait(id);
    const ends = await Promise.all([
      ours.tasksElsewhere.cancel(id, 'it is late'),
      others.tasksElsewhere.cancel(id, 'too much'),
    ]);
    expect(ends.map(({ status }) => status)).toEqual(['cancelled', 'cancelled']);
    expect(new Set(ends.map(({ error }) => error?.message)).size).toBe(1);
    await expect(waited).rejects.toMatchObject({ code: 'TASK_CANCELLED' });
    expect(await ours.tasksElsewhere.cancel(id)).toMatchObject({ status: 'cancelled' });
  });

  it('stays what it became where a cancel meets its end', async () => {
    const [ours, theirs] = [await open(), await open()];
    await begin(theirs, 'read -r line; exit 5');
    const { id } = await one(ours);
    const [end] = await Promise.all([
      ours.tasksElsewhere.cancel(id),
      theirs.tasks.send('task_1', { stdin: '\n' }).catch(() => 0),
    ]);
    expect(['completed', 'cancelled']).toContain(end.status);
    expect(theirs.tasks.get('task_1')?.status).toBe(end.status);
  });

  it('keeps no runtime from shutting down, and its followers hear that it was cancelled', async () => {
    const [ours, theirs] = [await open(), await open()];
    await begin(theirs, 'echo one; exec sleep 1000');
    const { id } = await one(ours);
    const followed = told(ours.tasksElsewhere.follow(id));
    await expect(ours.tasksElsewhere.get(id)).resolves.toBeDefined();
    await theirs.shutdown();
    expect(await followed).toMatchObject({ end: { status: 'cancelled' } });
    expect(await ours.tasksElsewhere.list()).toEqual([]);
  });

  it('is reached although very many follow it, with one signal for all of them', async () => {
    const [ours, theirs] = [await open(), await open()];
    await begin(theirs, 'echo one; exec sleep 1000');
    const { id } = await one(ours);
    const warnings: Error[] = [];
    const hear = (warning: Error): void => void warnings.push(warning);
    process.on('warning', hear);
    try {
      const { signal } = new AbortController();
      let begun = 0;
      const ends = Array.from({ length: 300 }, async () => {
        for await (const news of ours.tasksElsewhere.follow(id, { signal }))
          if (news.type === 'ended') return news.task.status;
          else begun += 1;
        return undefined;
      });
      await expect.poll(() => begun, { timeout: 20_000 }).toBe(300);
      expect(await one(ours)).toMatchObject({ process: { reach: 'answers' } });
      expect(await ours.tasksElsewhere.cancel(id)).toMatchObject({ status: 'cancelled' });
      expect(new Set(await Promise.all(ends))).toEqual(new Set(['cancelled']));
      expect(warnings).toEqual([]);
    } finally {
      process.off('warning', hear);
    }
  });

  it('is listed where it runs among more tasks than are told', async () => {
    const [ours, theirs] = [await open(), await open()];
    await begin(theirs, 'sleep 1000');
    const wait = { kind: 'process', label: 'x', command: 'sleep 1000', cwd: folder.path } as const;
    for (let count = 0; count < 2_100; count += 1) await theirs.tasks.spawn(wait);
    const { tasks, leftOut } = await ours.tasksElsewhere.survey();
    expect({ told: tasks.length, leftOut, first: tasks[0]?.taskId }).toEqual({
      told: 2_000,
      leftOut: 101,
      first: 'task_1',
    });
    expect(tasks.at(-1)?.status).toBe('queued');
    expect((await ours.tasksElsewhere.list({ status: 'running' })).map(({ taskId }) => taskId)).toContain('task_1');
  });

  it('is followed where its log is not to be seen on the disk from here', async () => {
    const [ours, theirs] = [await open(), await open()];
    await begin(theirs, 'echo one; read -r line; seq 1000');
    await rename(join(home, 'task-logs'), join(home, 'moved'));
    const { id } = await one(ours);
    const followed = told(ours.tasksElsewhere.follow(id));
    await ours.tasksElsewhere.send(id, { stdin: '\n' });
    expect((await followed).lines).toHaveLength(1_001);
  });

  it('is waited for until that is given up', async () => {
    const [ours, theirs] = [await open(), await open()];
    await begin(theirs, 'sleep 1000');
    const leaving = new AbortController();
    const waited = ours.tasksElsewhere.wait((await one(ours)).id, leaving);
    leaving.abort(new Error('enough'));
    await expect(waited).rejects.toThrow('enough');
  });

  it('refuses what it cannot take, in the words of its process', async () => {
    const [ours, theirs] = [await open(), await open()];
    await begin(theirs, 'sleep 1000', 'foreground');
    const { id } = await one(ours);
    const { tasksElsewhere } = ours;
    await expect(tasksElsewhere.send(id, { stdin: 'x' })).rejects.toMatchObject({ code: 'TASK_INPUT_CLOSED' });
    await expect(tasksElsewhere.send(id, { stdin: 'x'.repeat(1_048_577) })).rejects.toMatchObject({
      code: 'TASK_INPUT_TOO_LONG',
    });
    await expect(tasksElsewhere.send(id, {})).rejects.toMatchObject({ code: 'TASK_INPUT_INVALID' });
    for (const wrong of [
      undefined as unknown as string,
      5 as unknown as string,
      'task_1',
      '',
      '/task_1',
      'x/',
      `${id}0`,
      'aaaaaaaa/task_1',
      '../../etc/passwd',
    ])
      for (const work of [
        () => tasksElsewhere.cancel(wrong),
        () => tasksElsewhere.wait(wrong),
        () => tasksElsewhere.readLog(wrong),
        () => told(tasksElsewhere.follow(wrong)),
      ])
        await expect(work()).rejects.toMatchObject({ code: 'TASK_NOT_FOUND' });
    expect(await tasksElsewhere.get(`${id}0`)).toBeUndefined();
  });

  it('is reached in a home whose path is longer than that of any socket', async () => {
    home = join(folder.path, 'long'.repeat(30), 'path'.repeat(30));
    const [ours, theirs] = [await open(), await open()];
    await begin(theirs, 'sleep 1000');
    expect(await ours.tasksElsewhere.cancel((await one(ours)).id)).toMatchObject({ status: 'cancelled' });
  });
});

describe('a shell that an agent keeps open', () => {
  it('can be seen and cancelled, and nothing else comes in or out', async () => {
    const [ours, theirs] = [await open(), await open()];
    const system = theirs.inspection.systems.find(({ label }) => label === 'what tools keep open');
    await system?.tasks.spawn({ kind: 'process', label: 'shell main', command: 'cat', cwd: folder.path });
    await expect.poll(() => ours.tasksElsewhere.list()).toMatchObject([{ taskId: 'shell_1' }]);
    const { id } = await one(ours);
    await expect(ours.tasksElsewhere.send(id, { stdin: 'x' })).rejects.toMatchObject({
      code: 'TASK_INPUT_UNSUPPORTED',
    });
    await expect(ours.tasksElsewhere.readLog(id)).rejects.toMatchObject({ code: 'TASK_LOG_UNSUPPORTED' });
    expect(await ours.tasksElsewhere.cancel(id)).toMatchObject({ status: 'cancelled' });
  });
});

describe('a task whose process was killed', () => {
  it('has failed as lost, for those who follow it too, and its log can be read', async () => {
    const owner = await lose('echo one; exec sleep 1000');
    const ours = await open();
    const { id, process: host } = await one(ours);
    expect(host.pid).toBe(owner.pid);
    const [followed, waited] = [told(ours.tasksElsewhere.follow(id)), ours.tasksElsewhere.wait(id)];
    waited.catch(() => undefined);
    await expect.poll(async () => (await ours.tasksElsewhere.readLog(id)).lines).toEqual(['[stdout] one']);
    await owner.kill();
    const { lines, end } = await followed;
    expect(lines).toEqual(['[stdout] one']);
    expect(end).toMatchObject({ id, status: 'failed', timeoutReason: 'stale_worker', error: { code: 'TASK_LOST' } });
    await expect(waited).rejects.toMatchObject({ code: 'TASK_LOST' });
    expect(await ours.tasksElsewhere.list({ status: 'running' })).toEqual([]);
    expect(await one(ours)).toMatchObject({ id, status: 'failed', survivors: 1, process: { reach: 'lost' } });
    await expect(ours.tasksElsewhere.send(id, { stdin: 'x' })).rejects.toMatchObject({ code: 'TASK_LOST' });
    expect((await ours.tasksElsewhere.readLog(id)).lines).toEqual(['[stdout] one']);
  });

  it('is not lost where it had ended and its process left at once', async () => {
    const command = 'echo one; until test -e go; do sleep 0.02; done; exit 7';
    const owner = await startTaskOwner(home, [command], { leavesAtEnd: true });
    owners.push(owner);
    const ours = await open();
    const { id } = await one(ours);
    const followed = told(ours.tasksElsewhere.follow(id));
    await writeFile(join(home, 'go'), '');
    const { lines, end } = await followed;
    expect(lines).toEqual(['[stdout] one']);
    expect([7, 'TASK_END_UNKNOWN']).toContain(end?.result?.exitCode ?? end?.error?.code);
  });

  it('takes what it left running along when it is cancelled, and can be read of after that', async () => {
    const owner = await lose('echo one; exec sleep 1000');
    const ours = await open();
    await owner.kill();
    const { id, pid = 0 } = await one(ours);
    expect(await ours.tasksElsewhere.cancel(id)).toMatchObject({ status: 'failed', survivors: 0 });
    expect(isRunning(pid)).toBe(false);
    expect(await one(ours)).toMatchObject({ id, status: 'failed', survivors: 0 });
    expect((await ours.tasksElsewhere.readLog(id)).lines).toEqual(['[stdout] one']);
    expect(await readdir(join(home, 'processes'))).toEqual([]);
  });

  it('is still told of when the next runtime has cleared up', async () => {
    const owner = await lose('echo one; exec sleep 1000');
    const ours = await open();
    const { id } = await one(ours);
    await owner.kill();
    await (await open()).reconcile();
    expect(await ours.tasksElsewhere.get(id)).toMatchObject({ status: 'failed', error: { code: 'TASK_LOST' } });
    expect(await told(ours.tasksElsewhere.follow(id))).toMatchObject({ lines: ['[stdout] one'], end: { id } });
  });
});

describe('a process that lives and does not answer', () => {
  it('is told of as silent, with what is on record of its tasks', { timeout: 30_000 }, async () => {
    const owner = await lose('echo one; exec sleep 1000');
    const ours = await open();
    const { id } = await one(ours);
    owner.process.kill('SIGSTOP');
    try {
      expect(await one(ours)).toMatchObject({ id, status: 'running', process: { reach: 'silent', pid: owner.pid } });
      expect((await ours.tasksElsewhere.readLog(id)).lines).toEqual(['[stdout] one']);
      await expect(ours.tasksElsewhere.cancel(id)).rejects.toMatchObject({ code: 'TASK_PROCESS_SILENT' });
      const sent = ours.tasksElsewhere.send(id, { stdin: 'x' });
      await expect(sent).rejects.toMatchObject({ code: 'TASK_PROCESS_SILENT' });
    } finally {
      owner.process.kill('SIGCONT');
    }
    await expect.poll(async () => (await one(ours)).process.reach).toBe('answers');
  });

  it('may say what it likes: nothing of it is believed that is no answer', async () => {
    const [ours] = [await open(), await begin(await open(), 'sleep 1000')];
    const token = newToken(placeHere());
    for (const answer of ['', 'yes\n', '{"is":"tasks","pid":1,"tasks":[{}],"leftOut":0}\n', '{"is":"done"}\n']) {
      const server = createServer((connection) =>
        connection
          .on('error', () => undefined)
          .resume()
          .end(answer),
      );
      await new Promise<void>((resolve) => server.listen(join(home, 'hosts', `${token}.sock`), resolve));
      expect((await ours.tasksElsewhere.list()).map(({ label }) => label)).toEqual(['sleep 1000']);
      await expect(ours.tasksElsewhere.cancel(`${token.slice(-16, -8)}/task_1`)).rejects.toMatchObject({
        code: 'TASK_PROCESS_SILENT',
      });
      await new Promise((resolve) => server.close(resolve));
    }
  });

  it('is not asked on another machine', async () => {
    const ours = await open();
    await begin(ours, 'sleep 1000');
    const place = { boot: 'a'.repeat(12), machine: 'b'.repeat(12) };
    await writeFile(join(home, 'hosts', `${newToken(place)}.sock`), '');
    expect(await ours.tasksElsewhere.list()).toEqual([]);
    // On a disk that no machine shares it is gone; on any other it may live.
    expect(await ours.tasksElsewhere.beyond()).toBeLessThanOrEqual(1);
  });
});

describe('who may ask', () => {
  it('is the owner of the home, and no other user', async () => {
    const theirs = await open();
    await begin(theirs, 'sleep 1000');
    const [socket = ''] = (await readdir(join(home, 'hosts'))).filter((name) => name.endsWith('.sock'));
    const path = join(home, 'hosts', socket);
    expect((await stat(path)).mode & 0o777).toBe(0o600);
    if (process.getuid?.() !== 0) return;
    // The folders as open as they could be: the socket alone has to do.
    execFileSync('chmod', ['755', folder.path, home, join(home, 'hosts')]);
    const script = `require('net').connect(${JSON.stringify(path)}).on('error', (error) => console.log(error.code)).on('connect', () => { console.log('in'); process.exit(); })`;
    expect(execFileSync(process.execPath, ['-e', script], { uid: 65_534, cwd: '/', encoding: 'utf8' })).toBe(
      'EACCES\n',
    );
  });
});
