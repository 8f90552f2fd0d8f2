/** How a model names a file, and how a file is named to a model. */
import * as z from 'zod';
import { MAX_PATH_CHARACTERS } from './file-limits.ts';

/** A path from the workspace, or an absolute one. Whether it may be touched is decided where the file system is. */
export const filePath = z
  .string()
  .min(1)
  .max(MAX_PATH_CHARACTERS)
  .refine((path) => !path.includes('\0'), 'expected a path without NUL characters');

/** A name may hold line breaks and escape sequences; shown as they are they would look like lines of the result. */
export function shownPath(path: string): string {
  // eslint-disable-next-line no-control-regex -- control characters are what this searches for
  return /[\u0000-\u001f\u007f-\u009f\u2028\u2029]/.test(path) ? JSON.stringify(path) : path;
}
