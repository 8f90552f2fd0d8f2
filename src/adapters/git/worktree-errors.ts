/** What can go wrong with worktrees, each with what was expected, what came and what to do. */
import { RuntimeError, messageOf } from '../../machines/errors.ts';
import type { WorktreeFinding } from '../../machines/subagent/worktree-findings.ts';

/** How git ended when it did not do what it was asked. Never leaves this folder. */
export class GitFailure extends Error {
  override readonly name = 'GitFailure';
  readonly kind: 'failed' | 'timed_out' | 'aborted' | 'missing' | 'too_much';
  readonly stderr: string;
  readonly exitCode: number | undefined;

  constructor(
    message: string,
    how: { readonly kind: GitFailure['kind']; readonly stderr: string; readonly exitCode?: number | undefined },
  ) {
    super(message);
    this.kind = how.kind;
    this.stderr = how.stderr;
    this.exitCode = how.exitCode;
  }
}

export function notARepository(cwd: string, said: string): RuntimeError {
  return new RuntimeError(
    'WORKTREE_NOT_A_REPOSITORY',
    `expected ${quoted(cwd)} to lie in the files of a git repository: ${said}`,
    {
      category: 'validation',
      hint: 'Choose a folder of a git repository, run `git init` there, or ask for isolation "none".',
      details: { cwd },
    },
  );
}

export function noCommit(repoRoot: string): RuntimeError {
  return new RuntimeError(
    'WORKTREE_NO_COMMIT',
    `expected the repository at ${quoted(repoRoot)} to have a commit to make a worktree from; its HEAD names none`,
    {
      category: 'validation',
      hint: 'Make a first commit there.',
      details: { repoRoot },
    },
  );
}

export function notCreated(cwd: string, attempts: number, cause: unknown): RuntimeError {
  return new RuntimeError(
    'WORKTREE_NOT_CREATED',
    `git made no worktree from ${quoted(cwd)} in ${attempts} ${attempts === 1 ? 'attempt' : 'attempts'}: ${saidBy(cause)}`,
    {
      category: cause instanceof GitFailure && cause.kind === 'timed_out' ? 'timeout' : 'process',
      hint: 'Nothing of it is left behind. Do what git asks for, and try again.',
      details: { cwd, attempts },
    },
  );
}

export function givenUp(): RuntimeError {
  return new RuntimeError(
    'WORKTREE_CANCELLED',
    'the worktree was given up before it was ready: its request was aborted',
    { category: 'process', hint: 'Nothing of it is left behind.' },
  );
}

export function placeInvalid(path: string, because: string): RuntimeError {
  return new RuntimeError(
    'WORKTREE_PLACE_INVALID',
    `expected ${quoted(path)} to be a folder that can hold worktrees: ${because}`,
    {
      category: 'validation',
      hint: 'Choose another worktreesDirectory, such as <home>/worktrees.',
      details: { path },
    },
  );
}

export function notClean(id: string, findings: readonly WorktreeFinding[], nextAction?: string): RuntimeError {
  return new RuntimeError(
    'WORKTREE_NOT_CLEAN',
    `worktree "${id}" is kept, because something in it could be lost: ${findings.map(({ text }) => text).join('; ')}`,
    {
      category: 'conflict',
      hint:
        nextAction ??
        `Check it with \`wakechart worktree list\`, or give it up with \`wakechart worktree remove ${id} --discard\`.`,
      details: { id, findings },
    },
  );
}

/** @param isUncertain this process cannot tell whether that is still so */
export function inUse(
  id: string,
  by: string,
  { isUncertain = false }: { readonly isUncertain?: boolean | undefined } = {},
): RuntimeError {
  return new RuntimeError('WORKTREE_IN_USE', `worktree "${id}" is in use: ${by}`, {
    category: 'conflict',
    hint: isUncertain
      ? 'It runs, or ran, on another machine, in another container or as another version. If you know that it does not run any more, say so with --owner-gone.'
      : 'Wait until that has ended, or end it, and try again.',
    details: { id, isUncertain },
  });
}

export function notRemoved(id: string, because: unknown): RuntimeError {
  return new RuntimeError('WORKTREE_NOT_REMOVED', `worktree "${id}" could not be removed: ${saidBy(because)}`, {
    category: 'process',
    hint: `Its work is all there. See what stands in the way, then: wakechart worktree remove ${id}`,
    details: { id },
  });
}

export function notFound(name: string): RuntimeError {
  return new RuntimeError(
    'WORKTREE_NOT_FOUND',
    `expected "${name}" to be the id, job, branch or path of a worktree that is kept; there is none`,
    {
      category: 'not_found',
      hint: 'List them with `wakechart worktree list`.',
      details: { name },
    },
  );
}

export function ambiguous(name: string, ids: readonly string[]): RuntimeError {
  return new RuntimeError('WORKTREE_AMBIGUOUS', `"${name}" names ${ids.length} worktrees: ${ids.join(', ')}`, {
    category: 'validation',
    hint: 'Give one of these ids.',
    details: { name, ids },
  });
}

/** What went wrong, on few lines: git's own words where it had some. */
export function saidBy(thrown: unknown): string {
  if (!(thrown instanceof GitFailure)) return messageOf(thrown);
  const words = thrown.stderr.trim().split('\n').slice(-3).join('; ');
  return words === '' ? thrown.message : words;
}

function quoted(path: string): string {
  return JSON.stringify(path);
}
