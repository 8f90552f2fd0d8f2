/**
 * A version of the files that all sessions of an agent share: who made it of which one before, when, why, and what it
 * holds.
 */
import * as z from 'zod';
import { beginningOf } from '../cut-text.ts';
import { sharedFilePath } from './shared-file-path.ts';
import { MANIFEST_FORMAT } from '../stored-names.ts';

/** Bounds of what all sessions of one agent share. */
export const MAX_SHARED_FILE_BYTES = 1024 * 1024;
export const MAX_SHARED_FILES_BYTES = 16 * 1024 * 1024;
export const MAX_SHARED_FILES = 500;

/** Files that one promotion may change. */
export const MAX_CHANGES = 200;

export const MAX_WHY_CHARACTERS = 500;

const contentHash = z.string().regex(/^[0-9a-f]{64}$/, 'expected a SHA-256 in hexadecimal digits');

export const versionNumber = z.number().int().min(1).max(999_999_999);

/** `people`: a person edited a file, or asked for it on the command line. */
const author = z.discriminatedUnion('kind', [
  z.strictObject({
    kind: z.literal('session'),
    sessionId: z.string().min(1).max(200),
    evaluationSeq: z.number().int().positive(),
  }),
  z.strictObject({ kind: z.literal('people') }),
]);

export type SharedFilesAuthor = Readonly<z.output<typeof author>>;

const file = z.strictObject({
  path: sharedFilePath,
  sha256: contentHash,
  bytes: z.number().int().min(0).max(MAX_SHARED_FILE_BYTES),
});

export type SharedFile = Readonly<z.output<typeof file>>;

export const sharedFilesManifest = z.strictObject({
  format: z.literal(MANIFEST_FORMAT),
  version: versionNumber,
  /** The version that it was made of; 0 for the first. */
  parent: z.number().int().min(0),
  /** ISO-8601. */
  at: z.iso.datetime(),
  by: author,
  why: z.string().max(MAX_WHY_CHARACTERS),
  /** What differs from the version before. */
  changed: z.array(sharedFilePath).max(MAX_SHARED_FILES * 2),
  /** In the order of their paths. */
  files: z.array(file).max(MAX_SHARED_FILES),
});

export type SharedFilesVersion = Readonly<z.output<typeof sharedFilesManifest>>;

/** What there is before the first version. */
export const NO_FILES: readonly SharedFile[] = [];

export interface NextVersion extends Pick<SharedFilesVersion, 'at' | 'by' | 'why'> {
  readonly before: { readonly version: number; readonly files: readonly SharedFile[] };
  readonly files: readonly SharedFile[];
}

export function nextVersion({ before, files, ...rest }: NextVersion): SharedFilesVersion {
  const sorted = files.toSorted(byPath);
  return {
    format: MANIFEST_FORMAT,
    version: before.version + 1,
    parent: before.version,
    ...rest,
    why: beginningOf(rest.why, MAX_WHY_CHARACTERS),
    changed: changedPaths(before.files, sorted),
    files: sorted,
  };
}

/** Paths whose content is not the same in both, or that are in one of them only; in order. */
export function changedPaths(before: readonly SharedFile[], after: readonly SharedFile[]): string[] {
  const [one, other] = [hashesOf(before), hashesOf(after)];
  return [...new Set([...one.keys(), ...other.keys()])].filter((path) => one.get(path) !== other.get(path)).toSorted();
}

/** The files with some of them replaced, added, or (undefined) taken out. */
export function withChanges(
  files: readonly SharedFile[],
  changes: ReadonlyMap<string, SharedFile | undefined>,
): readonly SharedFile[] {
  const kept = files.filter(({ path }) => !changes.has(path));
  return [...kept, ...[...changes.values()].filter((each) => each !== undefined)].toSorted(byPath);
}

/** What is too much about these files, as a sentence; undefined when nothing is. */
export function excessOf(files: readonly Pick<SharedFile, 'path' | 'bytes'>[]): string | undefined {
  const large = files.find(({ bytes }) => bytes > MAX_SHARED_FILE_BYTES);
  if (large !== undefined) return `${large.path} holds ${large.bytes} bytes, at most ${MAX_SHARED_FILE_BYTES} are kept`;
  if (files.length > MAX_SHARED_FILES) return `there are ${files.length} files, at most ${MAX_SHARED_FILES} are kept`;
  const total = files.reduce((sum, { bytes }) => sum + bytes, 0);
  return total > MAX_SHARED_FILES_BYTES
    ? `they hold ${total} bytes together, at most ${MAX_SHARED_FILES_BYTES} are kept`
    : undefined;
}

function hashesOf(files: readonly SharedFile[]): ReadonlyMap<string, string> {
  return new Map(files.map(({ path, sha256 }) => [path, sha256]));
}

function byPath(one: SharedFile, other: SharedFile): number {
  return one.path < other.path ? -1 : one.path > other.path ? 1 : 0;
}
