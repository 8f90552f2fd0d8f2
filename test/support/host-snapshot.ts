/**
 * A program of which hundreds are started to be killed: it is loaded once, and every process begins from that memory.
 * What such a process runs is what it would have loaded from dist/, a few hundred files, in a fifth of the time.
 */
import { execFile } from 'node:child_process';
import { rm, mkdtemp } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { rolldown } from 'rolldown';
import type { Plugin } from 'rolldown';

const DIST = fileURLToPath(new URL('../../dist/', import.meta.url));
const ENTRY = '\0host';

/**
 * Modules of Node that cannot be part of a snapshot, or of which Node does not say so: each is loaded by the process
 * that begins from it, when it first asks one for something.
 */
const LAZY_MODULES = `const requireNow = require;
require = (name) => {
  if (!/^node:(?:child_process|dns|http|https|inspector|module|readline|tls|tty|worker_threads)(?:\\/|$)/.test(name))
    return requireNow(name);
  return new Proxy({}, { get: (_target, key) => requireNow(name)[key] });
};`;

/** zod writes and compiles code for every schema that is asked twice, which pays when it is asked a thousand times. */
const ZOD_WITHOUT_COMPILER = 'globalThis.__zod_globalConfig = { jitless: true };';

/**
 * For a process that lives for a tenth of a second, and takes a third less of it so: all code is in the memory that it
 * begins from, which it takes as it is, and no time goes into making it faster.
 */
const FLAGS = ['--no-lazy', '--no-opt', '--no-sparkplug', '--single-threaded', '--no-rehash-snapshot'];

/** That memory comes in large pages where the system has them, not in thousands of small ones. */
const LARGE_PAGES = { GLIBC_TUNABLES: 'glibc.malloc.hugetlb=1' };

export interface HostSnapshot {
  /** What `node` is started with before the arguments of the host itself. */
  readonly parameters: readonly string[];
  /** For its environment, beside what is there. */
  readonly variables: Readonly<Record<string, string>>;
  remove(): Promise<void>;
}

/**
 * @param host absolute path of a module that exports `main(load)`: it asks `load` for files of dist/, and finds its
 *   arguments in `process.argv` from the third on
 * @param loads which files of dist/ it may ask for
 * @param without packages that these import when they are asked for what the host never asks for
 */
export async function hostSnapshot(
  host: string,
  loads: readonly string[],
  without: readonly string[] = [],
): Promise<HostSnapshot> {
  const folder = await mkdtemp(join(tmpdir(), 'host-'));
  const program = join(folder, 'host.cjs');
  const memory = join(folder, 'host.blob');
  await bundle(program, { host, loads, without });
  await promisify(execFile)(process.execPath, [...FLAGS, '--snapshot-blob', memory, '--build-snapshot', program]);
  return {
    // Without a script of its own, Node would take the first argument for one.
    parameters: [...FLAGS, '--snapshot-blob', memory, host],
    variables: LARGE_PAGES,
    remove: () => rm(folder, { recursive: true, force: true }),
  };
}

async function bundle(
  program: string,
  {
    host,
    loads,
    without,
  }: { readonly host: string; readonly loads: readonly string[]; readonly without: readonly string[] },
): Promise<void> {
  const bundled = await rolldown({
    input: ENTRY,
    platform: 'node',
    logLevel: 'silent',
    plugins: [entryOf(host, loads)],
    external: (id) => without.some((name) => id === name || id.startsWith(`${name}/`)),
    // The same code as the CommonJS that Node is given of it, of which only what is used is taken.
    resolve: {
      alias: { rxjs: join(dirname(createRequire(import.meta.url).resolve('rxjs/package.json')), 'dist/esm/index.js') },
    },
  });
  try {
    // Without what only people read: the text is part of the memory.
    const minify = { compress: false, mangle: false, codegen: true };
    const intro = `${ZOD_WITHOUT_COMPILER}\n${LAZY_MODULES}`;
    await bundled.write({ file: program, format: 'cjs', codeSplitting: false, intro, minify });
  } finally {
    await bundled.close();
  }
}

/** Everything is loaded while the snapshot is made, and the host begins when a process does. */
function entryOf(host: string, loads: readonly string[]): Plugin {
  const text = [
    "import { startupSnapshot } from 'node:v8';",
    `import { main } from ${JSON.stringify(host)};`,
    ...loads.map((path, index) => `import * as loaded${index} from ${JSON.stringify(join(DIST, path))};`),
    `const loaded = { ${loads.map((path, index) => `${JSON.stringify(path)}: loaded${index}`).join(', ')} };`,
    'const load = (path) => {',
    "  if (loaded[path] === undefined) throw new Error('not in the snapshot: ' + path);",
    '  return loaded[path];',
    '};',
    'startupSnapshot.setDeserializeMainFunction(() => {',
    // As for a module that awaits at its top: a host whose work never ends, with nothing left to wait for, has failed.
    '  process.exitCode = 13;',
    '  main(load).then(',
    '    () => { process.exitCode = 0; },',
    '    (error) => { console.error(error); process.exitCode = 1; },',
    '  );',
    '});',
  ].join('\n');
  return {
    name: 'host',
    resolveId: (id) => (id === ENTRY ? id : undefined),
    load: (id) => (id === ENTRY ? text : undefined),
  };
}
