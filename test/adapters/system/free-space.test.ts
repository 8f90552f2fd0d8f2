import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { freeSpace } from '../../../src/adapters/system/free-space.ts';
import { temporaryHome } from '../../support/temporary-home.ts';

it('is told in bytes, and not at all where there is no such folder', async () => {
  const folder = await temporaryHome();
  onTestFinished(() => folder.remove());
  expect(await freeSpace(folder.path)).toBeGreaterThan(0);
  expect(await freeSpace(join(folder.path, 'gone'))).toBeUndefined();
});
