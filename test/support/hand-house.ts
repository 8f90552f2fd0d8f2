/** Machines that share copies of hands: each has a home of its own, and all see the same sessions. */
import { lstat, mkdir, mkdtemp, readFile, readdir, readlink } from 'node:fs/promises';
import { Buffer } from 'node:buffer';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createSimulatedClock } from '../../src/actors/clock/simulated-clock.ts';
import type { HandCopies, HandPiece } from '../../src/actors/hand/hand-copies.ts';
import type { HandFolders, TakenHand } from '../../src/actors/hand/hand-folders.ts';
import { DEFAULT_HAND_LIMITS } from '../../src/machines/hand/hand-limits.ts';
import type { HandLimits } from '../../src/machines/hand/hand-limits.ts';
import { createHomeHandFolders } from '../../src/adapters/hand-files/home-hand-folders.ts';
import { removeTree } from '../../src/adapters/hand-files/remove-tree.ts';
import { HomeLayout } from '../../src/adapters/files/layout.ts';
import { createMemoryHandCopies } from '../../src/adapters/memory/memory-hand-copies.ts';

export const PLACE = { sessionId: '01900000-0000-7000-8000-000000000001', agentId: 'coder' } as const;

export interface HandMachine {
  readonly layout: HomeLayout;
  readonly folders: HandFolders;
  readonly workspace: string;
  readonly runtime: string;
  /** Copies the hand here. */
  take(options?: { readonly kept?: string | undefined; readonly limits?: HandLimits }): Promise<TakenHand>;
  /** Lays out that copy here. */
  lay(manifestId: string, epoch?: number): ReturnType<HandFolders['lay']>;
}

export interface HandHouse {
  readonly copies: HandCopies;
  readonly one: HandMachine;
  readonly two: HandMachine;
  /** Everything that was put, in order. */
  readonly put: HandPiece[];
  dispose(): Promise<void>;
}

export async function handHouse(): Promise<HandHouse> {
  const directory = await mkdtemp(join(tmpdir(), 'wakechart-hands-'));
  const copies = createMemoryHandCopies({ clock: createSimulatedClock() });
  const put: HandPiece[] = [];
  const [one, two] = [
    await machine(join(directory, 'one'), copies, put),
    await machine(join(directory, 'two'), copies, put),
  ];
  return { copies, one, two, put, dispose: () => removeTree(directory) };
}

async function machine(home: string, copies: HandCopies, put: HandPiece[]): Promise<HandMachine> {
  const layout = new HomeLayout(home);
  const folders = createHomeHandFolders({ layout });
  const [workspace, runtime] = [layout.ownWorkspace(PLACE), join(layout.runtimeDirectory(PLACE), 'agent')];
  for (const folder of [home, workspace, runtime]) await mkdir(folder, { recursive: true, mode: 0o700 });
  const onPieces = async (pieces: readonly HandPiece[]): Promise<void> => {
    put.push(...pieces);
    await copies.put(PLACE.sessionId, pieces);
  };
  return {
    layout,
    folders,
    workspace,
    runtime,
    take: async ({ kept, limits = DEFAULT_HAND_LIMITS } = {}) => {
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
