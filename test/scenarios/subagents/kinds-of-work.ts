/**
 * What an agent may do in its worktree, as commands of a shell, and how its work is found again by nothing but the
 * handoff.
 */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { WorktreeFindingKind } from '../../../src/machines/subagent/worktree-findings.ts';
import { contentOf, git } from '../../adapters/git/git-setup.ts';

/** Where it is to be found. */
export interface PlaceOfWork {
  readonly worktreePath: string;
  readonly branchName: string;
  readonly repository: string;
}

export interface KindOfWork {
  /** Usable as a file name. */
  readonly name: string;
  /** Run by `sh` in the worktree. */
  readonly command: string;
  /** Among what is found; undefined when nothing could be lost. */
  readonly finding: WorktreeFindingKind | undefined;
  readonly isThere: (place: PlaceOfWork) => boolean;
}

const IDENTITY = '-c user.name=Ada -c user.email=ada@example.org';
const COMMIT = `git ${IDENTITY} commit -q -m work`;
/** Of a file that nobody else has: what is the same in all would be one commit that other branches have. */
const committing = (name: string): string => `echo work > ${name}.txt && git add ${name}.txt && ${COMMIT}`;

const kind = (
  name: string,
  finding: WorktreeFindingKind | undefined,
  command: string,
  isThere: KindOfWork['isThere'],
): KindOfWork => ({ name, finding, command, isThere });
const file =
  (path: string, content = 'work\n') =>
  ({ worktreePath }: PlaceOfWork): boolean =>
    existsSync(join(worktreePath, path)) && contentOf(join(worktreePath, path)).endsWith(content);
const inGit =
  (object: string) =>
  ({ worktreePath }: PlaceOfWork): boolean =>
    git(worktreePath, 'show', object).endsWith('work');
/** Some commit that the history of its HEAD names still. */
const inHistory: KindOfWork['isThere'] = ({ worktreePath }) =>
  git(worktreePath, 'log', '-g', '--format=%s').split('\n').includes('work');
const nothing = (): boolean => true;

const CLEAN: readonly KindOfWork[] = [
  kind('checks', undefined, 'git status --porcelain && git log --oneline && cat a.txt', nothing),
  kind('undoes', undefined, 'echo work >> a.txt && git checkout -q -- a.txt', nothing),
];

export const DIRTY: readonly KindOfWork[] = [
  kind(
    'commits',
    'committed',
    committing('new'),
    ({ repository, branchName }) => git(repository, 'show', `${branchName}:new.txt`) === 'work',
  ),
  kind('changes', 'changed', 'echo work >> a.txt', file('a.txt')),
  kind('stages', 'staged', 'echo work >> a.txt && git add a.txt', inGit(':a.txt')),
  kind('makes', 'untracked', 'mkdir -p deep/er && echo work > deep/er/new.txt', file('deep/er/new.txt')),
  kind('makes-ignored', 'ignored', 'mkdir -p build && echo work > build/out.bin', file('build/out.bin')),
  kind('stashes', 'stashed', `echo work >> a.txt && git ${IDENTITY} stash push -q`, ({ repository }) =>
    git(repository, 'stash', 'list', '--format=%gd')
      .split('\n')
      .some((stash) => git(repository, 'show', `${stash}:a.txt`).endsWith('work')),
  ),
  kind('detaches', 'moved_branch', `git checkout -q --detach && ${committing('detached')}`, inGit('HEAD:detached.txt')),
  kind('resets', 'unreachable_commit', `${committing('away')} && git reset -q --hard HEAD~1`, inHistory),
  kind(
    'branches',
    'moved_branch',
    `git checkout -q -b own && ${committing('own')}`,
    ({ repository }) => git(repository, 'show', 'own:own.txt') === 'work',
  ),
  kind(
    'rebases',
    'operation',
    `git checkout -q --detach && echo theirs > a.txt && git ${IDENTITY} commit -qam theirs && theirs=$(git rev-parse HEAD) && git checkout -q - && echo work > a.txt && git ${IDENTITY} commit -qam work && ! git ${IDENTITY} rebase -q "$theirs" > rebase.log 2>&1`,
    inHistory,
  ),
  kind(
    'nests',
    'nested_repository',
    `git init -q inner && cd inner && ${committing('new')}`,
    ({ worktreePath }) => git(join(worktreePath, 'inner'), 'show', 'HEAD:new.txt') === 'work',
  ),
  kind(
    'nests-ignored',
    'nested_repository',
    `git init -q build/inner && cd build/inner && ${committing('new')}`,
    ({ worktreePath }) => git(join(worktreePath, 'build/inner'), 'show', 'HEAD:new.txt') === 'work',
  ),
  kind(
    'submodule',
    'submodule',
    `git -c protocol.file.allow=always submodule --quiet add -- ./. sub && echo work >> sub/a.txt`,
    file('sub/a.txt'),
  ),
];

export const ALL_KINDS: readonly KindOfWork[] = [...CLEAN, ...DIRTY];
