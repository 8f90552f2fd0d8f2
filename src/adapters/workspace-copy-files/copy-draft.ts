/**
 * Writes a workspace copy into an empty folder that no other process knows of: contents that lie here already come from
 * there, the rest is fetched.
 */
import { chmod, constants, mkdir, open, symlink } from 'node:fs/promises';
import type { FileHandle } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { WorkspaceCopyPiece } from '../../actors/workspace-copy/copy-store.ts';
import { PIECE_BYTES, bytesOfPiece } from '../../machines/workspace-copy/copy-manifest.ts';
import type { CopyEntry, WorkspaceCopyFile } from '../../machines/workspace-copy/copy-manifest.ts';
import { nativePath } from '../system/native-path.ts';
import { bytesOf } from '../system/own-files.ts';
import { linkFile } from './copy-links.ts';
import type { RootPlace } from './copy-places.ts';
import { syncFolder } from './copy-swap.ts';
import { hashOf } from './piece-batches.ts';
import { checkOf } from './known-copy.ts';
import { eachAtMost } from './at-most.ts';
import { PieceSource } from './piece-source.ts';

const PRIVATE_FOLDER_MODE = 0o700;
const PRIVATE_FILE_MODE = 0o600;

/** What lies here is anything by now; what is not the wanted bytes is not used, wherever a link may lead. */
const READ_FLAGS = constants.O_RDONLY | (constants.O_NONBLOCK ?? 0);

/** Files that are written together, and bytes of them that are fetched at once. */
const MAX_GROUP_FILES = 256;
const MAX_GROUP_BYTES = 4_194_304;
/** Of a group, at the same time: each of them waits for the disk. */
const MAX_WRITES = 16;
/** Folders that are put on the disk at the same time. */
const MAX_SYNCS = 16;

/** What lies here of a workspace copy, and how it checked. */
export interface CopyHere {
  readonly entries: readonly CopyEntry[];
  /** As in `KnownCopy`. */
  readonly checks: readonly string[];
  /** Nanoseconds since the epoch by the clock of the file system: before the first reading. */
  readonly seenNs: bigint;
  /** Whether it goes when the new one is in its place: then what is the same may be taken over as it is. */
  readonly goes: boolean;
}

export interface DraftCopy {
  readonly draft: string;
  readonly entries: readonly CopyEntry[];
  readonly here: CopyHere;
  readonly roots: readonly RootPlace[];
  readonly get: (hashes: readonly string[]) => Promise<readonly WorkspaceCopyPiece[]>;
  readonly signal?: AbortSignal | undefined;
}

export interface DraftedCopy {
  /** Empty for what was taken over. */
  readonly checks: readonly string[];
  /** How the files checked that were taken over, by path. */
  readonly taken: ReadonlyMap<string, string>;
  readonly fetchedBytes: number;
}

export async function draftCopy(copy: DraftCopy): Promise<DraftedCopy> {
  const { draft, entries, here, signal } = copy;
  await mkdir(draft, { recursive: true, mode: PRIVATE_FOLDER_MODE });
  await makeFrame(draft, entries);
  const known = new Map(here.entries.map((entry, index) => [entry.path, { entry, check: here.checks[index] ?? '' }]));
  const files = entries.filter((entry) => entry.kind === 'file');
  const writer = new DraftWriter(copy, known);
  const taken = here.goes ? await writer.takeOver(files) : new Map<string, string>();
  for (const group of groupsOf(
    files
      .filter(({ path }) => !taken.has(path))
      .map((file) => ({ file, isHere: isSameContent(file, known.get(file.path)?.entry) })),
  )) {
    signal?.throwIfAborted();
    await writer.write(group);
  }
  await settleFolders(draft, entries);
  return { checks: entries.map(({ path }) => writer.checks.get(path) ?? ''), taken, fetchedBytes: writer.fetchedBytes };
}

class DraftWriter {
  /** How what was written checks, by path. */
  readonly checks = new Map<string, string>();
  fetchedBytes = 0;
  readonly #copy: DraftCopy;
  readonly #known: ReadonlyMap<string, { readonly entry: CopyEntry; readonly check: string }>;
  readonly #directories: ReadonlyMap<string, string>;

  constructor(copy: DraftCopy, known: ReadonlyMap<string, { readonly entry: CopyEntry; readonly check: string }>) {
    this.#copy = copy;
    this.#known = known;
    this.#directories = new Map<string, string>(copy.roots.map(({ root, directory }) => [root, directory]));
  }

  /** Those that lie here just as they are wanted. @returns how they checked, by path */
  async takeOver(files: readonly WorkspaceCopyFile[]): Promise<ReadonlyMap<string, string>> {
    const { draft, here, signal } = this.#copy;
    const taken = new Map<string, string>();
    await eachAtMost(files, MAX_WRITES, async (file) => {
      signal?.throwIfAborted();
      const { entry, check = '' } = this.#known.get(file.path) ?? {};
      if (!isSameContent(file, entry) || entry?.kind !== 'file' || entry.mode !== file.mode) return;
      if (await linkFile({ from: this.#placeOf(file.path), to: join(draft, file.path), check, seenNs: here.seenNs }))
        taken.set(file.path, check);
    });
    return taken;
  }

  /** All of them are written before the first is put on the disk: that takes the others along. */
  async write(group: readonly WantedFile[]): Promise<void> {
    const { draft, get } = this.#copy;
    const source = new PieceSource(
      group.flatMap(({ file, isHere }) =>
        isHere ? [] : file.pieces.map((hash, index) => ({ hash, bytes: bytesOfPiece(file, index) })),
      ),
      get,
    );
    // The pieces of one large file come one after the other, those of many small ones at once.
    if (group.length > 1) await source.fetchAll();
    const written: { readonly path: string; readonly handle: FileHandle }[] = [];
    try {
      await eachAtMost(group, MAX_WRITES, async ({ file, isHere }) => {
        const next = isHere ? localPieces(file, this.#placeOf(file.path), source) : (hash: string) => source.next(hash);
        const handle = await openNew(join(draft, file.path));
        written.push({ path: file.path, handle });
        await writeFile(handle, file, next);
      });
      await eachAtMost(written, MAX_WRITES, async ({ path, handle }) => {
        await handle.sync();
        this.checks.set(path, checkOf(await handle.stat({ bigint: true })));
      });
    } finally {
      await Promise.allSettled(written.map(({ handle }) => handle.close()));
    }
    this.fetchedBytes += source.fetchedBytes;
  }

  #placeOf(path: string): string {
    const [root = '', ...names] = path.split('/');
    return join(this.#directories.get(root) ?? '', ...names);
  }
}

/** Folders and links. */
async function makeFrame(draft: string, entries: readonly CopyEntry[]): Promise<void> {
  for (const entry of entries) {
    const path = nativePath(join(draft, entry.path));
    if (entry.kind === 'folder') await mkdir(path, { mode: PRIVATE_FOLDER_MODE });
    if (entry.kind === 'link') await symlink(nativePath(entry.target), path);
  }
}

interface WantedFile {
  readonly file: WorkspaceCopyFile;
  /** Whether what lies here seems to be the same. */
  readonly isHere: boolean;
}

function* groupsOf(files: readonly WantedFile[]): Generator<readonly WantedFile[]> {
  let group: WantedFile[] = [];
  let bytes = 0;
  for (const wanted of files) {
    const more = wanted.isHere ? 0 : wanted.file.size;
    if (group.length > 0 && (group.length >= MAX_GROUP_FILES || bytes + more > MAX_GROUP_BYTES)) {
      yield group;
      [group, bytes] = [[], 0];
    }
    group.push(wanted);
    bytes += more;
  }
  if (group.length > 0) yield group;
}

type NextPiece = (hash: string, index: number) => Promise<Uint8Array>;

/** A process may change what lies here in this moment: then it is fetched after all. */
function localPieces(file: WorkspaceCopyFile, path: string, source: PieceSource): NextPiece {
  return async (hash, index) => {
    const bytes = await readPart(path, index * PIECE_BYTES, bytesOfPiece(file, index)).catch(() => undefined);
    return bytes !== undefined && hashOf(bytes) === hash ? bytes : source.beside(hash);
  };
}

async function readPart(path: string, position: number, length: number): Promise<Uint8Array> {
  const file = await open(nativePath(path), READ_FLAGS);
  try {
    return await bytesOf(file, length, position);
  } finally {
    await file.close();
  }
}

function openNew(path: string): Promise<FileHandle> {
  return open(nativePath(path), 'wx', PRIVATE_FILE_MODE);
}

async function writeFile(handle: FileHandle, { mode, pieces }: WorkspaceCopyFile, next: NextPiece): Promise<void> {
  for (const [index, hash] of pieces.entries()) await handle.appendFile(await next(hash, index));
  await handle.chmod(mode);
}

/**
 * All of them on the disk, and then the modes, the deepest first: one that may not be entered lets no process reach
 * what is in it. The tops stay ours, since they have to be moved.
 */
async function settleFolders(draft: string, entries: readonly CopyEntry[]): Promise<void> {
  const folders = entries.filter(({ kind }) => kind === 'folder');
  await eachAtMost(folders, MAX_SYNCS, ({ path }) => syncFolder(join(draft, path)));
  await syncFolder(draft);
  for (const entry of entries.toReversed()) {
    if (entry.kind === 'folder' && dirname(entry.path) !== '.')
      await chmod(nativePath(join(draft, entry.path)), entry.mode);
  }
}

function isSameContent(entry: WorkspaceCopyFile, here: CopyEntry | undefined): boolean {
  return (
    here?.kind === 'file' &&
    here.size === entry.size &&
    entry.pieces.every((piece, index) => piece === here.pieces[index])
  );
}
