/**
 * Git worktrees for subagents: a folder and a branch of its own for each job, removed only when nothing in it could be
 * lost.
 */
import type {
  KeptWorktree,
  PreparedSubagentWorktree,
  ReconcileWorktreesOptions,
  ReconciledWorktree,
  WorktreeStore,
  WorktreeRequest,
} from '../../actors/subagent/worktree-adapter.ts';
import type { WorktreeInspection } from '../../machines/subagent/worktree-findings.ts';
import { contextOf } from './git-worktree-options.ts';
import type { GitWorktreeOptions } from './git-worktree-options.ts';
import { WorktreeRequests } from './worktree-requests.ts';

/** @throws RuntimeError WORKTREE_OPTIONS_INVALID naming each option that is wrong */
export function createGitWorktreeIsolationAdapter(options: GitWorktreeOptions): GitWorktreeIsolationAdapter {
  return new GitWorktreeIsolationAdapter(options);
}

export class GitWorktreeIsolationAdapter implements WorktreeStore {
  readonly #desk: WorktreeRequests;

  /** @throws RuntimeError WORKTREE_OPTIONS_INVALID naming each option that is wrong */
  constructor(options: GitWorktreeOptions) {
    this.#desk = new WorktreeRequests(contextOf(options));
  }

  prepare(request: WorktreeRequest): Promise<PreparedSubagentWorktree> {
    return this.#desk.prepare(request);
  }

  begin(worktree: PreparedSubagentWorktree): Promise<void> {
    return this.#desk.begin(worktree);
  }

  inspect(worktree: PreparedSubagentWorktree): Promise<WorktreeInspection> {
    return this.#desk.inspect(worktree);
  }

  async isClean(worktree: PreparedSubagentWorktree): Promise<boolean> {
    return (await this.inspect(worktree)).isClean;
  }

  async getStatus(worktree: PreparedSubagentWorktree): Promise<string> {
    const { isClean, findings } = await this.inspect(worktree);
    return isClean ? 'clean' : findings.map(({ text }) => text).join('; ');
  }

  remove(worktree: PreparedSubagentWorktree): Promise<void> {
    return this.#desk.remove(worktree);
  }

  preserve(worktree: PreparedSubagentWorktree, inspection: WorktreeInspection): Promise<void> {
    return this.#desk.preserve(worktree, inspection);
  }

  list(): Promise<readonly KeptWorktree[]> {
    return this.#desk.list();
  }

  find(name: string): Promise<KeptWorktree> {
    return this.#desk.find(name);
  }

  adopt(name: string, options: Parameters<WorktreeStore['adopt']>[1] = {}): Promise<KeptWorktree> {
    return this.#desk.adopt(name, options);
  }

  discard(name: string, options: Parameters<WorktreeStore['discard']>[1] = {}): Promise<KeptWorktree> {
    return this.#desk.discard(name, options.discard === true, options);
  }

  reconcile(options: ReconcileWorktreesOptions = {}): Promise<readonly ReconciledWorktree[]> {
    return this.#desk.reconcile(options);
  }
}
