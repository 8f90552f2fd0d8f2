/** Where a demo takes place, and the surroundings it gives to what it runs. */
import { mkdir, mkdtemp, readdir } from 'node:fs/promises';
import { devNull, tmpdir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import { RuntimeError, messageOf } from '../../machines/errors.ts';
import { hasCode } from '../../adapters/system/error-codes.ts';
import { makeFolder } from '../../adapters/system/whole-files.ts';
import { absolutePath } from '../home.ts';

/** The folder of agents in a home: making it is what claims a folder, so that two demos cannot share one. */
const CLAIM = 'agents';

/**
 * A new temporary folder, or the one that was asked for. @throws RuntimeError DEMO_DIRECTORY_TAKEN,
 * DEMO_DIRECTORY_FAILED
 */
export async function demoFolder(asked: string | undefined): Promise<string> {
  const folder = asked === undefined ? undefined : absolutePath(asked);
  try {
    if (folder === undefined) return await mkdtemp(join(tmpdir(), 'wakechart-demo-'));
    await makeFolder(folder);
    if ((await readdir(folder)).length > 0) throw taken(folder);
    await mkdir(join(folder, CLAIM), { mode: 0o700 });
    return folder;
  } catch (error) {
    if (RuntimeError.is(error)) throw error;
    if (folder !== undefined && hasCode(error, 'EEXIST')) throw taken(folder);
    throw new RuntimeError(
      'DEMO_DIRECTORY_FAILED',
      `could not make ${folder ?? `a folder in ${tmpdir()}`}: ${messageOf(error)}`,
      {
        category: 'storage',
        hint: 'Name a folder that can be written with --dir DIR.',
        cause: error,
      },
    );
  }
}

function taken(folder: string): RuntimeError {
  return new RuntimeError(
    'DEMO_DIRECTORY_TAKEN',
    `expected ${folder} to be an empty folder or a new one; there is something in it`,
    {
      category: 'conflict',
      hint: 'Name another folder with --dir DIR, or leave --dir out for a temporary one.',
    },
  );
}

/**
 * Makes what the demo runs independent of the user who runs it: their git identity, hooks and signing keys, a git or
 * test run around it, and whether `node` is on their PATH.
 */
export function isolateEnvironment(environment: Record<string, string | undefined>): void {
  for (const name of Object.keys(environment))
    if (name.startsWith('GIT_') || name.startsWith('NODE_TEST_')) delete environment[name];
  environment['GIT_CONFIG_GLOBAL'] = devNull;
  environment['GIT_CONFIG_NOSYSTEM'] = '1';
  environment['PATH'] = [dirname(process.execPath), environment['PATH'] ?? '/usr/bin:/bin'].join(delimiter);
}
