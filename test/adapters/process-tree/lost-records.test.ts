/** What is kept of trees that were lost, and for how long. */
import { mkdir, readdir, utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { LostRecords } from '../../../src/adapters/process-tree/lost-records.ts';
import { temporaryHome } from '../../support/temporary-home.ts';
import type { TemporaryHome } from '../../support/temporary-home.ts';

let folder: TemporaryHome;
let records: LostRecords;
let directory: string;

beforeEach(async () => {
  folder = await temporaryHome();
  directory = join(folder.path, 'lost-tasks');
  records = new LostRecords(directory);
});
afterEach(() => folder.remove());

async function take(name: string): Promise<void> {
  const path = join(folder.path, name);
  await writeFile(path, name);
  await records.take(path, `${name}.json`);
}

it('keeps them in the order in which they came, the newest two hundred', async () => {
  expect(await records.texts()).toEqual([]);
  for (let index = 0; index < 203; index += 1) await take(`record ${index}`);
  const texts = await records.texts();
  expect(texts).toHaveLength(200);
  expect(texts.at(-1)).toBe('record 202');
  expect(await readdir(directory)).toHaveLength(200);
});

it('does without where they cannot be kept', async () => {
  await writeFile(directory, 'a file');
  await take('record');
  expect(await readdir(folder.path)).toContain('record');
});

it('takes the time when they came, whatever their files say of when they were written', async () => {
  const path = join(folder.path, 'old');
  await writeFile(path, 'old');
  await utimes(path, 0, 0);
  await records.take(path, 'old.json');
  await mkdir(join(directory, 'no record'));
  expect(await records.texts()).toEqual(['old']);
});
