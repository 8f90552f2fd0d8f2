/**
 * What could be lost if a worktree were removed, as data: what an inspection finds, and whether that leaves it clean.
 */

/**
 * Each is a reason to keep a worktree. `unknown`: it could not be found out, which counts as much as having found
 * something.
 */
export type WorktreeFindingKind =
  | 'changed'
  | 'staged'
  | 'untracked'
  | 'ignored'
  | 'hidden_change'
  | 'committed'
  | 'unreachable_commit'
  | 'moved_branch'
  | 'stashed'
  | 'operation'
  | 'submodule'
  | 'nested_repository'
  | 'in_use'
  | 'unknown';

export interface WorktreeFinding {
  readonly kind: WorktreeFindingKind;
  /** In words, for people: what was found, and where. */
  readonly text: string;
  /** Paths from the root of the worktree, a few of them at most. */
  readonly paths?: readonly string[] | undefined;
}

export interface WorktreeInspection {
  /** Nothing was found, and everything could be checked. */
  readonly isClean: boolean;
  readonly findings: readonly WorktreeFinding[];
  /** The commit that its HEAD names, where that can be told. */
  readonly head?: string | undefined;
  /** What its owner may want to do next, with the command. Absent when it is clean. */
  readonly nextAction?: string | undefined;
}

/** What is handed over with a worktree: enough to find the work in it and to bring it home. */
export interface WorktreeHandoff {
  readonly worktreePath: string;
  readonly branchName: string;
  readonly baseRevision?: string | undefined;
  /** The state of the repository it was made from: changes there are not in the worktree. */
  readonly parentStatus?: string | undefined;
  /** A state of the worktree chart. */
  readonly worktreeStatus: 'creating' | 'ready' | 'inspecting' | 'removing' | 'removed' | 'preserved' | 'orphaned';
  readonly worktreeNextAction?: string | undefined;
}
