/** The stage in a workspace whose agent is not to be trusted. */
import { link, mkdir, readFile, readdir, rm, symlink, truncate, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createWorkspaceStage } from '../../../src/adapters/shared-files/workspace-stage.ts';
import { temporaryHome } from '../../support/temporary-home.ts';
import type { TemporaryHome } from '../../support/temporary-home.ts';

const stage = createWorkspaceStage();
let home: TemporaryHome;
let workspace: string;
let outside: string;
beforeEach(async () => {
  home = await temporaryHome();
  workspace = join(home.path, 'workspace');
  outside = join(home.path, 'outside');
  await mkdir(workspace);
  await mkdir(outside);
  await writeFile(join(outside, 'secret.md'), 'secret');
});
afterEach(() => home.remove());

const bytes = (text: string): Uint8Array => new TextEncoder().encode(text);
const staged = async (): Promise<string[]> =>
  (await stage.read(workspace)).files.map(({ path, content }) => `${path}: ${new TextDecoder().decode(content)}`);

describe('a stage', () => {
  it('gives back what was put there and edited, with the version that it is of', async () => {
    expect(await stage.read(workspace)).toEqual({ files: [] });
    await stage.put(workspace, 3, [
      { path: 'a.md', content: bytes('a') },
      { path: 'notes/b.md', content: bytes('b') },
    ]);
    await writeFile(join(workspace, 'substrate-stage/a.md'), 'edited');
    await mkdir(join(workspace, 'substrate-stage/more'));
    await writeFile(join(workspace, 'substrate-stage/more/c.md'), 'c');
    await rm(join(workspace, 'substrate-stage/notes/b.md'));
    expect(await staged()).toEqual(['a.md: edited', 'more/c.md: c']);
    expect((await stage.read(workspace)).origin).toEqual({ version: 3, paths: ['a.md', 'notes/b.md'] });
    await writeFile(join(workspace, 'substrate-stage/.staged-version.json'), '{"version":-1}');
    expect((await stage.read(workspace)).origin).toBeUndefined();
  });

  it('writes through no link, wherever it is', async () => {
    await symlink(outside, join(workspace, 'substrate-stage'));
    await expect(stage.put(workspace, 1, [{ path: 'secret.md', content: bytes('x') }])).rejects.toMatchObject({
      code: 'STAGE_UNSAFE',
    });
    await expect(stage.read(workspace)).rejects.toMatchObject({ code: 'STAGE_UNSAFE' });
    await rm(join(workspace, 'substrate-stage'));
    await mkdir(join(workspace, 'substrate-stage'));
    await symlink(outside, join(workspace, 'substrate-stage/notes'));
    await expect(stage.put(workspace, 1, [{ path: 'notes/secret.md', content: bytes('x') }])).rejects.toMatchObject({
      code: 'STAGE_UNSAFE',
    });
    await symlink(join(outside, 'secret.md'), join(workspace, 'substrate-stage/a.md'));
    await stage.put(workspace, 1, [{ path: 'a.md', content: bytes('mine') }]);
    expect(await readFile(join(outside, 'secret.md'), 'utf8')).toBe('secret');
    expect(await readdir(outside)).toEqual(['secret.md']);
    expect(await staged()).toEqual(['a.md: mine']);
  });

  it('reads no link, no second name of a file elsewhere, and no more than is shared', async () => {
    await mkdir(join(workspace, 'substrate-stage'));
    await symlink(join(outside, 'secret.md'), join(workspace, 'substrate-stage/a.md'));
    await symlink(outside, join(workspace, 'substrate-stage/notes'));
    expect(await staged()).toEqual([]);
    await link(join(outside, 'secret.md'), join(workspace, 'substrate-stage/b.md'));
    await expect(stage.read(workspace)).rejects.toMatchObject({ code: 'STAGE_UNSAFE' });
    await rm(join(workspace, 'substrate-stage/b.md'));
    await writeFile(join(workspace, 'substrate-stage/large.bin'), '');
    await truncate(join(workspace, 'substrate-stage/large.bin'), 1024 * 1024 * 1024);
    await expect(stage.read(workspace)).rejects.toMatchObject({ code: 'STAGE_TOO_LARGE' });
  });
});
