/**
 * Workspace copies in a folder that several machines share: `<sessionId>/pieces/<ab>/<hash>`, and
 * `<sessionId>/COPY_STATES_FOLDER/<number>`, of which the highest counts. Each is made under the number after the one it was
 * decided upon, so of two processes that decide at the same time one has to read again.
 */
import { randomUUID } from 'node:crypto';
import { link, mkdir, open, readFile, readdir, rename, rm, stat, unlink, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { WORKSPACE_COPY_GRACE_MS } from '../../actors/workspace-copy/copy-store.ts';
import type {
  WorkspaceCopyStore,
  WorkspaceCopyPiece,
  WorkspaceCopyRecord,
  PrunedPieces,
} from '../../actors/workspace-copy/copy-store.ts';
import { copyState, copySuperseded, maySpeak } from '../../machines/workspace-copy/copy-state.ts';
import type { WorkspaceCopyState } from '../../machines/workspace-copy/copy-state.ts';
import { systemCodeOf } from '../system/error-codes.ts';
import { isMissing, storageFailed } from './copy-errors.ts';
import { syncFolder } from './copy-swap.ts';
import { eachAtMost } from './at-most.ts';
import { mergedState, withAdded, withoutHome } from '../../machines/workspace-copy/copy-record.ts';
import { COPY_STATES_FOLDER } from '../../machines/stored-names.ts';

/** Pieces that are written at the same time: each of them waits for the disk. */
const MAX_AT_ONCE = 16;
const FOLDER_MODE = 0o700;
const FILE_MODE = 0o600;
const NUMBER_DIGITS = 12;

export interface SharedFolderCopiesOptions {
  /** Absolute; made when it is not there. */
  readonly directory: string;
  /** How long a piece that nothing names is left alone, in milliseconds. Default: one day. */
  readonly graceMs?: number | undefined;
}

export function createSharedFolderCopies({
  directory,
  graceMs = WORKSPACE_COPY_GRACE_MS,
}: SharedFolderCopiesOptions): WorkspaceCopyStore {
  const of = (sessionId: string): SharedCopy => new SharedCopy(sessionId, join(directory, sessionId), graceMs);
  const attempt =
    <Parameters extends readonly unknown[], Value>(
      work: (copy: SharedCopy, ...parameters: Parameters) => Promise<Value>,
    ) =>
    async (sessionId: string, ...parameters: Parameters): Promise<Value> => {
      try {
        return await work(of(sessionId), ...parameters);
      } catch (error) {
        throw storageFailed(`keep or find the copy of session ${sessionId}`, error);
      }
    };
  return {
    has: attempt((copy, hashes: readonly string[]) => copy.has(hashes)),
    put: attempt((copy, pieces: readonly WorkspaceCopyPiece[]) => copy.put(pieces)),
    get: attempt((copy, hashes: readonly string[]) => copy.get(hashes)),
    prune: attempt((copy, prune: Parameters<WorkspaceCopyStore['prune']>[1]) => copy.prune(prune)),
    latest: attempt(async (copy) => (await copy.newest())?.state),
    record: attempt((copy, record: WorkspaceCopyRecord) => copy.record(record)),
    add: attempt(
      async (copy, file: Parameters<WorkspaceCopyStore['add']>[1]) =>
        void (await copy.change((before) => withAdded(before, file))),
    ),
    release: attempt((copy, nextEpoch: number) => copy.release(nextEpoch)),
    forget: attempt((copy) => copy.forget()),
  };
}

interface NumberedState {
  readonly number: number;
  readonly state: WorkspaceCopyState;
}

class SharedCopy {
  readonly #sessionId: string;
  readonly #directory: string;
  readonly #graceMs: number;

  constructor(sessionId: string, directory: string, graceMs: number) {
    this.#sessionId = sessionId;
    this.#directory = directory;
    this.#graceMs = graceMs;
  }

  async has(hashes: readonly string[]): Promise<ReadonlySet<string>> {
    const nowMs = await this.#nowMs();
    const there = await Promise.all(
      hashes.map(async (hash) => ({ hash, ageMs: await this.#ageMs(this.#piece(hash), nowMs) })),
    );
    return new Set(
      there.filter(({ ageMs }) => ageMs !== undefined && ageMs < this.#graceMs / 2).map(({ hash }) => hash),
    );
  }

  async put(pieces: readonly WorkspaceCopyPiece[]): Promise<void> {
    const folders = new Set(pieces.map(({ hash }) => dirname(this.#piece(hash))));
    for (const folder of folders) await mkdir(folder, { recursive: true, mode: FOLDER_MODE });
    await eachAtMost(pieces, MAX_AT_ONCE, ({ hash, bytes }) => putWhole(this.#piece(hash), bytes));
    // Each once, and then the one that they are in.
    await eachAtMost(folders, MAX_AT_ONCE, syncFolder);
    if (pieces.length > 0) await syncFolder(join(this.#directory, 'pieces'));
  }

  async get(hashes: readonly string[]): Promise<readonly WorkspaceCopyPiece[]> {
    const found = await Promise.all(
      hashes.map(async (hash) => ({ hash, bytes: await readIfThere(this.#piece(hash)) })),
    );
    return found.flatMap(({ hash, bytes }) => (bytes === undefined ? [] : [{ hash, bytes }]));
  }

  async prune({ epoch, keep }: Parameters<WorkspaceCopyStore['prune']>[1]): Promise<PrunedPieces> {
    let pruned: PrunedPieces = { pieces: 0, bytes: 0 };
    if ((await this.newest())?.state.epoch !== epoch) return pruned;
    const nowMs = await this.#nowMs();
    for (const folder of await namesIn(join(this.#directory, 'pieces'))) {
      for (const hash of await namesIn(join(this.#directory, 'pieces', folder))) {
        const bytes = keep.has(hash) ? undefined : await this.#removeOld(this.#piece(hash), nowMs);
        if (bytes !== undefined) pruned = { pieces: pruned.pieces + 1, bytes: pruned.bytes + bytes };
      }
    }
    return pruned;
  }

  async newest(): Promise<NumberedState | undefined> {
    for (;;) {
      const name = (await namesIn(this.#states))
        .filter((each) => /^\d+$/.test(each))
        .toSorted()
        .at(-1);
      if (name === undefined) return undefined;
      const text = await readIfThere(join(this.#states, name));
      // Removed in between, since there are newer ones.
      if (text === undefined) continue;
      return { number: Number(name), state: copyState.parse(JSON.parse(new TextDecoder().decode(text))) };
    }
  }

  async record(record: WorkspaceCopyRecord): Promise<void> {
    await this.change((before) => {
      if (!maySpeak(before, record)) throw copySuperseded(this.#sessionId, record.epoch);
      return mergedState(before, record);
    });
  }

  async release(nextEpoch: number): Promise<boolean> {
    if ((await this.newest()) === undefined) return false;
    const { before } = await this.change((state) => withoutHome(state ?? { epoch: 0, added: [] }, nextEpoch));
    return before?.host !== undefined;
  }

  async forget(): Promise<void> {
    await rm(this.#directory, { recursive: true, force: true });
  }

  async change(
    decide: (before: WorkspaceCopyState | undefined) => WorkspaceCopyState,
  ): Promise<{ readonly before: WorkspaceCopyState | undefined }> {
    await mkdir(this.#states, { recursive: true, mode: FOLDER_MODE });
    for (;;) {
      const newest = await this.newest();
      const next = (newest?.number ?? 0) + 1;
      if (await this.#make(next, decide(newest?.state))) {
        await this.#removeOldStates(next);
        return { before: newest?.state };
      }
    }
  }

  get #states(): string {
    return join(this.#directory, COPY_STATES_FOLDER);
  }

  #piece(hash: string): string {
    return join(this.#directory, 'pieces', hash.slice(0, 2), hash);
  }

  /** @returns whether no other process was faster */
  async #make(number: number, state: WorkspaceCopyState): Promise<boolean> {
    const draft = join(this.#states, `.${randomUUID()}.tmp`);
    try {
      await writeSynced(draft, JSON.stringify(state));
      await link(draft, join(this.#states, String(number).padStart(NUMBER_DIGITS, '0')));
      await syncFolder(this.#states);
      return true;
    } catch (error) {
      if (systemCodeOf(error) === 'EEXIST') return false;
      throw error;
    } finally {
      await unlink(draft).catch(() => undefined);
    }
  }

  /** Young ones stay: a slow process may be about to make the one after, and must find that another one has. */
  async #removeOldStates(newest: number): Promise<void> {
    const nowMs = await this.#nowMs();
    for (const name of await namesIn(this.#states)) {
      const path = join(this.#states, name);
      if (Number(name) < newest && ((await this.#ageMs(path, nowMs)) ?? 0) > WORKSPACE_COPY_GRACE_MS)
        await unlink(path).catch(() => undefined);
    }
  }

  /** Aside first: one that is put again at the very moment is young then, and goes back. */
  async #removeOld(path: string, nowMs: number): Promise<number | undefined> {
    if (((await this.#ageMs(path, nowMs)) ?? 0) <= this.#graceMs) return undefined;
    const aside = join(this.#directory, `.${randomUUID()}.tmp`);
    await rename(path, aside);
    const { size } = await stat(aside);
    if (((await this.#ageMs(aside, nowMs)) ?? 0) <= this.#graceMs) {
      await rename(aside, path);
      return undefined;
    }
    await unlink(aside);
    return size;
  }

  async #ageMs(path: string, nowMs: number): Promise<number | undefined> {
    return stat(path).then(
      ({ mtimeMs }) => nowMs - mtimeMs,
      (error: unknown) => {
        if (isMissing(error)) return undefined;
        throw error;
      },
    );
  }

  /** By the clock of the machine that keeps the folder. */
  async #nowMs(): Promise<number> {
    await mkdir(this.#directory, { recursive: true, mode: FOLDER_MODE });
    const probe = join(this.#directory, `.${randomUUID()}.tmp`);
    await writeFile(probe, '', { flag: 'wx', mode: FILE_MODE });
    try {
      return (await stat(probe)).mtimeMs;
    } finally {
      await unlink(probe).catch(() => undefined);
    }
  }
}

async function namesIn(folder: string): Promise<readonly string[]> {
  return readdir(folder).catch((error: unknown) => {
    if (isMissing(error)) return [];
    throw error;
  });
}

async function readIfThere(path: string): Promise<Uint8Array | undefined> {
  return readFile(path).catch((error: unknown) => {
    if (isMissing(error)) return undefined;
    throw error;
  });
}

/** Its folder is put on the disk afterwards. */
async function putWhole(path: string, bytes: Uint8Array): Promise<void> {
  const draft = join(dirname(dirname(path)), `.${randomUUID()}.tmp`);
  try {
    await writeSynced(draft, bytes);
    await rename(draft, path);
  } finally {
    await unlink(draft).catch(() => undefined);
  }
}

async function writeSynced(path: string, content: string | Uint8Array): Promise<void> {
  const file = await open(path, 'wx', FILE_MODE);
  try {
    await file.writeFile(content);
    await file.sync();
  } finally {
    await file.close();
  }
}
