import { mkdir, readdir, realpath, rm, stat, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { MountPlaces } from '../../../src/actors/environment/session-environments.ts';
import { createFileMountPlaces, sourceProblems } from '../../../src/adapters/environment-files/file-mount-places.ts';
import { HomeLayout } from '../../../src/adapters/files/layout.ts';
import { temporaryHome } from '../../support/temporary-home.ts';
import type { TemporaryHome } from '../../support/temporary-home.ts';

let folder: TemporaryHome;
let root = '';
let home = '';
let workspaceDirectory = '';
let places: MountPlaces;

const session = { sessionId: '0192f0c1-2345-7abc-8def-0123456789ab', agentId: 'player' };

beforeEach(async () => {
  folder = await temporaryHome();
  root = await realpath(folder.path);
  home = join(root, 'home');
  const layout = new HomeLayout(home);
  workspaceDirectory = await layout.workspaceDirectory(session);
  await mkdir(join(root, 'user/.ssh'), { recursive: true });
  await mkdir(join(root, 'user/project'), { recursive: true });
  await mkdir(join(root, 'data/deep'), { recursive: true });
  await writeFile(join(root, 'file'), '');
  places = createFileMountPlaces({ layout, userHome: join(root, 'user') });
});

afterEach(() => folder.remove());

const resolved = (...sources: readonly string[]): ReturnType<MountPlaces['resolve']> =>
  places.resolve({
    session,
    workspaceDirectory,
    environmentId: 'builds',
    sandbox: 'required',
    declared: sources.map((source, index) => ({ path: `/m${index}`, source, access: 'ro' as const })),
  });

describe('the folders behind the mounts of a session', () => {
  it('are made for their owner only, and followed to where they are', async () => {
    const { folders, declared } = await resolved(join(root, 'data'));
    expect(folders).toEqual({
      workspace: workspaceDirectory,
      agent: join(home, 'agents/player/substrate'),
      learnings: join(home, 'agents/player/learnings'),
      runtime: join(home, 'agents/player/sessions', session.sessionId, 'runtime/agent'),
      skills: join(home, 'skills'),
      agentSkills: undefined,
    });
    expect(declared).toEqual([{ path: '/m0', source: join(root, 'data'), access: 'ro' }]);
    for (const path of [folders.agent, folders.runtime, folders.skills])
      expect((await stat(path)).mode & 0o777).toBe(0o700);
  });

  it('include the skills of the agent where it has any', async () => {
    await mkdir(join(home, 'agents/player/skills'));
    expect((await resolved()).folders.agentSkills).toBe(join(home, 'agents/player/skills'));
  });

  it('are found by many at the same time', async () => {
    const all = await Promise.all(Array.from({ length: 10 }, () => resolved(join(root, 'data'))));
    expect(new Set(all.map((each) => JSON.stringify(each))).size).toBe(1);
  });

  it('are refused where a link stands in for one of the runtime', async () => {
    await mkdir(join(home, 'agents/player/sessions', session.sessionId, 'runtime'), { recursive: true });
    await symlink(join(root, 'user'), join(home, 'agents/player/sessions', session.sessionId, 'runtime/agent'));
    await expect(resolved()).rejects.toMatchObject({
      code: 'MOUNT_UNAVAILABLE',
      message: expect.stringContaining('a link leads from there') as unknown,
    });
    expect(await readdir(join(root, 'user'))).toEqual(['.ssh', 'project']);
  });

  it('are refused where something else is in the place of one', async () => {
    await writeFile(join(home, 'skills'), '');
    await expect(resolved()).rejects.toMatchObject({ code: 'MOUNT_UNAVAILABLE' });
  });
});

describe('the source of a declared mount', () => {
  it.each<[string, string]>([
    ['missing', 'it is not there'],
    ['file', 'it is no folder'],
    ['home', 'is, holds or lies in the home of Wakechart'],
    ['home/agents', 'is, holds or lies in the home of Wakechart'],
    ['.', 'is, holds or lies in the home of Wakechart'],
    ['user', '/user/.ssh, which no agent may see'],
    ['user/.ssh', '/user/.ssh, which no agent may see'],
    ['user/.SSH/../.ssh', '/user/.ssh, which no agent may see'],
    ['link-to-ssh', '/user/.ssh, which no agent may see'],
    ['link-to-home', 'is, holds or lies in the home of Wakechart'],
    ['/', 'it is the whole system'],
    ['/etc', '/etc/shadow, which no agent may see'],
    ['/proc', '/proc, which no agent may see'],
    ['/proc/self', '/proc, which no agent may see'],
    ['/dev', '/dev, which no agent may see'],
    ['/var', '/var/run, which no agent may see'],
  ])('%s is refused: %s', async (source, because) => {
    await symlink(join(root, 'user/.ssh'), join(root, 'link-to-ssh'));
    await symlink(join(home, 'agents'), join(root, 'link-to-home'));
    const error = { code: 'MOUNT_UNAVAILABLE', message: expect.stringContaining(because) as unknown };
    const path = source.startsWith('/') ? source : join(root, source);
    await expect(resolved(path)).rejects.toMatchObject(error);
    await expect(resolved(path)).rejects.toThrow('environments/builds.yaml');
  });

  it.each<[string, string, string]>([
    ['lies in one that can be written', 'data/deep', 'data'],
    ['holds one that can be written', 'data', 'data/deep'],
    ['is one that can be written, too', 'data', 'data'],
  ])('is refused to be read only where it %s', async (_, readOnly, writable) => {
    const declared = [
      { path: '/policies', source: join(root, readOnly), access: 'ro' as const },
      { path: '/data', source: join(root, writable), access: 'rw' as const },
    ];
    const request = { session, workspaceDirectory, environmentId: 'builds', sandbox: 'required' as const };
    await expect(places.resolve({ ...request, declared })).rejects.toMatchObject({
      code: 'MOUNT_UNAVAILABLE',
      message: expect.stringContaining('overlaps'),
    });
    await expect(
      places.resolve({ ...request, declared: declared.map((mount) => ({ ...mount, access: 'ro' as const })) }),
    ).resolves.toMatchObject({ declared: [{ path: '/policies' }, { path: '/data' }] });
  });

  it('is refused to be read only where it overlaps with the workspace', async () => {
    const declared = [{ path: '/policies', source: join(root, 'data/deep'), access: 'ro' as const }];
    const request = {
      session,
      workspaceDirectory: join(root, 'data'),
      environmentId: 'builds',
      sandbox: 'required' as const,
    };
    await expect(places.resolve({ ...request, declared })).rejects.toMatchObject({
      code: 'MOUNT_UNAVAILABLE',
      message: expect.stringContaining('overlaps with the workspace'),
    });
    await expect(
      places.resolve({ ...request, workspaceDirectory: join(root, 'user/project'), declared }),
    ).resolves.toBeDefined();
  });

  it('is refused where it holds a socket that rules over containers', async () => {
    await writeFile(join(root, 'data/docker.sock'), '');
    await expect(resolved(join(root, 'data'))).rejects.toMatchObject({
      code: 'MOUNT_UNAVAILABLE',
      message: expect.stringContaining('docker.sock'),
    });
  });

  it('may be a folder beside secrets, and one behind a link', async () => {
    await symlink(join(root, 'data/deep'), join(root, 'link'));
    const { declared } = await resolved(join(root, 'user/project'), join(root, 'link'));
    expect(declared.map(({ source }) => source)).toEqual([join(root, 'user/project'), join(root, 'data/deep')]);
  });

  it('can be checked without making anything', async () => {
    const fresh = join(root, 'fresh');
    const problems = await sourceProblems({
      home: fresh,
      environmentId: 'builds',
      userHome: join(root, 'user'),
      declared: [
        { path: '/a', source: join(root, 'data'), access: 'ro' },
        { path: '/b', source: join(root, 'none'), access: 'ro' },
      ],
    });
    expect(problems.map(({ code }) => code)).toEqual(['MOUNT_UNAVAILABLE']);
    await expect(stat(fresh)).rejects.toThrow('ENOENT');
  });
});

describe('a workspace that somebody gave', () => {
  const given = (folderName: string, sandbox: 'required' | 'off' = 'required'): ReturnType<MountPlaces['resolve']> =>
    places.resolve({
      session,
      workspaceDirectory: join(root, folderName),
      environmentId: 'builds',
      sandbox,
      declared: [],
    });

  it.each([
    ['the home folder of people', 'user'],
    ['a folder of keys', 'user/.ssh'],
    ['a folder around the home folder of people', '.'],
  ])('is refused for a sandbox when it is %s', async (_, name) => {
    await expect(given(name)).rejects.toMatchObject({
      code: 'MOUNT_UNAVAILABLE',
      message: expect.stringContaining('which no agent may see'),
    });
    await expect(given(name, 'off')).resolves.toBeDefined();
  });

  it('is refused for a sandbox when it holds a socket that rules over containers', async () => {
    await writeFile(join(root, 'data/docker.sock'), '');
    await expect(given('data')).rejects.toMatchObject({ code: 'MOUNT_UNAVAILABLE' });
  });

  it('may be a project in it', async () => {
    expect((await given('user/project')).folders.workspace).toBe(join(root, 'user/project'));
  });
});

describe('a home', () => {
  it.each(['agents', 'vaults', 'environments'])('in which %s is a link has no mounts', async (name) => {
    await resolved();
    await rm(join(home, name), { recursive: true, force: true });
    await mkdir(join(root, 'elsewhere'));
    await symlink(join(root, 'elsewhere'), join(home, name));
    await expect(resolved()).rejects.toMatchObject({
      code: 'MOUNT_UNAVAILABLE',
      message: expect.stringContaining('it is a link'),
    });
  });
});
