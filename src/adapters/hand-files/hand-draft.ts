/** Writes a hand into an empty folder that nobody else knows of: contents that lie here already come from there, the rest is fetched. */
import { Buffer } from 'node:buffer';
import { chmod, constants, mkdir, open, symlink } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { HandPiece } from '../../actors/hand/hand-copies.ts';
import { HAND_PIECE_BYTES } from '../../machines/hand/hand-manifest.ts';
import type { HandEntry, HandFile } from '../../machines/hand/hand-manifest.ts';
import type { RootPlace } from './hand-places.ts';
import { syncFolder } from './hand-swap.ts';
import { hashOf } from './hash.ts';
import { lookOf } from './known-hand.ts';
import { nativePath } from './open-folder.ts';
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

export interface DraftHand {
  readonly draft: string;
  readonly entries: readonly HandEntry[];
  /** What lies here, by path. */
  readonly here: ReadonlyMap<string, HandEntry>;
  readonly roots: readonly RootPlace[];
  readonly get: (hashes: readonly string[]) => Promise<readonly HandPiece[]>;
  readonly signal?: AbortSignal | undefined;
}

export interface DraftedHand {
  readonly looks: readonly string[];
  readonly fetchedBytes: number;
}

export async function draftHand({ draft, entries, here, roots, get, signal }: DraftHand): Promise<DraftedHand> {
  const directories = new Map<string, string>(roots.map(({ root, directory }) => [root, directory]));
  const looks = new Map<string, string>();
  let fetchedBytes = 0;
  await mkdir(draft, { recursive: true, mode: PRIVATE_FOLDER_MODE });
  await makeFrame(draft, entries);
  const wanted = entries.flatMap((entry) => (entry.kind === 'file' ? [{ file: entry, isHere: isSameContent(entry, here.get(entry.path)) }] : []));
  for (const group of groupsOf(wanted)) {
    signal?.throwIfAborted();
    const source = new PieceSource(group.flatMap(({ file, isHere }) => (isHere ? [] : file.pieces.map((hash, index) => ({ hash, bytes: bytesOfPiece(file, index) })))), get);
    // The pieces of one large file come one after the other, those of many small ones at once.
    if (group.length > 1) await source.fetchAll();
    await inLanes(group, async ({ file, isHere }) => {
      const next = isHere ? localPieces(file, directories, source) : (hash: string) => source.next(hash);
      looks.set(file.path, await writeFile(join(draft, file.path), file, next));
    });
    fetchedBytes += source.fetchedBytes;
  }
  await settleFolders(draft, entries);
  return { looks: entries.map(({ path }) => looks.get(path) ?? ''), fetchedBytes };
}

/** Folders and links. */
async function makeFrame(draft: string, entries: readonly HandEntry[]): Promise<void> {
  for (const entry of entries) {
    const path = nativePath(join(draft, entry.path));
    if (entry.kind === 'folder') await mkdir(path, { mode: PRIVATE_FOLDER_MODE });
    if (entry.kind === 'link') await symlink(nativePath(entry.target), path);
  }
}

interface WantedFile {
  readonly file: HandFile;
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

/** @throws what the first of them threw, once none runs any more */
async function inLanes<Item>(items: readonly Item[], work: (item: Item) => Promise<void>): Promise<void> {
  const waiting = items.values();
  const lane = async (): Promise<void> => {
    for (const item of waiting) await work(item);
  };
  const ends = await Promise.allSettled(Array.from({ length: Math.min(MAX_WRITES, items.length) }, lane));
  for (const end of ends) if (end.status === 'rejected') throw end.reason;
}

type NextPiece = (hash: string, index: number) => Promise<Uint8Array>;

/** What lies here may be changed by somebody in this moment: then it is fetched after all. */
function localPieces(file: HandFile, directories: ReadonlyMap<string, string>, source: PieceSource): NextPiece {
  const [root = '', ...names] = file.path.split('/');
  const path = join(directories.get(root) ?? '', ...names);
  return async (hash, index) => {
    const bytes = await readPart(path, index * HAND_PIECE_BYTES, bytesOfPiece(file, index)).catch(() => undefined);
    return bytes !== undefined && hashOf(bytes) === hash ? bytes : source.beside(hash);
  };
}

async function readPart(path: string, position: number, length: number): Promise<Uint8Array> {
  const file = await open(nativePath(path), READ_FLAGS);
  try {
    const buffer = Buffer.alloc(length);
    const { bytesRead } = await file.read(buffer, 0, length, position);
    return buffer.subarray(0, bytesRead);
  } finally {
    await file.close();
  }
}

/** @returns how it looks */
async function writeFile(path: string, { mode, pieces }: HandFile, next: NextPiece): Promise<string> {
  const file = await open(nativePath(path), 'wx', PRIVATE_FILE_MODE);
  try {
    for (const [index, hash] of pieces.entries()) await file.appendFile(await next(hash, index));
    await file.chmod(mode);
    await file.sync();
    return lookOf(await file.stat({ bigint: true }));
  } finally {
    await file.close();
  }
}

/** The deepest first: one that may not be written takes nothing in afterwards. The tops stay ours, since they have to be moved. */
async function settleFolders(draft: string, entries: readonly HandEntry[]): Promise<void> {
  for (const entry of entries.toReversed()) {
    if (entry.kind !== 'folder') continue;
    const path = join(draft, entry.path);
    await syncFolder(path);
    if (dirname(entry.path) !== '.') await chmod(nativePath(path), entry.mode);
  }
  await syncFolder(draft);
}

function isSameContent(entry: HandFile, here: HandEntry | undefined): boolean {
  return here?.kind === 'file' && here.size === entry.size && entry.pieces.every((piece, index) => piece === here.pieces[index]);
}

function bytesOfPiece({ size, pieces }: HandFile, index: number): number {
  return index < pieces.length - 1 ? HAND_PIECE_BYTES : size - index * HAND_PIECE_BYTES;
}
