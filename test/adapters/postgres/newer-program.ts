/** The program as its next version might be: the same, with one more step of the schema. */
import { execFile } from 'node:child_process';
import { cp, mkdir, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import { MIGRATIONS } from '../../../src/adapters/postgres/migrations/index.ts';
import type { Migration } from '../../../src/adapters/postgres/migrations/migration.ts';

const CHECKOUT = fileURLToPath(new URL('../../../', import.meta.url));

/** Takes every table that wakes need for itself, and holds them for a while, as a step over many rows does. */
export const nextStep: Migration = {
  version: MIGRATIONS.length + 1,
  name: 'next',
  serves: MIGRATIONS.length,
  statements: (schema) =>
    [
      `ALTER TABLE ${schema}.session ADD COLUMN next_version text NOT NULL DEFAULT 'none'`,
      `ALTER TABLE ${schema}.event ADD COLUMN next_version text`,
      `ALTER TABLE ${schema}.activation ADD COLUMN next_version text`,
      `CREATE INDEX session_by_next ON ${schema}.session (next_version)`,
      `UPDATE ${schema}.session SET next_version = 'moved'`,
      'SELECT pg_sleep(0.7)',
    ].join(';\n'),
};

/** @param folder for its files @returns the folder URL of what is compiled, as tests tell it to processes */
export async function makeNewerProgram(folder: string): Promise<string> {
  await mkdir(folder);
  await cp(join(CHECKOUT, 'dist'), join(folder, 'dist'), { recursive: true });
  await cp(join(CHECKOUT, 'package.json'), join(folder, 'package.json'));
  await symlink(join(CHECKOUT, 'node_modules'), join(folder, 'node_modules'));
  const migrations = join(folder, 'dist/adapters/postgres/migrations');
  await cp(join(migrations, 'index.js'), join(migrations, 'released.js'));
  const { version, name, serves, statements } = nextStep;
  const step = `{ version: ${version}, name: '${name}', serves: ${serves}, statements: (schema) => ${JSON.stringify(statements('$s'))}.replaceAll('$s', schema) }`;
  await writeFile(
    join(migrations, 'index.js'),
    `import { MIGRATIONS as released } from './released.js';\nexport const MIGRATIONS = [...released, ${step}];\n`,
  );
  return `${pathToFileURL(join(folder, 'dist')).href}/`;
}

/**
 * What a program says to the store of `url` when it opens it: the code of its refusal, or `opened`. @param dist as
 * `makeNewerProgram` gives it
 */
export async function openingBy(dist: string, url: string): Promise<string> {
  const script = `
    const load = (path) => import(new URL(path, ${JSON.stringify(dist)}).href);
    const { createSystemClock } = await load('actors/clock/system-clock.js');
    const { PostgresEventStore } = await load('adapters/postgres/postgres-event-store.js');
    const opening = PostgresEventStore.open({ url: process.env.STORE, clock: createSystemClock() });
    process.stdout.write(await opening.then((store) => store.close().then(() => 'opened'), ({ code }) => code));`;
  const { stdout } = await promisify(execFile)(process.execPath, ['--input-type=module', '-e', script], {
    env: { ...process.env, STORE: url },
  });
  return stdout;
}
