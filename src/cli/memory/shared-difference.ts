/**
 * How what the sessions of an agent share differs: one version from another, or from what people have edited by hand
 * and no process has read yet.
 */
import { join } from 'node:path';
import { differenceOf } from '../../actors/memory/staged-differences.ts';
import type { SharedFilesStore } from '../../actors/memory/shared-files-store.ts';
import { NO_FILES, changedPaths } from '../../machines/memory/shared-files-version.ts';
import type { SharedFile } from '../../machines/memory/shared-files-version.ts';
import { SHARED_FILES_FOLDER, VERSIONS_FOLDER } from '../../machines/stored-names.ts';
import type { HomeLayout } from '../../adapters/files/layout.ts';
import { SharedFolder } from '../../adapters/shared-files/shared-folder.ts';
import { VersionFiles } from '../../adapters/shared-files/version-files.ts';
import type { CommandContext } from '../context.ts';
import { EXIT_SUCCESS } from '../failure.ts';
import { printable } from '../terminal/text.ts';
import { withMemory } from './stores.ts';

/** Characters of a difference that are shown at once. */
const MAX_DIFF_CHARACTERS = 1_000_000;

export interface DifferenceOptions {
  readonly agent: string;
  /** What it changed is shown. Absent: what lies in the folder. */
  readonly at: number | undefined;
  /** What it is compared with. Default: the version before; the newest one for the folder. */
  readonly against: number | undefined;
  /** Only these files. Default: all. */
  readonly paths?: readonly string[];
}

type Side = number | 'folder';

interface Difference {
  readonly agentId: string;
  readonly from: number;
  readonly to: Side;
  readonly diff: string;
}

export async function showDifference(
  context: CommandContext,
  { agent, at, against, paths }: DifferenceOptions,
): Promise<number> {
  const { out, json } = context;
  const difference = await withMemory(context, agent, async ({ sharedFiles }, agentId, layout): Promise<Difference> => {
    const { from, to } =
      at === undefined
        ? await byHand({ sharedFiles, agentId, layout, against })
        : await ofVersion({ sharedFiles, agentId, at, against });
    return { agentId, from: from.side, to: to.side, diff: await differenceBetween(from, to, paths) };
  });
  if (json) await out.document(difference);
  else if (difference.diff === '') await out.line(sameText(difference, paths));
  else for (const line of difference.diff.trimEnd().split('\n')) await out.line(printable(line));
  return EXIT_SUCCESS;
}

interface Sources {
  readonly sharedFiles: SharedFilesStore;
  readonly agentId: string;
  readonly against: number | undefined;
}

/** One of the two that are compared. */
interface Files<At extends Side = Side> {
  readonly side: At;
  readonly files: readonly SharedFile[];
  read(path: string): Promise<Uint8Array | undefined>;
}

interface Compared {
  readonly from: Files<number>;
  readonly to: Files;
}

async function ofVersion({ at, against = at - 1, ...where }: Sources & { readonly at: number }): Promise<Compared> {
  const to = await versionFiles(where, at);
  return { from: await versionFiles(where, against), to };
}

/** A store that is asked for the newest version takes over what was edited by hand; here that is to be seen before. */
async function byHand({
  sharedFiles,
  agentId,
  layout,
  against,
}: Sources & { readonly layout: HomeLayout }): Promise<Compared> {
  const directory = layout.agentDirectory(agentId);
  const versions = new VersionFiles(join(directory, VERSIONS_FOLDER));
  const folder = new SharedFolder(join(directory, SHARED_FILES_FOLDER), versions.directory);
  const from = await versionFiles({ sharedFiles, agentId }, against ?? (await versions.head()).version);
  const { isThere, files } = await folder.check();
  // One that was taken away is laid out again by the next wake: that is no edit.
  return {
    from,
    to: isThere ? { side: 'folder', files, read: (path) => folder.read(path) } : { ...from, side: 'folder' },
  };
}

async function versionFiles(
  { sharedFiles, agentId }: Pick<Sources, 'sharedFiles' | 'agentId'>,
  version: number,
): Promise<Files<number>> {
  if (version === 0) return { side: version, files: NO_FILES, read: () => Promise.resolve(undefined) };
  return {
    side: version,
    files: await sharedFiles.list(agentId, version),
    read: (path) => sharedFiles.read(agentId, path, version),
  };
}

async function differenceBetween(from: Files, to: Files, only: readonly string[] | undefined): Promise<string> {
  let text = '';
  for (const path of changedPaths(from.files, to.files).filter((each) => only?.includes(each) ?? true)) {
    text += differenceOf(
      path,
      await from.read(path),
      await to.read(path),
      Math.max(0, MAX_DIFF_CHARACTERS - text.length),
    );
  }
  return text;
}

function sameText({ from, to }: Difference, paths: readonly string[] | undefined): string {
  const what = paths === undefined ? 'the files' : paths.join(', ');
  if (to !== 'folder')
    return from === to - 1
      ? `Version ${to} did not change ${what}.`
      : `In versions ${from} and ${to} ${what} hold${paths === undefined ? '' : 's'} the same.`;
  return `In the folder ${what} ${paths === undefined ? 'are' : 'is'} as in version ${from}.`;
}
