import { Buffer } from 'node:buffer';
import { execFileSync } from 'node:child_process';
import {
  appendFile,
  chmod,
  link,
  lstat,
  mkdir,
  readFile,
  readdir,
  rename,
  rm,
  symlink,
  utimes,
  writeFile,
} from 'node:fs/promises';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { PIECE_BYTES, indexText } from '../../../src/machines/workspace-copy/copy-manifest.ts';
import { hashOf } from '../../../src/adapters/workspace-copy-files/piece-batches.ts';
import { hostIdOf, hostOfHome } from '../../../src/adapters/workspace-copy-files/host-id.ts';
import { HeldFolder } from '../../../src/adapters/system/held-folder.ts';
import { PLACE, sharingMachines, treeOf } from '../../support/sharing-machines.ts';
import type { SharingMachines } from '../../support/sharing-machines.ts';

let setup: SharingMachines;
beforeEach(async () => {
  setup = await sharingMachines();
});
afterEach(() => setup.dispose());

type Planted =
  | { readonly kind: 'file'; readonly mode: number; readonly content: string }
  | { readonly kind: 'link'; readonly target: string }
  | { readonly kind: 'folder'; readonly mode: number; readonly inside: readonly (readonly [string, Planted])[] };

/** What nobody may read only root can copy. */
const FILE_MODES = [0o600, 0o644, 0o755, 0o400, 0o777, ...(process.getuid?.() === 0 ? [0o000] : [])];

/** Bytes as latin1: names that are no UTF-8 among them. */
const name = fc.oneof(
  fc.constantFrom(
    'a',
    'a.txt',
    'b c',
    '-rf',
    '\n',
    '*',
    '\\',
    '"',
    'ü'.normalize('NFD'),
    '\xff\xfe',
    'caf\xe9',
    '\xed\xa0\x80',
    '\xf0\x9f',
    '.hidden',
    '...',
    ' ',
  ),
  fc
    .string({ unit: 'binary-ascii', minLength: 1, maxLength: 8 })
    .filter((text) => !/[/\0]/.test(text) && text !== '.' && text !== '..'),
);
const { planted } = fc.letrec<{ planted: Planted }>((tie) => ({
  planted: fc.oneof(
    { depthSize: 'small', withCrossShrink: true },
    fc.record({
      kind: fc.constant('file' as const),
      mode: fc.constantFrom(...FILE_MODES),
      content: fc.string({ maxLength: 20 }),
    }),
    fc.record({
      kind: fc.constant('link' as const),
      target: fc.constantFrom('a', '..', '/etc/passwd', 'nowhere', '../../..', '\xff'),
    }),
    fc.record({
      kind: fc.constant('folder' as const),
      mode: fc.constantFrom(0o700, 0o755, 0o500),
      inside: fc.array(fc.tuple(name, tie('planted')), { maxLength: 5 }),
    }),
  ),
}));
const tree = fc.array(fc.tuple(name, planted), { maxLength: 8 });

async function plant(folder: Buffer, entries: readonly (readonly [string, Planted])[]): Promise<void> {
  for (const [each, entry] of new Map(entries)) {
    const at = Buffer.concat([folder, Buffer.from('/'), Buffer.from(each, 'latin1')]);
    if (entry.kind === 'file') await writeFile(at, entry.content, { mode: 0o600 }).then(() => chmod(at, entry.mode));
    else if (entry.kind === 'link') await symlink(Buffer.from(entry.target, 'latin1'), at);
    else {
      await mkdir(at);
      await plant(at, entry.inside);
      await chmod(at, entry.mode);
    }
  }
}

describe('a workspace copy', () => {
  it('comes out on another machine as it went in, whatever the tree', { timeout: 60_000 }, async () => {
    await fc.assert(
      fc.asyncProperty(tree, tree, async (before, after) => {
        const each = await sharingMachines();
        try {
          const { one, two } = each;
          await plant(Buffer.from(one.workspace), before);
          await plant(Buffer.from(one.runtime), after);
          const first = await one.take();
          await two.lay(first.manifestId);
          expect(await treeOf(two.workspace)).toEqual(await treeOf(one.workspace));
          expect(await treeOf(two.runtime)).toEqual(await treeOf(one.runtime));
          // The second copy is made of what changed since, and laid over the first.
          await rename(one.runtime, `${one.runtime}.aside`);
          await mkdir(one.runtime);
          await plant(Buffer.from(one.runtime), before);
          const second = await one.take({ kept: first.manifestId });
          await two.lay(second.manifestId, 3);
          expect(await treeOf(two.runtime)).toEqual(await treeOf(one.runtime));
          expect((await two.take()).manifestId).toBe(second.manifestId);
        } finally {
          await each.dispose();
        }
      }),
      { numRuns: 15 },
    );
  });

  it('keeps modes, empty folders, links that lead out or nowhere, and names that are no text', async () => {
    const { one, two } = setup;
    await plant(Buffer.from(one.workspace), [
      ['run.sh', { kind: 'file', mode: 0o755, content: '#!/bin/sh\n' }],
      ['empty', { kind: 'folder', mode: 0o750, inside: [] }],
      ['out', { kind: 'link', target: '/etc' }],
      ['caf\xe9', { kind: 'folder', mode: 0o700, inside: [['\xff', { kind: 'file', mode: 0o600, content: 'x' }]] }],
      ['locked', { kind: 'folder', mode: 0o500, inside: [['in', { kind: 'file', mode: 0o400, content: 'y' }]] }],
    ]);
    const { manifestId, files } = await one.take();
    expect(files).toBe(9);
    expect(await two.lay(manifestId)).toMatchObject({ files: 9 });
    expect(await treeOf(two.workspace)).toEqual({
      '/run.sh': 'file 755 #!/bin/sh\n',
      '/empty': 'folder 750',
      '/out': 'link /etc',
      '/caf\xe9': 'folder 700',
      '/caf\xe9/\xff': 'file 600 x',
      '/locked': 'folder 500',
      '/locked/in': 'file 400 y',
    });
  });

  it('gives out large files in pieces, and of one that has grown only the last', async () => {
    const { one, two, put } = setup;
    const big = Buffer.alloc(2 * PIECE_BYTES + 5, 'abcdefg');
    await writeFile(join(one.workspace, 'big'), big);
    const first = await one.take();
    expect(put.map(({ bytes }) => bytes.length).filter((length) => length > 1_000)).toEqual([PIECE_BYTES, PIECE_BYTES]);
    put.length = 0;
    const grown = Buffer.concat([big, Buffer.from('more')]);
    await writeFile(join(one.workspace, 'big'), grown);
    const second = await one.take({ kept: first.manifestId });
    const fresh = put.filter(({ hash }) => !first.pieces.has(hash));
    expect(fresh.reduce((sum, { bytes }) => sum + bytes.length, 0)).toBeLessThan(2_000);
    await two.lay(second.manifestId);
    expect((await readFile(join(two.workspace, 'big'))).equals(grown)).toBe(true);
  });

  it('reads nothing again that is as it was, and everything when what is kept is not known', async () => {
    const { one } = setup;
    await mkdir(join(one.workspace, 'src'));
    for (const file of ['a', 'b', 'c']) await writeFile(join(one.workspace, 'src', file), file);
    const first = await one.take();
    expect(first.read).toBe(3);
    // What was written in the very moment of the check is read once more.
    await settled();
    await one.take({ kept: first.manifestId });
    await settled();
    expect(await one.take({ kept: first.manifestId })).toMatchObject({ manifestId: first.manifestId, read: 0 });
    await writeFile(join(one.workspace, 'src', 'b'), 'B');
    // Somebody who puts the times back deceives nobody.
    await utimes(join(one.workspace, 'src', 'b'), 1, 1);
    const second = await one.take({ kept: first.manifestId });
    expect(second.read).toBe(1);
    expect(second.manifestId).not.toBe(first.manifestId);
    expect((await one.take({ kept: 'f'.repeat(64) })).read).toBe(3);
  });

  it('is the same copy whichever process copies it', async () => {
    const { one, two } = setup;
    for (const { workspace } of [two, one]) {
      await writeFile(join(workspace, 'a'), '1');
      await writeFile(join(workspace, 'B'), '2');
    }
    expect((await one.take()).manifestId).toBe((await two.take()).manifestId);
  });

  it('leaves out what the runtime lays out for every wake, and what no copy can hold', async () => {
    const { one, two } = setup;
    const facts = join(one.workspace, '.wakechart-runtime');
    await mkdir(join(facts, 'attachments'), { recursive: true });
    await writeFile(join(facts, 'index.md'), 'facts');
    await writeFile(join(facts, 'attachments', 'a.png'), 'image');
    execFileSync('mkfifo', [join(one.workspace, 'pipe')]);
    const { manifestId, skipped } = await one.take();
    expect(skipped).toEqual(['workspace/pipe']);
    await two.lay(manifestId);
    expect(Object.keys(await treeOf(two.workspace)).toSorted()).toEqual([
      '/.wakechart-runtime',
      '/.wakechart-runtime/attachments',
      '/.wakechart-runtime/attachments/a.png',
    ]);
  });

  it('is refused beyond its limits, with figures, before much is read', async () => {
    const { one } = setup;
    for (const file of ['a', 'b', 'c']) await writeFile(join(one.workspace, file), '12345');
    await expect(one.take({ limits: { maxFiles: 3, maxBytes: 1_000 } })).rejects.toMatchObject({
      code: 'WORKSPACE_COPY_TOO_LARGE',
      details: { maxFiles: 3 },
    });
    await expect(one.take({ limits: { maxFiles: 30, maxBytes: 14 } })).rejects.toMatchObject({
      code: 'WORKSPACE_COPY_TOO_LARGE',
      details: { bytes: 15, maxBytes: 14 },
    });
  });

  it('is copied as it was at one time or another when a file changes while it is read', async () => {
    const { one, two, copies } = setup;
    const path = join(one.workspace, 'log');
    await writeFile(path, Buffer.alloc(3 * PIECE_BYTES));
    const written: string[] = [];
    const taken = await one.folders.take(PLACE, {
      limits: { maxFiles: 100, maxBytes: 1e9 },
      onPieces: async (pieces) => {
        await copies.put(PLACE.sessionId, pieces);
        written.push('x');
        await writeFile(path, Buffer.alloc(2 * PIECE_BYTES, written.length));
      },
    });
    await taken.confirm();
    await two.lay(taken.manifestId);
    const laid = await readFile(join(two.workspace, 'log'));
    expect([2, 3].map((count) => count * PIECE_BYTES)).toContain(laid.length);
    expect((await one.take({ kept: taken.manifestId })).read).toBe(1);
  });

  it('is not led out of its folder by a link in the place of a folder', async () => {
    const { one } = setup;
    await mkdir(join(one.workspace, 'in'));
    const folder = await HeldFolder.open(one.workspace);
    try {
      await rm(join(one.workspace, 'in'), { recursive: true });
      await symlink('/etc', join(one.workspace, 'in'));
      await expect(folder.enter('in')).rejects.toMatchObject({
        code: expect.stringMatching(/ELOOP|ENOTDIR/) as string,
      });
    } finally {
      await folder.close();
    }
  });
});

describe('a workspace copy that is laid out', () => {
  it('fetches only what does not lie here already, and nothing when all does', async () => {
    const { one, two } = setup;
    await writeFile(join(one.workspace, 'same'), 'the same');
    await writeFile(join(one.workspace, 'other'), 'before');
    const first = await one.take();
    expect((await two.lay(first.manifestId)).fetchedBytes).toBe(14);
    await writeFile(join(one.workspace, 'other'), 'afterwards');
    const second = await one.take({ kept: first.manifestId });
    expect(await two.lay(second.manifestId, 3)).toEqual({ files: 4, bytes: 18, fetchedBytes: 10 });
    expect(await two.lay(second.manifestId, 4)).toEqual({ files: 4, bytes: 18, fetchedBytes: 0 });
  });

  it('takes over what lies here already as it is, unless that has another name too or is put aside', async () => {
    const { one, two } = setup;
    for (const file of ['same', 'mode', 'named']) await writeFile(join(one.workspace, file), file);
    const first = await one.take();
    await two.lay(first.manifestId);
    await link(join(two.workspace, 'named'), join(two.layout.home, 'elsewhere'));
    const inodes = (): Promise<readonly bigint[]> =>
      Promise.all(
        ['same', 'mode', 'named'].map(async (file) => (await lstat(join(two.workspace, file), { bigint: true })).ino),
      );
    const before = await inodes();
    await chmod(join(one.workspace, 'mode'), 0o600);
    await writeFile(join(one.workspace, 'new'), 'new');
    const second = await one.take();
    await settled();
    expect(await two.lay(second.manifestId, 3)).toMatchObject({ fetchedBytes: 3 });
    expect((await inodes()).map((inode, index) => inode === before[index])).toEqual([true, false, false]);
    expect(await treeOf(two.workspace)).toEqual(await treeOf(one.workspace));
    expect((await lstat(join(two.workspace, 'same'))).nlink).toBe(1);
    expect(await readdir(join(two.layout.session(PLACE), 'hand'))).toEqual(['known']);
    await settled();
    expect(await two.take()).toMatchObject({ manifestId: second.manifestId });
    expect(await two.take({ kept: second.manifestId })).toMatchObject({ read: 0 });
    await writeFile(join(two.workspace, 'work'), 'of two');
    const { setAside = '' } = await two.lay(first.manifestId, 4);
    await appendFile(join(two.workspace, 'same'), ', but changed');
    expect(await readFile(join(setAside, 'workspace', 'same'), 'utf8')).toBe('same');
  });

  it('ends the removal of the one before that somebody was killed in', async () => {
    const { two } = setup;
    const old = join(two.layout.session(PLACE), 'hand', 'old');
    await mkdir(join(old, 'workspace', 'deep'), { recursive: true });
    await writeFile(join(old, 'workspace', 'deep', 'rest'), 'of it');
    await two.folders.recover(PLACE);
    expect(await readdir(join(old, '..'))).toEqual([]);
  });

  it('puts what was in no copy aside, and throws away what was', async () => {
    const { one, two } = setup;
    await writeFile(join(one.workspace, 'a'), 'one');
    const first = await one.take();
    await two.lay(first.manifestId);
    await writeFile(join(two.workspace, 'work'), 'of a wake that died');
    await writeFile(join(one.workspace, 'a'), 'another');
    const second = await one.take({ kept: first.manifestId });
    const laid = await two.lay(second.manifestId, 7);
    expect(await readFile(join(laid.setAside ?? '', 'workspace', 'work'), 'utf8')).toBe('of a wake that died');
    expect(Object.keys(await treeOf(two.workspace))).toEqual(['/a']);
    await writeFile(join(one.workspace, 'a'), 'again');
    expect(await two.lay((await one.take()).manifestId, 8)).not.toHaveProperty('setAside');
  });

  it('refuses copies that are damaged or would climb out, and leaves what is here', async () => {
    const { one, two, copies } = setup;
    await writeFile(join(one.workspace, 'a'), 'one');
    await writeFile(join(two.workspace, 'mine'), 'mine');
    const { manifestId } = await one.take();
    const get = (hashes: readonly string[]) => copies.get(PLACE.sessionId, hashes);
    const damaged = async (hashes: readonly string[]) =>
      (await get(hashes)).map(({ hash, bytes }) => ({
        hash,
        bytes: hash === hashOf('one') ? new TextEncoder().encode('two') : bytes,
      }));
    for (const broken of [damaged, async () => []])
      await expect(two.folders.lay(PLACE, { manifestId, epoch: 2, get: broken })).rejects.toMatchObject({
        code: 'WORKSPACE_COPY_DAMAGED',
      });
    for (const path of [
      'workspace/../../evil',
      'workspace//a',
      '/etc/evil',
      'workspace/./a',
      'elsewhere/a',
      'workspace/a\0',
    ]) {
      const part = JSON.stringify([
        { kind: 'folder', mode: 448, path: 'workspace' },
        { kind: 'link', path, target: 'x' },
      ]);
      const index = indexText([], [hashOf(part)]);
      await copies.put(
        PLACE.sessionId,
        [part, index].map((text) => ({ hash: hashOf(text), bytes: new TextEncoder().encode(text) })),
      );
      await expect(two.lay(hashOf(index))).rejects.toMatchObject({ code: 'WORKSPACE_COPY_DAMAGED' });
    }
    expect(await treeOf(two.workspace)).toEqual({ '/mine': expect.stringContaining('mine') as string });
    await two.folders.recover(PLACE);
    await two.lay(manifestId);
    expect(Object.keys(await treeOf(two.workspace))).toEqual(['/a']);
  });

  it('does not write through a link that a copy has in the place of a folder', async () => {
    const { two, copies } = setup;
    const part = JSON.stringify([
      { kind: 'folder', mode: 448, path: 'workspace' },
      { kind: 'link', path: 'workspace/etc', target: '/tmp' },
      { kind: 'file', mode: 384, path: 'workspace/etc/evil', pieces: [], size: 0 },
    ]);
    const index = indexText([], [hashOf(part)]);
    await copies.put(
      PLACE.sessionId,
      [part, index].map((text) => ({ hash: hashOf(text), bytes: new TextEncoder().encode(text) })),
    );
    await expect(two.lay(hashOf(index))).rejects.toMatchObject({ code: 'WORKSPACE_COPY_DAMAGED' });
  });
});

describe('a home', () => {
  it('keeps its id, is one for all who ask at once, and is another one once it is copied', async () => {
    const { one, two } = setup;
    const id = (await one.folders.host()).id;
    expect((await one.folders.host()).id).toBe(id);
    await writeFile(join(two.layout.home, 'host-id'), await readFile(join(one.layout.home, 'host-id')));
    const copied = (await two.folders.host()).id;
    expect(copied).not.toBe(id);
    expect((await one.folders.host()).id).toBe(id);
  });
});

describe.runIf(process.platform === 'linux')('a home on a disk that was copied', () => {
  const ids = { machine: '3d1219c7c4c5404aaa1f6d2a48adfda4', other: '4e1219c7c4c5404aaa1f6d2a48adfda4' };

  /** A system that shows this much of itself, below a folder of its own. */
  async function system(
    label: string,
    {
      machine,
      disk = {},
      slot = '0000:00:02.0',
    }: { readonly machine?: string; readonly disk?: Readonly<Record<string, string>>; readonly slot?: string },
  ): Promise<string> {
    const root = join(setup.one.layout.home, 'systems', label);
    const device = join(root, 'sys/devices/pci0000:00', slot, 'virtio1/block/vda');
    for (const folder of [join(root, 'etc'), join(root, 'sys/dev/block'), join(device, 'dm'), join(device, 'loop')])
      await mkdir(folder, { recursive: true });
    if (machine !== undefined) await writeFile(join(root, 'etc/machine-id'), `${machine}\n`);
    for (const [fact, text] of Object.entries(disk)) await writeFile(join(device, fact), text);
    await symlink(device, join(root, 'sys/dev/block', deviceNumber(setup.one.layout.home)));
    return root;
  }

  it.each<[string, Parameters<typeof system>[1], Parameters<typeof system>[1]]>([
    ['the machine has another id', { machine: ids.machine }, { machine: ids.other }],
    [
      'the disk has another serial number',
      { machine: ids.machine, disk: { serial: 'vol-1' } },
      { machine: ids.machine, disk: { serial: 'vol-2' } },
    ],
    [
      'another file is behind the disk',
      { disk: { 'loop/backing_file': '/one.img' } },
      { disk: { 'loop/backing_file': '/two.img' } },
    ],
    [
      'it is plugged in elsewhere',
      { machine: ids.machine, disk: { serial: ' \n' } },
      { machine: ids.machine, slot: '0000:00:05.0' },
    ],
  ])('is another one when %s', async (_when, before, after) => {
    const { home } = setup.two.layout;
    const [one, two] = [await system('one', before), await system('two', after)];
    const { id } = await hostOfHome(home, one);
    expect((await hostOfHome(home, one)).id).toBe(id);
    const other = (await hostOfHome(home, two)).id;
    expect(other).not.toBe(id);
    expect((await hostOfHome(home, two)).id).toBe(other);
  });

  it('has no id before it is there', async () => {
    expect(await hostIdOf(join(setup.one.layout.home, 'nowhere'))).toBeUndefined();
  });

  it('cannot be told where the system shows nothing, and keeps its id', async () => {
    const { home } = setup.two.layout;
    const nothing = join(setup.one.layout.home, 'nothing');
    const { id } = await hostOfHome(home, nothing);
    expect((await hostOfHome(home, nothing)).id).toBe(id);
    expect(await readFile(join(home, 'host-id'), 'utf8')).not.toContain(ids.machine);
  });
});

function deviceNumber(folder: string): string {
  return execFileSync('stat', ['-c', '%Hd:%Ld', folder], { encoding: 'utf8' }).trim();
}

/** Until the clock of the file system has gone on by more than the moment in which two changes look the same. */
async function settled(): Promise<void> {
  const until = Date.now() + 120;
  while (Date.now() < until) await new Promise((resolve) => setTimeout(resolve, 20));
}
