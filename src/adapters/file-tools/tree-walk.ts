/**
 * Goes through the files below a folder in a fixed order, follows no symbolic link, and leaves out what is of no use in
 * a search.
 */
import type { Dirent } from 'node:fs';
import { opendir } from 'node:fs/promises';
import { join } from 'node:path';
import { MAX_FOLDER_ENTRIES, MAX_WALK_DEPTH, MAX_WALKED_ENTRIES } from '../../machines/turn/files/file-limits.ts';
import { canGoOn, isMatched, startGlob, stepGlob } from '../../machines/turn/files/glob-pattern.ts';
import type { GlobProgress } from '../../machines/turn/files/glob-pattern.ts';
import type { GlobPath } from '../../machines/glob-steps.ts';
import { CooperativeYield } from './cooperative-yield.ts';
import { IgnoreLayers } from './ignore-layers.ts';
import type { HeldFolder } from '../system/held-folder.ts';
import type { Place, Places } from './places.ts';
import { isDraft } from '../system/held-file.ts';

export interface WalkScope {
  readonly includeHidden: boolean;
  readonly includeIgnored: boolean;
}

export interface TreeWalkOptions extends WalkScope {
  readonly places: Places;
  readonly start: Place;
  readonly glob: readonly GlobPath[];
  readonly signal: AbortSignal;
}

/** The files of one folder that match, and the folder, which is open until the next batch is asked for. */
export interface WalkedFolder {
  readonly folder: HeldFolder;
  readonly files: readonly { readonly name: string; readonly isLink: boolean }[];
}

interface WaitingFolder {
  readonly realPath: string;
  readonly depth: number;
  readonly progress: GlobProgress;
  readonly ignored: IgnoreLayers;
}

/** Left out whatever the rules say: what others made and what git keeps. */
const ALWAYS_IGNORED: ReadonlySet<string> = new Set(['.git', 'node_modules']);

const BUFFERED_ENTRIES = 256;

export class TreeWalk {
  readonly #options: TreeWalkOptions;
  readonly #cooperativeYield: CooperativeYield;
  readonly #notes = new Set<string>();
  #entries = 0;
  #unreadable = 0;

  constructor(options: TreeWalkOptions) {
    this.#options = options;
    this.#cooperativeYield = new CooperativeYield(options.signal);
  }

  /** What was not checked, and why. */
  get notes(): readonly string[] {
    const unreadable =
      this.#unreadable === 0
        ? []
        : [`${this.#unreadable} ${this.#unreadable === 1 ? 'folder' : 'folders'} could not be read.`];
    return [...this.#notes, ...unreadable];
  }

  /** In the order of their names, the files of a folder before those of the folders in it. */
  async *folders(): AsyncGenerator<WalkedFolder> {
    const { places, start, glob, includeIgnored } = this.#options;
    const ignored = includeIgnored ? IgnoreLayers.none() : await IgnoreLayers.above(places, start.realPath);
    const waiting: WaitingFolder[] = [{ realPath: start.realPath, depth: 0, progress: startGlob(glob), ignored }];
    for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
      const folder = await this.#open(next);
      if (folder === undefined) continue;
      try {
        const { files, folders } = await this.#check(folder, next);
        if (files.length > 0) yield { folder, files };
        waiting.push(...folders.reverse());
      } finally {
        await folder.close();
      }
      if (this.#entries > MAX_WALKED_ENTRIES) {
        this.#notes.add(
          `Only the first ${MAX_WALKED_ENTRIES} files and folders were checked. Begin in a folder further down.`,
        );
        return;
      }
    }
  }

  async #open({ realPath, depth }: WaitingFolder): Promise<HeldFolder | undefined> {
    this.#options.signal.throwIfAborted();
    try {
      return await this.#options.places.openFolderAt(realPath, 'read');
    } catch (error) {
      // What is said about the folder that was asked for is an answer.
      if (depth === 0) throw error;
      this.#unreadable += 1;
      return undefined;
    }
  }

  async #check(
    folder: HeldFolder,
    { realPath, depth, progress, ignored: above }: WaitingFolder,
  ): Promise<{ files: WalkedFolder['files']; folders: WaitingFolder[] }> {
    const { glob, includeHidden, includeIgnored } = this.#options;
    const ignored = includeIgnored ? above : await above.inFolder(folder);
    const files: { readonly name: string; readonly isLink: boolean }[] = [];
    const folders: WaitingFolder[] = [];
    for (const entry of await this.#entriesOf(folder)) {
      if (this.#cooperativeYield.isDue) await this.#cooperativeYield.rest();
      const { name } = entry;
      const next = stepGlob(glob, progress, { name, includeHidden });
      const isFolder = entry.isDirectory();
      const isWanted = isFolder
        ? canGoOn(glob, next)
        : (entry.isFile() || entry.isSymbolicLink()) && isMatched(glob, next) && !isDraft(name);
      if (!isWanted || (!includeIgnored && (ALWAYS_IGNORED.has(name) || ignored.isIgnored(folder, name, isFolder))))
        continue;
      if (!isFolder) files.push({ name, isLink: entry.isSymbolicLink() });
      else if (depth < MAX_WALK_DEPTH)
        folders.push({ realPath: join(realPath, name), depth: depth + 1, progress: next, ignored });
      else this.#notes.add(`Folders more than ${MAX_WALK_DEPTH} deep were not examined.`);
    }
    return { files, folders };
  }

  async #entriesOf(folder: HeldFolder): Promise<readonly Dirent[]> {
    const entries: Dirent[] = [];
    try {
      for await (const entry of await opendir(folder.at(), { bufferSize: BUFFERED_ENTRIES })) {
        if (entries.length === MAX_FOLDER_ENTRIES) {
          this.#notes.add(
            `Only ${MAX_FOLDER_ENTRIES} entries of ${this.#options.places.shownAs(folder.realPath)} were checked.`,
          );
          break;
        }
        entries.push(entry);
        if (this.#cooperativeYield.isDue) await this.#cooperativeYield.rest();
      }
    } catch (error) {
      this.#options.signal.throwIfAborted();
      if (folder.realPath === this.#options.start.realPath) throw error;
      this.#unreadable += 1;
    }
    this.#entries += entries.length;
    return entries.sort((one, other) => (one.name < other.name ? -1 : 1));
  }
}
