// @ts-check
/**
 * Writes dist/.npmignore: what the tests of this project load from dist/ and no user does. Users load what the bundler
 * wrote, and their compiler the declarations that lead from the entry points; browsers the page as it is compressed.
 */
import { existsSync, readFileSync, readdirSync, writeFileSync } from 'node:fs';
import { dirname, join, relative, resolve, sep } from 'node:path';
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

/** @param {string} root @param {ReadonlySet<string>} bundled what the bundler wrote, relative to dist/ */
export function writeUnpublished(root, bundled) {
  const dist = join(root, 'dist');
  if (!existsSync(dist)) return;
  const declared = declarationsFrom(entriesOf(root).modules.map((entry) => join(dist, `${entry}.d.ts`)));
  const files = readdirSync(dist, { recursive: true, encoding: 'utf8' })
    .map((file) => relative(dist, join(dist, file)).split(sep).join('/'))
    .filter((file) => !file.startsWith('inspector-page/'))
    .filter((file) =>
      file.endsWith('.d.ts') ? !declared.has(join(dist, file)) : file.endsWith('.js') && !bundled.has(file),
    );
  const lines = [...PAGE, ...files.toSorted().map((file) => `/${file}`)];
  writeFileSync(join(dist, '.npmignore'), lines.map((line) => `${line}\n`).join(''));
}
