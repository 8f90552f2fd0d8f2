// @ts-check
/**
 * Compiles src/ into dist/ with the project's own TypeScript, puts what the package is entered through into few files,
 * and leaves dist/ holding exactly what src/ says.
 *
 * `tsc --incremental` alone forgets two things: it emits nothing when somebody deleted dist/ but not its notes, and it
 * keeps the output of a source file that is gone, which would then be published. Usage: node scripts/build.mjs
 */
import { spawnSync } from 'node:child_process';
import {
  existsSync,
  mkdirSync,
  readFileSync,
  readdirSync,
  realpathSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join, resolve, sep } from 'node:path';
import { fileURLToPath } from 'node:url';
import { buildPage } from './build-page.mjs';
import { entriesOf } from './entries.mjs';
import { writeUnpublished } from './unpublished.mjs';

/**
 * @typedef {{ readonly ok: boolean, readonly output: string }} BuildResult
 *   `output` is what the compiler printed: one line per error, empty when there are none.
 * @typedef {{ readonly inputs: string, readonly result: BuildResult, readonly bundled: Bundled }} Stamp
 *   What the last build was made of and what came of it.
 * @typedef {Readonly<Record<string, readonly string[]>>} Bundled The files that the bundler wrote, relative to dist/,
 * with the sources in each, relative to the root; with forward slashes.
 */

const BUNDLER = join(dirname(fileURLToPath(import.meta.url)), 'bundle.mjs');
const ENTRIES = join(dirname(BUNDLER), 'entries.mjs');

/** Emits every file again, in a fraction of the time. */
const ALL_UNCHECKED = ['--noCheck', '--declaration', 'false', '--incremental', 'false', '--tsBuildInfoFile', 'null'];

/** What a browser runs is built apart, in scripts/build-page.mjs. */
const PAGE_SOURCE = `${join('adapters', 'inspector-page')}${sep}`;
const PAGE = `inspector-page${sep}`;

const SOURCE = /(?<!\.d)\.ts$/;
const OUTPUT = /\.(?:js|d\.ts)(?:\.map)?$/;

/**
 * Every file under `directory` as a path relative to it; none when the directory is not there. @param {string}
 * directory
 */
function filesUnder(directory) {
  if (!existsSync(directory)) return [];
  const files = readdirSync(directory, { recursive: true, encoding: 'utf8' });
  return files.filter((file) => statSync(join(directory, file), { throwIfNoEntry: false })?.isFile()).toSorted();
}

/** What a build depends on, as one string: the same string twice means there is nothing to do. @param {string} root */
function fingerprint(root) {
  const sources = filesUnder(join(root, 'src')).map((file) => join('src', file));
  return [
    ...sources.filter((file) => !file.startsWith(join('src', PAGE_SOURCE))),
    'tsconfig.base.json',
    'tsconfig.build.json',
    'package.json',
    'package-lock.json',
    BUNDLER,
    ENTRIES,
  ]
    .map((file) => {
      const stats = statSync(resolve(root, file), { throwIfNoEntry: false });
      return `${file} ${stats?.size} ${stats?.mtimeMs}`;
    })
    .join('\n');
}

/** What src/ compiles to, relative to dist/. @param {string} root */
function expectedOutputs(root) {
  const sources = filesUnder(join(root, 'src')).filter((file) => SOURCE.test(file) && !file.startsWith(PAGE_SOURCE));
  return new Set(sources.flatMap((file) => [file.replace(SOURCE, '.js'), file.replace(SOURCE, '.d.ts')]));
}

/**
 * Removes what an earlier build made, and nobody would make now.
 * @param {string} root @param {{ readonly compiled: ReadonlySet<string>, readonly bundled: Bundled }} outputs
 */
function removeOrphans(root, { compiled, bundled }) {
  const expected = new Set([...compiled, ...Object.keys(bundled).map((file) => file.split('/').join(sep))]);
  const orphans = filesUnder(join(root, 'dist')).filter(
    (file) => OUTPUT.test(file) && !file.startsWith(PAGE) && !expected.has(file),
  );
  for (const file of orphans) rmSync(join(root, 'dist', file), { force: true });
}

/** @param {string} root @param {readonly string[]} options @returns {BuildResult} */
function compile(root, ...options) {
  const compiler = join(
    dirname(createRequire(join(root, 'package.json')).resolve('typescript/package.json')),
    'bin/tsc',
  );
  const { status, stdout, stderr } = spawnSync(
    process.execPath,
    [compiler, '-p', 'tsconfig.build.json', '--pretty', 'false', ...options],
    {
      cwd: root,
      encoding: 'utf8',
    },
  );
  return { ok: status === 0, output: `${stdout}${stderr}`.trim() };
}

/**
 * What a start loads is hundreds of files: this puts it into few.
 * @param {string} root @returns {{ readonly bundled: Bundled } | { readonly complaint: string }}
 */
function bundle(root) {
  const { modules, programs } = entriesOf(root);
  if (modules.length + programs.length === 0) return { bundled: {} };
  const { status, stdout, stderr } = spawnSync(process.execPath, [BUNDLER, root], { cwd: root, encoding: 'utf8' });
  if (status !== 0) return { complaint: `the entry points could not be bundled:\n${stderr.trim()}` };
  return { bundled: /** @type {Bundled} */ (JSON.parse(stdout)) };
}

/** Makes the next compilation emit everything. @param {string} root */
function forgetEmitted(root) {
  rmSync(join(root, '.build', 'tsconfig.build.tsbuildinfo'), { force: true });
}

/** The last build, if it was one of these very inputs. @param {string} stampPath @param {string} inputs */
function lastBuild(stampPath, inputs) {
  try {
    const stamp = /** @type {Stamp} */ (JSON.parse(readFileSync(stampPath, 'utf8')));
    return stamp.inputs === inputs ? stamp : undefined;
  } catch {
    // Missing, or cut short by whatever stopped the last build: build again.
    return undefined;
  }
}

/** Compiles and bundles, whatever is there already. @param {string} root @returns {Omit<Stamp, 'inputs'>} */
function buildAnew(root) {
  const result = compile(root);
  const bundling = bundle(root);
  if ('bundled' in bundling) return { result, bundled: bundling.bundled };
  // What an earlier build bundled is not what the sources say: better the many files than the old ones.
  compile(root, ...ALL_UNCHECKED);
  return {
    result: { ok: false, output: [result.output, bundling.complaint].filter((text) => text !== '').join('\n') },
    bundled: {},
  };
}

/**
 * Brings dist/ up to date with src/. Type errors are reported and still leave whatever could be emitted.
 * @param {string} root the directory that holds src/ and tsconfig.build.json
 * @returns {BuildResult}
 */
export function build(root) {
  const stampPath = join(root, '.build', 'dist.stamp.json');
  // Read before the compiler starts: an edit made meanwhile is compiled next time.
  const inputs = fingerprint(root);
  const compiled = expectedOutputs(root);
  const isThere = (/** @type {string} */ file) => existsSync(join(root, 'dist', file));
  const last = lastBuild(stampPath, inputs);
  const isComplete = [...compiled].every(isThere);
  if (last !== undefined && isComplete && Object.keys(last.bundled).every(isThere)) {
    removeOrphans(root, { compiled, bundled: last.bundled });
    return last.result;
  }
  if (!isComplete) forgetEmitted(root);
  const { result, bundled } = buildAnew(root);
  removeOrphans(root, { compiled, bundled });
  writeUnpublished(root, new Set(Object.keys(bundled)));
  mkdirSync(dirname(stampPath), { recursive: true });
  writeFileSync(stampPath, JSON.stringify({ inputs, result, bundled }));
  return result;
}

if (process.argv[1] !== undefined && realpathSync(process.argv[1]) === fileURLToPath(import.meta.url)) {
  const root = dirname(dirname(fileURLToPath(import.meta.url)));
  const { ok, output } = build(root);
  if (output !== '') console.error(output);
  const page = await buildPage(root);
  process.exitCode = ok && page.ok ? 0 : 1;
  if (page.output !== '') console.error(page.output);
}
