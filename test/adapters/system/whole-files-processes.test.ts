/**
 * Files that are whole or not there: what is seen of them while they are written, after a kill at every change of the
 * disk, and where each one fails.
 */
import { execFile } from 'node:child_process';
import { chmod, mkdir, readFile, readdir, stat, symlink, utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import {
  createFile,
  isDraft,
  isInhabited,
  makeFolder,
  namesIn,
  removeFile,
  replaceFile,
  sweepDrafts,
} from '../../../src/adapters/system/whole-files.ts';
import { temporaryHome } from '../../support/temporary-home.ts';
import type { TemporaryHome } from '../../support/temporary-home.ts';

const HOST = fileURLToPath(new URL('../../fixtures/processes/writing-host.mjs', import.meta.url));
const DIST = new URL('../../../dist/', import.meta.url).href;

/** Longer than a page of memory, so that half of it could be seen. */
const OLD = 'old '.repeat(4_000);
const NEW = 'new '.repeat(5_000);

let home: TemporaryHome;
let path: string;
beforeEach(async () => {
  home = await temporaryHome();
  path = join(home.path, 'kept.json');
});
afterEach(() => home.remove());

interface Life {
  readonly operations: readonly string[];
  /** Undefined when it was killed. */
  readonly end: { readonly done?: unknown; readonly failed?: string } | undefined;
}

function live(options: {
  readonly work: string;
  readonly path: string;
  readonly durability?: string;
  readonly crashAt?: number;
  readonly failAt?: number;
}): Promise<Life> {
  return new Promise((resolve, reject) => {
    execFile(
      process.execPath,
      [HOST, JSON.stringify({ dist: DIST, content: NEW, ...options })],
      { encoding: 'utf8' },
      (error, stdout, stderr) => {
        if (error !== null && error.signal !== 'SIGKILL') return reject(new Error(`the host failed: ${stderr}`));
        const lines = stdout
          .trimEnd()
          .split('\n')
          .map((line) => JSON.parse(line) as { operation?: string; done?: unknown; failed?: string });
        resolve({
          operations: lines.flatMap(({ operation }) => operation ?? []),
          end: lines.find((line) => 'done' in line || 'failed' in line),
        });
      },
    );
  });
}

/** What a reader finds; undefined for nothing. */
const seen = (): Promise<string | undefined> => readFile(path, 'utf8').catch(() => undefined);

const WORKS = [
  { work: 'replaceFile', before: OLD },
  { work: 'replaceFile', before: undefined },
  { work: 'createFile', before: undefined },
] as const;

async function inPlace(before: string | undefined): Promise<void> {
  for (const name of await readdir(home.path)) await removeFile(join(home.path, name), { durability: 'os' });
  if (before !== undefined) await writeFile(path, before);
}

describe.each(WORKS)('$work', ({ work, before }) => {
  it(`where ${before === undefined ? 'nothing is' : 'a file is'}, killed at any change of the disk, leaves what was there or all that is to be there`, async () => {
    await inPlace(before);
    const { operations } = await live({ work, path });
    expect(operations.length).toBeGreaterThan(4);
    for (let crashAt = 1; crashAt <= operations.length; crashAt += 1) {
      await inPlace(before);
      const life = await live({ work, path, crashAt });
      expect(life.end).toBeUndefined();
      expect([before, NEW]).toContain(await seen());
      const left = (await readdir(home.path)).filter((name) => name !== 'kept.json');
      expect(left.every(isDraft)).toBe(true);
      await sweepDrafts(home.path, { nowMs: Date.now() + 3_700_000 });
      expect(await readdir(home.path)).toEqual((await seen()) === undefined ? [] : ['kept.json']);
    }
  });

  it(`where ${before === undefined ? 'nothing is' : 'a file is'}, tells of any change of the disk that fails, and leaves no half`, async () => {
    await inPlace(before);
    const { operations } = await live({ work, path });
    for (let failAt = 1; failAt <= operations.length; failAt += 1) {
      await inPlace(before);
      const { end } = await live({ work, path, failAt });
      const isCleaning = operations[failAt - 1]?.startsWith('rm ') === true;
      expect(end).toEqual(isCleaning ? { done: work === 'createFile' ? true : null } : { failed: 'EIO' });
      expect(isCleaning || end?.failed === 'EIO' ? [before, NEW] : [NEW]).toContain(await seen());
      if (!isCleaning) expect((await readdir(home.path)).filter(isDraft)).toEqual([]);
    }
  });

  it('is on the disk, file and name, before it says so', async () => {
    await inPlace(before);
    const order = (operations: readonly string[]): string[] =>
      operations
        .map((operation) => operation.split(' ')[0] ?? '')
        .filter((name) => ['writeFile', 'write', 'sync', 'rename', 'link'].includes(name));
    expect(order((await live({ work, path })).operations).filter((name) => name !== 'write')).toEqual([
      'writeFile',
      'sync',
      work === 'createFile' ? 'link' : 'rename',
      'sync',
    ]);
    await inPlace(before);
    expect(
      order((await live({ work, path, durability: 'whole' })).operations).filter((name) => name !== 'write'),
    ).toEqual(['writeFile', 'sync', work === 'createFile' ? 'link' : 'rename']);
    await inPlace(before);
    expect(order((await live({ work, path, durability: 'os' })).operations).filter((name) => name !== 'write')).toEqual(
      ['writeFile', work === 'createFile' ? 'link' : 'rename'],
    );
  });
});

describe('a file of ours', () => {
  it('is for its owner only, whatever was in its place', async () => {
    await writeFile(path, OLD);
    await chmod(path, 0o666);
    await replaceFile(path, [Buffer.from('new '), Buffer.from('pieces')]);
    expect(await seen()).toBe('new pieces');
    expect((await stat(path)).mode & 0o777).toBe(0o600);
  });

  it('that is made anew never replaces another, not even a link that leads nowhere', async () => {
    await symlink(join(home.path, 'nowhere'), path);
    expect(await createFile(path, NEW)).toBe(false);
    expect(await readdir(home.path)).toEqual(['kept.json']);
  });

  it('is made by one of many who make it at once', async () => {
    const made = await Promise.all(Array.from({ length: 12 }, (_, index) => createFile(path, String(index))));
    expect(made.filter(Boolean)).toHaveLength(1);
    expect(await seen()).toBe(String(made.indexOf(true)));
    expect(await readdir(home.path)).toEqual(['kept.json']);
  });
});

describe('a folder of ours', () => {
  it('is made with those above it, for its owner only, by any number at once', async () => {
    const folder = join(home.path, 'a', 'b', 'c');
    await Promise.all(Array.from({ length: 8 }, () => makeFolder(folder)));
    for (const each of [folder, join(home.path, 'a')]) expect((await stat(each)).mode & 0o777).toBe(0o700);
    expect(await isInhabited(folder)).toBe(false);
    expect(await isInhabited(join(home.path, 'a'))).toBe(true);
  });

  it('has each of them in its place on the disk', async () => {
    const { operations } = await live({ work: 'makeFolder', path: join(home.path, 'a', 'b', 'c') });
    const made = operations.map((operation) => operation.split(' ')[0]).filter((name) => name === 'sync');
    expect(made).toHaveLength(3);
  });

  it('is refused where something else is, or the system makes none', async () => {
    await writeFile(path, OLD);
    await expect(makeFolder(path)).rejects.toMatchObject({ code: 'EEXIST' });
    await expect(makeFolder(join(path, 'below'))).rejects.toMatchObject({ code: 'ENOTDIR' });
    if (process.platform === 'linux')
      await expect(makeFolder('/proc/none/of/these')).rejects.toMatchObject({ code: 'ENOENT' });
    expect(await namesIn(join(home.path, 'none'))).toEqual([]);
    await expect(namesIn(path)).rejects.toMatchObject({ code: 'ENOTDIR' });
    // Who cannot check may not say that nothing is there.
    expect(await isInhabited(path)).toBe(true);
  });

  it('is rid of what the killed were writing, and of nothing that somebody may still write', async () => {
    const old = ['.kept.json.0192f0c1.tmp', 'agent_1.json.x.draft', '.y.draft', 'git.folder.tmp'];
    await mkdir(join(home.path, 'git.folder.tmp'));
    for (const name of [...old.slice(0, 3), '.young.tmp', 'kept.json']) await writeFile(join(home.path, name), '');
    for (const name of old) await utimes(join(home.path, name), 1, 1);
    await sweepDrafts(home.path);
    expect((await readdir(home.path)).toSorted()).toEqual(['.young.tmp', 'kept.json']);
  });
});
