/** What was finished in a checkout, as its log tells, and by which commands. */
import { execFileSync } from 'node:child_process';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { workFinished, workUnderWay } from '../../../src/adapters/git/work-under-way.ts';
import { explain } from '../../../src/machines/session/why.ts';
import { START_MS, created, resting, stateAfter, wakeEnded, wakeStarted } from '../../support/session-events.ts';

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

it('is a merge in conflict that was ended by the commands that are told: one side of it, and its end', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'work-finished-'));
  const git = (...words: readonly string[]): string =>
    execFileSync('git', ['-c', 'user.name=You', '-c', 'user.email=you@example.com', ...words], {
      cwd: folder,
      encoding: 'utf8',
    });
  const commit = async (text: string): Promise<void> => {
    for (const name of ['tea', 'milk and sugar']) await writeFile(join(folder, name), text);
    git('add', '.');
    git('commit', '--quiet', '--message', text);
  };
  try {
    git('init', '--quiet', '--initial-branch', 'own');
    await commit('3');
    git('checkout', '--quiet', '-b', 'other');
    await commit('5');
    git('checkout', '--quiet', 'own');
    await commit('4');
    expect(() => git('merge', '--quiet', 'other')).toThrow();
    const found = await workUnderWay(folder);
    const underWay = { what: found?.what ?? 'rebase', files: found?.files ?? [], folder };
    const rested = stateAfter(created, wakeStarted(1), wakeEnded('wake_1', 'sleep'), resting);
    const [reason] = explain(rested, START_MS, { work: { underWay } }).reasons;
    for (const part of ['--theirs', '--include']) {
      const [, ...words] = reason?.movers.find(({ program }) => program?.includes(part) === true)?.program ?? [];
      git(...words);
    }
    expect([git('show', 'HEAD:milk and sugar'), git('status', '--porcelain')]).toEqual(['5', '']);
    expect(await workFinished(folder, 0)).toBe('merge');
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
});
