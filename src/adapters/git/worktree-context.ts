/** What every part of the adapter works with, and what takes its turn within this process. */
import { join } from 'node:path';
import { KeyedMutex } from '../../actors/concurrency/mutex.ts';
import type { WorktreeRecord } from '../../machines/subagent/worktree-record.ts';
import type { GitCall, GitCommand } from './git-command.ts';
import type { OwnerFiles } from './owner-files.ts';
import type { RecordFiles } from './record-files.ts';

export interface WorktreeContext {
  readonly git: GitCommand;
  readonly records: RecordFiles;
  readonly owners: OwnerFiles;
  /** As it was asked for. */
  readonly worktreesDirectory: string;
  readonly branchPrefix: string;
  readonly maxCreateAttempts: number;
  readonly runGitHooks: boolean;
  readonly runRepositoryFilters: boolean;
  /** Folders whose contents belong to no repository around them. */
  readonly ceilingDirectories: readonly string[];
  /** ISO-8601. */
  now(): string;
}

/** The folder in which the runtime keeps what it writes into a workspace; git passes over it. */
export const RUNTIME_FOLDER = '.wakechart-runtime';

/** What this runtime writes into git's folder for a worktree, for people and other programs that find it there. */
export const MARKER = 'wakechart.json';

/** Where a worktree lies while its files are being deleted: no process that knows its path writes into it any more. */
export function asideOf({ worktreePath }: Pick<WorktreeRecord, 'worktreePath'>): string {
  return `${worktreePath}.removing`;
}

/** Runs git in the repository, without files. */
export function gitBeside(
  context: WorktreeContext,
  record: Pick<WorktreeRecord, 'commonDirectory'>,
  command: readonly string[],
  call: Omit<GitCall, 'cwd'> = {},
): Promise<string> {
  return context.git.run([`--git-dir=${record.commonDirectory}`, ...command], { ...call, cwd: record.commonDirectory });
}

/** Git names it after the folder. */
export function gitDirectoryOf({
  gitDirectory,
  commonDirectory,
  id,
}: Pick<WorktreeRecord, 'gitDirectory' | 'commonDirectory' | 'id'>): string {
  return gitDirectory ?? join(commonDirectory, 'worktrees', id);
}

/** One at a time: what is done to one worktree, or under one name. */
export const worktreeMutex = new KeyedMutex();
