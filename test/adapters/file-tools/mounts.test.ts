import { mkdir, readFile, readdir, rename, symlink } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { createFileTools } from '../../../src/adapters/file-tools/file-tools.ts';
import { refusalOf } from './file-tools-setup.ts';
import { mountedSetup } from './mounted-setup.ts';

describe('a path that is given by the name of a mount', () => {
  it.each([
    ['/workspace/a.txt', 'workspace', 'a.txt'],
    ['/workspace/agent/MEMORY.md', 'substrate', '/workspace/agent/MEMORY.md'],
    ['/agent/MEMORY.md', 'substrate', '/workspace/agent/MEMORY.md'],
    ['agent/MEMORY.md', 'substrate', '/workspace/agent/MEMORY.md'],
    ['/runtime/notes/a.md', 'runtime', '/runtime/notes/a.md'],
    ['/memory/learnings/learnings.md', 'learnings', '/memory/learnings/learnings.md'],
    ['/skills/x/SKILL.md', 'skills', '/skills/x/SKILL.md'],
    ['/reference/manual.md', 'reference', '/reference/manual.md'],
    ['//data/./x/../b.md', 'data', '/data/b.md'],
  ])('%s is read, found and named as the agent does', async (path, folder, shown) => {
    const { call, putIn } = await mountedSetup();
    const rest = shown.replace(/^\/(?:workspace\/agent|runtime|memory\/learnings|skills|reference|data)\//, '');
    await putIn(folder, rest, 'what is there');
    expect(await call('read', { path })).toContain('what is there');
    expect(await call('grep', { path, pattern: 'what' })).toContain(shown);
    const start = path.slice(0, path.lastIndexOf('/'));
    expect(await call('glob', { path: start, pattern: '*' })).toMatchObject({ files: [shown] });
  });

  it('is written where the mount may be written, by its name and by its path on the host', async () => {
    const { call, directory } = await mountedSetup();
    expect(await call('write', { path: '/runtime/notes/a.md', content: 'one\n' })).toMatchObject({
      path: '/runtime/notes/a.md',
      action: 'created',
    });
    expect(
      await call('edit', { path: join(directory('/runtime'), 'notes/a.md'), oldText: 'one', newText: 'two' }),
    ).toMatchObject({ path: '/runtime/notes/a.md' });
    expect(await readFile(join(directory('/runtime'), 'notes/a.md'), 'utf8')).toBe('two\n');
    expect(await call('write', { path: '/workspace/src/a.ts', content: 'x' })).toMatchObject({ path: 'src/a.ts' });
    expect(await call('write', { path: '/data/b.txt', content: 'x' })).toMatchObject({ path: '/data/b.txt' });
  });

  it.each([
    '/workspace/agent/MEMORY.md',
    '/workspace/agent/new/file',
    'agent/MEMORY.md',
    '/memory/learnings/learnings.md',
    '/skills/new/SKILL.md',
    '/reference/x',
    '/reference',
  ])('%s is not written, nor a folder made for it', async (path) => {
    const { call, putIn, top } = await mountedSetup();
    await putIn('substrate', 'MEMORY.md', 'memory');
    const before = await readdir(top, { recursive: true });
    expect(await refusalOf(call('write', { path, content: 'mine' }))).toBe('MOUNT_READ_ONLY');
    expect(await refusalOf(call('edit', { path, oldText: 'memory', newText: 'mine' }))).toBe('MOUNT_READ_ONLY');
    expect(await readdir(top, { recursive: true })).toEqual(before);
  });

  it.each([
    '/vaults',
    '/vaults/github',
    '/vaults/github/token',
    '/vaults/other/x',
    '/vaults/github/../github/token',
    '/workspace/../vaults/github/token',
  ])('%s is never readable', async (path) => {
    const { call, subject } = await mountedSetup();
    for (const [tool, input] of [
      ['read', { path }],
      ['write', { path, content: '' }],
      ['edit', { path, oldText: 'a', newText: 'b' }],
      ['grep', { path, pattern: '.' }],
      ['glob', { path, pattern: '**' }],
    ] as const) {
      expect(await refusalOf(call(tool, input))).toBe('VAULT_NOT_READABLE');
      expect(subject(tool, input)).toMatchObject({ kind: 'path', mount: expect.stringMatching(/^\/vaults/) });
    }
  });

  it('says of a refusal which folders there are', async () => {
    const { call } = await mountedSetup();
    await expect(call('read', { path: '/etc/passwd' })).rejects.toMatchObject({
      code: 'PATH_OUTSIDE_WORKSPACE',
      hint: expect.stringContaining('/memory/learnings'),
    });
    for (const path of ['/', '/memory', '/runtimes/x', '/Workspace/a', '/data2/x', '/workspace2'])
      expect(await refusalOf(call('read', { path }))).toBe('PATH_OUTSIDE_WORKSPACE');
  });
});

describe('a folder of the workspace that is called agent', () => {
  it('goes before what the agent shares, from the workspace, and not under its absolute name', async () => {
    const { call, put, putIn } = await mountedSetup();
    await putIn('substrate', 'MEMORY.md', 'shared');
    await put('agent/MEMORY.md', 'own');
    expect(await call('read', { path: 'agent/MEMORY.md' })).toContain('own');
    expect(await call('read', { path: '/workspace/agent/MEMORY.md' })).toContain('shared');
    expect(await call('write', { path: 'agent/new.md', content: 'x' })).toMatchObject({ path: 'agent/new.md' });
    expect(await refusalOf(call('write', { path: '/workspace/agent/new.md', content: 'x' }))).toBe('MOUNT_READ_ONLY');
  });
});

describe('a link from one mount into another', () => {
  it('is judged by where it leads', async () => {
    const { call, subject, put, putIn, workspace, directory } = await mountedSetup();
    await putIn('substrate', 'MEMORY.md', 'shared');
    await put('plain.txt', 'plain');
    await symlink(directory('/workspace/agent'), join(workspace, 'shared'));
    await symlink(directory('/runtime'), join(workspace, 'kept'));
    await symlink(join(workspace, 'plain.txt'), join(directory('/workspace/agent'), 'to-plain'));
    expect(await call('read', { path: 'shared/MEMORY.md' })).toContain('shared');
    expect(await refusalOf(call('write', { path: 'shared/new.md', content: 'x' }))).toBe('MOUNT_READ_ONLY');
    expect(subject('write', { path: 'shared/new.md' })).toEqual({
      kind: 'path',
      path: '/workspace/agent/new.md',
      mount: '/workspace/agent',
      access: 'write',
    });
    expect(await call('write', { path: 'kept/x.md', content: 'x' })).toMatchObject({ path: '/runtime/x.md' });
    // It leads into the workspace: what is written is the workspace's, and the link stays as it is.
    expect(await call('read', { path: '/workspace/agent/to-plain' })).toContain('plain');
    expect(
      await call('edit', { path: '/workspace/agent/to-plain', oldText: 'plain', newText: 'changed' }),
    ).toMatchObject({ path: 'plain.txt' });
    expect(await readdir(directory('/workspace/agent'))).toEqual(['MEMORY.md', 'to-plain']);
  });

  it('leads nowhere but into mounts', async () => {
    const { call, directory, outside } = await mountedSetup();
    await symlink(outside, join(directory('/runtime'), 'out'));
    for (const path of ['/runtime/out/secret.txt', '/runtime/out', '/runtime/out/new'])
      expect(await refusalOf(call('read', { path }))).toBe('PATH_OUTSIDE_WORKSPACE');
    expect(await refusalOf(call('write', { path: '/runtime/out/new', content: 'x' }))).toBe('PATH_OUTSIDE_WORKSPACE');
    expect(await call('grep', { path: '/runtime', pattern: '.', includeHidden: true })).toBe('[No line matches.]');
  });
});

describe('a mount whose folder lies in the workspace', () => {
  it('is read-only there too, under every name', async () => {
    const { environment, call: plain, workspace, put } = await mountedSetup();
    await put('vendor/a.txt', 'vendored');
    const mounts = [
      ...environment.mounts,
      { kind: 'declared', path: '/vendor', directory: join(workspace, 'vendor'), access: 'ro' } as const,
    ];
    const call = (name: string, input: unknown) => plain(name, input, { environment: { ...environment, mounts } });
    for (const path of ['vendor/a.txt', '/vendor/a.txt', '/workspace/vendor/a.txt', join(workspace, 'vendor/a.txt')]) {
      expect(await call('read', { path })).toContain('vendored');
      expect(await refusalOf(call('edit', { path, oldText: 'v', newText: 'w' }))).toBe('MOUNT_READ_ONLY');
    }
    expect(await refusalOf(call('write', { path: 'vendor/new/b.txt', content: 'x' }))).toBe('MOUNT_READ_ONLY');
  });
});

describe('a workspace that lies in a folder of the host with the name of a mount', () => {
  it('is meant by its path on the host, which fits more of it', async () => {
    const { environment, call: plain, top, workspace, put } = await mountedSetup();
    await put('a.txt', 'of the workspace');
    const mounts = [
      ...environment.mounts.filter(({ path }) => path !== '/data'),
      { kind: 'declared', path: top, directory: join(top, 'data'), access: 'rw' } as const,
    ];
    const call = (name: string, input: unknown) => plain(name, input, { environment: { ...environment, mounts } });
    expect(await call('read', { path: join(workspace, 'a.txt') })).toContain('of the workspace');
  });
});

describe('what rules are asked about', () => {
  it('is a path as the agent names it, in a mount, and one of the host in the workspace', async () => {
    const { subject, workspace, directory } = await mountedSetup();
    expect(subject('write', { path: '/runtime/a/b.md' })).toEqual({
      kind: 'path',
      path: '/runtime/a/b.md',
      mount: '/runtime',
      access: 'write',
    });
    expect(subject('write', { path: join(directory('/runtime'), 'a/b.md') })).toEqual({
      kind: 'path',
      path: '/runtime/a/b.md',
      mount: '/runtime',
      access: 'write',
    });
    expect(subject('glob', { path: '/runtime', pattern: '*' })).toEqual({
      kind: 'path',
      path: '/runtime',
      mount: '/runtime',
      access: 'read',
      reachesBelow: true,
    });
    expect(subject('write', { path: '/workspace/src/a.ts' })).toEqual({
      kind: 'path',
      path: join(workspace, 'src/a.ts'),
      access: 'write',
    });
    expect(subject('write', { path: 'src/a.ts' })).toEqual({
      kind: 'path',
      path: join(workspace, 'src/a.ts'),
      access: 'write',
    });
  });

  it('is what happens: allowed in one mount, a call does nothing in another', async () => {
    const { call, subject, workspace, directory } = await mountedSetup();
    await mkdir(join(workspace, 'd'));
    const input = { path: 'd/x.md', content: 'x' };
    const allowed = subject('write', input);
    await call('write', { path: '/runtime/keep', content: 'x' });
    await rename(join(workspace, 'd'), join(workspace, 'aside'));
    await symlink(directory('/runtime'), join(workspace, 'd'));
    expect(await refusalOf(call('write', input, { subject: allowed }))).toBe('PATH_CHANGED');
    expect(await readdir(directory('/runtime'))).toEqual(['keep']);
    expect(await call('write', input, { subject: subject('write', input) })).toMatchObject({ path: '/runtime/x.md' });
  });
});

describe('the tools for files', () => {
  it('say of themselves what they are, do and give', async () => {
    const { call, put } = await mountedSetup();
    await put('a.txt', 'text');
    const tools = new Map(createFileTools().map((tool) => [tool.definition.name, tool.definition]));
    for (const definition of tools.values())
      expect([definition.family, definition.effects?.length, definition.outputSchema]).toEqual([
        'files',
        expect.any(Number),
        expect.anything(),
      ]);
    const given = [
      ['read', { path: 'a.txt' }],
      ['write', { path: 'b.txt', content: 'x' }],
      ['edit', { path: 'a.txt', oldText: 'text', newText: 'texts' }],
      ['glob', { pattern: '*' }],
      ['grep', { pattern: 't' }],
    ] as const;
    for (const [name, input] of given)
      expect(tools.get(name)?.outputSchema?.safeParse(await call(name, input)).success).toBe(true);
  });
});
