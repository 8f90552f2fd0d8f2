// @ts-check
/**
 * Builds the page of the inspector into dist/inspector-page, unless it is there already, made of these very sources.
 */
import { existsSync, mkdirSync, readFileSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

/** What the page is made of, besides the packages that the lock file names. */
const SOURCES = [
  join('src', 'adapters', 'inspector-page'),
  join('src', 'machines'),
  join('src', 'adapters', 'diagram', 'theme.ts'),
  join('scripts', 'page.vite.config.ts'),
  'package-lock.json',
];

/**
 * Every file at or under a path, with what tells a change of it. @param {string} root @param {string} path @returns
 * {readonly string[]}
 */
function fingerprints(root, path) {
  const stats = statSync(join(root, path), { throwIfNoEntry: false });
  if (stats === undefined) return [`${path} missing`];
  if (stats.isDirectory())
    return readdirSync(join(root, path))
      .toSorted()
      .flatMap((name) => fingerprints(root, join(path, name)));
  return [`${path} ${stats.size} ${stats.mtimeMs}`];
}

/** @param {string} path */
function textOf(path) {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return undefined;
  }
}

/** Beside each file the same compressed, better than a server could in passing. @param {string} directory */
async function compress(directory) {
  const { default: zopfli } = await import('@gfx/zopfli');
  const files = readdirSync(directory, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
  for (const { name, parentPath } of files) {
    const path = join(parentPath, name);
    writeFileSync(`${path}.gz`, await zopfli.gzipAsync(readFileSync(path), { numiterations: 15 }));
  }
}

/**
 * @param {string} root the directory that holds src/
 * @returns {Promise<{ readonly ok: boolean, readonly output: string }>} `output` is empty where all went well
 */
export async function buildPage(root) {
  const source = join(root, 'src', 'adapters', 'inspector-page', 'index.html');
  if (!existsSync(source)) return { ok: true, output: '' };
  const inputs = SOURCES.flatMap((path) => fingerprints(root, path)).join('\n');
  const stamp = join(root, '.build', 'page.stamp');
  if (existsSync(join(root, 'dist', 'inspector-page', 'index.html')) && textOf(stamp) === inputs)
    return { ok: true, output: '' };
  // A build that is cut short must not pass for a whole one.
  rmSync(stamp, { force: true });
  // Tests that build it run with NODE_ENV=test, in which packages keep what they say to developers.
  const { NODE_ENV } = process.env;
  process.env['NODE_ENV'] = 'production';
  try {
    const { build } = await import('vite');
    await build({ configFile: join(root, 'scripts', 'page.vite.config.ts'), configLoader: 'runner' });
    await compress(join(root, 'dist', 'inspector-page'));
  } catch (error) {
    return {
      ok: false,
      output: `the page of the inspector could not be built:\n${error instanceof Error ? error.message : String(error)}`,
    };
  } finally {
    if (NODE_ENV === undefined) delete process.env['NODE_ENV'];
    else process.env['NODE_ENV'] = NODE_ENV;
  }
  mkdirSync(dirname(stamp), { recursive: true });
  writeFileSync(stamp, inputs);
  return { ok: true, output: '' };
}
