/** Which home directory a command works on, and whether it can be one at all. */
import { constants } from 'node:fs';
import { access, stat } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { RuntimeError, messageOf } from '../machines/errors.ts';
import { checkHomeFormat } from '../adapters/files/home-format.ts';
import { hasCode } from '../adapters/system/error-codes.ts';
import { makeFolder } from '../adapters/system/whole-files.ts';

const DEFAULT_HOME = '.wakechart';
const AGENTS_FOLDER = 'agents';

export interface HomeChoice {
  /** From `--home`. */
  readonly given: string | undefined;
  readonly environment: Readonly<Record<string, string | undefined>>;
}

/** The absolute path of the home: what was given, else $WAKECHART_HOME, else `.wakechart` here. */
export function chosenHome({ given, environment }: HomeChoice): string {
  return absolutePath(given ?? (environment['WAKECHART_HOME'] || DEFAULT_HOME));
}

/** `path`, taken from the folder we are in. @throws RuntimeError FOLDER_GONE when that folder was removed */
export function absolutePath(path: string): string {
  try {
    return resolve(path);
  } catch (cause) {
    throw new RuntimeError(
      'FOLDER_GONE',
      'expected to be in a folder; the one this was started in does not exist any more',
      {
        category: 'storage',
        hint: 'Change into a folder that exists, and try again.',
        cause,
      },
    );
  }
}

/**
 * A home that is not there yet is fine: the first write makes it.
 * @throws RuntimeError HOME_INVALID when something else is in its place, or it cannot be entered and read; HOME_NEWER
 */
export async function checkHome(home: string): Promise<void> {
  await checkHomeFormat(home);
  for (const folder of [home, join(home, AGENTS_FOLDER)]) {
    try {
      if (!(await stat(folder)).isDirectory())
        throw invalid(
          home,
          `${folder} is a file`,
          'Choose another home with --home DIR or $WAKECHART_HOME, or move that file away.',
        );
      await access(folder, constants.R_OK | constants.X_OK);
    } catch (error) {
      if (RuntimeError.is(error)) throw error;
      if (hasCode(error, 'ENOENT')) return;
      if (hasCode(error, 'ENOTDIR'))
        throw invalid(
          home,
          `a part of its path is a file (${messageOf(error)})`,
          'Choose another home with --home DIR or $WAKECHART_HOME.',
        );
      throw invalid(
        home,
        messageOf(error),
        'Check who owns it and its permissions, or choose another home with --home DIR.',
        error,
      );
    }
  }
}

/**
 * Makes a home that is not there yet. @throws RuntimeError as checkHome does, and STORAGE_FAILED when it cannot be made
 */
export async function makeHome(home: string): Promise<void> {
  await checkHome(home);
  try {
    await makeFolder(home);
  } catch (cause) {
    throw new RuntimeError('STORAGE_FAILED', `could not make the home ${home}: ${messageOf(cause)}`, {
      category: 'storage',
      hint: 'Name a folder that can be written with --home DIR.',
      cause,
    });
  }
}

/** Whether there is a home at all. */
export function isHomeThere(home: string): Promise<boolean> {
  return stat(home).then(
    () => true,
    () => false,
  );
}

function invalid(home: string, what: string, hint: string, cause?: unknown): RuntimeError {
  return new RuntimeError('HOME_INVALID', `expected the home ${home} to be a folder that can be read: ${what}`, {
    category: 'storage',
    hint,
    cause,
  });
}
