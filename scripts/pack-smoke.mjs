// @ts-check
/**
 * Packs the project as it would be published, installs it into a project of its own, and uses it as a stranger would: imports every
 * published subpath, compiles against its types, runs its command line. Usage: node scripts/pack-smoke.mjs
 */
import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from './build.mjs';

const checkout = dirname(dirname(fileURLToPath(import.meta.url)));
const workplace = realpathSync(mkdtempSync(join(tmpdir(), 'wakechart-smoke-')));
const STEP_LIMIT_MS = 300_000;

/** What may be in the package; a file that matches none of these was not meant to be published. */
const PUBLISHED = [/^dist\/.+\.(?:js|d\.ts|html|css)$/, /^(?:package\.json|README\.md|LICENSE|CHANGELOG\.md)$/];
const NEEDED = ['package.json', 'README.md', 'LICENSE', 'CHANGELOG.md'];

/** Runs a program to its end, whatever that is. @param {string} cwd @param {string} command @param {readonly string[]} arguments_ */
function attempt(cwd, command, arguments_) {
  return spawnSync(command, [...arguments_], {
    cwd,
    encoding: 'utf8',
    timeout: STEP_LIMIT_MS,
    maxBuffer: 2 ** 26,
    // What the programs leave in the temporary folder goes when the workplace goes.
    env: { ...process.env, TMPDIR: workplace, NO_COLOR: '1' },
  });
}

/**
 * Runs a program that must succeed and returns what it printed.
 * @param {string} cwd @param {string} command @param {readonly string[]} arguments_
 */
function run(cwd, command, arguments_) {
  const { status, signal, stdout, stderr, error } = attempt(cwd, command, arguments_);
  if (status !== 0) {
    const how = error?.message ?? (signal === null ? `exit code ${status}` : `signal ${signal}`);
    throw new Error(`${[command, ...arguments_].join(' ')}: ${how}\n${stdout}${stderr}`.trim());
  }
  return stdout;
}

/** What npm tells about a tarball. @typedef {{ filename: string, unpackedSize: number, files: { path: string }[] }} Packed */

/** Packs the checkout and returns the path of the tarball. */
function pack() {
  const { ok, output } = build(checkout);
  if (!ok) throw new Error(`the project does not compile:\n${output}`);
  const printed = run(checkout, 'npm', ['pack', '--ignore-scripts', '--json', '--pack-destination', workplace]);
  const [packed] = /** @type {Packed[]} */ (JSON.parse(printed));
  if (packed === undefined) throw new Error('npm pack made nothing');
  const paths = packed.files.map(({ path }) => path);
  const unexpected = paths.filter((path) => !PUBLISHED.some((pattern) => pattern.test(path)));
  const missing = NEEDED.filter((path) => !paths.includes(path));
  if (unexpected.length > 0) throw new Error(`the package carries what nobody needs: ${unexpected.join(', ')}`);
  if (missing.length > 0) throw new Error(`the package lacks ${missing.join(', ')}`);
  console.log(`packed ${paths.length} files, ${Math.ceil(packed.unpackedSize / 1000)} kB`);
  return join(workplace, packed.filename);
}

/** Installs the tarball with nothing beside it but its own dependencies. @param {string} project @param {string} tarball */
function install(project, tarball) {
  writeFileSync(join(project, 'package.json'), '{ "name": "stranger", "private": true, "type": "module" }\n');
  run(project, 'npm', ['install', '--omit=dev', '--prefer-offline', '--no-audit', '--no-fund', '--loglevel=error', tarball]);
  console.log('installed into a project of its own');
}

/** The import specifiers of every module that the installed package publishes. @param {string} project @param {string} name */
function publishedModules(project, name) {
  const manifest = JSON.parse(readFileSync(join(project, 'node_modules', name, 'package.json'), 'utf8'));
  const subpaths = Object.keys(manifest.exports).filter((subpath) => !subpath.endsWith('.json'));
  return subpaths.map((subpath) => name + subpath.slice(1));
}

/** @param {string} project @param {readonly string[]} specifiers */
function importEach(project, specifiers) {
  for (const specifier of specifiers) {
    run(project, process.execPath, ['--input-type=module', '-e', `await import(${JSON.stringify(specifier)});`]);
  }
  console.log(`imported ${specifiers.join(', ')}`);
}

/**
 * Compiles a file that touches the types of every subpath, as strictly as a user may. Complaints about the types of our dependencies
 * are not ours to mend.
 * @param {string} project @param {string} name @param {readonly string[]} specifiers
 */
function compileAgainst(project, name, specifiers) {
  const imports = specifiers.map((specifier, index) => `import * as module${index} from '${specifier}';\n`);
  const uses = specifiers.map((_, index) => `export const names${index}: string[] = Object.keys(module${index});\n`);
  writeFileSync(join(project, 'consumer.ts'), [...imports, ...uses].join(''));
  const require = createRequire(join(checkout, 'package.json'));
  const compilerOptions = {
    target: 'ES2023',
    lib: ['ES2023', 'ESNext.Disposable'],
    module: 'NodeNext',
    strict: true,
    exactOptionalPropertyTypes: true,
    noUncheckedIndexedAccess: true,
    noEmit: true,
    skipLibCheck: false,
    typeRoots: [dirname(dirname(require.resolve('@types/node/package.json')))],
    types: ['node'],
  };
  writeFileSync(join(project, 'tsconfig.json'), JSON.stringify({ compilerOptions, files: ['consumer.ts'] }));
  const compiler = require.resolve('typescript/bin/tsc');
  const { stdout, status, error } = attempt(project, process.execPath, [compiler, '-p', 'tsconfig.json', '--pretty', 'false']);
  const complaints = stdout.split('\n').filter((line) => /error TS\d+/.test(line));
  const ours = complaints.filter((line) => !line.startsWith('node_modules/') || line.startsWith(`node_modules/${name}/`));
  if (ours.length > 0) throw new Error(`a user cannot compile against the package:\n${ours.join('\n')}`);
  if (status !== 0 && complaints.length === 0) throw new Error(`the compiler did not run: ${error?.message ?? stdout}`);
  console.log('compiled against its types');
}

/** @param {string} project */
function useCommandLine(project) {
  const help = run(project, 'npx', ['--no-install', 'wakechart', '--help']);
  if (!/usage/i.test(help)) throw new Error(`wakechart --help does not show its usage:\n${help}`);
  console.log('ran wakechart --help');
  run(project, 'npx', ['--no-install', 'wakechart', 'demo']);
  console.log('ran wakechart demo');
}

try {
  const project = join(workplace, 'project with a space');
  mkdirSync(project);
  const { name } = JSON.parse(readFileSync(join(checkout, 'package.json'), 'utf8'));
  install(project, pack());
  const specifiers = publishedModules(project, name);
  importEach(project, specifiers);
  compileAgainst(project, name, specifiers);
  useCommandLine(project);
} catch (error) {
  console.error(error instanceof Error ? error.message : error);
  process.exitCode = 1;
} finally {
  rmSync(workplace, { recursive: true, force: true });
}
