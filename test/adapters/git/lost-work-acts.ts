/** What an agent may do in a worktree, and how to tell that it is still there: the parts of ways to lose work. */
import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { WorktreeFindingKind } from '../../../src/machines/subagent/worktree-findings.ts';
import type { PreparedSubagentWorktree } from '../../../src/actors/subagent/worktree-adapter.ts';
import { contentOf, git, put } from './git-setup.ts';

export interface LostWork {
  readonly name: string;
  /** Among what is found. */
  readonly kind: WorktreeFindingKind;
  /** Told before the agent begins. */
  readonly setUp?: (worktree: PreparedSubagentWorktree) => void;
  readonly act: (worktree: PreparedSubagentWorktree) => void;
  /** Whether the work is still there, whole. */
  readonly isThere: (worktree: PreparedSubagentWorktree) => boolean;
}

export type Act = LostWork['act'];
export type IsThere = LostWork['isThere'];

export const way = (kind: WorktreeFindingKind, name: string, act: Act, isThere: IsThere): LostWork => ({
  kind,
  name,
  act,
  isThere,
});
export const writes =
  (path: string, content = 'work\n'): Act =>
  ({ worktreePath }) =>
    put(join(worktreePath, path), content);
export const has =
  (path: string, content = 'work\n'): IsThere =>
  ({ worktreePath }) =>
    existsSync(join(worktreePath, path)) && contentOf(join(worktreePath, path)) === content;
export const runs =
  (...commands: readonly (readonly string[])[]): Act =>
  ({ worktreePath }) => {
    for (const command of commands) git(worktreePath, ...command);
  };
export const all =
  (...acts: readonly Act[]): Act =>
  (worktree) => {
    for (const act of acts) act(worktree);
  };
export const shell =
  (line: string): Act =>
  ({ worktreePath }) => {
    execFileSync('sh', ['-c', line], { cwd: worktreePath, stdio: 'ignore' });
  };
export const commits = all(writes('a.txt'), runs(['commit', '-qam', 'work']));
export const gitFolder = ({ worktreePath }: PreparedSubagentWorktree): string =>
  contentOf(join(worktreePath, '.git'))
    .replace(/^gitdir: /, '')
    .trim();
/** Some commit of this subject, which its worktree still names. */
export const hasCommit =
  (where: readonly string[], subject = 'work'): IsThere =>
  ({ worktreePath }) =>
    git(worktreePath, 'log', '--format=%s', ...where)
      .split('\n')
      .includes(subject);
export const quietly =
  (act: Act): Act =>
  (worktree) => {
    try {
      act(worktree);
    } catch {
      // Git ends with an error where it asks for a decision.
    }
  };
/** Two branches that change the same line. */
export const conflict = all(
  runs(['checkout', '-q', '-b', 'theirs']),
  writes('a.txt', 'theirs\n'),
  runs(['commit', '-qam', 'theirs'], ['checkout', '-q', '-'], ['reset', '-q', '--hard']),
);
