/** What is asked of shared files, checked before anything is touched. */
import * as z from 'zod';
import { agentId } from '../ids.ts';
import { parseOrThrow } from '../validate.ts';
import { sharedFilePath } from './shared-file-path.ts';
import { MAX_CHANGES, MAX_SHARED_FILE_BYTES, MAX_WHY_CHARACTERS, versionNumber } from './shared-files-version.ts';

const TOO_LONG = `expected at most ${MAX_SHARED_FILE_BYTES} bytes in a file`;

const content = z.union([
  z.string().max(MAX_SHARED_FILE_BYTES, TOO_LONG),
  z.instanceof(Uint8Array).refine(({ length }) => length <= MAX_SHARED_FILE_BYTES, TOO_LONG),
  z.null(),
]);

export const expectedVersion = z.number().int().min(0).max(999_999_999);

const common = { agentId, expectedVersion, why: z.string().max(MAX_WHY_CHARACTERS) };

export const sharedFilesEdit = z.strictObject({
  ...common,
  changes: z
    .array(z.strictObject({ path: sharedFilePath, content }))
    .min(1)
    .max(MAX_CHANGES)
    .refine((changes) => new Set(changes.map(({ path }) => path)).size === changes.length, 'expected each path once'),
});

export const sharedFilesRestore = z.strictObject({ ...common, version: versionNumber });

/** @throws RuntimeError SHARED_FILES_PATH_INVALID */
export function checkedSharedFilePath(path: string): string {
  return parseOrThrow(sharedFilePath, path, { what: 'path of a shared file', code: 'SHARED_FILES_PATH_INVALID' });
}
