/**
 * Everything that lies in a folder, and how each file was last seen.
 *
 * The reads are synchronous, several times cheaper than through the thread pool, and taken in slices, so that the event loop is never held
 * for long. Links are not followed, and no other file system is entered. Names are bytes (see git-command.ts).
 */
import { Buffer } from 'node:buffer';
import { lstatSync, readdirSync } from 'node:fs';
import type { BigIntStats } from 'node:fs';

const SLICE_MS = 3;
/** How many files are looked at between two looks at the time. */
const FILES_PER_LOOK = 16;

export type EntryKind = 'file' | 'link' | 'folder' | 'other';

export interface WalkedEntry {
  readonly kind: EntryKind;
  /** Changes whenever the content or the mode does: size, times, inode, mode. Of a folder, only which one it is. */
  readonly signature: string;
}

export interface FolderWalk {
  /** By path from the root, folders before what is in them. */
  readonly entries: ReadonlyMap<string, WalkedEntry>;
  /** What could not be read, in words. */
  readonly problems: readonly string[];
  /** Whether all times are whole seconds: the file system knows no finer ones. */
  readonly isCoarse: boolean;
  /** Of the newest change, in milliseconds since the epoch. */
  readonly newestMs: number;
}

/** @param skip paths from the root that are not looked at. */
export async function walkFolder(root: string, skip: ReadonlySet<string> = new Set()): Promise<FolderWalk> {
  const walker = new Walker(Buffer.from(root, 'utf8').toString('latin1'), skip);
  await walker.run();
  return walker;
}

class Walker implements FolderWalk {
  readonly entries = new Map<string, WalkedEntry>();
  readonly problems: string[] = [];
  isCoarse = true;
  newestMs = 0;
  readonly #root: string;
  readonly #skip: ReadonlySet<string>;
  #device = -1n;
  #sliceEnd = performance.now() + SLICE_MS;

  constructor(root: string, skip: ReadonlySet<string>) {
    this.#root = root;
    this.#skip = skip;
  }

  async run(): Promise<void> {
    const stats = this.#stat('');
    if (stats === undefined) return;
    this.#device = stats.dev;
    const pending = [''];
    for (let folder = pending.pop(); folder !== undefined; folder = pending.pop()) {
      let left = FILES_PER_LOOK;
      for (const name of this.#list(folder)) {
        const path = folder === '' ? name : `${folder}/${name}`;
        if (!this.#skip.has(path) && this.#look(path)) pending.push(path);
        left -= 1;
        if (left > 0) continue;
        left = FILES_PER_LOOK;
        await this.#breathe();
      }
      await this.#breathe();
    }
  }

  /** @returns whether it is a folder to be entered */
  #look(path: string): boolean {
    const stats = this.#stat(path);
    if (stats === undefined) return false;
    const kind = kindOf(stats);
    if (kind !== 'folder') {
      if (this.isCoarse && stats.ctimeNs % 1_000_000_000n !== 0n) this.isCoarse = false;
      const changedMs = Number(stats.ctimeMs);
      if (changedMs > this.newestMs) this.newestMs = changedMs;
    }
    this.entries.set(path, { kind, signature: kind === 'folder' ? `${stats.ino}` : signatureOf(stats) });
    if (kind !== 'folder') return false;
    if (stats.dev === this.#device) return true;
    this.problems.push(`another file system is mounted at ${this.#shown(path)}`);
    return false;
  }

  #stat(path: string): BigIntStats | undefined {
    try {
      return lstatSync(this.#at(path), { bigint: true });
    } catch (error) {
      this.problems.push(`${this.#shown(path)} cannot be looked at (${codeOf(error)})`);
      return undefined;
    }
  }

  #list(folder: string): string[] {
    try {
      return readdirSync(this.#at(folder), { encoding: 'latin1' });
    } catch (error) {
      this.problems.push(`${this.#shown(folder)} cannot be read (${codeOf(error)})`);
      return [];
    }
  }

  async #breathe(): Promise<void> {
    if (performance.now() < this.#sliceEnd) return;
    await new Promise((resolve) => setImmediate(resolve));
    this.#sliceEnd = performance.now() + SLICE_MS;
  }

  #at(path: string): Buffer {
    return Buffer.from(path === '' ? this.#root : `${this.#root}/${path}`, 'latin1');
  }

  #shown(path: string): string {
    return path === '' ? 'the folder itself' : Buffer.from(path, 'latin1').toString('utf8');
  }
}

function kindOf(stats: BigIntStats): EntryKind {
  if (stats.isFile()) return 'file';
  if (stats.isSymbolicLink()) return 'link';
  return stats.isDirectory() ? 'folder' : 'other';
}

function signatureOf({ size, mtimeNs, ctimeNs, ino, mode }: BigIntStats): string {
  return `${size} ${mtimeNs} ${ctimeNs} ${ino} ${mode}`;
}

export function codeOf(error: unknown): string {
  return error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : 'unknown reason';
}

/** The first path at which two walks differ; undefined when they saw the same. */
export function differenceOf(before: FolderWalk, after: FolderWalk): string | undefined {
  for (const [path, { signature, kind }] of after.entries) {
    const seen = before.entries.get(path);
    if (seen?.signature !== signature || seen.kind !== kind) return path;
  }
  if (after.entries.size === before.entries.size) return undefined;
  return [...before.entries.keys()].find((path) => !after.entries.has(path));
}
