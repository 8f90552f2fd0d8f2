/**
 * The form of a home, so that a version which does not know it refuses it before it writes anything. This version
 * writes no mark of it: a home without one has the first form.
 */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { RuntimeError } from '../../machines/errors.ts';

/** To be raised, and written to the file, by the first version whose home this one would read wrongly. */
const HOME_FORMAT = 1;
const FORMAT_FILE = 'format';

/** @throws RuntimeError HOME_NEWER */
export async function checkHomeFormat(home: string): Promise<void> {
  // A home that is not there has none. What is wrong with one that cannot be read, its next reader says.
  const text = await readFile(join(home, FORMAT_FILE), 'utf8').catch(() => undefined);
  if (text === undefined || Number(text) <= HOME_FORMAT) return;
  throw new RuntimeError(
    'HOME_NEWER',
    `expected the home ${home} to have form ${HOME_FORMAT}, found form ${text.slice(0, 20).trim()}: a newer version has written it`,
    { category: 'storage', hint: 'Run the newer version, or go back to a backup from before it.' },
  );
}
