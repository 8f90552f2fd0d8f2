/**
 * Ways in which an agent may leave work in a worktree: what it does, and what must still be there whatever happens
 * then.
 */
import { execFileSync } from 'node:child_process';
import {
  chmodSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readlinkSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { contentOf, git, put } from './git-setup.ts';
import {
  all,
  commits,
  conflict,
  gitFolder,
  has,
  hasCommit,
  quietly,
  runs,
  shell,
  way,
  writes,
} from './lost-work-acts.ts';
import type { LostWork } from './lost-work-acts.ts';

const FILES: readonly LostWork[] = [
  way('changed', 'changes a file', writes('a.txt'), has('a.txt')),
  way(
    'changed',
    'changes a file to one of the same size and sets its time back',
    ({ worktreePath }) => {
      const path = join(worktreePath, 'a.txt');
      const { atime, mtime } = statSync(path);
      writeFileSync(path, 'two\n');
      utimesSync(path, atime, mtime);
    },
    has('a.txt', 'two\n'),
  ),
  way(
    'changed',
    'deletes a file',
    ({ worktreePath }) => rmSync(join(worktreePath, 'a.txt')),
    ({ worktreePath }) => !existsSync(join(worktreePath, 'a.txt')),
  ),
  way(
    'changed',
    'makes a file a program',
    ({ worktreePath }) => chmodSync(join(worktreePath, 'a.txt'), 0o755),
    ({ worktreePath }) => (statSync(join(worktreePath, 'a.txt')).mode & 0o100) !== 0,
  ),
  way(
    'changed',
    'lets git overlook programs and makes a file one',
    all(runs(['config', 'core.fileMode', 'false']), ({ worktreePath }) =>
      chmodSync(join(worktreePath, 'a.txt'), 0o755),
    ),
    ({ worktreePath }) => (statSync(join(worktreePath, 'a.txt')).mode & 0o100) !== 0,
  ),
  way(
    'changed',
    'leads a link elsewhere',
    ({ worktreePath }) => {
      rmSync(join(worktreePath, 'link'));
      symlinkSync('src/b.txt', join(worktreePath, 'link'));
    },
    ({ worktreePath }) => readlinkSync(join(worktreePath, 'link')) === 'src/b.txt',
  ),
  way(
    'changed',
    'puts a folder in the place of a file',
    all(({ worktreePath }) => rmSync(join(worktreePath, 'a.txt')), writes('a.txt/inner')),
    has('a.txt/inner'),
  ),
  way('staged', 'stages a change', all(writes('a.txt'), runs(['add', '-A'])), has('a.txt')),
  way(
    'staged',
    'stages a change and takes it back in the file only',
    all(writes('a.txt'), runs(['add', '-A']), writes('a.txt', 'one\n')),
    ({ worktreePath }) => git(worktreePath, 'show', ':a.txt') === 'work',
  ),
  way('untracked', 'makes a file', writes('new.txt'), has('new.txt')),
  way('untracked', 'makes a file deep in new folders', writes('x/y/z/new.txt'), has('x/y/z/new.txt')),
  way('untracked', 'makes a file with an odd name', writes('-odd "name"\nä $(x).txt'), has('-odd "name"\nä $(x).txt')),
  way(
    'untracked',
    'makes a file whose name is no text',
    ({ worktreePath }) =>
      writeFileSync(Buffer.concat([Buffer.from(`${worktreePath}/bad-`), Buffer.from([0xff, 0xfe])]), 'work\n'),
    ({ worktreePath }) => existsSync(Buffer.concat([Buffer.from(`${worktreePath}/bad-`), Buffer.from([0xff, 0xfe])])),
  ),
  way('untracked', 'makes an empty file', writes('empty', ''), has('empty', '')),
  way(
    'untracked',
    'makes a link',
    ({ worktreePath }) => symlinkSync('/nowhere', join(worktreePath, 'new')),
    ({ worktreePath }) => lstatSync(join(worktreePath, 'new')).isSymbolicLink(),
  ),
  way('untracked', 'makes a named pipe', shell('mkfifo pipe'), ({ worktreePath }) =>
    lstatSync(join(worktreePath, 'pipe')).isFIFO(),
  ),
  way(
    'untracked',
    'makes a file and tells git not to show such files',
    all(runs(['config', 'status.showUntrackedFiles', 'no']), writes('new.txt')),
    has('new.txt'),
  ),
  way('ignored', 'makes a file that git ignores', writes('.env', 'SECRET=1\n'), has('.env', 'SECRET=1\n')),
  way('ignored', 'makes a file in a folder that git ignores', writes('build/deep/out.bin'), has('build/deep/out.bin')),
  way(
    'ignored',
    'makes a file and has git ignore it for this repository',
    all(
      ({ worktreePath }) => put(join(git(worktreePath, 'rev-parse', '--git-common-dir'), 'info/exclude'), 'secret\n'),
      writes('secret'),
    ),
    has('secret'),
  ),
  {
    ...way(
      'ignored',
      'changes a file that git ignores and that was there before',
      writes('build/old', 'changed\n'),
      has('build/old', 'changed\n'),
    ),
    setUp: writes('build/old'),
  },
  {
    ...way(
      'untracked',
      'changes an untracked file that was there before',
      writes('seed', 'changed\n'),
      has('seed', 'changed\n'),
    ),
    setUp: writes('seed'),
  },
  way(
    'hidden_change',
    'has git assume that a file is unchanged, and changes it',
    all(runs(['update-index', '--assume-unchanged', 'a.txt']), writes('a.txt')),
    has('a.txt'),
  ),
  way(
    'hidden_change',
    'has git skip a file, and changes it',
    all(runs(['update-index', '--skip-worktree', 'a.txt']), writes('a.txt')),
    has('a.txt'),
  ),
  way(
    'hidden_change',
    'has git skip a link, and leads it elsewhere',
    all(
      runs(['update-index', '--skip-worktree', 'link']),
      ({ worktreePath }) => rmSync(join(worktreePath, 'link')),
      ({ worktreePath }) => symlinkSync('else', join(worktreePath, 'link')),
    ),
    ({ worktreePath }) => readlinkSync(join(worktreePath, 'link')) === 'else',
  ),
  way(
    'untracked',
    'puts files where the folder of the runtime would be, behind a link',
    ({ worktreePath }) => {
      mkdirSync(`${worktreePath}.target`);
      writeFileSync(`${worktreePath}.target/file`, 'work\n');
      symlinkSync(`${worktreePath}.target`, join(worktreePath, '.wakechart-runtime'));
    },
    has('.wakechart-runtime/file'),
  ),
];

const COMMITS: readonly LostWork[] = [
  way('committed', 'commits', commits, hasCommit(['HEAD'])),
  way(
    'committed',
    'commits on a branch of its own and comes back',
    all(runs(['checkout', '-q', '-b', 'other']), commits, runs(['checkout', '-q', '-'])),
    hasCommit(['other']),
  ),
  way(
    'moved_branch',
    'commits on another branch',
    all(runs(['checkout', '-q', '-b', 'other']), commits),
    hasCommit(['other']),
  ),
  way(
    'moved_branch',
    'commits on a detached HEAD',
    all(runs(['checkout', '-q', '--detach']), commits),
    hasCommit(['HEAD']),
  ),
  way(
    'unreachable_commit',
    'commits on a detached HEAD and goes back',
    all(runs(['checkout', '-q', '--detach']), commits, runs(['checkout', '-q', '-'])),
    hasCommit(['-g', 'HEAD']),
  ),
  way(
    'unreachable_commit',
    'commits and resets',
    all(commits, runs(['reset', '-q', '--hard', 'HEAD~1'])),
    hasCommit(['-g', 'HEAD']),
  ),
  way(
    'unreachable_commit',
    'deletes the branch that it committed on',
    all(
      runs(['checkout', '-q', '-b', 'other']),
      commits,
      runs(['checkout', '-q', '-'], ['branch', '-q', '-D', 'other']),
    ),
    hasCommit(['-g', 'HEAD']),
  ),
  way(
    'unknown',
    'commits, resets and clears the history of HEAD',
    all(
      commits,
      ({ worktreePath }) => put(join(worktreePath, 'hash'), git(worktreePath, 'rev-parse', 'HEAD')),
      runs(['add', 'hash'], ['reset', '-q', '--hard', 'HEAD~1'], ['reflog', 'expire', '--expire=now', '--all']),
    ),
    ({ worktreePath }) => existsSync(worktreePath),
  ),
  way(
    'unreachable_commit',
    'has git keep no histories, commits on a detached HEAD and goes back',
    all(
      runs(['config', 'core.logAllRefUpdates', 'false'], ['checkout', '-q', '--detach']),
      commits,
      runs(['checkout', '-q', '-']),
    ),
    hasCommit(['-g', 'HEAD']),
  ),
  way(
    'unknown',
    'removes the history of HEAD',
    (worktree) => rmSync(join(gitFolder(worktree), 'logs/HEAD')),
    ({ worktreePath }) => existsSync(worktreePath),
  ),
  way(
    'moved_branch',
    'renames its branch',
    all(commits, runs(['branch', '-q', '-m', 'renamed'])),
    hasCommit(['renamed']),
  ),
  way(
    'moved_branch',
    'renames its branch without a commit',
    runs(['branch', '-q', '-m', 'renamed']),
    ({ worktreePath }) => git(worktreePath, 'branch', '--show-current') === 'renamed',
  ),
  way(
    'moved_branch',
    'deletes its branch',
    (worktree) => runs(['checkout', '-q', '--detach'], ['branch', '-q', '-D', worktree.branchName])(worktree),
    ({ worktreePath }) => existsSync(worktreePath),
  ),
  way(
    'committed',
    'moves its branch from elsewhere',
    (worktree) =>
      all(
        runs(['checkout', '-q', '--detach']),
        commits,
        runs(['branch', '-q', '-f', worktree.branchName, 'HEAD'], ['checkout', '-q', 'main~0']),
      )(worktree),
    (worktree) => hasCommit([worktree.branchName])(worktree),
  ),
  way(
    'stashed',
    'stashes',
    all(writes('a.txt'), runs(['stash', '-q'])),
    ({ worktreePath }) => git(worktreePath, 'show', 'stash@{0}:a.txt') === 'work',
  ),
  way(
    'stashed',
    'stashes under a name of its own',
    all(writes('a.txt'), runs(['stash', 'push', '-q', '-m', 'later'])),
    ({ worktreePath }) => git(worktreePath, 'show', 'stash@{0}:a.txt') === 'work',
  ),
  way(
    'operation',
    'keeps a reference of its own worktree',
    all(commits, runs(['update-ref', 'refs/worktree/mine', 'HEAD'], ['reset', '-q', '--hard', 'HEAD~1'])),
    hasCommit(['refs/worktree/mine']),
  ),
];

const OPERATIONS: readonly LostWork[] = [
  way(
    'operation',
    'leaves a merge undecided',
    all(
      conflict,
      writes('a.txt', 'ours\n'),
      runs(['commit', '-qam', 'ours']),
      quietly(runs(['merge', '-q', 'theirs'])),
    ),
    (worktree) => existsSync(join(gitFolder(worktree), 'MERGE_HEAD')),
  ),
  way(
    'operation',
    'leaves a stash undecided',
    all(
      writes('a.txt', 'stashed\n'),
      runs(['stash', 'push', '-q']),
      writes('a.txt', 'ours\n'),
      runs(['commit', '-qam', 'ours']),
      quietly(runs(['stash', 'pop', '-q'])),
    ),
    (worktree) => git(worktree.worktreePath, 'status', '--porcelain').startsWith('UU'),
  ),
  way(
    'operation',
    'begins a merge that changes nothing yet',
    all(conflict, runs(['merge', '-q', '--no-commit', '--no-ff', 'theirs'])),
    (worktree) => existsSync(join(gitFolder(worktree), 'MERGE_HEAD')),
  ),
  way(
    'operation',
    'leaves a rebase undecided',
    all(
      conflict,
      writes('a.txt', 'ours\n'),
      runs(['commit', '-qam', 'ours']),
      quietly(runs(['rebase', '-q', 'theirs'])),
    ),
    (worktree) => existsSync(join(gitFolder(worktree), 'rebase-merge')),
  ),
  way(
    'operation',
    'leaves a cherry-pick undecided',
    all(
      conflict,
      writes('a.txt', 'ours\n'),
      runs(['commit', '-qam', 'ours']),
      quietly(runs(['cherry-pick', 'theirs'])),
    ),
    (worktree) => existsSync(join(gitFolder(worktree), 'CHERRY_PICK_HEAD')),
  ),
  way('operation', 'bisects', runs(['bisect', 'start']), (worktree) =>
    existsSync(join(gitFolder(worktree), 'BISECT_START')),
  ),
  way(
    'operation',
    'was in the middle of a git command',
    (worktree) => put(join(gitFolder(worktree), 'index.lock'), ''),
    (worktree) => existsSync(join(gitFolder(worktree), 'index.lock')),
  ),
  way(
    'operation',
    'leaves a message for a commit it has not made',
    (worktree) => put(join(gitFolder(worktree), 'MERGE_MSG'), 'work\n'),
    (worktree) => contentOf(join(gitFolder(worktree), 'MERGE_MSG')) === 'work\n',
  ),
];

const REPOSITORIES: readonly LostWork[] = [
  way(
    'nested_repository',
    'clones a repository into it',
    all(runs(['clone', '-q', '.', 'inner']), ({ worktreePath }) => put(join(worktreePath, 'inner/w'), 'work\n')),
    has('inner/w'),
  ),
  way(
    'nested_repository',
    'clones a repository where git ignores it',
    all(runs(['clone', '-q', '.', 'build/inner']), ({ worktreePath }) => {
      put(join(worktreePath, 'build/inner/w'), 'work\n');
      git(join(worktreePath, 'build/inner'), 'add', '-A');
      git(join(worktreePath, 'build/inner'), 'commit', '-qm', 'work');
    }),
    has('build/inner/w'),
  ),
  {
    ...way(
      'nested_repository',
      'commits in a repository that was there before',
      ({ worktreePath }) => {
        put(join(worktreePath, 'inner/w'), 'work\n');
        git(join(worktreePath, 'inner'), 'add', '-A');
        git(join(worktreePath, 'inner'), 'commit', '-qm', 'work');
      },
      has('inner/w'),
    ),
    setUp: runs(['clone', '-q', '.', 'inner']),
  },
  way(
    'untracked',
    'makes a bare repository in it',
    runs(['clone', '-q', '--bare', '.', 'bare.git']),
    ({ worktreePath }) => existsSync(join(worktreePath, 'bare.git/HEAD')),
  ),
  way(
    'submodule',
    'adds a submodule',
    runs(['-c', 'protocol.file.allow=always', 'submodule', '--quiet', 'add', '--', './.', 'sub']),
    ({ worktreePath }) => existsSync(join(worktreePath, 'sub/a.txt')),
  ),
  way(
    'unknown',
    'makes a link of the whole folder',
    ({ worktreePath }) => {
      renameSync(worktreePath, `${worktreePath}-moved`);
      put(join(`${worktreePath}-moved`, 'new.txt'), 'work\n');
      symlinkSync(`${worktreePath}-moved`, worktreePath);
    },
    has('new.txt'),
  ),
  way(
    'unknown',
    'moves the folder away',
    ({ worktreePath }) => {
      renameSync(worktreePath, `${worktreePath}-moved`);
      put(join(`${worktreePath}-moved`, 'new.txt'), 'work\n');
    },
    ({ worktreePath }) => git(`${worktreePath}-moved`, 'status', '--porcelain') === '?? new.txt',
  ),
  way(
    'unknown',
    'puts another folder in its place',
    ({ worktreePath }) => {
      execFileSync('cp', ['-a', worktreePath, `${worktreePath}-copy`]);
      renameSync(worktreePath, `${worktreePath}-moved`);
      renameSync(`${worktreePath}-copy`, worktreePath);
    },
    ({ worktreePath }) => existsSync(`${worktreePath}-moved/a.txt`) && existsSync(join(worktreePath, 'a.txt')),
  ),
  way(
    'unknown',
    'deletes its link to the repository',
    ({ worktreePath }) => rmSync(join(worktreePath, '.git')),
    has('a.txt', 'one\n'),
  ),
  way(
    'unknown',
    'makes a repository of its own of it',
    all(
      ({ worktreePath }) => rmSync(join(worktreePath, '.git')),
      runs(['init', '-q'], ['add', '-A'], ['commit', '-qm', 'work']),
    ),
    hasCommit(['HEAD']),
  ),
];

export const LOST_WORK: readonly LostWork[] = [...FILES, ...COMMITS, ...OPERATIONS, ...REPOSITORIES];
