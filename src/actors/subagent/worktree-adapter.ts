/** The port to worktrees: makes one, says whether anything in it could be lost, removes it. */
import type { WorktreeInspection } from '../../machines/subagent/worktree-findings.ts';
import type { WorktreeStatus } from '../../machines/subagent/worktree-machine.ts';

export interface WorktreeRequest {
  readonly jobId: string;
  /** In the repository from whose HEAD it is made. A folder below the root stays one: see `cwd` of the answer. */
  readonly cwd: string;
  /**
   * Names what it is for beyond the life of this process. The worktree that is kept under it, if any, is gone on with
   * instead of making one.
   */
  readonly key?: string | undefined;
  /**
   * Absolute: a folder that takes what the runtime itself wrote into the worktree (`.wakechart-runtime`) when the
   * worktree goes.
   */
  readonly keepFilesIn?: string | undefined;
  /** Aborting it gives up; nothing is left behind then. */
  readonly signal?: AbortSignal | undefined;
}

export interface PreparedSubagentWorktree {
  /** Names it in its keeper: the last part of its path. */
  readonly id?: string | undefined;
  /** The main folder of the repository. */
  readonly repoRoot: string;
  /** Absolute. */
  readonly worktreePath: string;
  readonly branchName: string;
  /** The commit that it was made from, in full. */
  readonly baseRevision?: string | undefined;
  /** What the repository around `cwd` had that is in no commit, in words; absent when there was nothing. */
  readonly parentStatus?: string | undefined;
  /** The folder in the worktree that `cwd` of the request is. Default: its root. */
  readonly cwd?: string | undefined;
  /** What to do with it as it is now, with the command. */
  readonly nextAction?: string | undefined;
}

/** Methods may answer at once or later. What throws counts as "could not be found out": the worktree is kept. */
export interface SubagentWorktreeAdapter {
  /**
   * @throws RuntimeError WORKTREE_NOT_A_REPOSITORY, WORKTREE_NO_COMMIT, WORKTREE_NOT_CREATED ... Nothing is left behind
   * then.
   */
  prepare(request: WorktreeRequest): PreparedSubagentWorktree | Promise<PreparedSubagentWorktree>;
  /** Whether nothing in it could be lost. Only `true` is yes. */
  isClean(worktree: PreparedSubagentWorktree): boolean | Promise<boolean>;
  /** In words, for the handoff. Default: what was found. */
  getStatus?(worktree: PreparedSubagentWorktree): string | Promise<string>;
  /** More than `isClean`: what was found, and what to do next. Used instead of it where it is there. */
  inspect?(worktree: PreparedSubagentWorktree): WorktreeInspection | Promise<WorktreeInspection>;
  /**
   * Says that the create hooks have run: what they put there is no work of the agent, and does not keep the worktree.
   * Called once, before the agent starts. Where it is not called, nothing but the checkout is expected.
   */
  begin?(worktree: PreparedSubagentWorktree): void | Promise<void>;
  /**
   * Removes it with its branch, if it is clean still. @throws RuntimeError WORKTREE_NOT_CLEAN, WORKTREE_IN_USE,
   * WORKTREE_NOT_REMOVED: it is all there then.
   */
  remove(worktree: PreparedSubagentWorktree): void | Promise<void>;
  /** Says that it stays, and why: the record of it is what `wakechart worktree list` shows. */
  preserve?(worktree: PreparedSubagentWorktree, inspection: WorktreeInspection): void | Promise<void>;
}

/** A worktree as its keeper knows it. */
export interface KeptWorktree extends PreparedSubagentWorktree {
  readonly id: string;
  readonly jobId: string;
  readonly key?: string | undefined;
  readonly status: WorktreeStatus;
  /** ISO-8601. */
  readonly createdAt: string;
  /** Whether a process that lives has it in hand, or one of which it cannot be told from here. */
  readonly isOwned: boolean;
  /** Found when it was last checked. */
  readonly findings: WorktreeInspection['findings'];
}

/** What became of one record of a process that is gone. */
export interface ReconciledWorktree {
  readonly id: string;
  readonly jobId: string;
  readonly worktreePath: string;
  readonly branchName: string;
  /**
   * `removed`: there was nothing in it. `preserved`: there is. `forgotten`: only its record was left. `left`: its owner
   * lives.
   */
  readonly action: 'removed' | 'preserved' | 'forgotten' | 'left';
  readonly reason?: string | undefined;
  readonly nextAction?: string | undefined;
}

export interface ReconcileWorktreesOptions {
  /** Whether a wake is going to go on with what the key names: then its worktree is left. Default: none is. */
  readonly isAwaited?: ((key: string) => Promise<boolean>) | undefined;
}

interface AdoptWorktreeOptions {
  /**
   * The person knows that the process that has it does not live, where that cannot be told from here. One that is known
   * to live keeps it all the same.
   */
  readonly ownerIsGone?: boolean | undefined;
}

interface DiscardWorktreeOptions extends AdoptWorktreeOptions {
  /** What is in it may be lost. */
  readonly discard?: boolean | undefined;
}

/** What people and starts do with worktrees that jobs left. */
export interface WorktreeStore extends SubagentWorktreeAdapter {
  /** Every worktree that this keeper made and that is still there, oldest first. */
  list(): Promise<readonly KeptWorktree[]>;
  /** By id, job, branch or path. @throws RuntimeError WORKTREE_NOT_FOUND, WORKTREE_AMBIGUOUS */
  find(name: string): Promise<KeptWorktree>;
  /** Checks it now. */
  inspect(worktree: PreparedSubagentWorktree): Promise<WorktreeInspection>;
  /**
   * Hands it over to a person: the keeper forgets it and no start touches it any more; folder and branch stay as they
   * are.
   * @throws RuntimeError WORKTREE_NOT_FOUND, WORKTREE_IN_USE while the process that has it lives, or may live
   */
  adopt(name: string, options?: AdoptWorktreeOptions): Promise<KeptWorktree>;
  /**
   * Removes one that a person names. What is not clean is refused unless `discard` says that it may be lost.
   * @throws RuntimeError WORKTREE_NOT_FOUND, WORKTREE_NOT_CLEAN, WORKTREE_IN_USE, WORKTREE_NOT_REMOVED
   */
  discard(name: string, options?: DiscardWorktreeOptions): Promise<KeptWorktree>;
  /**
   * Deals with what processes that are gone left: removes what has nothing in it, keeps and reports the rest. Several
   * may do it at once.
   */
  reconcile(options?: ReconcileWorktreesOptions): Promise<readonly ReconciledWorktree[]>;
}
