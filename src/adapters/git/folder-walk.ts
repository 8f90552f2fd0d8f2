/**
 * Everything that lies in a folder, and how each file was last seen.
 *
 * Every read goes through the thread pool: a disk that is busy may take seconds for one. Links are not followed, and no
 * other file system is entered. Names are bytes (see git-command.ts).
 */
import { Buffer } from 'node:buffer';
import { lstat, readdir } from 'node:fs';
import type { BigIntStats } from 'node:fs';
import { systemCodeOf } from '../system/error-codes.ts';

/** Enough to keep the thread pool busy, with callbacks instead of promises: there may be a hundred thousand files. */
const MAX_READS = 32;

export type EntryKind = 'file' | 'link' | 'folder' | 'other';

export interface WalkedEntry {
  readonly kind: EntryKind;
  /** Changes whenever the content or the mode does: size, times, inode, mode. Of a folder, only which one it is. */
  readonly signature: string;
}

export interface FolderWalk {
  /** By path from the root, folders before what is in them. */
  readonly entries: ReadonlyMap<string, WalkedEntry>;
  /** Which folder it is: its device and inode. Undefined where it could not be checked. */
  readonly root: string | undefined;
  /** What could not be read, in words. */
  readonly problems: readonly string[];
  /** Whether all times are whole seconds: the file system knows no finer ones. */
  readonly isCoarse: boolean;
  /** Of the newest change, in milliseconds since the epoch. */
  readonly newestMs: number;
}

/** @param skip paths from the root that are not checked. */
export async function walkFolder(root: string, skip: ReadonlySet<string> = new Set()): Promise<FolderWalk> {
  const walker = new Walker(Buffer.from(root, 'utf8').toString('latin1'), skip);
  await walker.run();
  return walker;
}

class Walker implements FolderWalk {
  readonly entries = new Map<string, WalkedEntry>();
  readonly problems: string[] = [];
  root: string | undefined;
  isCoarse = true;
  newestMs = 0;
  readonly #root: string;
  readonly #skip: ReadonlySet<string>;
  readonly #files: string[] = [];
  readonly #folders: string[] = [];
  #device = -1n;
  #reads = 0;
  #end: () => void = () => undefined;

  constructor(root: string, skip: ReadonlySet<string>) {
    this.#root = root;
    this.#skip = skip;
  }

  run(): Promise<void> {
    return new Promise((resolve) => {
      this.#end = resolve;
      this.#stat('', ({ dev, ino }) => {
        this.#device = dev;
        this.root = `${dev} ${ino}`;
        this.#folders.push('');
      });
    });
  }

  /** Starts as many reads as there may be; ends the walk when there are none. */
  #goOn(): void {
    while (this.#reads < MAX_READS) {
      const file = this.#files.pop();
      const folder = file === undefined ? this.#folders.pop() : undefined;
      if (file !== undefined) this.#stat(file, (stats) => this.#note(file, stats));
      else if (folder !== undefined) this.#list(folder);
      else break;
    }
    if (this.#reads === 0) this.#end();
  }

  #stat(path: string, seen: (stats: BigIntStats) => void): void {
    this.#reads += 1;
    lstat(this.#at(path), { bigint: true }, (error, stats) => {
      this.#reads -= 1;
      if (error === null) seen(stats);
      else this.problems.push(`${this.#shown(path)} cannot be checked (${systemCodeOf(error) ?? 'unknown reason'})`);
      this.#goOn();
    });
  }

  #list(folder: string): void {
    this.#reads += 1;
    readdir(this.#at(folder), { encoding: 'latin1' }, (error, names) => {
      this.#reads -= 1;
      if (error !== null)
        this.problems.push(`${this.#shown(folder)} cannot be read (${systemCodeOf(error) ?? 'unknown reason'})`);
      else for (const name of names) this.#add(folder === '' ? name : `${folder}/${name}`);
      this.#goOn();
    });
  }

  #add(path: string): void {
    if (!this.#skip.has(path)) this.#files.push(path);
  }

  #note(path: string, stats: BigIntStats): void {
    const kind = kindOf(stats);
    this.entries.set(path, { kind, signature: kind === 'folder' ? `${stats.ino}` : signatureOf(stats) });
    if (kind !== 'folder') {
      if (this.isCoarse && stats.ctimeNs % 1_000_000_000n !== 0n) this.isCoarse = false;
      this.newestMs = Math.max(this.newestMs, Number(stats.ctimeMs));
    } else if (stats.dev === this.#device) this.#folders.push(path);
    else this.problems.push(`another file system is mounted at ${this.#shown(path)}`);
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
