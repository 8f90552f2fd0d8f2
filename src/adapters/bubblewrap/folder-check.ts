/**
 * Scans a folder that is mounted, as far as its bounds go, for what a sandbox has to treat with care:
 * repositories, sockets and homes. A command that may write in it knows the bounds too: what would have the search miss
 * what was found before is a problem, and no reason to go on.
 */
import type { Dirent } from 'node:fs';
import { lstat, opendir } from 'node:fs/promises';

export interface Repository {
  /** Of its `.git`, on the host. */
  readonly path: string;
  readonly kind: 'folder' | 'file' | 'link';
}

export interface FolderCheck {
  /** The nearest first. */
  readonly repositories: readonly Repository[];
  /** Paths on the host. */
  readonly sockets: readonly string[];
  /** Folders that are called as a home of Wakechart is: paths on the host. */
  readonly homes: readonly string[];
  /** Why something may lie in it that was not found, in words. */
  readonly problem?: string | undefined;
}

const MAX_LEVELS = 6;
const MAX_FOLDERS = 20_000;
const MAX_ENTRIES = 200_000;
/** Of each, in one mount: all of them stand in one command line. */
const MAX_FOUND = { repositories: 100, sockets: 200, homes: 100 };

/** What a home is called by default. */
const HOME_NAME = '.wakechart';
const REPOSITORY_NAME = '.git';

/** What others have made, of which there is much. */
const PASSED_BY = new Set([REPOSITORY_NAME, 'node_modules']);

/** Level by level, so that what lies near is found however much lies below. */
export async function scan(folder: string, isPassedBy: (path: string) => boolean): Promise<FolderCheck> {
  const check = new Check(isPassedBy);
  let level = [folder];
  for (let depth = 0; depth < MAX_LEVELS; depth += 1) {
    const next: string[] = [];
    for (const each of level) next.push(...(await check.at(each)));
    level = next;
  }
  return check;
}

class Check implements FolderCheck {
  readonly repositories: Repository[] = [];
  readonly sockets: string[] = [];
  readonly homes: string[] = [];
  problem: string | undefined;
  readonly #isPassedBy: (path: string) => boolean;
  #folders = MAX_FOLDERS;
  #entries = MAX_ENTRIES;

  constructor(isPassedBy: (path: string) => boolean) {
    this.#isPassedBy = isPassedBy;
  }

  /** @returns the folders in it that are to be checked */
  async at(folder: string): Promise<readonly string[]> {
    this.#folders -= 1;
    if (this.#folders < 0 || this.#entries <= 0) return [];
    const { entries, isWhole } = await this.#entriesOf(folder);
    this.#entries -= entries.length;
    // Many files are soon made: those two are searched for by their names where the rest is not seen.
    if (!isWhole) entries.push(...(await namedIn(folder, entries)));
    return entries.flatMap((entry) => this.#take(entry, `${folder}/${entry.name}`));
  }

  #take(entry: Entry, path: string): readonly string[] {
    if (entry.name === REPOSITORY_NAME)
      this.#found('repositories', {
        path,
        kind: entry.isSymbolicLink() ? 'link' : entry.isDirectory() ? 'folder' : 'file',
      });
    if (entry.isSocket()) this.#found('sockets', path);
    if (!entry.isDirectory() || PASSED_BY.has(entry.name) || this.#isPassedBy(path)) return [];
    if (entry.name !== HOME_NAME) return [path];
    this.#found('homes', path);
    return [];
  }

  #found<Kind extends keyof typeof MAX_FOUND>(kind: Kind, one: FolderCheck[Kind][number]): void {
    const found: (typeof one)[] = this[kind];
    if (found.length < MAX_FOUND[kind]) found.push(one);
    else this.problem ??= `it holds more than ${MAX_FOUND[kind]} ${kind === 'homes' ? `folders ${HOME_NAME}` : kind}`;
  }

  async #entriesOf(folder: string): Promise<{ readonly entries: Entry[]; readonly isWhole: boolean }> {
    const entries: Entry[] = [];
    try {
      for await (const entry of await opendir(folder, { bufferSize: 256 })) {
        if (entries.length >= this.#entries) return { entries, isWhole: false };
        entries.push(entry);
      }
    } catch {
      // One of ours that cannot be read now can be made readable by a command that works in it. One of others the
      // sandbox cannot read either.
      if (await isOurs(folder)) this.problem ??= `${folder} cannot be read`;
    }
    return { entries, isWhole: true };
  }
}

type Entry = Pick<Dirent, 'name' | 'isDirectory' | 'isSymbolicLink' | 'isSocket'>;

async function namedIn(folder: string, known: readonly Entry[]): Promise<readonly Entry[]> {
  const missing = [REPOSITORY_NAME, HOME_NAME].filter((name) => !known.some((entry) => entry.name === name));
  const found = await Promise.all(
    missing.map((name) =>
      lstat(`${folder}/${name}`).then(
        (stats): Entry => Object.assign(stats, { name }),
        () => undefined,
      ),
    ),
  );
  return found.filter((entry) => entry !== undefined);
}

async function isOurs(folder: string): Promise<boolean> {
  const found = await lstat(folder).catch(() => undefined);
  return found !== undefined && found.uid === process.geteuid?.();
}
