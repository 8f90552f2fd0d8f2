/** Folders that are held open, and what reaches into them. */
import { execFileSync } from 'node:child_process';
import { mkdir, mkdtemp, readFile, realpath, rename, rm, stat, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { HeldFolder, hasDescriptorPaths } from '../../../src/adapters/system/held-folder.ts';
import { nativePath } from '../../../src/adapters/system/native-path.ts';
import { realPlaceOf } from '../../../src/adapters/system/real-path.ts';

let folder = '';

beforeEach(async () => {
  folder = await realpath(await mkdtemp(join(tmpdir(), 'held-folder-')));
});

afterEach(() => rm(folder, { recursive: true, force: true }));

describe.each(hasDescriptorPaths() ? [true, false] : [false])(
  'a folder held with descriptors: %s',
  (usesDescriptors) => {
    const hold = (refused?: (actual: string | undefined) => Error): Promise<HeldFolder> =>
      HeldFolder.open(folder, { usesDescriptors, refused });
    const A_LINK = { code: expect.stringMatching(/ELOOP|ENOTDIR/) as string };

    it('makes folders on the way with the mode it is told, and goes into those that are there', async () => {
      await (await (await hold()).into(['a', 'b'], {})).close();
      const inner = await (await hold()).into(['a', 'open', 'b'], { mode: 0o755, durability: 'os' });
      await writeFile(inner.at('file'), 'text');
      await inner.close();
      expect(await readFile(join(folder, 'a/open/b/file'), 'utf8')).toBe('text');
      const modes = await Promise.all(
        ['a', 'a/b', 'a/open'].map(async (name) => (await stat(join(folder, name))).mode),
      );
      expect(modes.map((mode) => mode & 0o777)).toEqual([0o700, 0o700, 0o755]);
      await expect((await hold()).into(['a', 'missing', 'b'])).rejects.toMatchObject({ code: 'ENOENT' });
    });

    it('is entered by no link, nor opened through one in its place', async () => {
      await mkdir(join(folder, 'in'));
      await symlink('in', join(folder, 'link'));
      await writeFile(join(folder, 'file'), '');
      const top = await hold();
      for (const name of ['link', 'file']) {
        await expect(top.enter(name)).rejects.toMatchObject(A_LINK);
        await expect(top.enterOrMake(name)).rejects.toMatchObject(A_LINK);
        await expect(HeldFolder.open(join(folder, name), { usesDescriptors })).rejects.toMatchObject(A_LINK);
      }
      await top.close();
      expect(await realPlaceOf(join(folder, 'link'))).toBe(join(folder, 'link'));
      expect(await realPlaceOf(join(folder, 'link/x'))).toBe(join(folder, 'in/x'));
    });

    it('tells when it was moved, and holds what it held where the system lets it', async () => {
      await mkdir(join(folder, 'in'));
      const top = await hold((actual) => new Error(`it is ${actual ?? 'gone'}`));
      const inner = await top.enter('in');
      await inner.confirm();
      await rename(join(folder, 'in'), join(folder, 'aside'));
      await symlink('aside', join(folder, 'in'));
      await expect(inner.confirm()).rejects.toThrow(`it is ${join(folder, 'aside')}`);
      await rm(join(folder, 'in'));
      await mkdir(join(folder, 'in'));
      await writeFile(inner.at('file'), '');
      await (usesDescriptors ? stat(join(folder, 'aside/file')) : stat(join(folder, 'in/file')));
      await expect(inner.confirm()).rejects.toThrow(usesDescriptors ? 'aside' : 'it is gone');
      await Promise.all([inner.close(), top.close()]);
    });

    it('is not reached through a link above it once it may be proven', async () => {
      await mkdir(join(folder, 'real/in'), { recursive: true });
      await symlink('real', join(folder, 'link'));
      const refused = (): Error => new Error('refused');
      await expect(HeldFolder.open(join(folder, 'link/in'), { usesDescriptors, refused })).rejects.toThrow('refused');
      const trusted = HeldFolder.open(join(folder, 'link/in'), { usesDescriptors });
      if (usesDescriptors) await (await trusted).close();
      else await expect(trusted).rejects.toMatchObject({ code: 'ELOOP' });
    });

    it.runIf(process.platform === 'linux')('is found by a name that is no text', async () => {
      const name = 'no\udcfftext';
      await mkdir(nativePath(join(folder, name)));
      const inner = await (await hold(() => new Error('refused'))).into([name, 'in'], {});
      await inner.confirm();
      expect(inner.realPath).toBe(join(folder, name, 'in'));
      await inner.close();
    });
  },
);

/** Part of Linux; not every container lets it make namespaces. */
function withoutProc(...command: readonly string[]): string {
  return execFileSync('unshare', ['-Urm', 'sh', '-c', 'mount -t tmpfs none /proc && exec "$@"', 'sh', ...command], {
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'pipe'],
  });
}

function canHideProc(): boolean {
  try {
    withoutProc('true');
    return true;
  } catch {
    const word = 'held folders: unshare -Urm does not work here, so no test runs without /proc';
    if (process.env['CI'] === 'true') throw new Error(word);
    process.stderr.write(`${word}\n`);
    return false;
  }
}

describe.runIf(process.platform === 'linux' && canHideProc())('where Linux has no /proc', () => {
  it('every adapter that holds folders open works by their paths', () => {
    const program = fileURLToPath(new URL('without-proc.mjs', import.meta.url));
    const said = JSON.parse(withoutProc(process.execPath, program, folder)) as unknown;
    expect(said).toEqual({ attachments: 'text', workspaceCopies: 'text', stage: 'text', tools: 'text', acp: 'text' });
  });
});
