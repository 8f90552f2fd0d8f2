/** What an attacker would try with a path: each way out, in a session with mounts. */
import { link, mkdir, open, readFile, readdir, rename, rm, stat, symlink, unlink, writeFile } from 'node:fs/promises';
import { execFileSync } from 'node:child_process';
import { createServer } from 'node:net';
import { basename, join } from 'node:path';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { SECRET, refusalOf } from './file-tools-setup.ts';
import { mountedSetup } from './mounted-setup.ts';
import type { MountedSetup } from './mounted-setup.ts';

const CALLS = [
  (path: string) => ['read', { path }] as const,
  (path: string) => ['write', { path, content: 'mine' }] as const,
  (path: string) => ['edit', { path, oldText: 'secret', newText: 'mine' }] as const,
  (path: string) => ['grep', { path, pattern: '.' }] as const,
  (path: string) => ['glob', { path, pattern: '**', includeHidden: true }] as const,
];

/** Every tool is refused with one of these codes, says nothing of the secret, and nothing has changed outside. */
async function expectNoEscape(
  { call, outside }: Pick<MountedSetup, 'call' | 'outside'>,
  path: string,
  codes: readonly string[] = ['PATH_OUTSIDE_WORKSPACE'],
): Promise<void> {
  for (const make of CALLS) {
    const [tool, input] = make(path);
    const refusal = await refusalOf(call(tool, input));
    expect(codes, `${tool} ${JSON.stringify(path)}: ${refusal}`).toContain(refusal);
  }
  expect(await readdir(outside)).toEqual(['secret.txt']);
  expect(await readFile(join(outside, 'secret.txt'), 'utf8')).toBe(SECRET);
}

describe('a path that climbs or begins elsewhere', () => {
  it.each([
    '..',
    '../outside/secret.txt',
    'a/../../outside/secret.txt',
    '/runtime/../outside/secret.txt',
    '/workspace/../etc/passwd',
    '/runtime/../../etc/passwd',
    '/data/../../../../etc/shadow',
    './/..//outside',
    '/etc/passwd',
    '/',
    '//etc//passwd',
    '/home',
  ])('%s stays outside', async (path) => {
    await expectNoEscape(await mountedSetup(), path);
  });

  it('does not expand a "~"', async () => {
    const { call } = await mountedSetup();
    expect(await refusalOf(call('read', { path: '~/.ssh/id_rsa' }))).toBe('FILE_NOT_FOUND');
  });

  it
    .skipIf(process.platform !== 'linux')
    .each([
      '/proc/self/root/etc/passwd',
      '/proc/1/root',
      '/proc/self/cwd',
      '/proc/self/environ',
      `/proc/${process.pid}/fd`,
      `/proc/${process.pid}/fd/0`,
      '/dev/fd',
      '/dev/fd/0',
      '/dev/stdin',
      '/dev/stdout',
      '/dev/null',
      '/dev/zero',
      '/sys/kernel',
    ])('%s is of the system', async (path) => {
    await expectNoEscape(await mountedSetup(), path, ['PATH_OUTSIDE_WORKSPACE', 'FILE_ACCESS_DENIED']);
  });

  it.skipIf(process.platform !== 'linux')('is not reached through the root or the folder of a process', async () => {
    const setup = await mountedSetup();
    const { outside, workspace } = setup;
    await expectNoEscape(setup, `/proc/self/root${join(outside, 'secret.txt')}`);
    await expectNoEscape(setup, `/proc/${process.pid}/root${outside}`);
    await symlink('/proc/self/root', join(workspace, 'root'));
    await expectNoEscape(setup, `root${join(outside, 'secret.txt')}`);
    const handle = await open(join(outside, 'secret.txt'));
    try {
      await symlink(`/proc/${process.pid}/fd/${handle.fd}`, join(workspace, 'open'));
      await expectNoEscape(setup, 'open');
      await expectNoEscape(setup, `/dev/fd/${handle.fd}`);
    } finally {
      await handle.close();
    }
  });
});

describe('a symbolic link', () => {
  it.each(['workspace', 'runtime', 'data'])('in %s leads out of no mount', async (folder) => {
    const setup = await mountedSetup();
    const { top, outside } = setup;
    const here = join(top, folder);
    const name = folder === 'workspace' ? '' : `/${folder}/`;
    await symlink(join(outside, 'secret.txt'), join(here, 'file'));
    await symlink(outside, join(here, 'folder'));
    await symlink('../outside', join(here, 'relative'));
    await symlink(join(outside, 'missing.txt'), join(here, 'dangling'));
    await symlink('folder', join(here, 'chain1'));
    await symlink('chain1', join(here, 'chain2'));
    await mkdir(join(here, 'deep'));
    await symlink('../../outside/secret.txt', join(here, 'deep/up'));
    for (const path of [
      'file',
      'folder',
      'folder/secret.txt',
      'folder/new.txt',
      'relative/secret.txt',
      'dangling',
      'chain2/secret.txt',
      'deep/up',
    ])
      await expectNoEscape(setup, name + path, ['PATH_OUTSIDE_WORKSPACE', 'NOT_A_FILE']);
    for (const tool of ['grep', 'glob'] as const)
      expect(
        JSON.stringify(
          await setup.call(tool, {
            ...(tool === 'grep' ? { pattern: 'secret' } : { pattern: '**' }),
            path: name === '' ? '.' : name,
          }),
        ),
      ).not.toContain('secret of');
  });

  it('in a loop leads nowhere', async () => {
    const setup = await mountedSetup();
    await symlink('two', join(setup.workspace, 'one'));
    await symlink('one', join(setup.workspace, 'two'));
    await symlink('self', join(setup.workspace, 'self'));
    for (const path of ['one', 'self', 'one/x', 'self/x'])
      await expectNoEscape(setup, path, ['PATH_INVALID', 'NOT_A_FILE']);
  });

  it.skipIf(process.platform !== 'linux')(
    'that is swapped between the check and the opening shows and changes nothing, in any of many tries',
    async () => {
      const { call, outside, directory, workspace } = await mountedSetup();
      await mkdir(join(outside, 'd'));
      await writeFile(join(outside, 'd/f.txt'), SECRET);
      await mkdir(join(directory('/runtime'), 'd'));
      await mkdir(join(directory('/workspace/agent'), 'd'));
      await writeFile(join(directory('/workspace/agent'), 'd/f.txt'), 'shared');
      const swapped = join(directory('/runtime'), 'd');
      const targets = [join(outside, 'd'), join(directory('/workspace/agent'), 'd')];
      let isDone = false;
      const swapping = (async () => {
        for (let turn = 0; !isDone; turn += 1) {
          await rm(swapped, { recursive: true, force: true }).catch(() => undefined);
          await symlink(targets[turn % 2] ?? outside, swapped).catch(() => undefined);
          await nextTurn();
          await unlink(swapped).catch(() => undefined);
          await mkdir(swapped).catch(() => undefined);
          await nextTurn();
        }
      })();
      const said: string[] = [];
      for (let round = 0; round < 150; round += 1) {
        const calls = [
          call('read', { path: '/runtime/d/f.txt' }),
          call('write', { path: '/runtime/d/f.txt', content: 'mine' }),
          call('write', { path: `/runtime/d/new/${round}`, content: 'mine' }),
          call('edit', { path: '/runtime/d/f.txt', oldText: 's', newText: 'mine' }),
          call('grep', { path: '/runtime', pattern: '.' }),
        ];
        said.push(JSON.stringify(await Promise.allSettled(calls)));
      }
      isDone = true;
      await swapping;
      expect(said.join('\n')).not.toContain(SECRET);
      expect(await readdir(outside, { recursive: true })).toEqual(
        expect.arrayContaining(['d', 'd/f.txt', 'secret.txt']),
      );
      expect(await readdir(outside, { recursive: true })).toHaveLength(3);
      // Nor what all sessions share, which may be read.
      expect(await readdir(directory('/workspace/agent'), { recursive: true })).toEqual(['d', 'd/f.txt']);
      expect(await readFile(join(directory('/workspace/agent'), 'd/f.txt'), 'utf8')).toBe('shared');
      expect(await readdir(workspace)).toEqual([]);
    },
  );
});

describe('a hard link to a file outside', () => {
  it('is a file of the workspace: writing puts another one in its place, and the one outside stays as it is', async () => {
    const { call, workspace, outside } = await mountedSetup();
    await link(join(outside, 'secret.txt'), join(workspace, 'linked.txt'));
    await link(join(outside, 'secret.txt'), join(workspace, 'edited.txt'));
    await call('read', { path: 'linked.txt' });
    await call('write', { path: 'linked.txt', content: 'mine' });
    await call('edit', { path: 'edited.txt', oldText: 'secret', newText: 'mine' });
    expect(await readFile(join(outside, 'secret.txt'), 'utf8')).toBe(SECRET);
    expect((await stat(join(outside, 'secret.txt'))).nlink).toBe(1);
  });
});

describe('a name that looks like something else', () => {
  it.each([
    ['a full-width slash and dots', '．．／outside／secret.txt'],
    ['a two-dot leader', '‥/outside/secret.txt'],
    ['a division slash', '..∕outside∕secret.txt'],
    ['a zero-width joiner between dots', '.\u200d./outside/secret.txt'],
    ['a right-to-left mark', '..\u200f/outside/secret.txt'],
    ['percent signs', '%2e%2e/outside/secret.txt'],
    ['a backslash', '..\\outside\\secret.txt'],
    ['dots at the end', '.../outside/secret.txt'],
    ['a space at the end', '.. /outside/secret.txt'],
  ])(
    '(%s) is a name like any other: nothing is there, and what is written stays in the workspace',
    async (_what, path) => {
      const { call, outside, workspace } = await mountedSetup();
      expect(await refusalOf(call('read', { path }))).toBe('FILE_NOT_FOUND');
      await call('write', { path, content: 'mine' });
      expect(await readFile(join(workspace, path), 'utf8')).toBe('mine');
      expect(await readFile(join(outside, 'secret.txt'), 'utf8')).toBe(SECRET);
    },
  );

  it('names no mount and no vault that way', async () => {
    const { call } = await mountedSetup();
    for (const path of [
      '/ｒuntime/x',
      '/runtime\u200d/x',
      '/RUNTIME/x',
      '/runtime /x',
      '/runtime./x',
      '/vau\u200dlts/github/token',
      '/Vaults/github/token',
      '/vaults\u0301/github',
    ])
      expect(await refusalOf(call('read', { path }))).toBe('PATH_OUTSIDE_WORKSPACE');
  });

  it.skipIf(process.platform !== 'linux')('is not taken for the same name in another spelling', async () => {
    const { call, put, subject } = await mountedSetup();
    await put('caf\u00e9.txt', 'composed');
    expect(await refusalOf(call('read', { path: 'cafe\u0301.txt' }))).toBe('FILE_NOT_FOUND');
    await put('Makefile', 'upper');
    expect(await refusalOf(call('read', { path: 'makefile' }))).toBe('FILE_NOT_FOUND');
    expect(subject('read', { path: 'cafe\u0301.txt' })).toMatchObject({
      path: expect.stringContaining('cafe\u0301.txt'),
    });
  });

  it('is refused with a NUL in it, and when it is too long', async () => {
    const { call } = await mountedSetup();
    for (const path of ['a\0b', '/runtime/\0', '']) await expect(call('read', { path })).rejects.toThrow();
    expect(await refusalOf(call('write', { path: `/runtime/${'x'.repeat(300)}`, content: '' }))).toBe('PATH_INVALID');
    expect(await refusalOf(call('read', { path: `${'a/'.repeat(2_040)}b` }))).toMatch(
      /^(?:PATH_INVALID|FILE_NOT_FOUND)$/,
    );
    await expect(call('read', { path: 'x'.repeat(5_000) })).rejects.toThrow();
  });
});

describe('what is no file', () => {
  it.skipIf(process.platform === 'win32')('is neither read nor written in any mount', async () => {
    const { call, directory } = await mountedSetup();
    execFileSync('mkfifo', [join(directory('/runtime'), 'pipe')]);
    const server = createServer().listen(join(directory('/data'), 'socket'));
    await mkdir(join(directory('/data'), 'folder'));
    try {
      for (const path of ['/runtime/pipe', '/data/socket', '/data/folder']) {
        for (const make of CALLS.slice(0, 3)) {
          const [tool, input] = make(path);
          expect(await refusalOf(call(tool, input))).toBe('NOT_A_FILE');
        }
      }
      expect(await refusalOf(call('read', { path: '/runtime/pipe/x' }))).toBe('NOT_A_FILE');
    } finally {
      await new Promise((resolve) => void server.close(resolve));
    }
  });

  it.skipIf(process.platform !== 'linux')(
    'takes the place of a folder in the middle of a write, and nothing is lost or put elsewhere',
    async () => {
      const { call, workspace, directory } = await mountedSetup();
      const folder = join(workspace, 'd');
      let isDone = false;
      const swapping = (async () => {
        while (!isDone) {
          await rm(folder, { recursive: true, force: true }).catch(() => undefined);
          await writeFile(folder, 'a file now').catch(() => undefined);
          await nextTurn();
          await rm(folder, { force: true, recursive: true }).catch(() => undefined);
          await mkdir(folder).catch(() => undefined);
          await nextTurn();
        }
      })();
      const codes = new Set<string>();
      for (let round = 0; round < 100; round += 1)
        codes.add(await refusalOf(call('write', { path: `d/${round}`, content: 'x' })));
      isDone = true;
      await swapping;
      expect(
        [...codes].filter(
          (code) =>
            ![
              'no refusal',
              'NOT_A_FILE',
              'NOT_A_FOLDER',
              'PATH_CHANGED',
              'FILE_NOT_FOUND',
              'PATH_OUTSIDE_WORKSPACE',
            ].includes(code),
        ),
      ).toEqual([]);
      expect((await readdir(workspace)).filter((name) => name !== basename(folder))).toEqual([]);
      expect(await readdir(directory('/runtime'))).toEqual([]);
    },
  );
});

describe('a mount whose folder was put elsewhere since the session began', () => {
  it('is not followed', async () => {
    const { call, directory, outside, top } = await mountedSetup();
    await rename(directory('/data'), join(top, 'aside'));
    await symlink(outside, directory('/data'));
    await expectNoEscape({ call, outside }, '/data/secret.txt');
    await expectNoEscape({ call, outside }, '/data');
  });
});
