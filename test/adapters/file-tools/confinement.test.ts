import { execFileSync } from 'node:child_process';
import {
  lstat,
  mkdir,
  open,
  readFile,
  readdir,
  realpath,
  rename,
  rm,
  symlink,
  unlink,
  writeFile,
} from 'node:fs/promises';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { setImmediate as nextTurn } from 'node:timers/promises';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { pathOfHandle } from '../../../src/adapters/system/held-folder.ts';
import { Places } from '../../../src/adapters/file-tools/places.ts';
import type { Place } from '../../../src/adapters/file-tools/places.ts';
import { SECRET, fileToolsSetup, refusalOf } from './file-tools-setup.ts';

/** Both ways in which open files are told apart: through /proc, and by checking their path again. */
const WAYS =
  process.platform === 'linux' ? [{ usesDescriptors: true }, { usesDescriptors: false }] : [{ usesDescriptors: false }];

const CALLS = [
  (path: string) => ['read', { path }] as const,
  (path: string) => ['write', { path, content: 'mine' }] as const,
  (path: string) => ['edit', { path, oldText: 'secret', newText: 'mine' }] as const,
  (path: string) => ['grep', { path, pattern: 'secret' }] as const,
  (path: string) => ['glob', { path, pattern: '**' }] as const,
];

describe.each(WAYS)('with %j, the tools stay in the workspace', (way) => {
  it('whatever a path looks like that leads out', async () => {
    const { call, workspace, outside } = await fileToolsSetup(way);
    await symlink(outside, join(workspace, 'out'));
    await symlink(join(outside, 'secret.txt'), join(workspace, 'secret'));
    await symlink('out', join(workspace, 'again'));
    await mkdir(join(workspace, 'deep'));
    await symlink('../../outside', join(workspace, 'deep/up'));
    const paths = [
      '/',
      '/etc/passwd',
      '/proc/self/environ',
      '..',
      '../outside/secret.txt',
      join(outside, 'secret.txt'),
      'deep/../../outside/secret.txt',
    ];
    const links = [
      'out',
      'out/secret.txt',
      'out/new/file.txt',
      'secret',
      'again/secret.txt',
      'deep/up/secret.txt',
      `${workspace}2/x`,
      `/proc/self/cwd${outside}/secret.txt`,
    ];
    for (const path of [...paths, ...links]) {
      for (const make of CALLS) {
        const [tool, input] = make(path);
        expect(`${tool} ${path}: ${await refusalOf(call(tool, input))}`).toBe(
          `${tool} ${path}: PATH_OUTSIDE_WORKSPACE`,
        );
      }
    }
    expect(await readdir(outside)).toEqual(['secret.txt']);
    expect(await readFile(join(outside, 'secret.txt'), 'utf8')).toBe(SECRET);
  });

  it('in any tree of folders, files and symbolic links', async () => {
    const setup = await fileToolsSetup(way);
    const name = fc.constantFrom('a', 'b', 'c');
    const target = fc.constantFrom(
      '../outside',
      '../../outside',
      '../outside/secret.txt',
      '..',
      '.',
      'a',
      'b',
      '../a',
      '/',
      setup.outside,
      join(setup.outside, 'secret.txt'),
      join(setup.workspace, 'a'),
    );
    const thing = fc.record({ path: fc.array(name, { minLength: 1, maxLength: 3 }), target: fc.option(target) });
    const walked = fc.array(fc.constantFrom('a', 'b', 'c', '..', 'secret.txt', 'outside'), {
      minLength: 1,
      maxLength: 5,
    });
    await fc.assert(
      fc.asyncProperty(
        fc.array(thing, { maxLength: 8 }),
        fc.array(walked, { minLength: 1, maxLength: 6 }),
        async (things, paths) => {
          for (const folder of [setup.workspace, setup.outside]) {
            await rm(folder, { recursive: true });
            await mkdir(folder);
          }
          await writeFile(join(setup.outside, 'secret.txt'), SECRET);
          for (const { path, target: leadsTo } of things) await plant(setup.workspace, path, leadsTo);
          const before = await contentsOf(setup.outside);
          for (const path of paths) {
            for (const make of CALLS) {
              const [tool, input] = make(path.join('/'));
              const result = await setup.call(tool, input).catch(() => undefined);
              expect(JSON.stringify(result ?? null)).not.toContain(SECRET);
            }
          }
          // What is reached from the top through links shows as little.
          expect(await setup.call('grep', { pattern: 'secret' })).not.toContain(SECRET);
          const { files } = (await setup.call('glob', { pattern: '**' })) as { readonly files: readonly string[] };
          for (const file of files)
            expect((await realpath(join(setup.workspace, file))).startsWith(`${setup.workspace}/`)).toBe(true);
          expect(await contentsOf(setup.outside)).toEqual(before);
        },
      ),
      { numRuns: 12 },
    );
  });

  it('in a glob pattern too', async () => {
    const { call, workspace, outside } = await fileToolsSetup(way);
    await symlink(outside, join(workspace, 'out'));
    for (const pattern of [
      'out/*',
      'out/**',
      '{out,x}/*',
      '**/secret.txt',
      'o*/secret*',
      '\\.\\./outside/*',
      '.\\./outside/*',
      '[.][.]/outside/*',
      '*/*',
      '?../outside/*',
    ]) {
      expect(await call('glob', { pattern, includeHidden: true, includeIgnored: true })).toMatchObject({ files: [] });
    }
  });

  it('when they may read elsewhere, they still do not write there', async () => {
    const { call, outside } = await fileToolsSetup({ ...way, mayReadOutside: true });
    const path = join(outside, 'secret.txt');
    expect(await call('read', { path })).toContain(SECRET);
    expect(await call('grep', { path: outside, pattern: 'secret' })).toContain(SECRET);
    expect(await refusalOf(call('write', { path, content: 'mine' }))).toBe('PATH_OUTSIDE_WORKSPACE');
    expect(await refusalOf(call('edit', { path, oldText: 'secret', newText: 'mine' }))).toBe('PATH_OUTSIDE_WORKSPACE');
  });

  it('do not wait for the other end of a named pipe, nor take a socket or a folder for a file', async () => {
    const { call, workspace } = await fileToolsSetup(way);
    execFileSync('mkfifo', [join(workspace, 'pipe')]);
    const server = createServer().listen(join(workspace, 'socket'));
    try {
      for (const path of ['pipe', 'socket']) {
        for (const make of CALLS.slice(0, 4)) {
          const [tool, input] = make(path);
          expect(`${tool} ${path}: ${await refusalOf(call(tool, input))}`).toBe(`${tool} ${path}: NOT_A_FILE`);
        }
      }
      expect(await call('grep', { pattern: 'x' })).toBe('[No line matches.]');
      expect(await call('glob', { pattern: '**' })).toMatchObject({ files: [] });
    } finally {
      await new Promise((resolve) => void server.close(resolve));
    }
  });
});

/** Every file and folder in a folder, with what the files hold. */
async function contentsOf(folder: string): Promise<readonly string[]> {
  const names = (await readdir(folder, { recursive: true })).toSorted();
  return Promise.all(
    names.map(
      async (name) => `${name}: ${await readFile(join(folder, name), 'utf8').catch((error: unknown) => String(error))}`,
    ),
  );
}

/** Puts something into the workspace and nowhere else: what leads out of it must not be planted through. */
async function plant(workspace: string, names: readonly string[], target: string | null): Promise<void> {
  const path = join(workspace, ...names);
  try {
    for (let depth = 1; depth < names.length; depth += 1) {
      const folder = join(workspace, ...names.slice(0, depth));
      await mkdir(folder).catch(() => undefined);
      if (!(await lstat(folder)).isDirectory()) return;
    }
    await (target === null ? writeFile(path, 'plain', { flag: 'wx' }) : symlink(target, path));
  } catch {
    // Something is there already; the tree is as good without this.
  }
}

describe.skipIf(process.platform !== 'linux')('while somebody puts links in place of folders', () => {
  it('nothing outside is read or written', async () => {
    const { call, workspace, outside, put } = await fileToolsSetup();
    await mkdir(join(outside, 'd'));
    await writeFile(join(outside, 'd/f.txt'), SECRET);
    await put('d/f.txt', 'plain');
    const [folder, aside] = [join(workspace, 'd'), join(workspace, 'aside')];
    let isDone = false;
    const swapping = (async () => {
      while (!isDone) {
        // The tools are at work in between, and may have made the folder anew.
        await rename(folder, aside).catch(() => undefined);
        await symlink(join(outside, 'd'), folder).catch(() => undefined);
        await nextTurn();
        await rm(folder, { recursive: true, force: true }).catch(() => undefined);
        await rename(aside, folder).catch(() => undefined);
        await nextTurn();
      }
    })();
    const said: string[] = [];
    for (let round = 0; round < 150; round += 1) {
      const results = await Promise.allSettled([
        call('read', { path: 'd/f.txt' }),
        call('grep', { path: 'd', pattern: '.' }),
        call('write', { path: 'd/f.txt', content: `plain ${round}` }),
        call('write', { path: `d/new/${round}.txt`, content: 'plain' }),
        call('edit', { path: 'd/f.txt', oldText: 'plain', newText: 'simple' }),
      ]);
      said.push(JSON.stringify(results));
    }
    isDone = true;
    await swapping;
    expect(said.join('\n')).not.toContain(SECRET);
    expect(await readdir(outside, { recursive: true })).toEqual(expect.arrayContaining(['d', 'd/f.txt', 'secret.txt']));
    expect(await readdir(outside, { recursive: true })).toHaveLength(3);
    expect(await readFile(join(outside, 'd/f.txt'), 'utf8')).toBe(SECRET);
  });

  it('nothing is read or written in another folder of the workspace, and what was allowed still happens', async () => {
    const { call, subject, workspace, put } = await fileToolsSetup();
    await put('.git/d/f.txt', SECRET);
    await put('a/d/f.txt', 'plain');
    const [folder, aside] = [join(workspace, 'a'), join(workspace, 'aside')];
    const calls = [
      ['read', { path: 'a/d/f.txt' }],
      ['grep', { path: 'a/d', pattern: '.' }],
      ['write', { path: 'a/d/f.txt', content: 'plain' }],
      ['write', { path: 'a/d/new/g.txt', content: 'plain' }],
      ['edit', { path: 'a/d/f.txt', oldText: 'plain', newText: 'plain text' }],
    ] as const;
    const allowed = calls.map(([name, input]) => subject(name, input));
    let isDone = false;
    const swapping = (async () => {
      while (!isDone) {
        await rename(folder, aside).catch(() => undefined);
        await symlink('.git', folder).catch(() => undefined);
        await nextTurn();
        // A write may have made it anew.
        await rm(folder, { recursive: true, force: true }).catch(() => undefined);
        await rename(aside, folder).catch(() => undefined);
        await nextTurn();
      }
    })();
    const said: string[] = [];
    for (let round = 0; round < 150; round += 1)
      said.push(
        JSON.stringify(
          await Promise.allSettled(calls.map(([name, input], index) => call(name, input, { subject: allowed[index] }))),
        ),
      );
    isDone = true;
    await swapping;
    expect(said.join('\n')).not.toContain(SECRET);
    expect(await call('read', { path: 'a/d/f.txt' }, { subject: allowed[0] })).toContain('plain');
    expect(await contentsOf(join(workspace, '.git'))).toEqual([expect.stringMatching(/^d: /), `d/f.txt: ${SECRET}`]);
  });

  it('nothing outside is read when a file itself is swapped', async () => {
    const { call, workspace, outside, put } = await fileToolsSetup();
    await put('f.txt', 'plain');
    let isDone = false;
    const swapping = (async () => {
      while (!isDone) {
        await symlink(join(outside, 'secret.txt'), join(workspace, 'link'));
        await rename(join(workspace, 'link'), join(workspace, 'f.txt'));
        await unlink(join(workspace, 'f.txt'));
        await put('f.txt', 'plain');
      }
    })();
    const said: unknown[] = [];
    for (let round = 0; round < 200; round += 1)
      said.push(
        await call('read', { path: 'f.txt' }).catch(() => undefined),
        await call('grep', { pattern: '.' }).catch(() => undefined),
      );
    isDone = true;
    await swapping;
    expect(JSON.stringify(said)).not.toContain(SECRET);
    expect(JSON.stringify(said)).toContain('plain');
  });
});

describe.each(WAYS)('with %j, what was allowed for one path', (way) => {
  const INPUTS: readonly (readonly [string, object])[] = [
    ['read', { path: 'd/config' }],
    ['write', { path: 'd/config', content: 'mine' }],
    ['write', { path: 'd/hooks/new', content: 'mine' }],
    ['write', { path: 'd/made/new', content: 'mine' }],
    ['edit', { path: 'd/config', oldText: 'c', newText: 'mine' }],
    ['grep', { path: 'd/config', pattern: 'c' }],
    ['grep', { path: 'd', pattern: 'c' }],
    ['glob', { path: 'd', pattern: '**' }],
  ];

  it.each(INPUTS)('does not happen in another: %s %j', async (tool, input) => {
    const { call, subject, put, workspace } = await fileToolsSetup(way);
    for (const folder of ['d', '.git']) {
      await put(`${folder}/config`, `c of ${folder}`);
      await mkdir(join(workspace, folder, 'hooks'));
    }
    await call('read', { path: 'd/config' });
    await call('read', { path: '.git/config' });
    const allowed = subject(tool, input);
    await rename(join(workspace, 'd'), join(workspace, 'aside'));
    await symlink('.git', join(workspace, 'd'));
    const before = await contentsOf(workspace);
    expect(await refusalOf(call(tool, input, { subject: allowed }))).toBe('PATH_CHANGED');
    expect(await contentsOf(workspace)).toEqual(before);
    // Asked again, it is allowed for where it leads.
    expect(await refusalOf(call(tool, input, { subject: subject(tool, input) }))).toBe('no refusal');
  });

  it('does not happen where a missing folder has been put in the meantime', async () => {
    const { call, subject, put, workspace } = await fileToolsSetup(way);
    await put('.git/hooks/x', 'x');
    const input = { path: 'd/new', content: 'mine' };
    const allowed = subject('write', input);
    await symlink('.git/hooks', join(workspace, 'd'));
    expect(await refusalOf(call('write', input, { subject: allowed }))).toBe('PATH_CHANGED');
    expect(await readdir(join(workspace, '.git/hooks'))).toEqual(['x']);
  });

  it('does not happen where a folder above it leads by the time it is opened', async () => {
    const { workspace, put } = await fileToolsSetup(way);
    await put('a/d/f.txt', 'plain');
    await put('.git/d/f.txt', SECRET);
    const places = await Places.open({ workspaceDirectory: workspace, ...way });
    const [file, folder, missing] = await Promise.all(
      ['a/d/f.txt', 'a/d', 'a/d/new/g.txt'].map((path) => places.locate(path, 'write')),
    );
    await rename(join(workspace, 'a'), join(workspace, 'aside'));
    await symlink('.git', join(workspace, 'a'));
    const openings = [
      () => places.openFile(file as Place),
      () => places.openFolder(folder as Place),
      () => places.openParent(file as Place),
      () => places.openParent(missing as Place),
      () => places.openFolderAt(join(workspace, 'a/d'), 'read'),
    ];
    for (const opening of openings) expect(await refusalOf(opening())).toBe('PATH_CHANGED');
    expect(await contentsOf(join(workspace, '.git'))).toHaveLength(2);
  });

  it.runIf(way.usesDescriptors)('still happens when the file has been replaced since it was opened', async () => {
    const { workspace, put } = await fileToolsSetup(way);
    const path = await put('f.txt', 'plain');
    const handle = await open(path);
    try {
      await put('new', 'new');
      await rename(join(workspace, 'new'), path);
      expect(await pathOfHandle(handle, path, true)).toBe(path);
    } finally {
      await handle.close();
    }
  });

  it('happens under whatever name the workspace has for the runtime', async () => {
    const { workspace, tool, put } = await fileToolsSetup(way);
    await put('d/f.txt', 'plain');
    await symlink('workspace', `${workspace}2`);
    for (const workspaceDirectory of [workspace, `${workspace}2`, `${workspace}/`, `${workspace}/../workspace2`]) {
      const context = { session: { sessionId: 's', agentId: 'a' }, workspaceDirectory };
      for (const [name, input] of [
        ['read', { path: 'd/f.txt' }],
        ['glob', { pattern: '**' }],
        ['write', { path: 'new/f.txt', content: 'x' }],
      ] as const) {
        const subject = tool(name).subject?.(input, context);
        expect(
          await refusalOf(
            Promise.resolve(
              tool(name).run?.(input, { ...context, callId: 'call', signal: new AbortController().signal, subject }),
            ),
          ),
        ).toBe('no refusal');
      }
      await rm(join(workspace, 'new'), { recursive: true });
    }
  });
});

describe('the subject of a call', () => {
  it('is where its path leads, under the name of the workspace', async () => {
    const { tool, workspace, outside, put } = await fileToolsSetup();
    await put('secrets/key', 'x');
    await symlink('secrets', join(workspace, 'innocent'));
    await symlink(outside, join(workspace, 'out'));
    const context = { session: { sessionId: 's', agentId: 'a' }, workspaceDirectory: workspace };
    const subject = (path: string): unknown => tool('write').subject?.({ path, content: '' }, context);
    expect(subject('innocent/key')).toEqual({ kind: 'path', path: join(workspace, 'secrets/key'), access: 'write' });
    expect(subject('new/../other/x')).toEqual({ kind: 'path', path: join(workspace, 'other/x'), access: 'write' });
    expect(subject('out/x')).toEqual({ kind: 'path', path: join(outside, 'x'), access: 'write' });
    expect(tool('grep').subject?.({ pattern: 'x' }, context)).toEqual({
      kind: 'path',
      path: workspace,
      access: 'read',
      reachesBelow: true,
    });
  });
});
