/**
 * Finds the program that forked workers run, from wherever this module lies: in the sources, in dist/, or in a bundle
 * in it.
 */
import { readFileSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { BackgroundTaskError } from '../../machines/task/task-error.ts';

const WORKER_FILE = 'subagent-worker.js';
const PACKAGE_NAME = 'wakechart';

/**
 * The path of the compiled worker of the installed package.
 * @param from the module to search from, as a file URL; only tests have a reason to give one
 * @throws BackgroundTaskError category `validation`, code SUBAGENT_WORKER_MISSING, when the package has not been built,
 * or a bundler took it apart
 */
export function getDefaultSubagentWorkerPath(from: string = import.meta.url): string {
  const root = packageAround(dirname(fileURLToPath(from)));
  const path = root === undefined ? undefined : join(root, 'dist', WORKER_FILE);
  if (path !== undefined && isFile(path)) return path;
  const what =
    path === undefined
      ? `no folder around ${fileURLToPath(from)} is the package ${PACKAGE_NAME}`
      : `${path} is not there`;
  throw new BackgroundTaskError('validation', `the program of subagent workers cannot be found: ${what}`, {
    code: 'SUBAGENT_WORKER_MISSING',
    hint: 'In a checkout, run "npm run build". In an application that was bundled, leave wakechart out of the bundle, or pass workerPath.',
  });
}

/** The folder of the installed package around `folder`; undefined where a bundler took it apart. */
export function packageAround(folder: string): string | undefined {
  if (nameOf(join(folder, 'package.json')) === PACKAGE_NAME) return folder;
  const above = dirname(folder);
  return above === folder ? undefined : packageAround(above);
}

function nameOf(manifest: string): unknown {
  try {
    const content: unknown = JSON.parse(readFileSync(manifest, 'utf8'));
    return typeof content === 'object' && content !== null && 'name' in content ? content.name : undefined;
  } catch {
    // There is none, or it is of another package and not for us to judge.
    return undefined;
  }
}

function isFile(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isFile() === true;
}
