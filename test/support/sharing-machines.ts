/** Machines that share workspace copies: each has a home of its own, and all see the same sessions. */
import { lstat, mkdir, mkdtemp, readFile, readdir, readlink } from 'node:fs/promises';
import { Buffer } from 'node:buffer';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createSimulatedClock } from '../../src/actors/clock/simulated-clock.ts';
import type { WorkspaceCopyStore, WorkspaceCopyPiece } from '../../src/actors/workspace-copy/copy-store.ts';
import type { WorkspaceCopyFolders, TakenWorkspaceCopy } from '../../src/actors/workspace-copy/copy-folders.ts';
import { DEFAULT_COPY_LIMITS } from '../../src/machines/workspace-copy/copy-limits.ts';
import type { WorkspaceCopyLimits } from '../../src/machines/workspace-copy/copy-limits.ts';
import { createHomeCopyFolders } from '../../src/adapters/workspace-copy-files/home-copy-folders.ts';
import { removeTree } from '../../src/adapters/workspace-copy-files/remove-tree.ts';
import { HomeLayout } from '../../src/adapters/files/layout.ts';
import { createMemoryWorkspaceCopyStore } from '../../src/adapters/memory/memory-workspace-copy-store.ts';

export const PLACE = { sessionId: '01900000-0000-7000-8000-000000000001', agentId: 'coder' } as const;

export interface SharingMachine {
  readonly layout: HomeLayout;
  readonly folders: WorkspaceCopyFolders;
  readonly workspace: string;
  readonly runtime: string;
  /** Copies the workspace here. */
  take(options?: {
    readonly kept?: string | undefined;
    readonly limits?: WorkspaceCopyLimits;
  }): Promise<TakenWorkspaceCopy>;
  /** Lays out that copy here. */
  lay(manifestId: string, epoch?: number): ReturnType<WorkspaceCopyFolders['lay']>;
}

export interface SharingMachines {
  readonly copies: WorkspaceCopyStore;
  readonly one: SharingMachine;
  readonly two: SharingMachine;
  /** Everything that was put, in order. */
  readonly put: WorkspaceCopyPiece[];
  dispose(): Promise<void>;
}

export async function sharingMachines(): Promise<SharingMachines> {
  const directory = await mkdtemp(join(tmpdir(), 'wakechart-sharing-'));
  const copies = createMemoryWorkspaceCopyStore({ clock: createSimulatedClock() });
  const put: WorkspaceCopyPiece[] = [];
  const [one, two] = [
    await machine(join(directory, 'one'), copies, put),
    await machine(join(directory, 'two'), copies, put),
  ];
  return { copies, one, two, put, dispose: () => removeTree(directory) };
}

async function machine(home: string, copies: WorkspaceCopyStore, put: WorkspaceCopyPiece[]): Promise<SharingMachine> {
  const layout = new HomeLayout(home);
  const folders = createHomeCopyFolders({ layout });
  const [workspace, runtime] = [layout.ownWorkspace(PLACE), join(layout.runtimeDirectory(PLACE), 'agent')];
  for (const folder of [home, workspace, runtime]) await mkdir(folder, { recursive: true, mode: 0o700 });
  const onPieces = async (pieces: readonly WorkspaceCopyPiece[]): Promise<void> => {
    put.push(...pieces);
    await copies.put(PLACE.sessionId, pieces);
  };
  return {
    layout,
    folders,
    workspace,
    runtime,
    take: async ({ kept, limits = DEFAULT_COPY_LIMITS } = {}) => {
      const taken = await folders.take(PLACE, { kept, limits, onPieces });
      await taken.confirm();
      return taken;
    },
    lay: (manifestId, epoch = 2) =>
      folders.lay(PLACE, { manifestId, epoch, get: (hashes) => copies.get(PLACE.sessionId, hashes) }),
  };
}

/** Everything in a folder: by path as bytes in hexadecimal digits, what it is, its mode and what it holds. */
export async function treeOf(folder: string): Promise<Readonly<Record<string, string>>> {
  const found: Record<string, string> = {};
  await collect(Buffer.from(folder), '', found);
  return found;
}

async function collect(folder: Buffer, path: string, found: Record<string, string>): Promise<void> {
  for (const name of await readdir(folder, { encoding: 'buffer' })) {
    const at = Buffer.concat([folder, Buffer.from('/'), name]);
    const shown = `${path}/${name.toString('latin1')}`;
    const stats = await lstat(at);
    const mode = (stats.mode & 0o777).toString(8);
    if (stats.isDirectory()) {
      found[shown] = `folder ${mode}`;
      await collect(at, shown, found);
    } else if (stats.isSymbolicLink())
      found[shown] = `link ${(await readlink(at, { encoding: 'buffer' })).toString('latin1')}`;
    else if (stats.isFile()) found[shown] = `file ${mode} ${(await readFile(at)).toString('latin1')}`;
    else found[shown] = 'something else';
  }
}
