/**
 * What git has begun in a checkout and not ended, as the files tell that git leaves for itself. No program is run, so it
 * costs little enough to be asked of many folders.
 */
import { lstat } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import type { FolderDifference } from '../../actors/inspection/folder-changes.ts';
import { plainContent } from './private-git.ts';

type FolderWork = NonNullable<FolderDifference['underWay']>;

const MAX_LINK_BYTES = 8_192;
const MAX_MESSAGE_BYTES = 256 * 1024;
const MOST_FILES = 100;

/** A rebase has heads of the others while it goes on. */
const SIGNS = [
  ['rebase-merge', 'rebase'],
  ['rebase-apply', 'rebase'],
  ['MERGE_HEAD', 'merge'],
  ['CHERRY_PICK_HEAD', 'cherry-pick'],
  ['REVERT_HEAD', 'revert'],
] as const satisfies readonly (readonly [string, FolderWork['what']])[];

/** @param folder the root of a checkout */
export async function workUnderWay(folder: string): Promise<FolderWork | undefined> {
  try {
    const gitFolder = await gitFolderOf(folder);
    const what = await whatIsUnderWay(gitFolder);
    if (what === undefined) return undefined;
    const message = await plainContent(join(gitFolder, 'MERGE_MSG'), MAX_MESSAGE_BYTES);
    return { what, files: conflictsIn(String(message ?? '')) };
  } catch {
    // There is no checkout.
    return undefined;
  }
}

/** @param gitFolder that of the checkout */
export async function whatIsUnderWay(gitFolder: string): Promise<FolderWork['what'] | undefined> {
  for (const [name, what] of SIGNS) if (await isThere(join(gitFolder, name))) return what;
  return undefined;
}

/** How the log of the checkout names what was finished. */
const FINISHED = [
  [/^commit \(merge\):/, 'merge'],
  [/^rebase (?:\S+ )?\(finish\)/, 'rebase'],
  [/^commit \(cherry-pick\):/, 'cherry-pick'],
  [/^revert:/, 'revert'],
] as const satisfies readonly (readonly [RegExp, FolderWork['what']])[];
const MAX_LOG_BYTES = 4 * 1024 * 1024;

/** What was finished last, at or after `sinceMs`; git keeps whole seconds. @param folder the root of a checkout */
export async function workFinished(folder: string, sinceMs: number): Promise<FolderWork['what'] | undefined> {
  try {
    const log = await plainContent(join(await gitFolderOf(folder), 'logs/HEAD'), MAX_LOG_BYTES);
    const last =
      String(log ?? '')
        .trimEnd()
        .split('\n')
        .at(-1) ?? '';
    const { seconds, said = '' } = /> (?<seconds>\d+) [+-]\d{4}\t(?<said>.*)$/.exec(last)?.groups ?? {};
    if (!(Number(seconds) >= Math.floor(sinceMs / 1000))) return undefined;
    return FINISHED.find(([sign]) => sign.test(said))?.[1];
  } catch {
    // There is no checkout.
    return undefined;
  }
}

async function isThere(path: string): Promise<boolean> {
  return lstat(path).then(
    () => true,
    () => false,
  );
}

async function gitFolderOf(folder: string): Promise<string> {
  const path = join(folder, '.git');
  if ((await lstat(path)).isDirectory()) return path;
  const link = String((await plainContent(path, MAX_LINK_BYTES)) ?? '');
  return resolve(folder, /^gitdir: (?<named>.+)\n?$/.exec(link)?.groups?.['named'] ?? path);
}

/** As git lists them beneath the message that it has prepared. */
export function conflictsIn(message: string): readonly string[] {
  const [, listed = ''] = message.split(/^# Conflicts:$/m);
  const files: string[] = [];
  for (const line of listed.split('\n').slice(1)) {
    const { path } = /^#\t(?<path>.+)$/.exec(line)?.groups ?? {};
    if (path === undefined || files.length >= MOST_FILES) break;
    files.push(path);
  }
  return files;
}
