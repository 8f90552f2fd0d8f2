/** What was finished in a checkout, as its log tells. */
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { workFinished } from '../../../src/adapters/git/work-under-way.ts';

it('is a merge that was committed since, and none that was taken back or was there before', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'work-finished-'));
  const [zero, one] = ['0'.repeat(40), '1'.repeat(40)];
  const logged = (said: string): Promise<void> =>
    writeFile(join(folder, '.git/logs/HEAD'), `${zero} ${one} You <you@example.com> 1700000000 +0000\t${said}\n`);
  try {
    await mkdir(join(folder, '.git/logs'), { recursive: true });
    await logged("commit (merge): Merge branch 'seller'");
    expect(await workFinished(folder, 1_700_000_000_900)).toBe('merge');
    expect(await workFinished(folder, 1_700_000_001_000)).toBeUndefined();
    await logged('reset: moving to HEAD');
    expect(await workFinished(folder, 0)).toBeUndefined();
    expect(await workFinished(join(folder, 'none'), 0)).toBeUndefined();
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
});
