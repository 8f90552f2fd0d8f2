/**
 * Shared files where people edit them by hand, in what is left by crashes, and where somebody has put something else.
 */
import { chmod, mkdir, readFile, readdir, rename, rm, stat, symlink, truncate, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { SharedFilesStore } from '../../../src/actors/memory/shared-files-store.ts';
import { openMemorySetup, permitFor } from '../../support/memory-setup.ts';
import type { MemorySetup } from '../../support/memory-setup.ts';

const AGENT = 'writer';

let setup: MemorySetup;
let store: SharedFilesStore;
let folder: string;
let versions: string;

beforeEach(async () => {
  setup = await openMemorySetup();
  store = setup.open().sharedFiles;
  folder = join(setup.agentDirectory(AGENT), 'substrate');
  versions = join(setup.agentDirectory(AGENT), 'substrate-versions');
});
afterEach(() => setup.dispose());

const promote = (expectedVersion: number, files: Readonly<Record<string, string | null>>, by = store) =>
  by.promote(permitFor(AGENT), {
    agentId: AGENT,
    expectedVersion,
    why: 'a test',
    changes: Object.entries(files).map(([path, content]) => ({ path, content })),
  });
const shared = (path: string): Promise<string> => readFile(join(folder, path), 'utf8');
const kept = async (path: string, version?: number): Promise<string> =>
  new TextDecoder().decode(await store.read(AGENT, path, version));
const makers = async (): Promise<string[]> =>
  (await store.versions(AGENT)).map(({ version, by, changed }) => `${version} ${by.kind} ${changed.join(' ')}`);

describe('people who edit shared files by hand', () => {
  it('make a version of their own, before anything else is checked', async () => {
    await mkdir(join(folder, 'notes'), { recursive: true });
    await writeFile(join(folder, 'MEMORY.md'), '# Mine\n');
    await writeFile(join(folder, 'notes', 'a.md'), 'a');
    expect((await store.head(AGENT)).version).toBe(1);
    await writeFile(join(folder, 'notes', 'a.md'), 'b');
    await rm(join(folder, 'MEMORY.md'));
    expect(await kept('notes/a.md')).toBe('b');
    expect(await makers()).toEqual(['2 people MEMORY.md notes/a.md', '1 people MEMORY.md notes/a.md']);
    expect(await kept('MEMORY.md', 1)).toBe('# Mine\n');
  });

  it('are not overwritten by a promotion that did not see what they did', async () => {
    await promote(0, { 'a.md': 'one' });
    await writeFile(join(folder, 'a.md'), 'theirs');
    await expect(promote(1, { 'a.md': 'two' })).rejects.toMatchObject({
      code: 'SHARED_FILES_CONFLICT',
      details: { expectedVersion: 1, version: 2 },
    });
    expect(await shared('a.md')).toBe('theirs');
    await promote(2, { 'b.md': 'b' });
    expect([await shared('a.md'), await shared('b.md')]).toEqual(['theirs', 'b']);
    expect(await makers()).toEqual(['3 session b.md', '2 people a.md', '1 session a.md']);
  });

  it('are noticed though size and time of the file stay the same', async () => {
    await promote(0, { 'a.md': 'one' });
    await store.head(AGENT);
    await writeFile(join(folder, 'a.md'), 'two');
    expect(await kept('a.md')).toBe('two');
  });

  it('may put in more than is kept: it is said what, and older versions can be read', async () => {
    await promote(0, { 'a.md': 'one' });
    await writeFile(join(folder, 'large.bin'), '');
    await truncate(join(folder, 'large.bin'), 1024 * 1024 + 1);
    await expect(store.head(AGENT)).rejects.toMatchObject({
      code: 'SHARED_FILES_TOO_LARGE',
      message: expect.stringContaining('large.bin') as string,
    });
    await expect(promote(1, { 'a.md': 'two' })).rejects.toMatchObject({ code: 'SHARED_FILES_TOO_LARGE' });
    expect(await kept('a.md', 1)).toBe('one');
  });
});

describe('the folder of shared files', () => {
  it('that was removed is laid out again', async () => {
    await promote(0, { 'a.md': 'one', 'notes/b.md': 'b' });
    await rm(folder, { recursive: true });
    expect((await store.head(AGENT)).version).toBe(1);
    expect([await shared('a.md'), await shared('notes/b.md')]).toEqual(['one', 'b']);
  });

  it('loses folders that hold nothing any more', async () => {
    await promote(0, { 'notes/deep/b.md': 'b', 'a.md': 'a' });
    await promote(1, { 'notes/deep/b.md': null });
    expect(await readdir(folder)).toEqual(['a.md']);
  });

  it('is for its owner only, and so are the versions', async () => {
    await promote(0, { 'notes/b.md': 'b' });
    const modes = await Promise.all(
      [
        folder,
        join(folder, 'notes'),
        versions,
        join(versions, 'blobs'),
        join(folder, 'notes/b.md'),
        join(versions, '000000001.json'),
      ].map(async (path) => ((await stat(path)).mode & 0o777).toString(8)),
    );
    expect(modes).toEqual(['700', '700', '700', '700', '600', '600']);
  });

  it('is never left through a link: what it leads to is neither read nor written', async () => {
    const outside = join(setup.home, 'outside');
    await mkdir(outside);
    await writeFile(join(outside, 'secret.md'), 'secret');
    await promote(0, { 'a.md': 'one', 'notes/b.md': 'b' });
    await rm(join(folder, 'notes'), { recursive: true });
    await symlink(outside, join(folder, 'notes'));
    await rm(join(folder, 'a.md'));
    await symlink(join(outside, 'secret.md'), join(folder, 'a.md'));
    expect(await store.list(AGENT)).toEqual([]);
    await expect(promote(2, { 'notes/secret.md': 'x' })).rejects.toMatchObject({ code: 'SHARED_FILES_PATH_TAKEN' });
    await expect(promote(2, { 'a.md': 'x' })).rejects.toMatchObject({ code: 'SHARED_FILES_PATH_TAKEN' });
    await expect(
      store.restore(permitFor(AGENT), { agentId: AGENT, version: 1, expectedVersion: 2, why: '' }),
    ).rejects.toMatchObject({ code: 'SHARED_FILES_PATH_TAKEN' });
    expect([await readFile(join(outside, 'secret.md'), 'utf8'), await readdir(outside)]).toEqual([
      'secret',
      ['secret.md'],
    ]);
    await rm(folder, { recursive: true });
    await symlink(outside, folder);
    await expect(store.head(AGENT)).rejects.toMatchObject({ code: 'STORAGE_FAILED' });
  });

  it('is brought up to a version whose maker died before it got there', async () => {
    await promote(0, { 'a.md': 'one', 'b.md': 'b' });
    await promote(1, { 'a.md': 'two', 'b.md': null, 'c.md': 'c' });
    // As it is when the manifest was there and the folder half done.
    await writeFile(join(versions, 'checked-out'), '1\n');
    await writeFile(join(folder, 'b.md'), 'b');
    await rm(join(folder, 'c.md'));
    await writeFile(join(versions, '.0192f0c1-2345-7abc-8def-0123456789ab.tmp'), 'half');
    const next = setup.open().sharedFiles;
    expect((await next.head(AGENT)).version).toBe(2);
    expect((await readdir(folder)).toSorted()).toEqual(['a.md', 'c.md']);
    expect((await readdir(versions)).toSorted()).toEqual(['000000001.json', '000000002.json', 'blobs', 'checked-out']);
  });

  it('says which of its records is damaged, and puts nothing upon it', async () => {
    await promote(0, { 'a.md': 'one' });
    await promote(1, { 'a.md': 'two' });
    const [blob = ''] = await readdir(join(versions, 'blobs'));
    for (const name of await readdir(join(versions, 'blobs')))
      await writeFile(join(versions, 'blobs', name), 'spoiled');
    expect(blob).toMatch(/^[0-9a-f]{64}$/);
    await expect(store.read(AGENT, 'a.md')).rejects.toMatchObject({ code: 'SHARED_FILES_DAMAGED' });
    await expect(
      store.restore(permitFor(AGENT), { agentId: AGENT, version: 1, expectedVersion: 2, why: '' }),
    ).rejects.toMatchObject({ code: 'SHARED_FILES_DAMAGED' });
    await writeFile(join(versions, '000000002.json'), '{');
    await expect(setup.open().sharedFiles.head(AGENT)).rejects.toMatchObject({
      code: 'SHARED_FILES_DAMAGED',
      message: expect.stringContaining('000000002.json') as string,
    });
  });

  it.skipIf(process.getuid?.() === 0)('that cannot be written does not undo a version that counts', async () => {
    await promote(0, { 'a.md': 'one' });
    await chmod(folder, 0o500);
    expect(await promote(1, { 'a.md': 'two' })).toMatchObject({ version: 2 });
    await expect(store.head(AGENT)).rejects.toMatchObject({ code: 'STORAGE_FAILED' });
    await chmod(folder, 0o700);
    expect(await kept('a.md')).toBe('two');
    expect(await shared('a.md')).toBe('two');
  });

  it('of an agent that was moved is its own again, with all versions', async () => {
    await promote(0, { 'a.md': 'one' });
    await rename(setup.agentDirectory(AGENT), setup.agentDirectory('poet'));
    expect(new TextDecoder().decode(await store.read('poet', 'a.md'))).toBe('one');
    expect((await store.head(AGENT)).version).toBe(0);
  });
});
