/**
 * What the sessions of an agent share, as files: a folder in which people edit by hand, and every version beside it.
 *
 * A version counts from the moment its manifest is there. The folder is brought up to it afterwards, by the next
 * process if need be; what it holds besides is people's work, and becomes a version of theirs. One process at a time
 * does either.
 */
import { join } from 'node:path';
import type { Clock } from '../../actors/clock/clock.ts';
import { isoTimeOf } from '../../actors/clock/iso-time.ts';
import {
  DEFAULT_VERSIONS_LISTED,
  MAX_VERSIONS_LISTED,
  sharedFilesConflict,
  versionNotFound,
} from '../../actors/memory/shared-files-store.ts';
import type {
  SharedFilesEdit,
  SharedFilesHead,
  SharedFilesRestore,
  SharedFilesResult,
  SharedFilesStore,
} from '../../actors/memory/shared-files-store.ts';
import { PromotionPermit } from '../../actors/outcome/promotion-gate.ts';
import type { ExclusiveWork } from '../../actors/run/exclusive-work.ts';
import { RuntimeError } from '../../machines/errors.ts';
import { agentId as agentIdSchema } from '../../machines/ids.ts';
import { clashingPaths } from '../../machines/memory/shared-file-path.ts';
import {
  checkedSharedFilePath,
  sharedFilesEdit,
  sharedFilesRestore,
} from '../../machines/memory/shared-files-requests.ts';
import { changedPaths, excessOf, nextVersion, withChanges } from '../../machines/memory/shared-files-version.ts';
import type { SharedFilesAuthor, SharedFile, SharedFilesVersion } from '../../machines/memory/shared-files-version.ts';
import { SHARED_FILES_FOLDER, VERSIONS_FOLDER } from '../../machines/stored-names.ts';
import { parseOrThrow } from '../../machines/validate.ts';
import { SharedFolder, tooLarge } from './shared-folder.ts';
import { isTaken, makeFolder, sha256Of } from './storage.ts';
import { VersionFiles } from './version-files.ts';

const LOCK = '.lock';

export interface FileSharedFilesStoreOptions {
  /** Absolute: where an agent's file lies. */
  readonly agentDirectory: (agentId: string) => string;
  readonly clock: Pick<Clock, 'now'>;
  readonly exclusively: ExclusiveWork;
}

interface Place {
  readonly agentId: string;
  readonly directory: string;
  readonly folder: SharedFolder;
  readonly versions: VersionFiles;
}

/** Where no session and no person has ever put anything. */
const NOTHING: SharedFilesHead = { version: 0, files: [] };

interface Changed {
  readonly files: readonly SharedFile[];
  /** Of those that are not kept yet. */
  readonly contents: ReadonlyMap<string, Uint8Array>;
}

type Changing = (before: SharedFilesHead, place: Place) => Promise<Changed>;

export class FileSharedFilesStore implements SharedFilesStore {
  readonly #options: FileSharedFilesStoreOptions;
  readonly #places = new Map<string, Place>();

  constructor(options: FileSharedFilesStoreOptions) {
    this.#options = options;
  }

  async head(agentId: string): Promise<SharedFilesHead> {
    return this.#current(this.#placeOf(agentId));
  }

  async list(agentId: string, version?: number): Promise<readonly SharedFile[]> {
    return (await this.#version(this.#placeOf(agentId), version)).files;
  }

  async read(agentId: string, path: string, version?: number): Promise<Uint8Array | undefined> {
    const checked = checkedSharedFilePath(path);
    const place = this.#placeOf(agentId);
    const file = (await this.#version(place, version)).files.find((each) => each.path === checked);
    return file === undefined ? undefined : place.versions.content(file);
  }

  async versions(
    agentId: string,
    {
      before = Infinity,
      limit = DEFAULT_VERSIONS_LISTED,
    }: { readonly before?: number | undefined; readonly limit?: number | undefined } = {},
  ): Promise<readonly SharedFilesVersion[]> {
    const place = this.#placeOf(agentId);
    const newest = Math.min((await this.#current(place)).version, before - 1);
    const count = Math.max(0, Math.min(limit, MAX_VERSIONS_LISTED, newest));
    const found = await Promise.all(Array.from({ length: count }, (_, index) => place.versions.get(newest - index)));
    return found.filter((each) => each !== undefined);
  }

  async promote(permit: PromotionPermit, edit: SharedFilesEdit): Promise<SharedFilesResult> {
    return this.#edit(edit, authorOf(permit));
  }

  async restore(permit: PromotionPermit, restore: SharedFilesRestore): Promise<SharedFilesResult> {
    return this.#restore(restore, authorOf(permit));
  }

  readonly people: SharedFilesStore['people'] = {
    edit: (edit) => this.#edit(edit, { kind: 'people' }),
    restore: (restore) => this.#restore(restore, { kind: 'people' }),
  };

  async #edit(edit: SharedFilesEdit, by: SharedFilesAuthor): Promise<SharedFilesResult> {
    const { agentId, changes, expectedVersion, why } = parseOrThrow(sharedFilesEdit, edit, {
      what: 'change of shared files',
      code: 'SHARED_FILES_CHANGE_INVALID',
    });
    const contents = new Map<string, Uint8Array>();
    const changed = new Map<string, SharedFile | undefined>();
    for (const { path, content } of changes) {
      const bytes = typeof content === 'string' ? new TextEncoder().encode(content) : content;
      changed.set(path, bytes === null ? undefined : { path, sha256: sha256Of(bytes), bytes: bytes.length });
      if (bytes !== null) contents.set(path, bytes);
    }
    return this.#change({ agentId, expectedVersion, why, by }, async ({ files }, { folder }) => {
      await assertFree(folder, contents.keys());
      return { files: withChanges(files, changed), contents };
    });
  }

  async #restore(restore: SharedFilesRestore, by: SharedFilesAuthor): Promise<SharedFilesResult> {
    const { agentId, version, ...rest } = parseOrThrow(sharedFilesRestore, restore, {
      what: 'restore of shared files',
      code: 'SHARED_FILES_CHANGE_INVALID',
    });
    return this.#change({ agentId, ...rest, by }, async ({ files, version: head }, { folder, versions }) => {
      const wanted = await versions.get(version);
      if (wanted === undefined) throw versionNotFound(agentId, version, head);
      const changed = new Set(changedPaths(files, wanted.files));
      const coming = wanted.files.filter(({ path }) => changed.has(path));
      await assertFree(
        folder,
        coming.map(({ path }) => path),
      );
      // A version whose contents are lost must not become the newest.
      for (const file of coming) await versions.content(file);
      return { files: wanted.files, contents: new Map() };
    });
  }

  async #change(
    { agentId, expectedVersion, why, by }: Omit<SharedFilesEdit, 'changes'> & { readonly by: SharedFilesAuthor },
    changing: Changing,
  ): Promise<SharedFilesResult> {
    const place = this.#placeOf(agentId);
    return this.#alone(place, async () => {
      const before = await this.#settle(place);
      if (before.version !== expectedVersion)
        throw sharedFilesConflict(agentId, { expected: expectedVersion, head: before.version });
      const { files, contents } = await changing(before, place);
      const excess = excessOf(files);
      if (excess !== undefined) throw tooLarge(agentId, excess);
      const clash = clashingPaths(files.map(({ path }) => path));
      if (clash !== undefined)
        throw new RuntimeError(
          'SHARED_FILES_CHANGE_INVALID',
          `${clash[0]} and ${clash[1]} cannot both be there: on some systems they are one, or one would lie in the other`,
          { category: 'validation', hint: 'Choose another name for one of them.' },
        );
      const next = nextVersion({ before, files, at: isoTimeOf(this.#options.clock.now()), by, why });
      if (next.changed.length === 0) return { version: before.version, isNew: false, changed: [] };
      for (const [path, content] of contents) await place.versions.keep(path, content);
      if (!(await place.versions.commit(next)))
        throw sharedFilesConflict(agentId, { expected: expectedVersion, head: (await place.versions.head()).version });
      // It counts from here on: a folder that cannot be written now is brought up to it by the next process.
      await this.#settle(place).catch(() => undefined);
      return { version: next.version, isNew: true, changed: next.changed };
    });
  }

  /** The head, once what people have done is a part of it. Costs a check of each file where nothing has changed. */
  async #current(place: Place): Promise<SharedFilesHead> {
    if (!isTaken(place.versions.directory) && place.folder.isEmpty()) return NOTHING;
    const [head, checkedOut, check] = await Promise.all([
      place.versions.head(),
      place.versions.checkedOut(),
      place.folder.check(),
    ]);
    const isSettled =
      head.version === checkedOut &&
      (head.version === 0 ? check.files.length === 0 : check.isThere) &&
      changedPaths(head.files, check.files).length === 0;
    return isSettled ? head : this.#alone(place, () => this.#settle(place));
  }

  /** Brings the folder up to the head, then takes over what people have done there. Only under the lock. */
  async #settle(place: Place): Promise<SharedFilesHead> {
    const { versions, folder } = place;
    const head = await versions.head();
    await this.#bringUp(place, head);
    const check = await folder.check();
    const changed = changedPaths(head.files, check.files);
    if (changed.length === 0) return head;
    const excess = excessOf(check.files);
    if (excess !== undefined) throw tooLarge(place.directory, excess);
    const theirs = new Map<string, SharedFile | undefined>();
    for (const path of changed) {
      const content = await folder.read(path);
      theirs.set(path, content === undefined ? undefined : await versions.keep(path, content));
    }
    const next = nextVersion({
      before: head,
      files: withChanges(head.files, theirs),
      at: isoTimeOf(this.#options.clock.now()),
      by: { kind: 'people' },
      why: 'edited by hand',
    });
    if (next.changed.length === 0) return head;
    if (!(await versions.commit(next))) return this.#settle(place);
    await versions.setCheckedOut(next.version);
    return next;
  }

  async #bringUp({ versions, folder, directory }: Place, head: SharedFilesHead): Promise<void> {
    const { isThere } = await folder.check();
    const checkedOut = isThere ? await versions.checkedOut() : 0;
    if (checkedOut === head.version) return;
    // A folder that is gone was not edited: it is laid out again.
    const from = checkedOut === 0 ? [] : ((await versions.get(checkedOut))?.files ?? []);
    await makeFolder(join(directory, SHARED_FILES_FOLDER));
    for (const path of changedPaths(from, head.files)) {
      const file = head.files.find((each) => each.path === path);
      const content = file === undefined ? undefined : await versions.content(file);
      await folder.become({ path, before: from.find((each) => each.path === path)?.sha256, content });
    }
    await versions.setCheckedOut(head.version);
  }

  async #version(place: Place, number: number | undefined): Promise<SharedFilesHead> {
    if (number === undefined) return this.#current(place);
    const found = Number.isSafeInteger(number) ? await place.versions.get(number) : undefined;
    if (found === undefined) throw versionNotFound(place.agentId, number, (await place.versions.head()).version);
    return found;
  }

  async #alone<Result>({ versions, agentId }: Place, work: () => Promise<Result>): Promise<Result> {
    await makeFolder(versions.directory);
    const path = join(versions.directory, LOCK);
    return this.#options.exclusively(
      path,
      async () => {
        await versions.sweep();
        return work();
      },
      (waitedMs) => busy(agentId, path, waitedMs),
    );
  }

  #placeOf(agentId: string): Place {
    const id = parseOrThrow(agentIdSchema, agentId, { what: 'agent id', code: 'AGENT_ID_INVALID' });
    const known = this.#places.get(id);
    if (known !== undefined) return known;
    const directory = this.#options.agentDirectory(id);
    const versions = new VersionFiles(join(directory, VERSIONS_FOLDER));
    const place = {
      agentId: id,
      directory,
      versions,
      folder: new SharedFolder(join(directory, SHARED_FILES_FOLDER), versions.directory),
    };
    this.#places.set(id, place);
    return place;
  }
}

/** Programs without types can pass in anything. */
function authorOf(permit: PromotionPermit): SharedFilesAuthor {
  if (!(permit instanceof PromotionPermit))
    throw new RuntimeError('PROMOTION_REFUSED', 'expected a permit of the promotion gate', {
      category: 'permission',
      hint: 'Evaluate the outcome of the session first.',
    });
  return { kind: 'session', sessionId: permit.sessionId, evaluationSeq: permit.evaluationSeq };
}

/** What people have put in the place of a file, such as a link, is not replaced. */
async function assertFree(folder: SharedFolder, paths: Iterable<string>): Promise<void> {
  for (const path of paths) {
    const obstacle = await folder.obstacle(path);
    if (obstacle !== undefined) throw taken(path, obstacle);
  }
}

function taken(path: string, obstacle: string): RuntimeError {
  return new RuntimeError('SHARED_FILES_PATH_TAKEN', `${path} cannot be shared: ${obstacle} in the shared folder`, {
    category: 'conflict',
    hint: 'Move away what is in its place, or choose another path.',
    details: { path },
  });
}

function busy(agentId: string, path: string, waitedMs: number): RuntimeError {
  return new RuntimeError(
    'SHARED_FILES_BUSY',
    `the shared files of agent ${agentId} were being changed by others for ${waitedMs} ms`,
    {
      category: 'conflict',
      hint: 'Try again. If no process changes them, check the lock file.',
      details: { agentId, path, waitedMs },
    },
  );
}
