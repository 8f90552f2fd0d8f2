import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { deleteWalked, deleteWhole } from '../../../src/adapters/git/delete-walked.ts';
import { walkFolder } from '../../../src/adapters/git/folder-walk.ts';
import { put } from './git-setup.ts';

let top: string;
let root: string;
let others: string;
beforeEach(() => {
  top = mkdtempSync(join(tmpdir(), 'delete-'));
  root = join(top, 'root');
  others = join(top, 'others');
  for (const folder of [root, others])
    for (const path of ['a', 'x/b', 'x/y/c', 'ü/\n/d']) put(join(folder, path), path);
  mkdirSync(join(root, 'empty'));
  symlinkSync(others, join(root, 'link'));
});
afterEach(() => rmSync(top, { recursive: true }));

const all = (): string[] => readdirSync(others, { recursive: true }).map(String).sort();

describe('a folder that was walked', () => {
  it('goes with all that was seen in it, and nothing that its links lead to', async () => {
    const before = all();
    await deleteWalked(root, await walkFolder(root));
    expect(existsSync(root)).toBe(false);
    expect(all()).toEqual(before);
  });

  it('stays with what has come in since', async () => {
    const walk = await walkFolder(root);
    put(join(root, 'x/y/late'), 'late');
    await expect(deleteWalked(root, walk)).rejects.toMatchObject({ code: 'ENOTEMPTY' });
    expect(existsSync(join(root, 'x/y/late'))).toBe(true);
  });

  it.each(['', 'x', 'x/y'])(
    'does not take what lies behind a link that somebody put in the place of "%s"',
    async (path) => {
      const walk = await walkFolder(root);
      const before = all();
      renameSync(join(root, path), join(top, 'stolen'));
      symlinkSync(join(others, path), join(root, path));
      await expect(deleteWalked(root, walk)).rejects.toThrow(/is not the folder any more that it was/);
      expect(all()).toEqual(before);
    },
  );

  it.each(['', 'x'])(
    'does not take what lies in another folder that somebody put in the place of "%s"',
    async (path) => {
      const walk = await walkFolder(root);
      renameSync(join(root, path), join(top, 'stolen'));
      renameSync(join(others, path), join(root, path));
      await expect(deleteWalked(root, walk)).rejects.toThrow(/is not the folder any more that it was/);
      expect(existsSync(join(root, path, path === '' ? 'a' : 'b'))).toBe(true);
    },
  );
});

describe('a folder that is given up', () => {
  it('goes whatever is in it, but for what its links lead to', async () => {
    const before = all();
    await deleteWhole(root);
    await deleteWhole(root);
    expect(existsSync(root)).toBe(false);
    expect(all()).toEqual(before);
  });

  it('goes as a link where it is one', async () => {
    const before = all();
    await deleteWhole(join(root, 'link'));
    expect(all()).toEqual(before);
    writeFileSync(join(root, 'link'), 'a file');
    await deleteWhole(join(root, 'link'));
    expect(existsSync(join(root, 'link'))).toBe(false);
  });
});
