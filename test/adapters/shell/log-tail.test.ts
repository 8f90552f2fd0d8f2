/** The end of a task's log is read from the disk, by any process over the home. */
import { mkdir, mkdtemp, rm, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createTaskOutputs } from '../../../src/adapters/shell/log-tail.ts';

let folder = '';
const TAG = 'abcdefgh-1234';

beforeEach(async () => {
  folder = join(await mkdtemp(join(tmpdir(), 'tails-')), 'task-logs');
});

afterEach(() => rm(join(folder, '..'), { recursive: true }));

const newest = (taskId = 'task_1'): Promise<unknown> => createTaskOutputs(folder).newest({ taskId, tag: TAG });

describe('the newest output of a task', () => {
  it('is unknown where there is no folder, and where there is no log', async () => {
    expect(await newest()).toBeUndefined();
    await mkdir(folder);
    expect(await newest()).toBeUndefined();
  });

  it('is the last lines of its file, and when they were written', async () => {
    await mkdir(folder);
    const path = join(folder, 'task_1.log');
    await writeFile(path, Array.from({ length: 5_000 }, (_, index) => `[stdout] line ${index}\n`).join(''));
    await utimes(path, 1_000, 1_000);
    expect(await newest()).toEqual({
      lines: Array.from({ length: 12 }, (_, index) => `[stdout] line ${4_988 + index}`),
      writtenAt: '1970-01-01T00:16:40.000Z',
    });
  });

  it('is not that of an earlier task with the same id, whose file is older', async () => {
    await mkdir(folder);
    await writeFile(join(folder, 'task_1.log'), 'an earlier task\n');
    const since = (ms: number): Promise<unknown> =>
      createTaskOutputs(folder).newest({
        taskId: 'task_1',
        tag: TAG,
        startedAt: new Date(Date.now() + ms).toISOString(),
      });
    expect([await since(0), await since(60_000)]).toEqual([
      expect.objectContaining({ lines: ['an earlier task'] }),
      undefined,
    ]);
  });

  it('is of the file with its tag where an earlier task had its id, and of the newest tail of that', async () => {
    await mkdir(folder);
    await writeFile(join(folder, 'task_1.log'), 'an earlier task\n');
    await writeFile(join(folder, 'task_1.abcdefgh.log'), 'head\n');
    expect(await newest()).toMatchObject({ lines: ['head'] });
    await writeFile(join(folder, 'task_1.abcdefgh.log.900'), 'older tail\n');
    await writeFile(join(folder, 'task_1.abcdefgh.log.1000'), 'newest tail\n');
    await writeFile(join(folder, 'task_1.abcdefgh.log.x'), 'none of it\n');
    expect(await newest()).toMatchObject({ lines: ['newest tail'] });
    expect(await newest('task_2')).toBeUndefined();
  });
});
