/**
 * Puts a workspace copy that was laid out whole in the place of the one that lies there. A file says that this has
 * begun before anything is moved, so that the next process ends it after a crash: without the file the old copy lies
 * there, with it the new one will.
 */
import { randomUUID } from 'node:crypto';
import { chmod, lstat, mkdir, open, readFile, readdir, rename, unlink } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import * as z from 'zod';
import { syncFolder as syncWhole } from '../system/whole-files.ts';
import { nativePath } from '../system/native-path.ts';
import { isMissing } from './copy-errors.ts';
import type { CopyPlaces, RootPlace } from './copy-places.ts';
import { removeTree } from './remove-tree.ts';

const PRIVATE_FOLDER_MODE = 0o700;
const FILE_MODE = 0o600;

const swapFile = z.strictObject({ epoch: z.number().int().nonnegative(), keepsBefore: z.boolean() });

export type Swap = Readonly<z.output<typeof swapFile>>;

/** The new copy has to be in the folder for drafts, on the disk. */
export async function beginSwap(places: CopyPlaces, swap: Swap): Promise<void> {
  const draft = `${places.swap}.tmp`;
  const file = await open(draft, 'w', FILE_MODE);
  try {
    await file.writeFile(JSON.stringify(swap));
    await file.sync();
  } finally {
    await file.close();
  }
  await rename(draft, places.swap);
  await syncFolder(places.directory);
}

/** Ends what was begun, from wherever it came to; where nothing was, what is left of a draft goes. */
export async function endSwap(places: CopyPlaces): Promise<void> {
  const swap = await readSwap(places);
  if (swap !== undefined) {
    await mkdir(places.before(swap.epoch), { recursive: true, mode: PRIVATE_FOLDER_MODE });
    for (const root of places.roots) await swapRoot(places, root, swap);
    await syncFolder(places.directory);
    await unlink(places.swap);
    await syncFolder(places.directory);
    // Under a name by which the next process knows after a crash that it goes.
    if (!swap.keepsBefore) await putAway(places, swap.epoch);
    else for (const { root } of places.roots) await unlink(movedMark(join(places.before(swap.epoch), root)));
  }
  await removeTree(places.old);
  await removeTree(places.draft);
}

async function putAway(places: CopyPlaces, epoch: number): Promise<void> {
  // Left by one that was killed while it removed that.
  await removeTree(places.old);
  await rename(places.before(epoch), places.old);
}

/** Whether there is something to end or to clear away. */
export async function isHalfDone(places: CopyPlaces): Promise<boolean> {
  const names = await readdir(places.directory).catch((error: unknown): readonly string[] => {
    if (isMissing(error)) return [];
    throw error;
  });
  return ['swap.json', 'new', 'old'].some((name) => names.includes(name));
}

/** The newest that was put aside for a wake after that of `epoch`. @returns its absolute path */
export async function lastSetAside(places: CopyPlaces, epoch: number): Promise<string | undefined> {
  const wakes = (await readdir(places.directory)).flatMap((name) =>
    Number(/^before-(?<wake>\d+)$/.exec(name)?.groups?.['wake'] ?? []),
  );
  const newest = Math.max(epoch, ...wakes);
  return newest > epoch ? places.before(newest) : undefined;
}

async function readSwap(places: CopyPlaces): Promise<Swap | undefined> {
  const text = await readFile(places.swap, 'utf8').catch((error: unknown) => {
    if (isMissing(error)) return undefined;
    throw error;
  });
  return text === undefined ? undefined : swapFile.parse(JSON.parse(text));
}

/**
 * A root that the new copy does not have goes away. What a process has made in between, in the place of the old one, is
 * put to the old one.
 */
async function swapRoot(places: CopyPlaces, { root, directory }: RootPlace, { epoch }: Swap): Promise<void> {
  const before = join(places.before(epoch), root);
  const drafted = join(places.draft, root);
  // Once the old one is away and the new one in its place, that must not be moved away too.
  if (!(await isThere(movedMark(before)))) {
    await moveAway(directory, before);
    await (await open(movedMark(before), 'w', FILE_MODE)).close();
    await syncFolder(places.before(epoch));
  }
  if (!(await isThere(drafted))) return;
  await moveAway(directory, before);
  await mkdir(dirname(directory), { recursive: true, mode: PRIVATE_FOLDER_MODE });
  await rename(drafted, directory);
  await syncFolder(dirname(directory));
}

function movedMark(before: string): string {
  return `${before}.moved`;
}

async function moveAway(directory: string, before: string): Promise<void> {
  const to = (await isThere(before)) ? `${before}.${randomUUID()}` : before;
  try {
    // A folder that may not be written cannot be moved either.
    await chmod(directory, PRIVATE_FOLDER_MODE);
    await rename(directory, to);
  } catch (error) {
    if (!isMissing(error)) throw error;
  }
}

async function isThere(path: string): Promise<boolean> {
  return lstat(path).then(
    () => true,
    (error: unknown) => {
      if (isMissing(error)) return false;
      throw error;
    },
  );
}

export function syncFolder(path: string): Promise<void> {
  return syncWhole(nativePath(path));
}
