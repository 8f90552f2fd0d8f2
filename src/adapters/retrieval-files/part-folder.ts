/** The folder with the files of an agent's parts. What goes wrong with it is told once and costs nothing but time. */
import { lstat, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { RuntimeError } from '../../machines/errors.ts';
import { isUuidV7 } from '../../machines/ids.ts';
import { hasCode, isMissing, systemCodeOf } from '../system/error-codes.ts';
import { makeFolder, namesIn, sweepDrafts } from '../system/whole-files.ts';
import { readPart, writePart } from './part-file.ts';
import type { KeptPart } from './part-file.ts';

export interface PartFolderOptions {
  /** Absolute. It need not exist. */
  readonly folder: string;
  /** Hears why something could not be kept or read: once for each reason, until something is kept again. */
  readonly onTrouble: (error: unknown) => void;
}

export type FoundPart = KeptPart & { readonly sessionId: string };

const SUFFIX = '.part';

/** Files that are read at the same time. */
const READERS = 8;

/** To write one file. */
const MAX_ATTEMPTS = 5;

export class PartFolder {
  readonly #options: PartFolderOptions;
  /** What was told already, by the code of the error. */
  readonly #told = new Set<string>();

  constructor(options: PartFolderOptions) {
    this.#options = options;
  }

  /** Every part that is there and whole. @param take called for one after another, in no order */
  async readAll(take: (found: FoundPart) => Promise<void>): Promise<void> {
    const names = await this.#names().catch((error: unknown) => this.#trouble(error));
    const waiting = [...(names ?? [])];
    const readOn = async (): Promise<void> => {
      for (let name = waiting.pop(); name !== undefined; name = waiting.pop()) {
        const sessionId = name.slice(0, -SUFFIX.length);
        const found = await readPart(this.#pathOf(sessionId), sessionId).catch((error: unknown) =>
          this.#trouble(error),
        );
        if (found !== undefined) await take({ ...found, sessionId });
      }
    };
    await Promise.all(Array.from({ length: READERS }, readOn));
  }

  /** What cannot be kept is in memory all the same, and read from the log again by the next process. */
  async keep(sessionId: string, kept: KeptPart, { isAnew }: { readonly isAnew: boolean }): Promise<void> {
    for (let attempt = 1; ; attempt += 1) {
      try {
        await this.#write(sessionId, kept, isAnew);
        this.#told.clear();
        return;
      } catch (error) {
        // Another process may remove the whole folder, to make it anew, while this one writes into it.
        if (attempt < MAX_ATTEMPTS && hasCode(error, 'ENOENT')) continue;
        this.#trouble(error);
        return;
      }
    }
  }

  async remove(sessionId: string): Promise<void> {
    try {
      // A link would lead to files that are not ours.
      if (await isFolder(this.#options.folder)) await rm(this.#pathOf(sessionId), { force: true });
    } catch (error) {
      this.#trouble(error);
    }
  }

  async #write(sessionId: string, kept: KeptPart, isAnew: boolean): Promise<void> {
    const { folder } = this.#options;
    // At the end of every wake: to check costs less than to try to make what is there.
    if (!(await isFolder(folder))) {
      await makeFolder(folder, { durability: 'os' });
      if (!(await isFolder(folder))) throw notAFolder(folder);
    }
    await writePart({ path: this.#pathOf(sessionId), sessionId, isAnew }, kept);
  }

  async #names(): Promise<readonly string[]> {
    const { folder } = this.#options;
    if (!(await isFolder(folder))) return [];
    await sweepDrafts(folder);
    return (await namesIn(folder)).filter((name) => name.endsWith(SUFFIX) && isUuidV7(name.slice(0, -SUFFIX.length)));
  }

  #pathOf(sessionId: string): string {
    return join(this.#options.folder, `${sessionId}${SUFFIX}`);
  }

  #trouble(error: unknown): undefined {
    const code = systemCodeOf(error) ?? String(error);
    if (this.#told.has(code)) return;
    this.#told.add(code);
    this.#options.onTrouble(error);
  }
}

/** A link is none: it may lead anywhere. */
async function isFolder(path: string): Promise<boolean> {
  return lstat(path).then(
    (found) => found.isDirectory(),
    (error: unknown) => {
      if (isMissing(error)) return false;
      throw error;
    },
  );
}

function notAFolder(folder: string): RuntimeError {
  return new RuntimeError('RETRIEVAL_FOLDER_INVALID', `expected a folder at ${folder}, there is something else`, {
    category: 'storage',
    hint: 'Move it away: the index is made anew.',
  });
}
