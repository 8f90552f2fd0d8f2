/** Looks into the ignore files that rg obeys: what one of them takes back in is searched though it is hidden. */
import type { Dirent } from 'node:fs';
import { readdir } from 'node:fs/promises';
import { dirname, join, relative } from 'node:path';
import { takesInSecrets } from '../../machines/permission/hidden-files.ts';
import { LookFailed } from './look-failed.ts';
import { readSmallFile } from './what-lies-there.ts';

const IGNORE_FILES: ReadonlySet<string> = new Set(['.gitignore', '.ignore', '.rgignore']);
/** What is installed, and what git keeps: an ignore file there takes in nothing outside. */
const NOT_ENTERED: ReadonlySet<string> = new Set(['.git', 'node_modules']);
const MAX_FOLDERS = 20_000;
const MAX_BYTES = 262_144;

interface Place {
  /** Real paths, the first in or below the second. */
  readonly cwd: string;
  readonly workspace: string;
}

/** Why a search below the folder may show secrets, for people. @throws LookFailed when it cannot be told */
export async function ignoreFilesProblem({ cwd, workspace }: Place): Promise<string | undefined> {
  for (let folder = cwd; folder !== workspace && folder !== dirname(folder);) {
    folder = dirname(folder);
    const problem = await problemIn(folder, await readdir(folder, { withFileTypes: true }), workspace);
    if (problem !== undefined) return problem;
  }
  const folders = [cwd];
  for (let at = 0; at < folders.length; at += 1) {
    const folder = folders[at] ?? cwd;
    const entries = await readdir(folder, { withFileTypes: true });
    const problem = await problemIn(folder, entries, workspace);
    if (problem !== undefined) return problem;
    for (const entry of entries)
      if (entry.isDirectory() && !NOT_ENTERED.has(entry.name)) folders.push(join(folder, entry.name));
    if (folders.length > MAX_FOLDERS) throw new LookFailed(`there are more than ${MAX_FOLDERS} folders to search`);
  }
  return undefined;
}

async function problemIn(folder: string, entries: readonly Dirent[], workspace: string): Promise<string | undefined> {
  const places = entries.filter(({ name }) => IGNORE_FILES.has(name)).map(({ name }) => join(folder, name));
  if (entries.some((entry) => entry.name === '.git' && entry.isDirectory()))
    places.push(join(folder, '.git', 'info', 'exclude'));
  for (const place of places) {
    const what = relative(workspace, place);
    const bytes = await readSmallFile(place, { what, maxBytes: MAX_BYTES });
    const line = bytes
      ?.toString('utf8')
      .split(/\r?\n/)
      .find((each) => takesInSecrets(each));
    if (line !== undefined)
      return `${what} says "${line.trim()}", for which rg searches hidden files that may hold secrets`;
  }
  return undefined;
}
