// @ts-check
/**
 * Puts what the package is entered through into few files, in place of what `tsc` made of the same sources: a start
 * reads ten of them instead of eight hundred. What is loaded on demand stays a file of its own. Lines
 * stay lines and functions keep their names: a stack trace must say what it says without a map.
 *
 * The entry points leave packages where they are, since a user's Observables and ours must be the same. The program
 * `wakechart` takes its own along, with their licenses. Its parts lie beside it, because it finds itself and its
 * package from where it lies. Usage: node scripts/bundle.mjs ROOT, which prints as JSON what it wrote: `{ [path
 * relative to ROOT/dist]: [sources, relative to ROOT] }`.
 */
import {
  existsSync,
  mkdirSync,
  readFileSync,
  readdirSync,
  realpathSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join, posix, relative, sep } from 'node:path';
import { argv, pid, stdout } from 'node:process';
import { rolldown } from 'rolldown';
import { entriesOf } from './entries.mjs';

/**
 * @typedef {{ readonly path: string, readonly text: string, readonly sources: readonly string[] }} Written
 *   `path` is relative to dist/, with forward slashes; `sources` are absolute.
 */

const PACKAGE_OF_FILE = /^(?<folder>.*[\\/]node_modules[\\/](?:@[^\\/]+[\\/])?[^\\/]+)[\\/]/;

/** What is neither a relative nor an absolute path. */
const PACKAGE = /^(?!\.|[\\/]|[a-z]:)/i;

/**
 * Whether a module stays outside of the program: whatever is installed only by those who use it. What our dependencies
 * bring along is taken along.
 * @param {readonly string[]} dependencies
 * @returns {(specifier: string, importer: string | undefined) => boolean}
 */
function optionalBeside(dependencies) {
  return (specifier, importer) => {
    const isOurs = importer === undefined || !PACKAGE_OF_FILE.test(importer);
    return (
      isOurs &&
      PACKAGE.test(specifier) &&
      !dependencies.some((name) => specifier === name || specifier.startsWith(`${name}/`))
    );
  };
}

/**
 * What Node is given of RxJS is CommonJS, of which all would be taken along; its modules are the same code.
 * @param {string} root
 */
function modulesOfRxjs(root) {
  try {
    const manifest = createRequire(join(root, 'package.json')).resolve('rxjs/package.json');
    return { rxjs: join(dirname(manifest), 'dist', 'esm', 'index.js') };
  } catch {
    // Not installed: whoever imports it will be told.
    return {};
  }
}

/** The text of the license of the package in `folder`, or what its manifest says of it. @param {string} folder */
function licenseOf(folder) {
  const { name, version, license } = /** @type {Record<string, string>} */ (
    JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'))
  );
  const files = readdirSync(folder)
    .filter((file) => /^(?:licen[cs]e|notice)/i.test(file))
    .toSorted();
  return [
    `${name} ${version} (${license})`,
    ...files.map((file) => readFileSync(join(folder, file), 'utf8').trim()),
  ].join('\n\n');
}

/**
 * A comment with the licenses of all packages that a file holds parts of. @param {{ readonly moduleIds: readonly
 * string[] }} chunk
 */
function licenses({ moduleIds }) {
  const folders = new Set(moduleIds.flatMap((id) => PACKAGE_OF_FILE.exec(id)?.groups?.['folder'] ?? []));
  if (folders.size === 0) return '';
  const texts = [...folders].toSorted().map(licenseOf);
  return `/*! Parts of this file come from these packages.\n\n${texts.join('\n\n---\n\n').replaceAll('*/', '* /')}\n*/`;
}

/**
 * @param {import('rolldown').InputOptions} input
 * @param {import('rolldown').OutputOptions & { readonly folder: string }} output
 * @returns {Promise<Written[]>}
 */
async function generate(input, { folder, ...output }) {
  const bundle = await rolldown({ platform: 'node', logLevel: 'silent', ...input });
  try {
    const { output: files } = await bundle.generate({ format: 'esm', minify: false, ...output });
    return files.flatMap((file) =>
      file.type === 'chunk'
        ? { path: posix.join(folder, file.fileName), text: file.code, sources: file.moduleIds }
        : [],
    );
  } finally {
    await bundle.close();
  }
}

/**
 * A start that reads a hundred small files takes a fifth longer than one that reads thirty: what is a part of most that
 * is loaded by itself lies in one file, and what needs Node in another. A program that imports errors only gets errors
 * only, since its bundler leaves out whole files.
 */
const MODULE_FILES = [
  { name: 'errors', test: /[\\/]src[\\/]machines[\\/]errors\.ts$/, priority: 2 },
  { name: 'common', test: /[\\/]src[\\/](?:machines|actors)[\\/]/, priority: 1, minShareCount: 6 },
  { name: 'node-common', minShareCount: 6 },
];
/** Names that no stack trace shows are short: a tenth less to download and to read. */
const LOCAL_NAMES = {
  compress: false,
  mangle: { toplevel: false, keepNames: true },
  codegen: { removeWhitespace: false },
};
/**
 * What every command loads, what those load beside it that read sessions, and those that run tasks, with all that each
 * imports: `session list` and `task run` start in four fifths of the time that they take where they load what only
 * wakes need. The rest that many share lies in one file. Apart lies what the thread of a worker loads that watches its
 * parent (see src/adapters/child-process/parent-guard.ts): nearly nothing.
 */
const PROGRAM_FILES = [
  { name: 'limits', test: /[\\/]src[\\/]machines[\\/]task[\\/](?:process-stat|resident-limit)\.ts$/, priority: 4 },
  { name: 'start', test: /[\\/]src[\\/]cli[\\/]command-line\.ts$/, priority: 3 },
  { name: 'sessions', test: /[\\/]src[\\/]cli[\\/](?:open[\\/]sessions|session[\\/]session)\.ts$/, priority: 2 },
  { name: 'tasks', test: /[\\/]src[\\/]cli[\\/]task[\\/]run\.ts$/, priority: 1 },
  { name: 'common', minShareCount: 16 },
];

/**
 * An entry beside the others that imports them all, and is not written: so nothing is a part of one entry alone, and
 * each only says in which files lies what it gives. Some bundlers of users leave out whole files, and no parts of them.
 */
const WHOLE = 'whole';

/** @param {readonly string[]} files @returns {import('rolldown').Plugin} */
const importsEach = (files) => ({
  name: 'imports-each',
  resolveId: (specifier) => (specifier === WHOLE ? WHOLE : undefined),
  load: (id) =>
    id === WHOLE
      ? files.map((file, index) => `export * as from${index} from ${JSON.stringify(file)};`).join('\n')
      : undefined,
});

/** @param {string} root @returns {Promise<Written[]>} */
async function bundleAll(root) {
  const { modules, programs, dependencies } = entriesOf(root);
  /** @param {string} entry */
  const sourceOf = (entry) => join(root, 'src', `${entry}.ts`);
  const written = [];
  if (modules.length > 0) {
    const input = Object.fromEntries(modules.map((entry) => [entry, sourceOf(entry)]));
    const files = await generate(
      {
        cwd: root,
        // Nothing of Node is added to what says that it runs anywhere.
        platform: 'neutral',
        input: { ...input, [WHOLE]: WHOLE },
        external: (specifier) => specifier !== WHOLE && PACKAGE.test(specifier),
        plugins: [importsEach(modules.map(sourceOf))],
      },
      {
        folder: '.',
        chunkFileNames: 'shared/[name].js',
        // What tells a bundler of users to leave an import alone stays.
        comments: { legal: false, annotation: true, jsdoc: false },
        minify: LOCAL_NAMES,
        codeSplitting: { groups: MODULE_FILES },
      },
    );
    written.push(...files.filter(({ path }) => path !== `${WHOLE}.js`));
  }
  if (programs.length > 0) {
    // What they share is there once, beside the first of them.
    const [first = ''] = programs;
    const input = Object.fromEntries(programs.map((program) => [program, sourceOf(program)]));
    const resolve = { alias: modulesOfRxjs(root) };
    const external = optionalBeside(dependencies);
    // Comments are a sixth of what a start has to read, and a stack trace shows none.
    const output = {
      folder: '.',
      chunkFileNames: `${first}.[name].js`,
      footer: licenses,
      minify: LOCAL_NAMES,
      comments: false,
      codeSplitting: { groups: PROGRAM_FILES },
    };
    written.push(...(await generate({ cwd: root, input, external, resolve }, output)));
  }
  return written;
}

/**
 * Whole or not at all, and untouched when it would not change: programs that run may be about to load it. @param
 * {string} path @param {string} text
 */
function replaceFile(path, text) {
  if (existsSync(path) && readFileSync(path, 'utf8') === text) return;
  const temporary = `${path}.${pid}.tmp`;
  try {
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(temporary, text);
    renameSync(temporary, path);
  } finally {
    rmSync(temporary, { force: true });
  }
}

const root = realpathSync(argv[2] ?? '.');
const ours = join(root, 'src') + sep;
const written = await bundleAll(root);
// What is entered comes last: until then, what is there finds the parts that it knows.
for (const { path, text } of written.toReversed()) replaceFile(join(root, 'dist', path), text);
/** @param {readonly string[]} sources */
const named = (sources) =>
  sources.filter((source) => source.startsWith(ours)).map((source) => relative(root, source).split(sep).join('/'));
stdout.write(JSON.stringify(Object.fromEntries(written.map(({ path, sources }) => [path, named(sources)]))));
