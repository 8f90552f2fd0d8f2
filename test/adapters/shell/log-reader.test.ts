/** Log files of tasks, read by another process than the one that writes them. */
import { appendFile, rm, symlink, writeFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { TaskLogLines, TaskLogReader } from '../../../src/actors/task/task-logs.ts';
import { DiskLog } from '../../../src/adapters/shell/disk-log.ts';
import { openLogFile } from '../../../src/adapters/shell/log-file-name.ts';
import { createTaskLogFiles } from '../../../src/adapters/shell/log-reader.ts';
import { LogRing } from '../../../src/machines/task/log-ring.ts';
import { temporaryHome } from '../../support/temporary-home.ts';
import type { TemporaryHome } from '../../support/temporary-home.ts';

let folder: TemporaryHome;
let path: string;

beforeEach(async () => {
  folder = await temporaryHome();
  path = join(folder.path, 'task_1.log');
});
afterEach(() => folder.remove());

async function open(from = 0): Promise<TaskLogReader> {
  await appendFile(path, '');
  const reader = await createTaskLogFiles(folder.path).open(path, from);
  if (reader === undefined) throw new Error('there is no log');
  return reader;
}

async function all(reader: TaskLogReader): Promise<TaskLogLines[]> {
  const rows: TaskLogLines[] = [];
  for (let row = await reader.next(); row !== undefined; row = await reader.next()) rows.push(row);
  return rows;
}

describe('the reader of a log', () => {
  it('tells whole lines, each once, as they come', async () => {
    const reader = await open();
    expect(await reader.next()).toBeUndefined();
    await writeFile(path, '[stdout] one\n[stdout] tw');
    expect(await all(reader)).toEqual([{ offset: 0, lines: ['[stdout] one'] }]);
    expect(await reader.next()).toBeUndefined();
    await appendFile(path, 'o €\n[stderr] three\n');
    expect(await all(reader)).toEqual([{ offset: 1, lines: ['[stdout] two €', '[stderr] three'] }]);
  });

  it('begins with the line that is asked for', async () => {
    await writeFile(path, 'a\nb\nc\n');
    expect(await all(await open(1))).toEqual([{ offset: 1, lines: ['b', 'c'] }]);
    const reader = await open(4);
    expect(await reader.next()).toBeUndefined();
    await appendFile(path, 'd\ne\n');
    expect(await all(reader)).toEqual([{ offset: 4, lines: ['e'] }]);
  });

  it('counts lines that could not be written, and tells of the gap by its offset', async () => {
    const gap = '[system] 5 lines are missing here: they came faster than they could be written';
    await writeFile(path, `a\n${gap}\nb\nc\n`);
    expect(await all(await open())).toEqual([
      { offset: 0, lines: ['a'] },
      { offset: 6, lines: ['b', 'c'] },
    ]);
    expect(await all(await open(7))).toEqual([{ offset: 7, lines: ['c'] }]);
  });

  it('goes on in the files that follow, and over those that had to make way', async () => {
    const long = 'x'.repeat(524_288);
    await writeFile(path, `${long}\n`);
    const reader = await open();
    expect(await all(reader)).toMatchObject([{ offset: 0 }]);
    await writeFile(`${path}.1`, `${long}\n`);
    expect(await all(reader)).toMatchObject([{ offset: 1 }]);
    await writeFile(`${path}.2`, 'gone\n');
    await writeFile(`${path}.9`, 'ten\n');
    await rm(`${path}.2`);
    expect(await all(reader)).toEqual([{ offset: 9, lines: ['ten'] }]);
  });

  it('reads what a task has written, whatever became of it on the way', async () => {
    const ring = new LogRing({ limitBytes: 1_048_576 });
    const { file } = await openLogFile({ directory: folder.path, taskId: 'task_1', unique: 'abcdefgh' });
    const log = new DiskLog({ ring, path, file, limitBytes: 8_388_608, onFailure: () => undefined });
    const reader = await open();
    const rows: TaskLogLines[] = [];
    const text = Buffer.from('some text that fills the log\n'.repeat(2_000));
    const lines = 2_000 * 300;
    for (let piece = 0; piece < 300; piece += 1) {
      ring.append('stdout', text);
      log.wake();
      await log.pressure();
      if (piece % 50 === 0) rows.push(...(await all(reader)));
    }
    await log.finish();
    rows.push(...(await all(reader)));
    let next = 0;
    for (const row of rows) {
      expect(row.offset).toBeGreaterThanOrEqual(next);
      expect(row.lines.every((line) => line === '[stdout] some text that fills the log')).toBe(true);
      next = row.offset + row.lines.length;
    }
    expect(next).toBe(lines);
    expect(rows[0]?.offset).toBe(0);
  });
});

describe('what a process calls the path of its log', () => {
  it('is a file in the folder of logs, by whatever way to that, and nothing else', async () => {
    const { open: opened } = createTaskLogFiles(folder.path);
    await writeFile(path, '[stdout] one\n');
    await symlink('/etc/hostname', join(folder.path, 'task_2.log'));
    const seenElsewhere = join('/another/mount', basename(folder.path), 'task_1.log');
    expect(await (await opened(seenElsewhere, 0))?.next()).toMatchObject({ lines: ['[stdout] one'] });
    for (const wrong of ['/etc/hostname', join(folder.path, 'task_2.log'), join(folder.path, 'none.log'), folder.path])
      expect(await opened(wrong, 0)).toBeUndefined();
  });
});

describe('the log of a task on record', () => {
  const find = createTaskLogFiles;

  it('is the file that carries its mark, else the one of its name that is not older than the task', async () => {
    const startedAt = new Date().toISOString();
    const task = { taskId: 'task_1', tag: 'abcdefgh-1', startedAt };
    expect(await find(folder.path).find(task)).toBeUndefined();
    await writeFile(path, '');
    expect(await find(folder.path).find(task)).toBe(path);
    expect(await find(folder.path).find({ ...task, startedAt: '2999-01-01T00:00:00Z' })).toBeUndefined();
    const own = join(folder.path, 'task_1.abcdefgh.log');
    await writeFile(own, '');
    expect(await find(folder.path).find(task)).toBe(own);
    expect(await find(join(folder.path, 'none')).find(task)).toBeUndefined();
    expect(await find(folder.path).find({ ...task, hasLogFile: false })).toBeUndefined();
  });
});
