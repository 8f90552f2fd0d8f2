import {
  chmod,
  lstat,
  mkdir,
  readFile,
  readdir,
  rename,
  rm,
  symlink,
  unlink,
  utimes,
  writeFile,
  link,
} from 'node:fs/promises';
import { join } from 'node:path';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import type { ArtifactFiles } from '../../../src/actors/artifact/artifact-files.ts';
import { createArtifactFiles } from '../../../src/adapters/file-tools/artifact-files.ts';
import { SECRET, fileToolsSetup, refusalOf } from './file-tools-setup.ts';

const FACTS = [
  { name: 'index.md', text: '# here\n' },
  { name: 'tools.json', text: '{}\n' },
  { name: 'events.md', text: 'ä 😀\n' },
];

async function laidOut(): Promise<{
  readonly files: ArtifactFiles;
  readonly workspaceDirectory: string;
  readonly folder: string;
  readonly outside: string;
}> {
  const { workspace, outside } = await fileToolsSetup();
  const files = createArtifactFiles();
  expect(await files.layOut({ workspaceDirectory: workspace }, FACTS)).toEqual(FACTS.map(({ name }) => name));
  return { files, workspaceDirectory: workspace, folder: join(workspace, '.wakechart-runtime'), outside };
}

describe('the files of a session', () => {
  it('are there whole, for their owner only, and out of git', async () => {
    const { folder } = await laidOut();
    for (const { name, text } of FACTS) {
      expect(await readFile(join(folder, name), 'utf8')).toBe(text);
      expect((await lstat(join(folder, name))).mode & 0o777).toBe(0o600);
    }
    expect((await lstat(folder)).mode & 0o777).toBe(0o700);
    expect(await readFile(join(folder, '.gitignore'), 'utf8')).toBe('*\n');
  });

  it('are written again only when they say something else, also by another process', async () => {
    const { files, workspaceDirectory, folder } = await laidOut();
    const before = await Promise.all(FACTS.map(async ({ name }) => (await lstat(join(folder, name))).ino));
    expect(await files.layOut({ workspaceDirectory }, FACTS)).toEqual([]);
    expect(await createArtifactFiles().layOut({ workspaceDirectory }, FACTS)).toEqual([]);
    expect(await Promise.all(FACTS.map(async ({ name }) => (await lstat(join(folder, name))).ino))).toEqual(before);
    expect(
      await files.layOut({ workspaceDirectory }, [...FACTS.slice(0, 2), { name: 'events.md', text: 'new\n' }]),
    ).toEqual(['events.md']);
  });

  it('are put right when somebody has changed, deleted, linked or opened them', async () => {
    const { files, workspaceDirectory, folder, outside } = await laidOut();
    await writeFile(join(folder, 'index.md'), 'lies!!\n');
    await unlink(join(folder, 'tools.json'));
    await chmod(join(folder, 'events.md'), 0o666);
    expect(await files.layOut({ workspaceDirectory }, FACTS)).toEqual(FACTS.map(({ name }) => name));
    await unlink(join(folder, 'index.md'));
    await symlink(join(outside, 'secret.txt'), join(folder, 'index.md'));
    await unlink(join(folder, 'tools.json'));
    await link(join(outside, 'secret.txt'), join(folder, 'tools.json'));
    // A process that knows nothing of them sees it as well.
    expect(await createArtifactFiles().layOut({ workspaceDirectory }, FACTS)).toEqual(['index.md', 'tools.json']);
    expect(await readFile(join(outside, 'secret.txt'), 'utf8')).toBe(SECRET);
    for (const { name, text } of FACTS) expect(await readFile(join(folder, name), 'utf8')).toBe(text);
  });

  it('go when they say nothing any more', async () => {
    const { files, workspaceDirectory, folder } = await laidOut();
    await writeFile(join(folder, 'of-the-agent.txt'), 'its own');
    await files.layOut({ workspaceDirectory }, FACTS.slice(0, 2));
    expect((await readdir(folder)).toSorted()).toEqual(['.gitignore', 'index.md', 'of-the-agent.txt', 'tools.json']);
  });

  it('are in a folder of each session where several share a workspace', async () => {
    const { workspace: workspaceDirectory } = await fileToolsSetup();
    const files = createArtifactFiles();
    await Promise.all(
      ['one', 'two'].map((sessionId) =>
        files.layOut({ workspaceDirectory, sessionId }, [{ name: 'index.md', text: sessionId }]),
      ),
    );
    for (const sessionId of ['one', 'two'])
      expect(
        await readFile(join(workspaceDirectory, '.wakechart-runtime/sessions', sessionId, 'index.md'), 'utf8'),
      ).toBe(sessionId);
    expect(await readFile(join(workspaceDirectory, '.wakechart-runtime/index.md'), 'utf8')).toContain('sessions');
  });

  it('leave no drafts of killed processes about', async () => {
    const { workspaceDirectory, folder } = await laidOut();
    const [old, young] = ['1', '2'].map((digit) =>
      join(folder, `.wakechart-${digit}1111111-1111-4111-8111-111111111111.draft`),
    );
    for (const path of [old, young]) await writeFile(path ?? '', 'half');
    await utimes(old ?? '', 1, 1);
    await createArtifactFiles().layOut({ workspaceDirectory }, FACTS);
    expect((await readdir(folder)).filter((name) => name.endsWith('.draft'))).toHaveLength(1);
  });
});

describe('a place where they cannot be', () => {
  it.each([
    ['a link out of the workspace', async (folder: string, outside: string) => symlink(outside, folder)],
    ['a file', async (folder: string) => writeFile(folder, '')],
    ['a link that leads nowhere', async (folder: string, outside: string) => symlink(join(outside, 'made'), folder)],
  ])('(%s) is refused with a reason, and nothing is written anywhere', async (_what, plant) => {
    const { workspace, outside } = await fileToolsSetup();
    await plant(join(workspace, '.wakechart-runtime'), outside);
    expect(await refusalOf(createArtifactFiles().layOut({ workspaceDirectory: workspace }, FACTS))).toBe(
      'ARTIFACTS_NOT_WRITTEN',
    );
    expect(await readdir(outside)).toEqual(['secret.txt']);
  });

  it('is a folder in place of one of them, which keeps no other from being', async () => {
    const { workspace } = await fileToolsSetup();
    await mkdir(join(workspace, '.wakechart-runtime/index.md/full'), { recursive: true });
    expect(await refusalOf(createArtifactFiles().layOut({ workspaceDirectory: workspace }, FACTS))).toBe(
      'ARTIFACTS_NOT_WRITTEN',
    );
    expect((await readdir(join(workspace, '.wakechart-runtime'))).toSorted()).toEqual([
      '.gitignore',
      'events.md',
      'index.md',
      'tools.json',
    ]);
  });

  it('is a workspace that is gone', async () => {
    const { workspace } = await fileToolsSetup();
    await rm(workspace, { recursive: true });
    expect(await refusalOf(createArtifactFiles().layOut({ workspaceDirectory: workspace }, FACTS))).toBe(
      'ARTIFACTS_NOT_WRITTEN',
    );
  });

  it.skipIf(process.platform !== 'linux')('comes and goes while they are written, and nothing gets out', async () => {
    const { workspace, outside } = await fileToolsSetup();
    const folder = join(workspace, '.wakechart-runtime');
    const files = createArtifactFiles();
    let isDone = false;
    const swapping = (async () => {
      for (let turn = 0; !isDone; turn += 1) {
        await rename(folder, join(workspace, `aside${turn}`)).catch(() => undefined);
        await symlink(outside, folder).catch(() => undefined);
        await nextTurn();
        await unlink(folder).catch(() => undefined);
        await rm(join(workspace, `aside${turn}`), { recursive: true, force: true }).catch(() => undefined);
      }
    })();
    for (let round = 0; round < 150; round += 1)
      await files
        .layOut({ workspaceDirectory: workspace }, [...FACTS, { name: 'round.md', text: String(round) }])
        .catch(() => undefined);
    isDone = true;
    await swapping;
    expect(await readdir(outside)).toEqual(['secret.txt']);
    expect(await readFile(join(outside, 'secret.txt'), 'utf8')).toBe(SECRET);
  });
});
