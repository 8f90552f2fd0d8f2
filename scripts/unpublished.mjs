// @ts-check
/**
 * Writes the .npmignore of each folder of dist/: what the tests of this project load from there and no user does. Users
 * load what the bundler wrote, and their compiler the declarations that lead from the entry points; browsers the page as
 * it is compressed.
 */
import { existsSync, readFileSync, readdirSync, writeFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { entriesOf } from './entries.mjs';

const IMPORTED = /(?:from |import\()['"](?<path>\.[^'"]+)['"]/g;

/** Of the page, which may be built after this is written. The server unpacks it for the few that take no gzip. */
const PAGE = ['inspector-page/*.*', 'inspector-page/assets/*'].flatMap((files) => [`/${files}`, `!/${files}.gz`]);

/** The declarations that a compiler reads for these. @param {readonly string[]} entries absolute */
function declarationsFrom(entries) {
  const reached = new Set();
  const waiting = [...entries];
  for (let file = waiting.pop(); file !== undefined; file = waiting.pop()) {
    if (reached.has(file) || !existsSync(file)) continue;
    reached.add(file);
    for (const { groups } of readFileSync(file, 'utf8').matchAll(IMPORTED))
      waiting.push(resolve(dirname(file), (groups?.['path'] ?? '').replace(/\.[jt]s$/, '.d.ts')));
  }
  return reached;
}

/**
 * A list in each folder, of what lies in it: npm holds every file against every line that may concern it, and took ten
 * seconds where one list named them all.
 * @param {string} root @param {ReadonlySet<string>} bundled what the bundler wrote, relative to dist/
 */
export function writeUnpublished(root, bundled) {
  const dist = join(root, 'dist');
  if (!existsSync(dist)) return;
  const declared = declarationsFrom(entriesOf(root).modules.map((entry) => join(dist, `${entry}.d.ts`)));
  const published = new Set([...declared, ...[...bundled].map((file) => join(dist, file))]);
  const folders = readdirSync(dist, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isDirectory())
    .map(({ parentPath, name }) => join(parentPath, name))
    .filter((folder) => !folder.startsWith(join(dist, 'inspector-page')));
  for (const folder of [dist, ...folders]) {
    const files = readdirSync(folder).filter(
      (name) => /\.(?:js|d\.ts)$/.test(name) && !published.has(join(folder, name)),
    );
    const lines = [...(folder === dist ? PAGE : []), ...files.map((name) => `/${name}`)];
    writeFileSync(join(folder, '.npmignore'), lines.map((line) => `${line}\n`).join(''));
  }
}
