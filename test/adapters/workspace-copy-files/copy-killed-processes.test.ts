/**
 * Machines that die while they lay out a workspace or copy it: the next machine finds the one before or the one
 * after, and never a mix.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { lstat, mkdir, mkdtemp, readFile, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createWorkspaceCopies } from '../../../src/actors/workspace-copy/workspace-copies.ts';
import type { WorkspaceCopies } from '../../../src/actors/workspace-copy/workspace-copies.ts';
import { HomeLayout } from '../../../src/adapters/files/layout.ts';
import { createHomeCopyFolders } from '../../../src/adapters/workspace-copy-files/home-copy-folders.ts';
import { createSharedFolderCopies } from '../../../src/adapters/workspace-copy-files/shared-folder-copies.ts';
import { initialSessionState } from '../../../src/machines/session/session-state.ts';
import type { SessionState } from '../../../src/machines/session/session-state.ts';
import { PLACE, treeOf } from '../../support/sharing-machines.ts';

const SCRIPT = fileURLToPath(new URL('./copy-process.mjs', import.meta.url));

/** Places to die at, evenly spread over all changes. */
const TRIED = 8;

let directory: string;
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'wakechart-killed-copies-'));
});
afterEach(() => rm(directory, { recursive: true, force: true }));

interface Machines {
  readonly copies: string;
  home(name: 'one' | 'two'): string;
  workspace(name: 'one' | 'two'): string;
  workspaceCopies(name: 'one' | 'two'): WorkspaceCopies;
}

/**
 * A session that wake 1 left on the first machine, that wake 2 took to the second, and that wake 3 left on the first
 * again.
 */
async function prepared(round: string): Promise<Machines> {
  const top = join(directory, round);
  const home = (name: string): string => join(top, name);
  const copies = join(top, 'copies');
  const workspace = (name: string): string => new HomeLayout(home(name)).ownWorkspace(PLACE);
  const workspaceCopies = (name: string): WorkspaceCopies =>
    createWorkspaceCopies({
      copies: createSharedFolderCopies({ directory: copies }),
      folders: createHomeCopyFolders({ layout: new HomeLayout(home(name)) }),
      boundBecause: async () => undefined,
      onTrouble: expect.fail,
    });
  for (const name of ['one', 'two']) await mkdir(join(workspace(name), 'deep'), { recursive: true });
  await wake(workspaceCopies('one'), 1, () => tree(workspace('one'), 1));
  await wake(workspaceCopies('two'), 2, async () => undefined);
  await wake(workspaceCopies('one'), 3, () => tree(workspace('one'), 3));
  return { copies, home, workspace, workspaceCopies };
}

function stateAt(epoch: number): SessionState {
  return { ...initialSessionState(PLACE), epoch };
}

async function wake(workspaceCopies: WorkspaceCopies, epoch: number, work: () => Promise<void>): Promise<void> {
  const workspaceCopy = await workspaceCopies.arrive(stateAt(epoch - 1), { epoch });
  await work();
  await workspaceCopy.leave();
}

async function tree(workspace: string, epoch: number): Promise<void> {
  for (const file of ['a.md', 'deep/b.md', `only-${epoch}.md`]) await writeFile(join(workspace, file), `by ${epoch}`);
  await rm(join(workspace, `only-${epoch - 2}.md`), { force: true });
  if (epoch === 1) await writeFile(join(workspace, 'same.md'), 'the same');
}

const treeAt = (epoch: number): unknown =>
  expect.objectContaining({
    '/same.md': 'file 644 the same',
    '/a.md': `file 644 by ${epoch}`,
    '/deep/b.md': `file 644 by ${epoch}`,
    [`/only-${epoch}.md`]: `file 644 by ${epoch}`,
  });

async function dying(
  machines: Machines,
  name: 'one' | 'two',
  { epoch, file, dieAt }: { readonly epoch: number; readonly file?: string; readonly dieAt: number },
): Promise<{ readonly text: string; readonly isKilled: boolean }> {
  const child = spawn(
    process.execPath,
    [
      SCRIPT,
      JSON.stringify({ home: machines.home(name), copies: machines.copies, session: PLACE, epoch, file, dieAt }),
    ],
    { stdio: ['ignore', 'pipe', 'inherit'] },
  );
  let text = '';
  child.stdout.setEncoding('utf8').on('data', (piece: string) => {
    text += piece;
  });
  const [, signal] = (await once(child, 'close')) as [number | null, string | null];
  return { text, isKilled: signal === 'SIGKILL' };
}

/** What no copy holds: it must be found again, whatever happens. */
async function leaveWork(machines: Machines): Promise<void> {
  await writeFile(join(machines.workspace('two'), 'work'), 'of nobody');
}

async function changesOf(
  name: 'one' | 'two',
  { file, hasWork = false }: { readonly file?: string; readonly hasWork?: boolean } = {},
): Promise<number> {
  const machines = await prepared(`count-${name}-${hasWork}`);
  if (hasWork) await leaveWork(machines);
  const { text } = await dying(machines, name, { epoch: 4, dieAt: 0, ...(file === undefined ? {} : { file }) });
  return Number(/^changes (\d+)$/m.exec(text)?.[1]);
}

describe('a machine that dies', () => {
  it('while it lays out a workspace copy leaves the old one or the new one, wherever that is, and the next wake has the new one', async () => {
    for (const hasWork of [true, false]) {
      const changes = await changesOf('two', { hasWork });
      expect(changes).toBeGreaterThan(40);
      for (const dieAt of placesIn(changes)) {
        const machines = await prepared(`lay-${hasWork}-${dieAt}`);
        if (hasWork) await leaveWork(machines);
        const { isKilled } = await dying(machines, 'two', { epoch: 4, dieAt });
        const folders = createHomeCopyFolders({ layout: new HomeLayout(machines.home('two')) });
        await folders.recover(PLACE);
        const found = await treeOf(machines.workspace('two'));
        expect([`/only-1.md`, `/only-3.md`].filter((path) => path in found)).toHaveLength(1);
        expect(found).toEqual('/only-1.md' in found ? treeAt(1) : treeAt(3));
        await wake(machines.workspaceCopies('two'), 5, async () => undefined);
        expect(await treeOf(machines.workspace('two'))).toEqual(treeAt(3));
        expect(await contentsBeside(join(machines.workspace('two'), '..'), 'work')).toEqual(
          hasWork ? ['of nobody'] : [],
        );
        expect((await lstat(join(machines.workspace('two'), 'same.md'))).nlink).toBe(1);
        expect(isKilled).toBe(true);
        await rm(join(directory, `lay-${hasWork}-${dieAt}`), { recursive: true });
      }
    }
  }, 300_000);

  it('while it copies a workspace leaves the copy before or the one after, wherever that is, and both can be laid out', async () => {
    const changes = await changesOf('one', { file: 'a.md' });
    expect(changes).toBeGreaterThan(20);
    const copied = new Set<number>();
    for (const dieAt of placesIn(changes)) {
      const machines = await prepared(`take-${dieAt}`);
      const { text, isKilled } = await dying(machines, 'one', { epoch: 4, file: 'a.md', dieAt });
      const copy =
        (await createSharedFolderCopies({ directory: machines.copies }).latest(PLACE.sessionId))?.copy?.epoch ?? 0;
      copied.add(copy);
      expect(text.includes('left') ? [4] : [3, 4]).toContain(copy);
      await wake(machines.workspaceCopies('two'), 5, async () => undefined);
      expect(await readFile(join(machines.workspace('two'), 'a.md'), 'utf8')).toBe(`by ${copy}`);
      expect(await readFile(join(machines.workspace('two'), 'deep/b.md'), 'utf8')).toBe('by 3');
      expect(isKilled).toBe(true);
      await rm(join(directory, `take-${dieAt}`), { recursive: true });
    }
    expect(copied).toEqual(new Set([3, 4]));
  }, 300_000);
});

/** The last ones among them, where a copy becomes the one that counts. */
function placesIn(changes: number): readonly number[] {
  const spread = Array.from({ length: TRIED }, (_, index) => 1 + Math.floor((index * changes) / TRIED));
  return [...new Set([...spread, changes - 3, changes])];
}

/** What all files of that name hold, anywhere in the folder. */
async function contentsBeside(folder: string, name: string): Promise<string[]> {
  const found = (await readdir(folder, { withFileTypes: true, recursive: true })).filter(
    (entry) => entry.isFile() && entry.name === name,
  );
  return Promise.all(found.map((entry) => readFile(join(entry.parentPath, entry.name), 'utf8')));
}
