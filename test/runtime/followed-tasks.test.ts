/** What one who follows a task of another process hears besides whole lines and the end. */
import { rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { FollowedTaskNews } from '../../src/actors/task/followed-task.ts';
import { createNodeRuntime } from '../../src/node/node-runtime.ts';
import type { NodeRuntime } from '../../src/node/node-runtime.ts';
import { startTaskOwner } from '../support/task-owner.ts';
import type { TaskOwner } from '../support/task-owner.ts';
import { temporaryHome } from '../support/temporary-home.ts';
import type { TemporaryHome } from '../support/temporary-home.ts';

let folder: TemporaryHome;
let home: string;
let ours: NodeRuntime;
const owners: TaskOwner[] = [];

beforeEach(async () => {
  folder = await temporaryHome();
  home = join(folder.path, 'home');
  ours = await createNodeRuntime({ home, reconcileOnStart: false });
});
afterEach(async () => {
  for (const owner of owners.splice(0)) await owner.kill();
  await ours.reconcile();
  await ours.shutdown();
  await folder.remove();
});

async function begun(command: string): Promise<{ readonly owner: TaskOwner; readonly id: string }> {
  const owner = await startTaskOwner(home, [command]);
  owners.push(owner);
  const [task] = await ours.tasksElsewhere.list();
  return { owner, id: task?.id ?? '' };
}

interface Followed {
  readonly news: FollowedTaskNews[];
  readonly over: Promise<void>;
}

function follow(id: string, unfinished = false): Followed {
  const news: FollowedTaskNews[] = [];
  const hear = async (): Promise<void> => {
    for await (const each of ours.tasksElsewhere.follow(id, { unfinished })) news.push(each);
  };
  const over = hear();
  over.catch(() => undefined);
  return { news, over };
}

const UNTIL_GO = 'until test -e go; do sleep 0.02; done';

describe('a process that is stopped', () => {
  it('is told of once to those who follow its task, who go on when it does', { timeout: 60_000 }, async () => {
    const { owner, id } = await begun(`echo one; ${UNTIL_GO}; echo two`);
    const early = follow(id);
    await expect.poll(() => early.news).toEqual([{ type: 'lines', offset: 0, lines: ['[stdout] one'] }]);
    owner.process.kill('SIGSTOP');
    try {
      const late = follow(id);
      for (const { news } of [early, late])
        await expect.poll(() => news, { timeout: 30_000 }).toContainEqual({ type: 'silent' });
      await writeFile(join(home, 'go'), '');
      owner.process.kill('SIGCONT');
      for (const { news, over } of [early, late]) {
        await over;
        expect(news.filter(({ type }) => type === 'silent')).toHaveLength(1);
        expect(news.at(-2)).toEqual({ type: 'lines', offset: 1, lines: ['[stdout] two'] });
        expect(news.at(-1)).toMatchObject({ type: 'ended', task: { status: 'completed' } });
      }
    } finally {
      owner.process.kill('SIGCONT');
    }
  });
});

describe('what has no line end yet', () => {
  it('is told as it grows to those who ask for it, after the lines before it', async () => {
    const { id } = await begun("echo one; printf 'Name: '; read -r name; printf 'Hello '; read -r x; echo \"$name\"");
    const asking = follow(id, true);
    const others = follow(id);
    await expect
      .poll(() => asking.news)
      .toEqual([
        { type: 'lines', offset: 0, lines: ['[stdout] one'] },
        { type: 'unfinished', offset: 1, lines: ['[stdout] Name: '] },
      ]);
    await ours.tasksElsewhere.send(id, { stdin: 'Ada\n', end: false });
    await expect
      .poll(() => asking.news.at(-1))
      .toEqual({ type: 'unfinished', offset: 1, lines: ['[stdout] Name: Hello '] });
    await ours.tasksElsewhere.send(id, { stdin: '\n' });
    for (const { news, over } of [asking, others]) {
      await over;
      expect(news.at(-2)).toEqual({ type: 'lines', offset: 1, lines: ['[stdout] Name: Hello Ada'] });
    }
    expect(others.news.map(({ type }) => type)).toEqual(['lines', 'lines', 'ended']);
  });
});

describe('a log that is removed while it is followed', () => {
  it('is told of, and the task goes on', async () => {
    const { id } = await begun(`echo one; ${UNTIL_GO}; exit 3`);
    const { news, over } = follow(id);
    await expect.poll(() => news).toHaveLength(1);
    await rm(join(home, 'task-logs'), { recursive: true });
    await expect(over).rejects.toMatchObject({
      code: 'TASK_LOG_REMOVED',
      message: `the log of task ${id} was removed while it was read`,
    });
    const waited = ours.tasksElsewhere.wait(id);
    await writeFile(join(home, 'go'), '');
    expect(await waited).toMatchObject({ exitCode: 3 });
  });
});

it('a refusal of another process names the task with its process', async () => {
  const theirs = await createNodeRuntime({ home, reconcileOnStart: false });
  try {
    const system = theirs.inspection.systems.find(({ label }) => label === 'what tools keep open');
    await system?.tasks.spawn({ kind: 'process', label: 'shell main', command: 'cat', cwd: folder.path });
    await expect.poll(() => ours.tasksElsewhere.list()).toMatchObject([{ taskId: 'shell_1' }]);
    const [task] = await ours.tasksElsewhere.list();
    const id = task?.id ?? '';
    await expect(ours.tasksElsewhere.readLog(id)).rejects.toMatchObject({
      message: expect.stringContaining(`task ${id} shows no log`) as string,
    });
    await expect(ours.tasksElsewhere.cancel(`${task?.process.name ?? ''}/task_9`)).rejects.toMatchObject({
      message: `there is no task "${task?.process.name ?? ''}/task_9"`,
    });
  } finally {
    await theirs.shutdown();
  }
});
