/** The errors of the files in which accounts and the experience with candidates are kept. */
import { RuntimeError, messageOf } from '../../machines/errors.ts';

/** What a file is, to those who read about it. `code`: of errors about what it holds. */
export interface FileSubject {
  readonly what: string;
  readonly code: string;
}

export const PROFILES: FileSubject = { what: 'auth profiles', code: 'AUTH_PROFILES_INVALID' };

export const CANDIDATE_HEALTH: FileSubject = { what: 'health records of candidates', code: 'CANDIDATE_HEALTH_INVALID' };

/** What the file holds is not what belongs there. Only this is damage: what is exposed or cannot be read is whole. */
export class DamagedFile extends Error {
  override readonly name = 'DamagedFile';
}

export function damagedError({ what, code }: FileSubject, path: string, problem: string): RuntimeError {
  return new RuntimeError(code, `the ${what} in ${path} cannot be read: ${problem}`, {
    category: 'storage',
    hint: 'Nothing is written until it is put right: correct the file, or move it away and add what it held anew.',
    details: { path },
  });
}

export function newerError({ what, code }: FileSubject, path: string, format: string): RuntimeError {
  return new RuntimeError(
    code,
    `the ${what} in ${path} are written as ${JSON.stringify(format)}, which a newer version of Wakechart does`,
    {
      category: 'storage',
      hint: 'Use that version here, or another home.',
      details: { path, format },
    },
  );
}

/** Other users may read or change it, or have put it there. */
export function exposedError(
  { what, code }: FileSubject,
  path: string,
  problem: string,
  remedy: string | undefined,
): RuntimeError {
  return new RuntimeError(code, `the ${what} in ${path} are not safe there: ${problem}`, {
    category: 'permission',
    hint: remedy,
    details: { path },
  });
}

export function unreadableError({ what, code }: FileSubject, path: string, cause: unknown): RuntimeError {
  return new RuntimeError(code, `the ${what} in ${path} cannot be read: ${messageOf(cause)}`, {
    category: 'storage',
    hint: 'Check the file and at who owns it.',
    details: { path },
    cause,
  });
}

export function unwritableError(path: string, cause: unknown): RuntimeError {
  return new RuntimeError('STORAGE_FAILED', `could not write ${path}: ${messageOf(cause)}`, {
    category: 'storage',
    details: { path },
    cause,
  });
}

export function busyError({ what }: FileSubject, path: string, waitedMs: number): RuntimeError {
  return new RuntimeError('AUTH_BUSY', `the ${what} in ${path} were being changed by others for ${waitedMs} ms`, {
    category: 'conflict',
    hint: 'Try again. If no process changes them, check the lock file beside them.',
    details: { path, waitedMs },
  });
}
