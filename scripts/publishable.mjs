// @ts-check
/** Before the package is published (`prepublishOnly`): says what it still lacks, and refuses. A dry run goes on. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

/**
 * @param {{ readonly version: string } & Readonly<Record<string, unknown>>} manifest of package.json
 * @param {string} changelog
 */
export function lackedForPublishing(manifest, changelog) {
  const lacked = [];
  if (manifest['repository'] === undefined)
    lacked.push(
      '"repository" in package.json, such as { "type": "git", "url": "git+https://HOST/OWNER/NAME.git" }: without it every link and picture of the README is dead on npm, and --provenance is refused',
    );
  for (const field of ['homepage', 'bugs'])
    if (manifest[field] === undefined) lacked.push(`"${field}" in package.json, of the same repository`);
  const heading = changelog.split('\n').find((line) => line.startsWith(`## [${manifest.version}]`));
  if (!/ - \d{4}-\d{2}-\d{2}$/.test(heading ?? ''))
    lacked.push(`the day in CHANGELOG.md: "## [${manifest.version}] - YYYY-MM-DD"`);
  return lacked;
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const root = join(fileURLToPath(import.meta.url), '../..');
  const read = (/** @type {string} */ name) => readFileSync(join(root, name), 'utf8');
  const lacked = lackedForPublishing(JSON.parse(read('package.json')), read('CHANGELOG.md'));
  for (const each of lacked) console.error(`not to be published without ${each}`);
  if (lacked.length > 0) console.error('See "A release" in CONTRIBUTING.md.');
  if (lacked.length > 0 && process.env['npm_config_dry_run'] !== 'true') process.exitCode = 1;
}
