// @ts-check
/** What the package is entered through, as its manifest says. */
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/**
 * @typedef {{ readonly modules: readonly string[], readonly programs: readonly string[], readonly dependencies:
 * readonly string[] }} Entries What is imported and what is run, as paths under src/ and under dist/ alike, with
 * forward slashes and without the ending; and the names of the packages that are always installed with it.
 */

/**
 * @typedef {{ exports?: Record<string, string | { default?: string }>, bin?: Record<string, string>, programs?:
 * readonly string[], dependencies?: Record<string, string> }} Manifest `programs` are run by the package itself, and by
 * nobody else.
 */

const COMPILED = /^(?:\.\/)?dist\/(?<entry>.+)\.js$/;

/** @param {string} root @returns {Entries} only those whose source is there */
export function entriesOf(root) {
  const {
    exports = {},
    bin = {},
    programs = [],
    dependencies = {},
  } = /** @type {Manifest} */ (JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')));
  const targets = Object.values(exports).flatMap((target) =>
    typeof target === 'string' ? target : (target.default ?? []),
  );
  /** @param {readonly string[]} files */
  const known = (files) =>
    files
      .flatMap((file) => COMPILED.exec(file)?.groups?.['entry'] ?? [])
      .filter((entry) => existsSync(join(root, 'src', `${entry}.ts`)));
  return {
    modules: known(targets),
    programs: known([...Object.values(bin), ...programs]),
    dependencies: Object.keys(dependencies),
  };
}
