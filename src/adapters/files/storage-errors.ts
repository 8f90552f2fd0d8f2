/** What a file system says, in words that help, as errors of ours. */
import { RuntimeError, messageOf } from '../../machines/errors.ts';
import { systemCodeOf } from '../system/error-codes.ts';

const HINTS: Readonly<Record<string, string>> = {
  ENOSPC: 'The disk is full. Free some space and try again; the log stays readable.',
  EDQUOT: 'The disk quota is used up. Free some space and try again; the log stays readable.',
  EIO: 'The disk reports an error. Check it before you go on; the log stays readable.',
  EROFS: 'The file system is read-only. Use a home directory that can be written.',
  EACCES: 'Check who owns the home directory and its permissions.',
  EPERM: 'Check who owns the home directory and its permissions.',
  EMFILE: 'Too many files are open. Raise the limit with ulimit -n.',
  ENFILE: 'Too many files are open on this machine.',
  EFBIG: 'The file has reached a size limit. Raise it, or start a new session.',
};

/** `what` says what was being done: "append to session …". An error of ours passes through. */
export function storageFailed(what: string, error: unknown): RuntimeError {
  if (RuntimeError.is(error)) return error;
  const systemCode = systemCodeOf(error);
  return new RuntimeError('STORAGE_FAILED', `could not ${what}: ${messageOf(error)}`, {
    category: 'storage',
    hint: (systemCode === undefined ? undefined : HINTS[systemCode]) ?? 'Check the home directory, then try again.',
    details: systemCode === undefined ? undefined : { systemCode },
    cause: error,
  });
}
