/** What is asked of shared files, checked before anything is touched. */
import { z } from 'zod';
import { agentId } from '../ids.ts';
import { parseOrThrow } from '../validate.ts';
import { substratePath } from './substrate-path.ts';
import { MAX_CHANGES, MAX_SUBSTRATE_FILE_BYTES, MAX_WHY_CHARACTERS, versionNumber } from './substrate-version.ts';

const TOO_LONG = `expected at most ${MAX_SUBSTRATE_FILE_BYTES} bytes in a file`;

const content = z.union([
  z.string().max(MAX_SUBSTRATE_FILE_BYTES, TOO_LONG),
  z.instanceof(Uint8Array).refine(({ length }) => length <= MAX_SUBSTRATE_FILE_BYTES, TOO_LONG),
  z.null(),
]);

export const expectedVersion = z.number().int().min(0).max(999_999_999);

const common = { agentId, expectedVersion, why: z.string().max(MAX_WHY_CHARACTERS) };

export const substrateEdit = z.strictObject({
  ...common,
  changes: z
    .array(z.strictObject({ path: substratePath, content }))
    .min(1)
    .max(MAX_CHANGES)
    .refine((changes) => new Set(changes.map(({ path }) => path)).size === changes.length, 'expected each path once'),
});

export const substrateRestore = z.strictObject({ ...common, version: versionNumber });

/** @throws RuntimeError SUBSTRATE_PATH_INVALID */
export function checkedSubstratePath(path: string): string {
  return parseOrThrow(substratePath, path, { what: 'path of a shared file', code: 'SUBSTRATE_PATH_INVALID' });
}
