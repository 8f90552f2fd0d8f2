/**
 * Files that nobody else may have put there or may change: read when they are, refused in words that repeat nothing of
 * them.
 */
import { execFileSync } from 'node:child_process';
import { chmod, link, mkdir, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { UnusableFile, readOwnText, requireOwnFolder, withPlainFile } from '../../../src/adapters/system/own-files.ts';
import { temporaryHome } from '../../support/temporary-home.ts';
import type { TemporaryHome } from '../../support/temporary-home.ts';

let home: TemporaryHome;
let path: string;
beforeEach(async () => {
  home = await temporaryHome();
  path = join(home.path, 'kept.yaml');
});
afterEach(() => home.remove());

function refusal(work: () => unknown): UnusableFile {
  try {
    work();
  } catch (error) {
    if (error instanceof UnusableFile) return error;
    throw error;
  }
  throw new Error('it was accepted');
}

const read = (keptFrom: 'readers' | 'writers' | undefined) => () => readOwnText(path, { maxBytes: 10, keptFrom });

describe('a file of ours', () => {
  it('is read with what tells it from another, and is nothing where nothing is', async () => {
    expect(read('readers')()).toBeUndefined();
    await writeFile(path, 'äöü', { mode: 0o600 });
    expect(read('readers')()).toMatchObject({ text: 'äöü', stats: { size: 6n } });
  });

  it('is kept from those who could read it, or from those who could change it', async () => {
    await writeFile(path, 'secret', { mode: 0o644 });
    expect(refusal(read('readers'))).toMatchObject({
      trouble: 'exposed',
      hint: expect.stringContaining(`chmod 600 ${path}`) as string,
    });
    expect(read('writers')()?.text).toBe('secret');
    await chmod(path, 0o620);
    expect(refusal(read('writers'))).toMatchObject({
      trouble: 'exposed',
      message: 'can be changed by others (mode 620)',
    });
  });

  it('that others could change under another name is refused', async () => {
    await writeFile(join(home.path, 'other'), 'secret', { mode: 0o600 });
    await link(join(home.path, 'other'), path);
    expect(refusal(read('readers'))).toMatchObject({
      trouble: 'exposed',
      message: expect.stringContaining('hard link') as string,
    });
  });

  it.runIf(process.platform === 'linux')('is no link, no pipe that would keep us waiting, and no folder', async () => {
    await writeFile(join(home.path, 'other'), 'text', { mode: 0o600 });
    await symlink(join(home.path, 'other'), path);
    expect(refusal(read('writers'))).toMatchObject({
      trouble: 'exposed',
      message: expect.stringContaining('link') as string,
    });
    // As those make who mount secrets.
    expect(read(undefined)()?.text).toBe('text');
    for (const name of ['pipe', 'folder']) {
      path = join(home.path, name);
      if (name === 'pipe') execFileSync('mkfifo', ['-m', '600', path]);
      else await mkdir(path);
      expect(refusal(read('readers'))).toMatchObject({ trouble: 'exposed', message: 'is no file' });
      expect(await withPlainFile(path, () => Promise.resolve('read'))).toBeUndefined();
    }
  });

  it('that is too long, or no text, is damaged and not exposed', async () => {
    await writeFile(path, 'eleven bytes', { mode: 0o600 });
    expect(refusal(read('readers'))).toMatchObject({ trouble: 'damaged', message: 'has more than 10 bytes' });
    await writeFile(path, Uint8Array.of(0xff, 0xfe));
    expect(refusal(read('readers'))).toMatchObject({ trouble: 'damaged', message: 'is not UTF-8 text' });
  });
});

describe('a folder of ours', () => {
  it('need not be there, and is refused where others could put files into it or it is a link', async () => {
    const folder = join(home.path, 'folder');
    requireOwnFolder(folder, 'readers');
    await mkdir(folder, { mode: 0o755 });
    requireOwnFolder(folder, 'writers');
    expect(refusal(() => requireOwnFolder(folder, 'readers')).hint).toContain(`chmod 700 ${folder}`);
    await chmod(folder, 0o770);
    expect(refusal(() => requireOwnFolder(folder, 'writers')).trouble).toBe('exposed');
    await symlink(folder, path);
    expect(refusal(() => requireOwnFolder(path, 'writers')).message).toContain('link');
  });
});
