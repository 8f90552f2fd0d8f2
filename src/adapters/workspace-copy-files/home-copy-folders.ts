/** The workspace copies of the sessions of a home. */
import { randomUUID } from 'node:crypto';
import { lstat, mkdir, open, rename, stat, unlink } from 'node:fs/promises';
import { join } from 'node:path';
import type { WorkspaceCopyPiece } from '../../actors/workspace-copy/copy-store.ts';
import type {
  WorkspaceCopyFolders,
  LaidWorkspaceCopy,
  LayWorkspaceCopy,
  TakeWorkspaceCopy,
  TakenWorkspaceCopy,
} from '../../actors/workspace-copy/copy-folders.ts';
import type { SessionPlace } from '../../actors/session/session-directories.ts';
import { RuntimeError } from '../../machines/errors.ts';
import { differenceOf, isSameCopy } from '../../machines/workspace-copy/copy-difference.ts';
import {
  PIECE_BYTES,
  damaged,
  copyFile,
  indexText,
  isCopyPath,
  measureOf,
  partsOf,
  readIndex,
  readParts,
} from '../../machines/workspace-copy/copy-manifest.ts';
import type { CopyEntry, WorkspaceCopyFile } from '../../machines/workspace-copy/copy-manifest.ts';
import type { HomeHost } from '../../machines/workspace-copy/copy-state.ts';
import { HeldFolder } from '../system/held-folder.ts';
import { nativePath } from '../system/native-path.ts';
import { realPlaceOf } from '../system/real-path.ts';
import { draftCopy } from './copy-draft.ts';
import type { DraftedCopy } from './copy-draft.ts';
import { storageFailed } from './copy-errors.ts';
import { tend } from './copy-links.ts';
import { CopyPlaces } from './copy-places.ts';
import type { CopyLayout } from './copy-places.ts';
import { scanCopy } from './copy-scan.ts';
import type { ScannedCopy } from './copy-scan.ts';
import { beginSwap, endSwap, isHalfDone, lastSetAside } from './copy-swap.ts';
import { hostOfHome } from './host-id.ts';
import { fileSystemNow, readKnown, trusted, writeKnown } from './known-copy.ts';
import type { KnownCopy } from './known-copy.ts';
import { eachAtMost } from './at-most.ts';
import { hashOf, PieceBatches } from './piece-batches.ts';
import { fetchPieces } from './piece-source.ts';

const PRIVATE_FOLDER_MODE = 0o700;
/** Files that are checked at the same time. */
const MAX_CHECKS = 16;
const NOTHING_SEEN: ScannedCopy = { entries: [], checks: [], read: 0, skipped: [] };
const NO_BOUNDS = { maxFiles: Infinity, maxBytes: Infinity };

/** Comes again with every message that names it, so that a machine that has the log does not miss it. */
const ATTACHMENTS = 'workspace/.wakechart-runtime';
const OUTPUTS = 'workspace/.wakechart-runtime/outputs/';

export interface HomeCopyFoldersOptions {
  readonly layout: CopyLayout;
}

export function createHomeCopyFolders({ layout }: HomeCopyFoldersOptions): WorkspaceCopyFolders {
  let known: HomeHost | undefined;
  const placesOf = (place: SessionPlace): CopyPlaces => new CopyPlaces(layout, place);
  const attempt = async <Value>(what: string, work: () => Promise<Value>): Promise<Value> => {
    try {
      return await work();
    } catch (error) {
      throw storageFailed(what, error);
    }
  };
  return {
    host: async () => (known ??= await hostOfHome(layout.home)),
    hasGivenFolder: (folder) =>
      stat(folder).then(
        (found) => found.isDirectory(),
        () => false,
      ),
    recover: (place) => attempt('end what was begun with the folder of the session', () => recover(placesOf(place))),
    take: (place, take) => attempt('copy the folder of the session', () => takeCopy(placesOf(place), take)),
    lay: (place, lay) => attempt('lay out the folder of the session', () => layCopy(placesOf(place), lay)),
    place: (place, file, get) =>
      attempt('put a file into the folder of the session', () => placeFile(placesOf(place), file, get)),
    readFile: (place, path) => attempt('read a file of the session', () => readCopyFile(placesOf(place), path)),
  };
}

async function recover(places: CopyPlaces): Promise<void> {
  if (await isHalfDone(places)) await endSwap(places);
}

async function takeCopy(
  places: CopyPlaces,
  { kept, limits, onPieces, signal }: TakeWorkspaceCopy,
): Promise<TakenWorkspaceCopy> {
  await mkdir(places.directory, { recursive: true, mode: PRIVATE_FOLDER_MODE });
  const known = await readKnown(places.directory);
  // What was copied then must be there still: otherwise everything is given out again.
  const before = known !== undefined && known.manifestId === kept ? known : undefined;
  const batches = new PieceBatches(onPieces);
  const takenNs = await fileSystemNow(places.directory);
  const scanned = await scanCopy({
    roots: places.roots,
    known: knownFiles(before),
    limits,
    signal,
    onPiece: (bytes) => batches.add(bytes),
  });
  const manifest = await manifestOf(scanned.entries, before, batches);
  await batches.flush();
  const isNews = manifest.id !== before?.manifestId || scanned.read > 0;
  const confirm = async (): Promise<void> => {
    if (isNews)
      await writeKnown(places.directory, {
        manifestId: manifest.id,
        entries: scanned.entries,
        checks: scanned.checks,
        takenNs,
      });
  };
  const pieces = new Set([
    manifest.id,
    ...manifest.parts,
    ...scanned.entries.flatMap((entry) => (entry.kind === 'file' ? entry.pieces : [])),
  ]);
  const paths = new Set(scanned.entries.flatMap((entry) => (entry.kind === 'file' ? [entry.path] : [])));
  return {
    manifestId: manifest.id,
    pieces,
    has: (path) => paths.has(path),
    read: scanned.read,
    skipped: scanned.skipped,
    confirm,
    ...measureOf(scanned.entries),
  };
}

function unlessUnreadable(error: unknown): undefined {
  if (!RuntimeError.is(error) || error.code !== 'WORKSPACE_COPY_UNREADABLE') throw error;
}

function knownFiles(known: KnownCopy | undefined): ReturnType<typeof trusted> {
  return known === undefined ? new Map() : trusted(known);
}

interface Manifest {
  readonly id: string;
  readonly parts: readonly string[];
}

/** Gives out the parts that were not there before, and the index after them. */
async function manifestOf(
  entries: readonly CopyEntry[],
  before: KnownCopy | undefined,
  batches?: PieceBatches,
): Promise<Manifest> {
  const encoder = new TextEncoder();
  const texts = partsOf(entries);
  const parts = texts.map(hashOf);
  const index = indexText(entries, parts);
  const id = hashOf(index);
  if (batches === undefined || id === before?.manifestId) return { id, parts };
  const there = new Set(before === undefined ? [] : partsOf(before.entries).map(hashOf));
  for (const [number, text] of texts.entries())
    if (!there.has(parts[number] ?? '')) await batches.add(encoder.encode(text));
  await batches.add(encoder.encode(index));
  return { id, parts };
}

async function layCopy(places: CopyPlaces, lay: LayWorkspaceCopy): Promise<LaidWorkspaceCopy> {
  const { epoch, toldThrough = epoch - 1 } = lay;
  const { keepsBefore, ...laid } = await layOut(places, lay);
  const setAside = keepsBefore || lay.toldThrough !== undefined ? await lastSetAside(places, toldThrough) : undefined;
  return { ...laid, ...(setAside === undefined ? {} : { setAside }) };
}

async function layOut(
  places: CopyPlaces,
  { manifestId, epoch, get, signal }: LayWorkspaceCopy,
): Promise<Omit<LaidWorkspaceCopy, 'setAside'> & { readonly keepsBefore: boolean }> {
  await mkdir(places.directory, { recursive: true, mode: PRIVATE_FOLDER_MODE });
  await recover(places);
  const entries = (await entriesOf(manifestId, get)).filter(({ path }) =>
    places.roots.some(({ root }) => path === root || path.startsWith(`${root}/`)),
  );
  const known = await readKnown(places.directory);
  const takenNs = await fileSystemNow(places.directory);
  const scan = {
    roots: places.roots,
    known: knownFiles(known),
    limits: NO_BOUNDS,
    signal,
    onPiece: (bytes: Uint8Array) => Promise.resolve(hashOf(bytes)),
  };
  // What this process cannot read is kept, whatever it is.
  const seen = await scanCopy(scan).catch(unlessUnreadable);
  const here = seen ?? NOTHING_SEEN;
  const measure = measureOf(entries);
  if (isSameCopy(here.entries, entries)) {
    await writeKnown(places.directory, { manifestId, entries: here.entries, checks: here.checks, takenNs });
    return { ...measure, fetchedBytes: 0, keepsBefore: false };
  }
  const keepsBefore = seen === undefined || holdsWork(here, known);
  const drafted = await draftCopy({
    draft: places.draft,
    entries,
    here: { ...here, seenNs: takenNs, goes: !keepsBefore },
    roots: places.roots,
    get,
    signal,
  });
  await beginSwap(places, { epoch, keepsBefore });
  await endSwap(places);
  const checks = await tends(places, entries, drafted);
  await writeKnown(places.directory, { manifestId, entries, checks, takenNs: await fileSystemNow(places.directory) });
  return { ...measure, fetchedBytes: drafted.fetchedBytes, keepsBefore };
}

/** Those that were taken over had a second name until the old copy was gone. */
async function tends(
  places: CopyPlaces,
  entries: readonly CopyEntry[],
  { checks, taken }: DraftedCopy,
): Promise<readonly string[]> {
  const directories = new Map<string, string>(places.roots.map(({ root, directory }) => [root, directory]));
  const after = [...checks];
  await eachAtMost(entries.entries(), MAX_CHECKS, async ([index, { path }]) => {
    const check = taken.get(path);
    if (check === undefined) return;
    const [root = '', ...names] = path.split('/');
    after[index] = await tend(join(directories.get(root) ?? '', ...names), check);
  });
  return after;
}

async function entriesOf(manifestId: string, get: LayWorkspaceCopy['get']): Promise<readonly CopyEntry[]> {
  const decoder = new TextDecoder();
  const textsOf = async (hashes: readonly string[]): Promise<readonly string[]> => {
    const found = new Map((await fetchPieces(hashes, get)).map(({ hash, bytes }) => [hash, bytes]));
    return hashes.map((hash) => {
      const bytes = found.get(hash);
      if (bytes === undefined) throw damaged(`piece ${hash} is missing`);
      return decoder.decode(bytes);
    });
  };
  const [index = ''] = await textsOf([manifestId]);
  return readParts(await textsOf(readIndex(index).parts));
}

/** Whether something lies here that no copy was made of, but for what comes again by itself. */
function holdsWork(here: ScannedCopy, known: KnownCopy | undefined): boolean {
  const { added, changed } = differenceOf(known?.entries ?? [], here.entries);
  return [...added, ...changed].some(
    ({ kind, path }) => kind !== 'folder' && (!path.startsWith(ATTACHMENTS) || path.startsWith(OUTPUTS)),
  );
}

async function placeFile(places: CopyPlaces, file: WorkspaceCopyFile, get: LayWorkspaceCopy['get']): Promise<void> {
  const { root, names, name } = namesOf(file.path);
  const top = await places.directoryOf(root);
  await mkdir(top, { recursive: true, mode: PRIVATE_FOLDER_MODE });
  const folder = await (await HeldFolder.open(await realPlaceOf(top))).into(names, {});
  const [place, draft] = [nativePath(folder.at(name)), folder.at(`.${randomUUID()}.tmp`)];
  try {
    const there = await lstat(place).catch(() => undefined);
    if (there?.isFile() === true && there.size === file.size) return;
    const found = new Map((await fetchPieces(file.pieces, get)).map(({ hash, bytes }) => [hash, bytes]));
    const handle = await open(draft, 'wx', file.mode);
    try {
      for (const hash of file.pieces) {
        const bytes = found.get(hash);
        if (bytes === undefined) throw damaged(`piece ${hash} is missing`);
        await handle.appendFile(bytes);
      }
      await handle.sync();
    } finally {
      await handle.close();
    }
    await rename(draft, place);
    await folder.sync();
  } finally {
    await unlink(draft).catch(() => undefined);
    await folder.close();
  }
}

async function readCopyFile(
  places: CopyPlaces,
  path: string,
): Promise<{ readonly file: WorkspaceCopyFile; readonly pieces: readonly WorkspaceCopyPiece[] }> {
  const { root, names, name } = namesOf(path);
  const top = await HeldFolder.open(await realPlaceOf(await places.directoryOf(root)));
  const folder = await top.into(names);
  try {
    const handle = await open(nativePath(folder.at(name)), 'r');
    try {
      const [{ mode }, bytes] = [await handle.stat(), await handle.readFile()];
      const pieces = Array.from({ length: Math.ceil(bytes.length / PIECE_BYTES) }, (_, index) =>
        bytes.subarray(index * PIECE_BYTES, (index + 1) * PIECE_BYTES),
      ).map((piece) => ({ hash: hashOf(piece), bytes: piece }));
      return {
        file: copyFile.parse({
          kind: 'file',
          path,
          mode: mode & 0o777,
          size: bytes.length,
          pieces: pieces.map(({ hash }) => hash),
        }),
        pieces,
      };
    } finally {
      await handle.close();
    }
  } finally {
    await folder.close();
  }
}

function namesOf(path: string): { readonly root: string; readonly names: readonly string[]; readonly name: string } {
  const [root = '', ...names] = path.split('/');
  const name = names.pop();
  if (name === undefined || !isCopyPath(path))
    throw new RuntimeError(
      'WORKSPACE_COPY_PATH_INVALID',
      `expected a path of a file in the copy, received ${JSON.stringify(path)}`,
      { category: 'validation', hint: 'Name it relative to the folder, with "/" between names and without "..".' },
    );
  return { root, names, name };
}
