import { mkdir, rm, symlink, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { scan } from '../../../src/adapters/bubblewrap/folder-check.ts';
import { temporaryHome } from '../../support/temporary-home.ts';
import type { TemporaryHome } from '../../support/temporary-home.ts';

let folder: TemporaryHome;

beforeEach(async () => {
  folder = await temporaryHome();
});
afterEach(() => folder.remove());

const at = (...names: readonly string[]): string => join(folder.path, ...names);

describe('a scan a folder', () => {
  it('finds repositories of each kind, sockets and homes, the nearest first, and goes into none of them', async () => {
    await Promise.all(
      ['.git/x/.git', 'b/.wakechart/.git', 'b/c/d/e/f/.git', 'b/c/d/e/f/g/.git', 'node_modules/x/.git'].map((name) =>
        mkdir(at(name), { recursive: true }),
      ),
    );
    await writeFile(at('b/.git'), '');
    await mkdir(at('c'));
    await symlink('/', at('c/.git'));
    const server = createServer();
    await new Promise<void>((resolve) => void server.listen(at('b/socket'), resolve));
    const { repositories, sockets, homes, problem } = await scan(folder.path, () => false);
    await new Promise((resolve) => server.close(resolve));
    expect(repositories[0]).toEqual({ path: at('.git'), kind: 'folder' });
    expect(repositories.slice(1, 3)).toEqual(
      expect.arrayContaining([
        { path: at('b/.git'), kind: 'file' },
        { path: at('c/.git'), kind: 'link' },
      ]),
    );
    expect(repositories.slice(3)).toEqual([{ path: at('b/c/d/e/f/.git'), kind: 'folder' }]);
    expect(sockets).toEqual([at('b/socket')]);
    expect(homes).toEqual([at('b/.wakechart')]);
    expect(problem).toBeUndefined();
  });

  it('passes by what it is told to, and has nothing to say of what is not there', async () => {
    await mkdir(at('a/.git'), { recursive: true });
    expect((await scan(folder.path, (path) => path === at('a'))).repositories).toEqual([]);
    await rm(at('a'), { recursive: true });
    expect(await scan(at('a'), () => false)).toMatchObject({ repositories: [], problem: undefined });
  });
});
