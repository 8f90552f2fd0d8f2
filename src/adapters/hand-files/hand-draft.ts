/** Writes a hand into an empty folder that nobody else knows of: contents that lie here already come from there, the rest is fetched. */
import { Buffer } from 'node:buffer';
import { chmod, mkdir, open, symlink } from 'node:fs/promises';
import type { FileHandle } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { HAND_PIECE_BYTES } from '../../machines/hand/hand-manifest.ts';
import type { HandEntry, HandFile } from '../../machines/hand/hand-manifest.ts';
import { hashOf } from './hash.ts';
import { syncFolder } from './hand-swap.ts';
import { lookOf } from './known-hand.ts';
import { nativePath, walkTo } from './open-folder.ts';
import { PieceSource } from './piece-source.ts';
import type { HandPiece } from '../../actors/hand/hand-copies.ts';
import type { RootPlace } from './hand-places.ts';

const PRIVATE_FOLDER_MODE = 0o700;
const PRIVATE_FILE_MODE = 0o600;

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
  const wanted = entries.flatMap((entry) => (entry.kind === 'file' && !isSameContent(entry, here.get(entry.path)) ? entry.pieces.map((hash, index) => ({ hash, bytes: bytesOfPiece(entry, index) })) : []));
  const source = new PieceSource(wanted, get);
  const directories = new Map<string, string>(roots.map(({ root, directory }) => [root, directory]));
  const looks: string[] = [];
  await mkdir(draft, { recursive: true, mode: PRIVATE_FOLDER_MODE });
  for (const entry of entries) {
    signal?.throwIfAborted();
    const path = join(draft, entry.path);
    if (entry.kind === 'folder') await mkdir(nativePath(path), { mode: PRIVATE_FOLDER_MODE });
    if (entry.kind === 'link') await symlink(nativePath(entry.target), nativePath(path));
    looks.push(entry.kind === 'file' ? await writeFile(path, entry, isSameContent(entry, here.get(entry.path)) ? localPieces(entry, directories, source) : fetched(source)) : '');
  }
  await settleFolders(draft, entries);
  return { looks, fetchedBytes: source.fetchedBytes };
}

type NextPiece = (hash: string, index: number) => Promise<Uint8Array>;

function fetched(source: PieceSource): NextPiece {
  return (hash) => source.next(hash);
}

/** What lies here may be changed by somebody in this moment: then it is fetched after all. */
function localPieces({ path, size }: HandFile, directories: ReadonlyMap<string, string>, source: PieceSource): NextPiece {
  const [root = '', ...names] = path.split('/');
  const name = names.pop() ?? '';
  return async (hash, index) => {
    try {
      const folder = await walkTo(directories.get(root) ?? '', names, false);
      try {
        const bytes = await readPart(await open(folder.at(name), 'r'), index * HAND_PIECE_BYTES, Math.min(HAND_PIECE_BYTES, size - index * HAND_PIECE_BYTES));
        if (hashOf(bytes) === hash) return bytes;
      } finally {
        await folder.close();
      }
    } catch {
      // As if it had never been here.
    }
    return source.beside(hash);
  };
}

async function readPart(file: FileHandle, position: number, length: number): Promise<Uint8Array> {
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
