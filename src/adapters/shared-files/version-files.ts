/**
 * The versions of what the sessions of one agent share, on the disk:
 *
 *   <VERSIONS_FOLDER>/000000001.json   what a version holds; there at once or not at all, and never changed
 *                    /blobs/<sha256>   contents, each kept once
 *                    /checked-out      the version that the shared folder was last made to be
 */
import { lstat, readdir, stat, unlink } from 'node:fs/promises';
import { join } from 'node:path';
import type { SharedFilesHead } from '../../actors/memory/shared-files-store.ts';
import { RuntimeError } from '../../machines/errors.ts';
import { MAX_SHARED_FILE_BYTES, NO_FILES, sharedFilesManifest } from '../../machines/memory/shared-files-version.ts';
import type { SharedFile, SharedFilesVersion } from '../../machines/memory/shared-files-version.ts';
import { VERSIONS_FOLDER } from '../../machines/stored-names.ts';
import { describeIssues } from '../../machines/validate.ts';
import { hasCode } from '../system/error-codes.ts';
import { isNoPlainFile } from '../system/own-files.ts';
import { isDraft } from '../system/whole-files.ts';
import { createWhole, makeFolder, readIfThere, replaceFile, sha256Of, storageFailed, storing } from './storage.ts';

const BLOBS = 'blobs';
const CHECKED_OUT = 'checked-out';
const MANIFEST = /^(\d{9})\.json$/;
const MAX_MANIFEST_BYTES = 1024 * 1024;

export class VersionFiles {
  readonly directory: string;
  #head: { readonly stamp: string; readonly version: SharedFilesVersion } | undefined;

  constructor(directory: string) {
    this.directory = directory;
  }

  /** The newest version. @throws RuntimeError SHARED_FILES_DAMAGED, STORAGE_FAILED */
  async head(): Promise<SharedFilesHead> {
    let number = this.#head?.version.version ?? 0;
    if (number === 0 || !(await this.#isThere(number))) number = await this.#highest();
    while (await this.#isThere(number + 1)) number += 1;
    return number === 0 ? { version: 0, files: NO_FILES } : this.#read(number);
  }

  /** Undefined for one that was never made. */
  async get(number: number): Promise<SharedFilesVersion | undefined> {
    return (await this.#isThere(number)) ? this.#read(number) : undefined;
  }

  /** Makes a version what all see. @returns false when another process has made one of this number */
  async commit(version: SharedFilesVersion): Promise<boolean> {
    return createWhole(this.#pathOf(version.version), `${JSON.stringify(version, null, 2)}\n`);
  }

  /** Keeps a content. */
  async keep(path: string, content: Uint8Array): Promise<SharedFile> {
    const sha256 = sha256Of(content);
    await makeFolder(join(this.directory, BLOBS));
    const blob = join(this.directory, BLOBS, sha256);
    // One that a crash has spoiled is made anew.
    if ((await this.#blob(sha256)) === undefined && !(await createWhole(blob, content)))
      await replaceFile(blob, content);
    return { path, sha256, bytes: content.length };
  }

  /** @throws RuntimeError SHARED_FILES_DAMAGED */
  async content({ path, sha256 }: Pick<SharedFile, 'path' | 'sha256'>): Promise<Buffer> {
    const content = await this.#blob(sha256);
    if (content === undefined)
      throw damaged(join(this.directory, BLOBS, sha256), `the content of ${path} is not there as it was kept`);
    return content;
  }

  async checkedOut(): Promise<number> {
    const text = (await readIfThere(join(this.directory, CHECKED_OUT), 100))?.toString() ?? '';
    return /^\d{1,9}\n$/.test(text) ? Number(text) : 0;
  }

  async setCheckedOut(number: number): Promise<void> {
    await replaceFile(join(this.directory, CHECKED_OUT), `${number}\n`);
  }

  /** Removes what the killed were writing. Only for a process that is alone here. */
  async sweep(): Promise<void> {
    for (const folder of [this.directory, join(this.directory, BLOBS)]) {
      const names = await readdir(folder).catch(() => []);
      await Promise.all(names.filter(isDraft).map((name) => unlink(join(folder, name)).catch(() => undefined)));
    }
  }

  async #blob(sha256: string): Promise<Buffer | undefined> {
    const content = await readIfThere(join(this.directory, BLOBS, sha256), MAX_SHARED_FILE_BYTES);
    return content !== undefined && sha256Of(content) === sha256 ? content : undefined;
  }

  async #read(number: number): Promise<SharedFilesVersion> {
    const path = this.#pathOf(number);
    const found = await storing(`read ${path}`, () => stat(path, { bigint: true }));
    const stamp = `${found.ino} ${found.mtimeNs} ${found.size}`;
    if (this.#head?.version.version === number && this.#head.stamp === stamp) return this.#head.version;
    const version = parsed(path, number, (await readIfThere(path, MAX_MANIFEST_BYTES))?.toString() ?? '');
    if (number >= (this.#head?.version.version ?? 0)) this.#head = { stamp, version };
    return version;
  }

  async #isThere(number: number): Promise<boolean> {
    if (number < 1) return false;
    try {
      return (await lstat(this.#pathOf(number))).isFile();
    } catch (error) {
      if (isNoPlainFile(error)) return false;
      throw storageFailed(`search for ${this.#pathOf(number)}`, error);
    }
  }

  async #highest(): Promise<number> {
    this.#head = undefined;
    try {
      const numbers = (await readdir(this.directory)).flatMap((name) => MANIFEST.exec(name)?.[1] ?? []).map(Number);
      return numbers.reduce((most, each) => Math.max(most, each), 0);
    } catch (error) {
      if (hasCode(error, 'ENOENT')) return 0;
      throw storageFailed(`read ${this.directory}`, error);
    }
  }

  #pathOf(number: number): string {
    return join(this.directory, `${String(number).padStart(9, '0')}.json`);
  }
}

function parsed(path: string, number: number, text: string): SharedFilesVersion {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    throw damaged(path, 'it is not JSON');
  }
  const result = sharedFilesManifest.safeParse(value);
  if (!result.success) throw damaged(path, describeIssues(result.error).join('; '));
  if (result.data.version !== number) throw damaged(path, `it says that it is version ${result.data.version}`);
  return result.data;
}

function damaged(path: string, problem: string): RuntimeError {
  return new RuntimeError('SHARED_FILES_DAMAGED', `${path} cannot be relied on: ${problem}`, {
    category: 'storage',
    hint: `Bring it back from a backup, or move the folder ${VERSIONS_FOLDER} away: the files that are there now become its first version.`,
    details: { path },
  });
}
