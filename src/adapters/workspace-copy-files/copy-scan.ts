/**
 * Reads a workspace copy as it is: every folder, file and link, without following any. Files that are as they were
 * known are not read. One that changes while it is read is read again; one that keeps changing is taken as it was read
 * last.
 */
import type { BigIntStats } from 'node:fs';
import { lstat, open, readdir, readlink } from 'node:fs/promises';
import type { FileHandle } from 'node:fs/promises';
import { nameOfBytes } from '../../machines/workspace-copy/file-names.ts';
import { checkCopyLimits } from '../../machines/workspace-copy/copy-limits.ts';
import type { WorkspaceCopyLimits } from '../../machines/workspace-copy/copy-limits.ts';
import { PIECE_BYTES, byPath, isLaidOut } from '../../machines/workspace-copy/copy-manifest.ts';
import type { CopyEntry, WorkspaceCopyFile, CopyRoot } from '../../machines/workspace-copy/copy-manifest.ts';
import { systemCodeOf } from '../system/error-codes.ts';
import { HeldFolder } from '../system/held-folder.ts';
import { nativePath } from '../system/native-path.ts';
import { READING_NO_LINK, bytesOf } from '../system/own-files.ts';
import { realPlaceOf } from '../system/real-path.ts';
import { isMissing, unreadable } from './copy-errors.ts';
import { checkOf } from './known-copy.ts';
import type { trusted } from './known-copy.ts';
import { eachAtMost } from './at-most.ts';

/** Of one folder, at the same time. */
const MAX_CHECKS = 16;
const MAX_READINGS = 3;
const MODE_BITS = 0o777;
/** Of the tops: closed to other users. */
const ROOT_MODE = 0o700;

export interface ScanCopy {
  readonly roots: readonly { readonly root: CopyRoot; readonly directory: string }[];
  readonly known: ReturnType<typeof trusted>;
  readonly limits: WorkspaceCopyLimits;
  /** Takes a piece and answers with its hash. */
  readonly onPiece: (bytes: Uint8Array) => Promise<string>;
  readonly signal?: AbortSignal | undefined;
}

export interface ScannedCopy {
  readonly entries: readonly CopyEntry[];
  /** As in `KnownCopy`. */
  readonly checks: readonly string[];
  /** Files that were read. */
  readonly read: number;
  readonly skipped: readonly string[];
}

/** @throws RuntimeError WORKSPACE_COPY_TOO_LARGE, WORKSPACE_COPY_UNREADABLE */
export async function scanCopy(scan: ScanCopy): Promise<ScannedCopy> {
  const scanner = new Scanner(scan);
  for (const { root, directory } of scan.roots) await scanner.root(root, directory);
  return scanner.result();
}

interface Found {
  readonly entry: CopyEntry;
  readonly check: string;
}

class Scanner {
  readonly #scan: ScanCopy;
  readonly #found: Found[] = [];
  readonly #skipped: string[] = [];
  #bytes = 0;
  #read = 0;

  constructor(scan: ScanCopy) {
    this.#scan = scan;
  }

  async root(root: CopyRoot, directory: string): Promise<void> {
    const folder = await realPlaceOf(directory)
      .then((place) => HeldFolder.open(place))
      .catch((error: unknown) => this.#absent(directory, error));
    if (folder === undefined) return;
    const { dev } = await folder.handle.stat({ bigint: true });
    this.#add({ kind: 'folder', path: root, mode: ROOT_MODE });
    await this.#folder(folder, root, dev);
  }

  result(): ScannedCopy {
    const sorted = this.#found.toSorted((one, other) => byPath(one.entry, other.entry));
    return {
      entries: sorted.map(({ entry }) => entry),
      checks: sorted.map(({ check }) => check),
      read: this.#read,
      skipped: this.#skipped.toSorted(),
    };
  }

  async #folder(folder: HeldFolder, path: string, dev: bigint): Promise<void> {
    try {
      const names = (await namesIn(folder).catch((error: unknown) => this.#absent(path, error))) ?? [];
      const folders: string[] = [];
      // All of them come to their end before the folder is closed: its descriptor may be another's then.
      await eachAtMost(names, MAX_CHECKS, async (name) => {
        if (await this.#check(folder, { name, path: `${path}/${name}`, dev })) folders.push(name);
      });
      for (const name of folders) await this.#enter(folder, name, `${path}/${name}`, dev);
    } finally {
      await folder.close();
    }
  }

  async #enter(parent: HeldFolder, name: string, path: string, dev: bigint): Promise<void> {
    const folder = await parent.enter(name).catch((error: unknown) => this.#absent(path, error));
    if (folder === undefined) return;
    const { mode } = await folder.handle.stat();
    this.#add({ kind: 'folder', path, mode: mode & MODE_BITS });
    await this.#folder(folder, path, dev);
  }

  /** Takes in what is no folder. @returns whether it is one */
  async #check(
    folder: HeldFolder,
    { name, path, dev }: { readonly name: string; readonly path: string; readonly dev: bigint },
  ): Promise<boolean> {
    this.#scan.signal?.throwIfAborted();
    if (isLaidOut(path)) return false;
    const stats = await lstat(nativePath(folder.at(name)), { bigint: true }).catch((error: unknown) =>
      this.#absent(path, error),
    );
    if (stats === undefined) return false;
    if (stats.dev !== dev) this.#skipped.push(path);
    else if (stats.isDirectory()) return true;
    else if (stats.isFile()) await this.#file(folder, { name, path, stats });
    else if (stats.isSymbolicLink()) await this.#link(folder, { name, path });
    else this.#skipped.push(path);
    return false;
  }

  async #link(folder: HeldFolder, { name, path }: { readonly name: string; readonly path: string }): Promise<void> {
    const target = await readlink(nativePath(folder.at(name)), { encoding: 'buffer' }).catch((error: unknown) =>
      systemCodeOf(error) === 'EINVAL' ? undefined : this.#absent(path, error),
    );
    if (target !== undefined) this.#add({ kind: 'link', path, target: nameOfBytes(target) });
  }

  async #file(
    folder: HeldFolder,
    { name, path, stats }: { readonly name: string; readonly path: string; readonly stats: BigIntStats },
  ): Promise<void> {
    const known = this.#scan.known.get(path);
    const check = checkOf(stats);
    this.#count(Number(stats.size));
    if (known?.check === check) return this.#add({ ...known.file, mode: Number(stats.mode) & MODE_BITS }, check);
    const read = await this.#readings(folder, name, path);
    if (read === undefined) return;
    this.#read += 1;
    this.#add(read.entry, read.check);
  }

  async #readings(folder: HeldFolder, name: string, path: string): Promise<Found | undefined> {
    for (let reading = 1; ; reading += 1) {
      const file = await open(nativePath(folder.at(name)), READING_NO_LINK).catch((error: unknown) =>
        this.#absent(path, error),
      );
      if (file === undefined) return undefined;
      try {
        const before = await file.stat({ bigint: true });
        if (!before.isFile()) return undefined;
        const { pieces, size } = await this.#pieces(file, Number(before.size));
        const isWhole = checkOf(await file.stat({ bigint: true })) === checkOf(before) && size === Number(before.size);
        const entry: WorkspaceCopyFile = { kind: 'file', path, mode: Number(before.mode) & MODE_BITS, size, pieces };
        if (isWhole || reading >= MAX_READINGS) return { entry, check: isWhole ? checkOf(before) : '' };
      } finally {
        await file.close();
      }
    }
  }

  /** Up to the size that the file had when it was opened: one that grows all the time would never end. */
  async #pieces(file: FileHandle, end: number): Promise<{ readonly pieces: string[]; readonly size: number }> {
    const pieces: string[] = [];
    let size = 0;
    while (size < end) {
      this.#scan.signal?.throwIfAborted();
      const bytes = await bytesOf(file, Math.min(PIECE_BYTES, end - size), size);
      if (bytes.length === 0) break;
      pieces.push(await this.#scan.onPiece(bytes));
      size += bytes.length;
      if (bytes.length < PIECE_BYTES) break;
    }
    return { pieces, size };
  }

  #add(entry: CopyEntry, check = ''): void {
    this.#found.push({ entry, check });
    this.#count(0);
  }

  #count(bytes: number): void {
    this.#bytes += bytes;
    checkCopyLimits({ files: this.#found.length, bytes: this.#bytes }, this.#scan.limits);
  }

  /** What is gone, or something else by now, is not part of the copy any more. */
  #absent(path: string, error: unknown): undefined {
    const code = systemCodeOf(error);
    if (isMissing(error) || (code !== undefined && ['ENXIO', 'ELOOP', 'ENOTDIR'].includes(code))) return undefined;
    throw code === undefined ? error : unreadable(path, error);
  }
}

async function namesIn(folder: HeldFolder): Promise<string[]> {
  const names = await readdir(nativePath(folder.at()), { encoding: 'buffer' });
  return names.map(nameOfBytes);
}
