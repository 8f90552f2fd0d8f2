/**
 * The folder of what the sessions of one agent share, where people edit by hand. Links are not followed; what is no
 * plain file of a plain name is not a part of it. A file that is not what it was expected to be is a person's work, and
 * is left alone.
 */
import { readdirSync } from 'node:fs';
import { link, lstat, open, readdir, rename, rmdir, unlink } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { RuntimeError } from '../../machines/errors.ts';
import { sharedFilePathProblem } from '../../machines/memory/shared-file-path.ts';
import { MAX_SHARED_FILES, MAX_SHARED_FILE_BYTES } from '../../machines/memory/shared-files-version.ts';
import type { SharedFile } from '../../machines/memory/shared-files-version.ts';
import { unlessCode } from '../system/error-codes.ts';
import { READING_NO_LINK, isNoPlainFile } from '../system/own-files.ts';
import { draftOf, makeFolder, removeDraft, syncFolder, writeDraft } from '../system/whole-files.ts';
import { readIfThere, sha256Of, storing } from './storage.ts';

/**
 * A file that was changed this shortly before it was read may have been changed once more since, in the same moment of
 * the file system's clock.
 */
const UNSETTLED_MS = 2_000;

export interface FolderCheck {
  readonly isThere: boolean;
  readonly files: readonly SharedFile[];
}

interface KnownHash {
  readonly stamp: string;
  readonly sha256: string;
}

/** What a file is to become: `before` is what it is expected to be, undefined for none. */
export interface Checkout {
  readonly path: string;
  readonly before: string | undefined;
  readonly content: Uint8Array | undefined;
}

export class SharedFolder {
  readonly #directory: string;
  /** On the same file system; no reader goes there. */
  readonly #drafts: string;
  #known: ReadonlyMap<string, KnownHash> = new Map();

  constructor(directory: string, drafts: string) {
    this.#directory = directory;
    this.#drafts = drafts;
  }

  /** Whether it certainly holds nothing. */
  isEmpty(): boolean {
    try {
      return readdirSync(this.#directory).length === 0;
    } catch {
      return false;
    }
  }

  /**
   * What is in it now. A file that was not touched is not read again. @throws RuntimeError SHARED_FILES_TOO_LARGE,
   * STORAGE_FAILED
   */
  async check(): Promise<FolderCheck> {
    const known = new Map<string, KnownHash>();
    const files: SharedFile[] = [];
    const isThere = await storing(`read ${this.#directory}`, () => this.#walk('', { files, known }));
    this.#known = known;
    return { isThere, files: files.toSorted((one, other) => (one.path < other.path ? -1 : 1)) };
  }

  /** The file's content; undefined when there is none. */
  read(path: string): Promise<Buffer | undefined> {
    return readIfThere(join(this.#directory, path), MAX_SHARED_FILE_BYTES);
  }

  /** What is in the way of a file; undefined when nothing is. */
  async obstacle(path: string): Promise<string | undefined> {
    const segments = path.split('/');
    for (let length = 1; length <= segments.length; length += 1) {
      const place = segments.slice(0, length).join('/');
      const found = await lstat(join(this.#directory, place)).catch(() => undefined);
      if (found === undefined) return undefined;
      const isFit = length === segments.length ? found.isFile() : found.isDirectory();
      if (!isFit)
        return `${place} is ${found.isSymbolicLink() ? 'a link' : found.isDirectory() ? 'a folder' : 'no folder'}`;
    }
    return undefined;
  }

  /**
   * Makes a file what it is to become, unless a person has changed it: then it is theirs. @throws RuntimeError
   * STORAGE_FAILED
   */
  async become({ path, before, content }: Checkout): Promise<void> {
    if ((await this.obstacle(path)) !== undefined) return;
    const target = join(this.#directory, path);
    await storing(`write ${target}`, async () => {
      if (content === undefined) await this.#remove(target, before);
      else {
        await makeFolder(dirname(target));
        await this.#put(target, before, content);
      }
    });
  }

  async #put(target: string, before: string | undefined, content: Uint8Array): Promise<void> {
    const there = await hashAt(target);
    if (there !== before) return;
    const nameless = join(this.#drafts, basename(target));
    const draft = await writeDraft(nameless, content);
    const seen = draftOf(nameless);
    try {
      if (before === undefined) await link(draft, target);
      else {
        await link(target, seen);
        // An editor that saves by writing into the file writes into what is kept under the second name.
        if ((await hashAt(seen)) !== before) return;
        await rename(draft, target);
        if ((await hashAt(seen)) !== before) await rename(seen, target);
      }
      await syncFolder(dirname(target));
    } catch (error) {
      // A person made it, or took it away, in this very moment.
      unlessCode('EEXIST', 'ENOENT')(error);
    } finally {
      for (const name of [draft, seen]) await removeDraft(name);
    }
  }

  async #remove(target: string, before: string | undefined): Promise<void> {
    const there = await hashAt(target);
    if (there === undefined || there !== before) return;
    await unlink(target);
    await syncFolder(dirname(target));
    // Folders are there for files only.
    for (let folder = dirname(target); folder !== this.#directory; folder = dirname(folder)) {
      const isGone = await rmdir(folder).then(
        () => true,
        () => false,
      );
      if (!isGone) return;
    }
  }

  async #walk(
    below: string,
    found: { readonly files: SharedFile[]; readonly known: Map<string, KnownHash> },
  ): Promise<boolean> {
    const folder = join(this.#directory, below);
    try {
      if (!(await lstat(folder)).isDirectory()) {
        if (below === '')
          throw new RuntimeError('STORAGE_FAILED', `expected ${folder} to be a folder`, {
            category: 'storage',
            hint: 'Links are not followed: put a real folder there.',
          });
        return false;
      }
      for (const entry of await readdir(folder, { withFileTypes: true })) {
        const path = below === '' ? entry.name : `${below}/${entry.name}`;
        if (sharedFilePathProblem(path) !== undefined) continue;
        if (entry.isDirectory()) await this.#walk(path, found);
        else if (entry.isFile()) await this.#add(path, found);
      }
      return true;
    } catch (error) {
      if (isNoPlainFile(error)) return false;
      throw error;
    }
  }

  async #add(
    path: string,
    { files, known }: { readonly files: SharedFile[]; readonly known: Map<string, KnownHash> },
  ): Promise<void> {
    const file = await this.#hashed(path);
    if (file === undefined) return;
    files.push({ path, sha256: file.sha256, bytes: file.bytes });
    if (file.stamp !== undefined) known.set(path, { stamp: file.stamp, sha256: file.sha256 });
    if (files.length > MAX_SHARED_FILES)
      throw tooLarge(this.#directory, `there are more than ${MAX_SHARED_FILES} files`);
  }

  async #hashed(
    path: string,
  ): Promise<{ readonly sha256: string; readonly bytes: number; readonly stamp: string | undefined } | undefined> {
    const target = join(this.#directory, path);
    const handle = await open(target, READING_NO_LINK).catch((error: unknown) => {
      if (isNoPlainFile(error)) return undefined;
      throw error;
    });
    if (handle === undefined) return undefined;
    try {
      const stats = await handle.stat({ bigint: true });
      if (!stats.isFile()) return undefined;
      const { ino, size, mtimeNs, ctimeNs } = stats;
      if (size > MAX_SHARED_FILE_BYTES)
        throw tooLarge(target, `it holds ${size} bytes, at most ${MAX_SHARED_FILE_BYTES} are kept`);
      const stamp = `${ino} ${size} ${mtimeNs} ${ctimeNs}`;
      const known = this.#known.get(path);
      if (known?.stamp === stamp) return { sha256: known.sha256, bytes: Number(size), stamp };
      const content = await handle.readFile();
      const isSettled = BigInt(Date.now() - UNSETTLED_MS) * 1_000_000n > ctimeNs;
      return { sha256: sha256Of(content), bytes: content.length, stamp: isSettled ? stamp : undefined };
    } finally {
      await handle.close();
    }
  }
}

/** Undefined when no plain file is there. */
async function hashAt(path: string): Promise<string | undefined> {
  const content = await readIfThere(path, Number.MAX_SAFE_INTEGER);
  return content === undefined ? undefined : sha256Of(content);
}

export function tooLarge(path: string, problem: string): RuntimeError {
  return new RuntimeError('SHARED_FILES_TOO_LARGE', `what is shared in ${path} is too much: ${problem}`, {
    category: 'capacity',
    hint: 'Keep large files in a mount of the environment, and name it in MEMORY.md.',
    details: { path },
  });
}
