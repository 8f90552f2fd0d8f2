/** What a pattern of a shell finds on the disk: at least what any shell would put in its place. */
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { nameMatcher } from '../../machines/permission/open-word.ts';
import { hasCode } from '../system/error-codes.ts';
import { LookFailed } from './look-failed.ts';

/** Names of one folder beyond which no caller waits for them. */
const MAX_NAMES = 20_000;

/**
 * From the folder, as the pattern writes them; the pattern itself when it has no wildcard. @throws LookFailed when
 * there are too many
 */
export async function placesFound(folder: string, pattern: string, max: number): Promise<readonly string[]> {
  let found: readonly string[] = [''];
  for (const segment of pattern.split('/')) {
    const matcher = nameMatcher(segment);
    const next: string[] = [];
    for (const place of found)
      next.push(
        ...(matcher === undefined
          ? [join(place, segment)]
          : (await namesIn(join(folder, place), matcher)).map((name) => join(place, name))),
      );
    if (next.length > max) throw new LookFailed(`"${pattern}" finds more than ${max} places`);
    found = next;
  }
  return found;
}

async function namesIn(folder: string, matcher: RegExp): Promise<readonly string[]> {
  const names = (await namesOf(folder)).filter((name) => matcher.test(name));
  const odd = names.find((name) => name.includes('\uFFFD'));
  if (odd !== undefined) throw new LookFailed(`"${odd}" has a name that is no text`);
  return names;
}

async function namesOf(folder: string): Promise<readonly string[]> {
  try {
    const names = await readdir(folder);
    if (names.length > MAX_NAMES) throw new LookFailed(`"${folder}" holds more than ${MAX_NAMES} names`);
    return names;
  } catch (error) {
    // A shell finds nothing there either.
    if (hasCode(error, 'ENOENT', 'ENOTDIR', 'EACCES')) return [];
    throw error;
  }
}
