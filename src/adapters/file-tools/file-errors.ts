/**
 * What can be wrong with a file, as errors that tell a model what to do. They name files as the model does, never by
 * how they were reached.
 */
import { RuntimeError } from '../../machines/errors.ts';
import type { ErrorCategory } from '../../machines/errors.ts';
import { shownPath } from '../../machines/turn/files/file-path.ts';
import { systemCodeOf } from '../system/error-codes.ts';
import type { Root } from './mount-roots.ts';

interface Explanation {
  readonly code: string;
  readonly category: ErrorCategory;
  readonly says: string;
  readonly hint: string;
}

const NOT_FOUND: Explanation = {
  code: 'FILE_NOT_FOUND',
  category: 'not_found',
  says: 'it does not exist',
  hint: 'Use glob to see which files there are.',
};
const DENIED: Explanation = {
  code: 'FILE_ACCESS_DENIED',
  category: 'permission',
  says: 'the system does not allow it',
  hint: 'Its owner or its mode is in the way. Work with another file, or ask for the mode to be changed.',
};
const FULL: Explanation = {
  code: 'STORAGE_FAILED',
  category: 'storage',
  says: 'the disk is full or the quota is used up',
  hint: 'Free some space, then try again.',
};

const EXPLANATIONS: Readonly<Record<string, Explanation>> = {
  ENOENT: NOT_FOUND,
  ENOTDIR: {
    code: 'NOT_A_FILE',
    category: 'validation',
    says: 'a part of its path is a file and not a folder',
    hint: 'Check the path with glob.',
  },
  EISDIR: {
    code: 'NOT_A_FILE',
    category: 'validation',
    says: 'it is a folder',
    hint: 'Use glob to see what it holds.',
  },
  ENAMETOOLONG: {
    code: 'PATH_INVALID',
    category: 'validation',
    says: 'the path, or a name in it, is longer than the system takes',
    hint: 'Use shorter names: 255 bytes each at most on most systems.',
  },
  EILSEQ: {
    code: 'PATH_INVALID',
    category: 'validation',
    says: 'the system does not take such a name',
    hint: 'Use another name.',
  },
  EINVAL: {
    code: 'PATH_INVALID',
    category: 'validation',
    says: 'the system does not take such a name',
    hint: 'Use another name.',
  },
  ELOOP: {
    code: 'PATH_INVALID',
    category: 'validation',
    says: 'it leads through a symbolic link that must not be followed',
    hint: 'Name the file that is meant itself.',
  },
  EACCES: DENIED,
  EPERM: DENIED,
  EROFS: { ...DENIED, says: 'the file system is read-only' },
  ETXTBSY: { ...DENIED, says: 'it is a program that is running' },
  ENOSPC: FULL,
  EDQUOT: FULL,
  EFBIG: { ...FULL, says: 'the file would be larger than the system takes' },
};

const OTHERWISE: Explanation = {
  code: 'STORAGE_FAILED',
  category: 'storage',
  says: 'the system reports an error',
  hint: 'Try again; if it stays, the disk or the file system has to be checked.',
};

/** `what` was being done: "read", "write". An error of ours and the reason of a stop pass through. */
export function fileFailed(what: string, path: string, error: unknown): unknown {
  const systemCode = systemCodeOf(error);
  if (RuntimeError.is(error) || systemCode === undefined || !/^E[A-Z0-9]+$/.test(systemCode)) return error;
  const { code, category, says, hint } = EXPLANATIONS[systemCode] ?? OTHERWISE;
  return new RuntimeError(code, `cannot ${what} ${shownPath(path)}: ${says} (${systemCode})`, {
    category,
    hint,
    details: { path, systemCode },
    cause: error,
  });
}

export function notFound(what: string, path: string): RuntimeError {
  return new RuntimeError(NOT_FOUND.code, `cannot ${what} ${shownPath(path)}: ${NOT_FOUND.says}`, {
    category: NOT_FOUND.category,
    hint: NOT_FOUND.hint,
    details: { path },
  });
}

/** `access` decides which folders are meant; `mounts` are those besides the workspace. */
export function outside(path: string, access: 'read' | 'write', mounts: readonly string[] = []): RuntimeError {
  const others = mounts.length === 0 ? '' : `, or one in ${mounts.join(', ')}`;
  return new RuntimeError(
    'PATH_OUTSIDE_WORKSPACE',
    `cannot ${access} ${shownPath(path)}: it lies outside the workspace${mounts.length === 0 ? '' : ' and the other mounts'}, or leads out of it through a symbolic link`,
    {
      category: 'permission',
      hint: path.startsWith('~')
        ? 'A "~" is not expanded. Use a path from the workspace.'
        : `Use a path from the workspace, such as "src/index.ts"${others}.`,
      details: { path, access },
    },
  );
}

export function notAFile(path: string, what: string): RuntimeError {
  const hint = what === 'a folder' ? 'Use glob to see what it holds.' : 'Only regular files can be read and written.';
  return new RuntimeError('NOT_A_FILE', `expected ${shownPath(path)} to be a file, but it is ${what}`, {
    category: 'validation',
    hint,
    details: { path },
  });
}

export function notAFolder(path: string): RuntimeError {
  return new RuntimeError('NOT_A_FOLDER', `expected ${shownPath(path)} to be a folder`, {
    category: 'validation',
    hint: 'Give the folder as path, and the name as pattern.',
    details: { path },
  });
}

/** Nothing has been read or written. */
export function movedSince(path: string): RuntimeError {
  return new RuntimeError(
    'PATH_CHANGED',
    `${shownPath(path)} does not lead any more to where it led when the call was allowed; nothing was done`,
    {
      category: 'conflict',
      hint: 'Something was moved or replaced in between. Make the call again, so that it can be allowed for where it leads now.',
      details: { path },
    },
  );
}

export function changedSince(path: string): RuntimeError {
  return new RuntimeError('FILE_CHANGED', `${shownPath(path)} has changed since it was read; nothing was written`, {
    category: 'conflict',
    hint: 'Read it again, then decide what to write.',
    details: { path },
  });
}

// What a mount does not allow, as errors that tell a model what to do instead.

const INSTEAD: Readonly<Record<Root['kind'], string>> = {
  workspace: 'The environment gives the workspace for reading only.',
  agent:
    'What all sessions of the agent share is changed by promotion only: write it in the workspace, then promote it.',
  runtime: 'Write in the workspace instead.',
  learnings: 'What was learned gets there by itself: name it in the directive that ends the turn.',
  skills: 'Skills are written by people. Work on a copy in the workspace.',
  vault: 'Vaults are written by people.',
  declared: 'The environment gives this folder for reading only. Work on a copy in the workspace.',
  read: 'Work on a copy in the workspace.',
};

export function readOnlyMount(path: string, { kind, mount }: Root): RuntimeError {
  return new RuntimeError(
    'MOUNT_READ_ONLY',
    `cannot write ${shownPath(path)}: ${mount ?? 'the folder that it lies in'} is there for reading only; nothing was written`,
    {
      category: 'permission',
      hint: INSTEAD[kind],
      details: { path, ...(mount === undefined ? {} : { mount }) },
    },
  );
}

export function vaultNotReadable(path: string): RuntimeError {
  return new RuntimeError(
    'VAULT_NOT_READABLE',
    `${shownPath(path)} is in a vault: its secrets have names, and no tool reads them as files`,
    {
      category: 'permission',
      hint: 'Name a secret where it is used: in "secrets" of a command, or in a header of a request.',
      details: { path },
    },
  );
}
