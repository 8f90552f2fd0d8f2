/** What goes wrong with files, as errors that say which. */
import { RuntimeError, messageOf } from '../../machines/errors.ts';
import { hasCode, systemCodeOf } from '../system/error-codes.ts';

export function isMissing(error: unknown): boolean {
  return hasCode(error, 'ENOENT');
}

/** What was refused with reasons stays as it is. */
export function storageFailed(what: string, cause: unknown): unknown {
  if (systemCodeOf(cause) === undefined || RuntimeError.is(cause)) return cause;
  return new RuntimeError('STORAGE_FAILED', `could not ${what}: ${messageOf(cause)}`, {
    category: 'storage',
    hint: 'Check the disk: space, rights, and whether it is there.',
    cause,
  });
}

export function unreadable(path: string, cause: unknown): RuntimeError {
  return new RuntimeError(
    'WORKSPACE_COPY_UNREADABLE',
    `the folder of the session cannot be copied: ${path} cannot be read (${systemCodeOf(cause) ?? messageOf(cause)})`,
    {
      category: 'storage',
      hint: 'Give the user who runs Wakechart the right to read it, or remove it; until then the session stays on its machine.',
      details: { path },
      cause,
    },
  );
}
