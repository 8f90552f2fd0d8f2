/**
 * Git worktrees for subagents: a folder and a branch of its own for each job, removed only when nothing in it could be
 * lost. Requests are taken one at a time for each worktree.
 */
import { realpath, rm } from 'node:fs/promises';
import { basename, isAbsolute, join } from 'node:path';
import * as z from 'zod';
import type {
  KeptWorktree,
  PreparedSubagentWorktree,
  ReconcileWorktreesOptions,
  ReconciledWorktree,
  WorktreeStore,
  WorktreeRequest,
} from '../../actors/subagent/worktree-adapter.ts';
import type { WorktreeInspection } from '../../machines/subagent/worktree-findings.ts';
import { firstNextAction } from '../../machines/subagent/worktree-next-action.ts';
import { movedRecord } from '../../machines/subagent/worktree-record.ts';
import type { WorktreeRecord } from '../../machines/subagent/worktree-record.ts';
import { parseOrThrow } from '../../machines/validate.ts';
import { isThere } from '../system/whole-files.ts';
import { takeBaseline } from './baseline.ts';
import { createWorktree } from './create-worktree.ts';
import { MARKER, asideOf, gitDirectoryOf, worktreeMutex } from './worktree-context.ts';
import type { WorktreeContext } from './worktree-context.ts';
import { checkWorktree } from './check.ts';
import { contextOf } from './git-worktree-options.ts';
import type { GitWorktreeOptions } from './git-worktree-options.ts';
import type { TakeOptions } from './owner-files.ts';
import { endOf, reconcileWorktrees } from './reconcile.ts';
import { keep, putBack, removeWorktree } from './remove-worktree.ts';
import { ambiguous, inUse, notFound } from './worktree-errors.ts';

const requestSchema = z.object({
  jobId: z.string().min(1),
  cwd: z.string().min(1),
  key: z.string().min(1).optional(),
  keepFilesIn: z
    .string()
    .refine((path) => isAbsolute(path), 'expected an absolute path')
    .optional(),
  signal: z.custom<AbortSignal>((signal) => signal instanceof AbortSignal, 'expected an AbortSignal').optional(),
});

/** @throws RuntimeError WORKTREE_OPTIONS_INVALID naming each option that is wrong */
export function createGitWorktreeIsolationAdapter(options: GitWorktreeOptions): GitWorktreeIsolationAdapter {
  return new GitWorktreeIsolationAdapter(options);
}

export class GitWorktreeIsolationAdapter implements WorktreeStore {
  readonly #context: WorktreeContext;

  /** @throws RuntimeError WORKTREE_OPTIONS_INVALID naming each option that is wrong */
  constructor(options: GitWorktreeOptions) {
    this.#context = contextOf(options);
  }

  async prepare(given: WorktreeRequest): Promise<PreparedSubagentWorktree> {
    const request: WorktreeRequest = parseOrThrow(requestSchema, given, {
      what: 'the request for a worktree',
      code: 'WORKTREE_REQUEST_INVALID',
    });
    const { key } = request;
    if (key === undefined) return preparedOf(await createWorktree(this.#context, request));
    return worktreeMutex.run(this.#keyOf(`key ${key}`), async () =>
      preparedOf((await this.#keptUnder(key)) ?? (await createWorktree(this.#context, request))),
    );
  }

  async begin(worktree: PreparedSubagentWorktree): Promise<void> {
    await this.#with(idOf(worktree), async (record) => {
      // What was there when it was gone on with is work.
      if (record === undefined || record.isGoneOnWith === true) return;
      await this.#context.records.writeBaseline(record.id, await takeBaseline(this.#context, record));
    });
  }

  async inspect(worktree: PreparedSubagentWorktree): Promise<WorktreeInspection> {
    return this.#with(idOf(worktree), async (record) => {
      if (record !== undefined) return (await checkWorktree(this.#context, record)).inspection;
      return {
        isClean: false,
        findings: [{ kind: 'unknown', text: `there is no record of worktree ${idOf(worktree)}` }],
      };
    });
  }

  async isClean(worktree: PreparedSubagentWorktree): Promise<boolean> {
    return (await this.inspect(worktree)).isClean;
  }

  async getStatus(worktree: PreparedSubagentWorktree): Promise<string> {
    const { isClean, findings } = await this.inspect(worktree);
    return isClean ? 'clean' : findings.map(({ text }) => text).join('; ');
  }

  async remove(worktree: PreparedSubagentWorktree): Promise<void> {
    const id = idOf(worktree);
    await this.#with(id, async (record) => {
      if (record === undefined) {
        if (await isThere(worktree.worktreePath)) throw notFound(id);
        return;
      }
      await this.#take(id);
      await removeWorktree(this.#context, record);
    });
  }

  async preserve(worktree: PreparedSubagentWorktree, inspection: WorktreeInspection): Promise<void> {
    const id = idOf(worktree);
    await this.#with(id, async (record) => {
      if (record === undefined) throw notFound(id);
      await this.#take(id);
      const inspecting = record.status === 'inspecting' ? record : movedRecord(record, 'INSPECT');
      await keep(this.#context, movedRecord(inspecting, 'DIRTY'), inspection);
    });
  }

  async list(): Promise<readonly KeptWorktree[]> {
    const { records } = await this.#context.records.list();
    return Promise.all(records.map((record) => this.#kept(record)));
  }

  async find(name: string): Promise<KeptWorktree> {
    return this.#kept(await this.#record(name));
  }

  async adopt(name: string, options: Parameters<WorktreeStore['adopt']>[1] = {}): Promise<KeptWorktree> {
    const { id } = await this.#record(name);
    return this.#with(id, async (record) => {
      if (record === undefined) throw notFound(name);
      await this.#takeFromDead(id, options);
      if ((await isThere(asideOf(record))) && !(await isThere(record.worktreePath))) await putBack(record);
      const adopted = movedRecord(isResting(record) ? record : movedRecord(record, 'OWNER_LOST'), 'ADOPT');
      // The lock and the mark say that it is ours to deal with, and it is not any more.
      for (const file of ['locked', MARKER]) await rm(join(gitDirectoryOf(record), file), { force: true });
      await this.#context.records.forget(id);
      await this.#context.owners.release(id);
      return { ...(await this.#kept(adopted)), isOwned: false };
    });
  }

  async discard(name: string, options: Parameters<WorktreeStore['discard']>[1] = {}): Promise<KeptWorktree> {
    const mayLose = options.discard === true;
    const { id } = await this.#record(name);
    return this.#with(id, async (record) => {
      if (record === undefined) throw notFound(name);
      const kept = await this.#kept(record);
      await this.#takeFromDead(id, options);
      if (record.status === 'creating' || record.status === 'removing') await endOf(this.#context, record);
      const left = await this.#context.records.read(id);
      if (left === undefined) return kept;
      await this.#take(id);
      const found = isResting(left) ? left : movedRecord(left, 'OWNER_LOST');
      await removeWorktree(this.#context, found, { mayLose, mergedIsFine: true, checksFirst: true });
      return kept;
    });
  }

  reconcile(options: ReconcileWorktreesOptions = {}): Promise<readonly ReconciledWorktree[]> {
    return worktreeMutex.run(this.#keyOf('reconcile'), () => reconcileWorktrees(this.#context, options));
  }

  /**
   * The worktree that is kept under `key`, owned by this process from now on; undefined when there is none that can be
   * gone on with.
   */
  async #keptUnder(key: string): Promise<WorktreeRecord | undefined> {
    const { records } = await this.#context.records.list();
    for (const { id } of records.filter((record) => record.key === key).reverse()) {
      const found = await this.#with(id, async (record) => (record === undefined ? undefined : this.#goOnWith(record)));
      if (found !== undefined) return found;
    }
    return undefined;
  }

  async #goOnWith(listed: WorktreeRecord): Promise<WorktreeRecord | undefined> {
    const { owners, records } = this.#context;
    const { id } = listed;
    if (listed.status === 'ready' && (await owners.isMine(id))) return listed;
    await this.#take(id);
    // Another process may have dealt with it until this one owned it.
    const record = await records.read(id);
    if (record !== undefined && isUnfinished(record)) await endOf(this.#context, record);
    else if (record !== undefined && (await isThere(asideOf(record))) && !(await isThere(record.worktreePath)))
      await putBack(record);
    const left = isUnfinished(listed) ? undefined : record;
    if (left === undefined || !(await isThere(left.worktreePath))) {
      await owners.release(id);
      return undefined;
    }
    const { nextAction: _nextAction, isVerified: _isVerified, mayLose: _mayLose, ...rest } = left;
    const adopted = movedRecord(
      { ...rest, findings: [], isGoneOnWith: true },
      ...(isResting(left) ? [] : (['OWNER_LOST'] as const)),
      'ADOPT',
    );
    await records.write(adopted);
    return adopted;
  }

  async #record(name: string): Promise<WorktreeRecord> {
    const { records } = await this.#context.records.list();
    const path = await realpath(name).catch(() => name);
    const exact = records.find(({ id }) => id === name);
    if (exact !== undefined) return exact;
    const found = records.filter(
      ({ jobId, branchName, worktreePath }) =>
        [jobId, branchName, worktreePath].includes(name) || worktreePath === path,
    );
    const [first] = found;
    if (first === undefined) throw notFound(name);
    if (found.length > 1)
      throw ambiguous(
        name,
        found.map(({ id }) => id),
      );
    return first;
  }

  async #kept(record: WorktreeRecord): Promise<KeptWorktree> {
    const { id, jobId, key, status, createdAt, findings } = record;
    const isOwned = await this.#context.owners.isOwned(id);
    return {
      ...preparedOf(record),
      id,
      jobId,
      ...(key === undefined ? {} : { key }),
      status,
      createdAt,
      isOwned,
      findings,
    };
  }

  #with<Result>(id: string, work: (record: WorktreeRecord | undefined) => Promise<Result>): Promise<Result> {
    return worktreeMutex.run(this.#keyOf(`worktree ${id}`), async () =>
      work(/^[\w-]+$/.test(id) ? await this.#context.records.read(id) : undefined),
    );
  }

  async #take(id: string, options: TakeOptions = {}): Promise<void> {
    const other = await this.#context.owners.take(id, options);
    if (other !== undefined) throw inUse(id, other.by, other);
  }

  /** No process may have it, this one included. */
  async #takeFromDead(id: string, options: TakeOptions): Promise<void> {
    const holder = await this.#context.owners.holder(id, options);
    if (holder !== undefined) throw inUse(id, holder.by, holder);
    await this.#take(id, options);
  }

  #keyOf(name: string): string {
    return `${this.#context.worktreesDirectory} ${name}`;
  }
}

function preparedOf(record: WorktreeRecord): PreparedSubagentWorktree & { readonly id: string } {
  const { id, repoRoot, worktreePath, branchName, baseRevision, parentStatus, subdirectory, nextAction } = record;
  return {
    id,
    repoRoot,
    worktreePath,
    branchName,
    baseRevision,
    ...(parentStatus === undefined ? {} : { parentStatus }),
    cwd: join(worktreePath, subdirectory),
    nextAction: nextAction ?? firstNextAction(record),
  };
}

/** No process owns it, and its record says so. */
function isResting({ status }: WorktreeRecord): boolean {
  return status === 'preserved' || status === 'orphaned';
}

/** There is no work in it, not yet or not any more. */
function isUnfinished({ status, isVerified }: WorktreeRecord): boolean {
  return status === 'creating' || isVerified === true;
}

/** The last part of its path. */
function idOf({ id, worktreePath }: PreparedSubagentWorktree): string {
  return id ?? basename(worktreePath);
}
