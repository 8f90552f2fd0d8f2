// @ts-check
/**
 * Compiles src/ into dist/ with the project's own TypeScript, and leaves dist/ holding exactly what src/ says.
 *
 * `tsc --incremental` alone forgets two things: it emits nothing when somebody deleted dist/ but not its notes, and it keeps the
 * output of a source file that is gone, which would then be published. Usage: node scripts/build.mjs
 */
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, readdirSync, realpathSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

/**
 * @typedef {{ readonly ok: boolean, readonly output: string }} BuildResult
 *   `output` is what the compiler printed: one line per error, empty when there are none.
 */

const SOURCE = /(?<!\.d)\.ts$/;
const OUTPUT = /\.(?:js|d\.ts)(?:\.map)?$/;

/** Every file under `directory` as a path relative to it; none when the directory is not there. @param {string} directory */
function filesUnder(directory) {
  if (!existsSync(directory)) return [];
  const files = readdirSync(directory, { recursive: true, encoding: 'utf8' });
  return files.filter((file) => statSync(join(directory, file), { throwIfNoEntry: false })?.isFile()).toSorted();
}

/** What a build depends on, as one string: the same string twice means there is nothing to do. @param {string} root */
function fingerprint(root) {
  const sources = filesUnder(join(root, 'src')).map((file) => join('src', file));
  return [...sources, 'tsconfig.base.json', 'tsconfig.build.json', 'package-lock.json']
    .map((file) => {
      const stats = statSync(join(root, file), { throwIfNoEntry: false });
      return `${file} ${stats?.size} ${stats?.mtimeMs}`;
    })
    .join('\n');
}

/** What src/ compiles to, relative to dist/. @param {string} root */
function expectedOutputs(root) {
  const sources = filesUnder(join(root, 'src')).filter((file) => SOURCE.test(file));
  return new Set(sources.flatMap((file) => [file.replace(SOURCE, '.js'), file.replace(SOURCE, '.d.ts')]));
}

/** Removes what an earlier build made of sources that are gone. @param {string} root @param {ReadonlySet<string>} expected */
function removeOrphans(root, expected) {
  const orphans = filesUnder(join(root, 'dist')).filter((file) => OUTPUT.test(file) && !expected.has(file));
  for (const file of orphans) rmSync(join(root, 'dist', file), { force: true });
}

/** @param {string} root @returns {BuildResult} */
function compile(root) {
  const compiler = createRequire(join(root, 'package.json')).resolve('typescript/bin/tsc');
  const { status, stdout, stderr } = spawnSync(process.execPath, [compiler, '-p', 'tsconfig.build.json', '--pretty', 'false'], {
    cwd: root,
    encoding: 'utf8',
  });
  return { ok: status === 0, output: `${stdout}${stderr}`.trim() };
}

/** What the last build had to say, if it was a build of these very inputs. @param {string} stampPath @param {string} inputs */
function lastResult(stampPath, inputs) {
  try {
    const stamp = /** @type {{ inputs: string, result: BuildResult }} */ (JSON.parse(readFileSync(stampPath, 'utf8')));
    return stamp.inputs === inputs ? stamp.result : undefined;
  } catch {
    // Missing, or cut short by whatever stopped the last build: build again.
    return undefined;
  }
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
  const expected = expectedOutputs(root);
  removeOrphans(root, expected);
  const isComplete = [...expected].every((file) => existsSync(join(root, 'dist', file)));
  const last = isComplete ? lastResult(stampPath, inputs) : undefined;
  if (last !== undefined) return last;
  if (!isComplete) rmSync(join(root, '.build', 'tsconfig.build.tsbuildinfo'), { force: true });
  const result = compile(root);
  mkdirSync(dirname(stampPath), { recursive: true });
  writeFileSync(stampPath, JSON.stringify({ inputs, result }));
  return result;
}

if (process.argv[1] !== undefined && realpathSync(process.argv[1]) === fileURLToPath(import.meta.url)) {
  const { ok, output } = build(dirname(dirname(fileURLToPath(import.meta.url))));
  if (output !== '') console.error(output);
  process.exitCode = ok ? 0 : 1;
}
