/** Records that are read again and again: no file twice while the folder stays as it is. */
import { chmod, mkdtemp, rm, utimes } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { ProcessRecords } from '../../../src/adapters/process-tree/records.ts';

async function folder(): Promise<string> {
  const made = await mkdtemp(join(tmpdir(), 'records-'));
  onTestFinished(() => rm(made, { recursive: true }));
  return made;
}

const recordOf = (tag: string, taskId = 'task_1'): Parameters<ProcessRecords['write']>[0] =>
  ProcessRecords.newRecord({
    tag,
    taskId,
    commandPreview: 'sleep',
    startedAt: '2026-01-01T00:00:00.000Z',
    host: {
      pid: 1,
      startTime: 1,
      boot: 'b',
      seenThrough: 'proc',
      leaders: [],
    } as unknown as Parameters<typeof ProcessRecords.newRecord>[0]['host'],
    startedSince: 0,
    sharedLeaders: [],
  });

/** As if its last change was so many seconds ago. */
async function age(directory: string, seconds: number): Promise<void> {
  const then = Date.now() / 1_000 - seconds;
  await utimes(directory, then, then);
}

async function namesOf(records: ProcessRecords): Promise<readonly string[]> {
  return (await (await records.unchanging()).list()).map(({ name }) => name).toSorted();
}

it('a record that is added, replaced or removed is seen', async () => {
  const directory = await folder();
  const records = new ProcessRecords(directory);
  await records.write(recordOf('a'));
  await age(directory, 60);
  expect(await namesOf(records)).toEqual(['a.json']);
  await records.write(recordOf('b'));
  expect(await namesOf(records)).toEqual(['a.json', 'b.json']);
  await age(directory, 50);
  await namesOf(records);
  await records.remove('a');
  expect(await namesOf(records)).toEqual(['b.json']);
  await records.remove('b');
  await rm(directory, { recursive: true });
  expect(await namesOf(records)).toEqual([]);
  await records.write(recordOf('c'));
  expect(await namesOf(records)).toEqual(['c.json']);
});

it('what has not changed is the same reading, and what could not be read is read again', async () => {
  const directory = await folder();
  const records = new ProcessRecords(directory);
  await records.write(recordOf('a'));
  await age(directory, 60);
  const view = await records.unchanging();
  const [file] = await view.list();
  if (file === undefined) throw new Error('expected a record');
  if (process.getuid?.() !== 0) {
    await chmod(join(directory, 'a.json'), 0o000);
    await expect(view.read(file)).rejects.toThrow('EACCES');
    await chmod(join(directory, 'a.json'), 0o600);
  }
  const first = await view.read(file);
  expect(await (await records.unchanging()).read(file)).toBe(first);
  expect(await records.read(file)).not.toBe(first);
});

it('a folder that has changed just now is read each time', async () => {
  const directory = await folder();
  const records = new ProcessRecords(directory);
  await records.write(recordOf('a'));
  expect(await records.unchanging()).toBe(records);
});
