import { mkdir, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { freeSpace, largestFiles } from '../../../src/adapters/system/free-space.ts';
import { temporaryHome } from '../../support/temporary-home.ts';

it('is told in bytes, and not at all where there is no such folder', async () => {
  const folder = await temporaryHome();
  onTestFinished(() => folder.remove());
  expect(await freeSpace(folder.path)).toBeGreaterThan(0);
  expect(await freeSpace(join(folder.path, 'gone'))).toBeUndefined();
});

it('is taken by the largest files, three of which are named, wherever they lie, and no link', async () => {
  const folder = await temporaryHome();
  onTestFinished(() => folder.remove());
  const at = (...names: string[]): string => join(folder.path, ...names);
  await mkdir(at('deep', 'deeper'), { recursive: true });
  for (const [index, place] of [at('a'), at('deep', 'b'), at('deep', 'deeper', 'c'), at('d')].entries())
    await writeFile(place, 'x'.repeat(20_000 * (index + 1)));
  await symlink(at('d'), at('link'));
  const largest = await largestFiles(folder.path);
  expect(largest.map(({ path }) => path)).toEqual([at('d'), at('deep', 'deeper', 'c'), at('deep', 'b')]);
  expect(largest[0]?.bytes).toBeGreaterThanOrEqual(80_000);
  expect(await largestFiles(at('gone'))).toEqual([]);
});
