/** Paths of the files that all sessions of an agent share: plain, relative, and below their folder on every system. */
import * as z from 'zod';
import { beginningOf } from '../cut-text.ts';

/** The file whose managed section holds what was promoted of an agent's learnings. */
export const MEMORY_FILE = 'MEMORY.md';

const MAX_SHARED_PATH_CHARACTERS = 300;
const MAX_SEGMENTS = 12;
const MAX_SEGMENT_CHARACTERS = 100;

/** What some system reads as something else than a part of a name. */
const UNFIT = /[\p{Cc}\p{Cf}\p{Cs}\\/:*?"<>|]/u;

/** Names that Windows gives to devices, whatever comes after the point. */
const DEVICE = /^(?:con|prn|aux|nul|com\d|lpt\d)(?:\.|$)/i;

export const sharedFilePath = z
  .string()
  .min(1)
  .max(MAX_SHARED_PATH_CHARACTERS)
  .superRefine((path, context) => {
    const problem = sharedFilePathProblem(path);
    if (problem !== undefined)
      context.addIssue({
        code: 'custom',
        message: `expected a path of plain names such as notes/testing.md; ${problem}`,
      });
  });

/**
 * Why no shared file can have this path; undefined when one can. Names that begin with a point are editors' and
 * systems' own.
 */
export function sharedFilePathProblem(path: string): string | undefined {
  const segments = path.split('/');
  if (segments.length > MAX_SEGMENTS) return `it is deeper than ${MAX_SEGMENTS} folders`;
  if (path.length > MAX_SHARED_PATH_CHARACTERS) return `it is longer than ${MAX_SHARED_PATH_CHARACTERS} characters`;
  for (const segment of segments) {
    if (segment === '') return 'it begins or ends with a slash, or has two in a row';
    if (segment.startsWith('.')) return `"${segment}" begins with a point`;
    if (segment.length > MAX_SEGMENT_CHARACTERS)
      return `"${beginningOf(segment, 40)}…" is longer than ${MAX_SEGMENT_CHARACTERS} characters`;
    if (UNFIT.test(segment) || segment !== segment.normalize('NFC'))
      return `${JSON.stringify(segment)} holds characters that no file name should have`;
    if (segment !== segment.trim() || segment.endsWith('.') || DEVICE.test(segment))
      return `"${segment}" is no name on every system`;
  }
  return undefined;
}

/**
 * Two paths that some systems take for one, or of which one is a folder of the other; undefined when there are none.
 */
export function clashingPaths(paths: readonly string[]): readonly [string, string] | undefined {
  const known = new Map<string, string>();
  for (const path of paths) {
    const other = known.get(path.toLowerCase());
    if (other !== undefined) return [other, path];
    known.set(path.toLowerCase(), path);
  }
  for (const path of paths) {
    const segments = path.toLowerCase().split('/');
    for (let length = 1; length < segments.length; length += 1) {
      const above = known.get(segments.slice(0, length).join('/'));
      if (above !== undefined) return [above, path];
    }
  }
  return undefined;
}
