/** Where the files of a schedule lie: `<directory>/<readable>-<hash>/<segment>.jsonl`. */
import { createHash } from 'node:crypto';
import { join } from 'node:path';

const READABLE_CHARACTERS = 40;
const HASH_CHARACTERS = 32;
const SEGMENT_DIGITS = 8;
const SEGMENT_NAME = /^(?<number>\d{8})\.jsonl$/;

/**
 * A folder name for any id: safe on every file system, also where case does not count or names are short. The hash
 * alone tells ids apart; the part before it is for people.
 */
export function folderOf(directory: string, scheduleId: string): string {
  const readable = scheduleId
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, '-')
    .slice(0, READABLE_CHARACTERS)
    .replaceAll(/^-+|-+$/g, '');
  const hash = createHash('sha256').update(scheduleId).digest('hex').slice(0, HASH_CHARACTERS);
  return join(directory, readable === '' ? hash : `${readable}-${hash}`);
}

export function segmentPath(folder: string, segment: number): string {
  return join(folder, `${String(segment).padStart(SEGMENT_DIGITS, '0')}.jsonl`);
}

/** The segment numbers among file names, ascending. Whatever else lies there is not ours to read. */
export function segmentsAmong(names: readonly string[]): number[] {
  return names
    .map((name) => SEGMENT_NAME.exec(name)?.groups?.['number'])
    .filter((number) => number !== undefined)
    .map(Number)
    .toSorted((a, b) => a - b);
}
