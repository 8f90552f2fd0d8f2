/** What the files of a test run have seen of charts, read together. */
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { readHits } from '../../../src/adapters/audit-files/hits-folder.ts';
import { temporaryHome } from '../../support/temporary-home.ts';
import type { TemporaryHome } from '../../support/temporary-home.ts';

let home: TemporaryHome;
beforeEach(async () => {
  home = await temporaryHome();
});
afterEach(() => home.remove());

const write = (name: string, charts: readonly object[]): Promise<void> =>
  writeFile(join(home.path, name), JSON.stringify({ format: 'chart-hits/1', charts }));

describe('the folder of a test run', () => {
  it('is read as one, whatever else lies in it', async () => {
    await write('17-1.json', [{ chart: 'task', transitions: { a: 1 }, pairs: { 'a > b': 1 } }]);
    await write('17-2.json', [
      { chart: 'task', transitions: { a: 2 }, pairs: {} },
      { chart: 'wake', transitions: {}, pairs: {} },
    ]);
    await writeFile(join(home.path, '17-3.json.draft'), '{"format":');
    await writeFile(join(home.path, 'notes.json'), '{}');
    await mkdir(join(home.path, '18-1.json'));
    expect(await readHits(home.path)).toEqual(
      new Map([
        ['task', { chart: 'task', transitions: { a: 3 }, pairs: { 'a > b': 1 } }],
        ['wake', { chart: 'wake', transitions: {}, pairs: {} }],
      ]),
    );
  });

  it('is refused where there is none, and where it holds nothing of a test run', async () => {
    await expect(readHits(join(home.path, 'nowhere'))).rejects.toMatchObject({
      code: 'HITS_NOT_FOUND',
      hint: expect.stringContaining('Run the tests first'),
    });
    await expect(readHits(home.path)).rejects.toMatchObject({ code: 'HITS_NOT_FOUND' });
  });

  it('is refused where a file of it is damaged, by the name of the file', async () => {
    await write('1-1.json', []);
    await writeFile(join(home.path, '1-2.json'), '{"format":"chart-hits/1","charts":[{"chart":1}]}');
    await expect(readHits(home.path)).rejects.toThrow(/"1-2\.json".*charts\[0\]\.chart/);
  });
});
