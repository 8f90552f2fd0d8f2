/** Looks through a folder that is mounted, as far as its bounds go, for what a sandbox has to treat with care: repositories and sockets. */
import type { Dirent } from 'node:fs';
import { opendir } from 'node:fs/promises';

export interface Repository {
  /** Of its `.git`, on the host. */
  readonly path: string;
  readonly kind: 'folder' | 'file' | 'link';
}

export interface FolderLook {
  /** The nearest first. */
  readonly repositories: readonly Repository[];
  /** Paths on the host. */
  readonly sockets: readonly string[];
}

const MAX_LEVELS = 6;
const MAX_ENTRIES = 20_000;
const MAX_REPOSITORIES = 100;
const MAX_SOCKETS = 200;

/** What others have made, of which there is much. */
const PASSED_BY = new Set(['.git', 'node_modules']);

/** Level by level, so that what lies near is found however much lies below. What cannot be read is passed by: a sandbox cannot either. */
export async function lookThrough(folder: string, isPassedBy: (path: string) => boolean): Promise<FolderLook> {
  const repositories: Repository[] = [];
  const sockets: string[] = [];
  let left = MAX_ENTRIES;
  let level = [folder];
  for (let depth = 0; depth < MAX_LEVELS && level.length > 0 && left > 0; depth += 1) {
    const next: string[] = [];
    for (const each of level) {
      if (left <= 0) break;
      for (const entry of await entriesOf(each, left)) {
        left -= 1;
        const path = `${each}/${entry.name}`;
        if (entry.name === '.git' && repositories.length < MAX_REPOSITORIES) repositories.push({ path, kind: entry.isSymbolicLink() ? 'link' : entry.isDirectory() ? 'folder' : 'file' });
        if (entry.isSocket() && sockets.length < MAX_SOCKETS) sockets.push(path);
        if (entry.isDirectory() && !PASSED_BY.has(entry.name) && !isPassedBy(path)) next.push(path);
      }
    }
    level = next;
  }
  return { repositories, sockets };
}

async function entriesOf(folder: string, most: number): Promise<readonly Dirent[]> {
  const entries: Dirent[] = [];
  try {
    for await (const entry of await opendir(folder, { bufferSize: 256 })) {
      entries.push(entry);
      if (entries.length >= most) break;
    }
  } catch {
    return entries;
  }
  return entries;
}
