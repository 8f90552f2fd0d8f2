/**
 * Records of trees whose hosts died, for a day after they were dealt with: so that it can be told what became of a task,
 * and where its log is, although the next host has cleared up already.
 */
import { readFile, rename, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { hasCode } from '../system/error-codes.ts';
import { makeFolder, namesIn } from '../system/whole-files.ts';

const KEPT_MS = 86_400_000;
/** However many a host has left. */
const MAX_KEPT = 200;

export class LostRecords {
  readonly #directory: string;

  constructor(directory: string) {
    this.#directory = directory;
  }

  /** Moves the file here, where that can be done: without it nothing else is at stake. */
  async take(path: string, name: string): Promise<void> {
    try {
      await this.#move(path, name);
      for (const old of (await this.#files()).filter(({ isOld }) => isOld))
        await rm(join(this.#directory, old.name), { force: true });
    } catch {
      // It is forgotten, as it would be without a place for it.
    }
  }

  /** What the files say, newest last. */
  async texts(): Promise<readonly string[]> {
    const files = (await this.#files()).filter(({ isOld }) => !isOld);
    const texts = files.map(({ name }) => readFile(join(this.#directory, name), 'utf8').catch(() => undefined));
    return (await Promise.all(texts)).filter((text) => text !== undefined);
  }

  async #move(path: string, name: string): Promise<void> {
    const to = join(this.#directory, name);
    try {
      await rename(path, to);
    } catch (error) {
      if (!hasCode(error, 'ENOENT')) throw error;
      await makeFolder(this.#directory, { durability: 'os' });
      await rename(path, to);
    }
  }

  /** By when they came here. */
  async #files(): Promise<readonly { readonly name: string; readonly isOld: boolean }[]> {
    const names = (await namesIn(this.#directory)).filter((name) => name.endsWith('.json'));
    const found = await Promise.all(
      names.map(async (name) => ({
        name,
        atMs: (await stat(join(this.#directory, name)).catch(() => undefined))?.ctimeMs ?? 0,
      })),
    );
    return found
      .toSorted((one, other) => one.atMs - other.atMs)
      .map(({ name, atMs }, index) => ({
        name,
        isOld: found.length - index > MAX_KEPT || Date.now() - atMs > KEPT_MS,
      }));
  }
}
