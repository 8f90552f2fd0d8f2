/** Real repositories of git in a temporary folder, and adapters over them: of this process, and of one that is dead. */
import { execFileSync } from 'node:child_process';
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { GitWorktreeIsolationAdapter } from '../../../src/adapters/git/git-worktree-adapter.ts';
import type { GitWorktreeOptions } from '../../../src/adapters/git/git-worktree-options.ts';
import type { PreparedSubagentWorktree, WorktreeRequest } from '../../../src/actors/subagent/worktree-adapter.ts';
import { readOwner } from '../../../src/adapters/git/owner-files.ts';
import type { WorktreeOwner } from '../../../src/machines/subagent/worktree-record.ts';

/** Says who commits, and nothing else of the machine's owner. */
const IDENTITY = {
  GIT_AUTHOR_NAME: 'Ada',
  GIT_AUTHOR_EMAIL: 'ada@example.org',
  GIT_COMMITTER_NAME: 'Ada',
  GIT_COMMITTER_EMAIL: 'ada@example.org',
};

/** Nothing here outlives the test, so nothing has to be on the disk. */
const NO_SYNC = { GIT_CONFIG_COUNT: '1', GIT_CONFIG_KEY_0: 'core.fsync', GIT_CONFIG_VALUE_0: 'none' };

const gitEnvironment = {
  PATH: process.env['PATH'],
  HOME: '/nonexistent',
  GIT_CONFIG_GLOBAL: '/dev/null',
  GIT_CONFIG_NOSYSTEM: '1',
  ...NO_SYNC,
  ...IDENTITY,
};

/** What git prints, without the line end. */
export function git(cwd: string, ...command: readonly string[]): string {
  return execFileSync('git', command, {
    cwd,
    env: gitEnvironment,
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'pipe'],
  }).replace(/\n$/, '');
}

/** Runs a line of a POSIX shell, as a person would who pastes it. */
export function pasted(line: string, cwd: string): string {
  return execFileSync('sh', ['-c', line], {
    cwd,
    env: gitEnvironment,
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'pipe'],
  });
}

export function put(path: string, content: string | Buffer): void {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, content);
}

/** `a.txt`, `src/b.txt`, `bin/run` (a program), `link` (to a.txt); `*.log`, `build/` and `.env` are ignored. */
export function makeRepository(path: string): void {
  mkdirSync(path, { recursive: true });
  git(path, 'init', '-q', '-b', 'main');
  put(join(path, 'a.txt'), 'one\n');
  put(join(path, 'src/b.txt'), 'two\n');
  put(join(path, 'bin/run'), '#!/bin/sh\n');
  put(join(path, '.gitignore'), '*.log\nbuild/\n.env\n');
  execFileSync('sh', ['-c', 'chmod +x bin/run; ln -s a.txt link'], { cwd: path });
  git(path, 'add', '-A');
  git(path, 'commit', '-q', '-m', 'first');
}

export interface GitSetup {
  readonly outside: string;
  readonly repository: string;
  readonly worktrees: string;
  /** Of this process. */
  readonly adapter: GitWorktreeIsolationAdapter;
  adapterWith(options?: Partial<GitWorktreeOptions>): GitWorktreeIsolationAdapter;
  /** Of a process that is gone. */
  crashedAdapter(): GitWorktreeIsolationAdapter;
  prepare(request?: Partial<WorktreeRequest>): Promise<PreparedSubagentWorktree>;
  /** Prepared by a process that is gone, and begun. */
  crashed(request?: Partial<WorktreeRequest>): Promise<PreparedSubagentWorktree>;
  /** Names in the folder of worktrees, of whatever kind. */
  names(): string[];
  remove(): void;
}

let template: string | undefined;

/** The same for all: made once, then copied. */
function templateRepository(): string {
  if (template === undefined) {
    template = mkdtempSync(join(tmpdir(), 'template-'));
    makeRepository(join(template, 'repository'));
  }
  return join(template, 'repository');
}

export function removeTemplate(): void {
  if (template !== undefined) rmSync(template, { recursive: true });
  template = undefined;
}

export function gitSetup(folder = 'outside'): GitSetup {
  const top = realpathSync(mkdtempSync(join(tmpdir(), 'git-')));
  const outside = join(top, folder);
  const repository = join(outside, 'repository');
  const worktrees = join(outside, 'worktrees');
  cpSync(templateRepository(), repository, { recursive: true, verbatimSymlinks: true });
  const adapterWith = (options: Partial<GitWorktreeOptions> = {}): GitWorktreeIsolationAdapter =>
    new GitWorktreeIsolationAdapter({ worktreesDirectory: worktrees, ...options });
  const adapter = adapterWith();
  const crashedAdapter = (): GitWorktreeIsolationAdapter => adapterWith({ host: getCrashedHost(readOwner()) });
  const begun = async (
    keeper: GitWorktreeIsolationAdapter,
    request: Partial<WorktreeRequest>,
  ): Promise<PreparedSubagentWorktree> => {
    const worktree = await keeper.prepare({ jobId: 'agent_1', cwd: repository, ...request });
    await keeper.begin(worktree);
    return worktree;
  };
  return {
    outside,
    repository,
    worktrees,
    adapter,
    adapterWith,
    crashedAdapter,
    prepare: (request = {}) => begun(adapter, request),
    crashed: (request = {}) => begun(crashedAdapter(), request),
    names: () => (existsSync(worktrees) ? readdirSync(worktrees) : []),
    remove: () => rmSync(top, { recursive: true, force: true }),
  };
}

/** What is left of a worktree anywhere: nothing, when it was removed. */
export function tracesOf(setup: GitSetup, { worktreePath, branchName, id = '' }: PreparedSubagentWorktree): string[] {
  const registered = git(setup.repository, 'worktree', 'list', '--porcelain');
  return [
    ...(existsSync(worktreePath) ? ['folder'] : []),
    ...setup.names().filter((name) => name.startsWith(id)),
    ...(git(setup.repository, 'for-each-ref', `refs/heads/${branchName}`) === '' ? [] : ['branch']),
    ...(registered.includes(worktreePath) || existsSync(join(setup.repository, '.git/worktrees', id))
      ? ['git folder']
      : []),
    ...(existsSync(join(setup.repository, '.git/logs/refs/heads', branchName)) ? ['branch history'] : []),
  ];
}

export function contentOf(path: string): string {
  return readFileSync(path, 'utf8');
}

// The identity of a process of this system that has ended: what a record names after a crash.

/** The same pid at another time: a check that compares only pids takes it for alive. */
function getCrashedHost(host: WorktreeOwner): WorktreeOwner {
  return { ...host, startTime: '1' };
}
