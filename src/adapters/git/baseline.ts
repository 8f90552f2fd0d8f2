/** How a worktree was before its agent began: what is the same later is no work of it. */
import { lstat } from 'node:fs/promises';
import { join } from 'node:path';
import type { WorktreeRecord } from '../../machines/subagent/worktree-record.ts';
import { pause } from '../system/waiting.ts';
import { walkFolder } from './folder-walk.ts';
import type { FolderWalk } from './folder-walk.ts';
import { MARKER, gitDirectoryOf } from './worktree-context.ts';
import type { WorktreeContext } from './worktree-context.ts';
import type { Baseline } from './record-files.ts';
import { gitIn } from './private-git.ts';
import { readBytes } from './reflog.ts';
import { parseStatus } from './status-output.ts';

/**
 * Times of files advance in steps of the kernel's clock, 10 ms at most; file systems of old know whole seconds, or two.
 */
const STEP_MS = 12;
const COARSE_STEP_MS = 2100;
/** Bigger ones of git's own files are known by how they were last seen. */
const MAX_TEXT_BYTES = 65_536;

/** Reads everything, and returns when whatever is changed from then on shows another time. */
export async function takeBaseline(context: WorktreeContext, record: WorktreeRecord): Promise<Baseline> {
  const stats = await lstat(record.worktreePath, { bigint: true });
  const files = await walkFolder(record.worktreePath);
  const gitFiles = await walkFolder(gitDirectoryOf(record));
  const problem = files.problems[0] ?? gitFiles.problems[0];
  if (problem !== undefined) throw new Error(problem);
  const baseline: Baseline = {
    version: 1,
    root: `${stats.dev} ${stats.ino}`,
    files: signaturesOf(files),
    gitFiles: await contentsOf(gitDirectoryOf(record), gitFiles),
    changed: await changedBefore(context, record),
  };
  await untilTimesDiffer(files);
  return baseline;
}

function signaturesOf(walk: FolderWalk): Record<string, string> {
  // Without a prototype, so that no file name means anything else.
  const signatures = Object.create(null) as Record<string, string>;
  for (const [path, { kind, signature }] of walk.entries) if (kind !== 'folder') signatures[path] = signature;
  return signatures;
}

/** Small files by what is in them, the others by how they were last seen. */
export async function contentsOf(folder: string, walk: FolderWalk): Promise<Record<string, string>> {
  const contents = Object.create(null) as Record<string, string>;
  // In one order, whichever the disk answered in, so that two readings say the same.
  for (const [path, { kind, signature }] of [...walk.entries].sort(([one], [other]) => (one < other ? -1 : 1))) {
    if (kind === 'folder') continue;
    const isSmall = kind === 'file' && !isIndex(path) && Number(signature.split(' ')[0]) <= MAX_TEXT_BYTES;
    const text = isSmall ? await readBytes(join(folder, path)) : undefined;
    contents[path] = text === undefined ? signature : `=${text}`;
  }
  return contents;
}

export function isIndex(path: string): boolean {
  return path === 'index' || path.startsWith('sharedindex.');
}

/** Files are known by their signatures, so this only matters for what was staged: then the index was written again. */
async function changedBefore(context: WorktreeContext, record: WorktreeRecord): Promise<Record<string, string>> {
  const changed = Object.create(null) as Record<string, string>;
  if (await isIndexAsMade(context, record)) return changed;
  const output = await gitIn(context, record, [
    'status',
    '--porcelain=v2',
    '-z',
    '--untracked-files=no',
    '--ignore-submodules=dirty',
    '--no-renames',
  ]);
  for (const entry of parseStatus(output)) changed[entry.path] = entry.line;
  return changed;
}

/** The mark is written after the checkout, and after the hooks of git, which may stage something. */
async function isIndexAsMade({ runGitHooks }: WorktreeContext, record: WorktreeRecord): Promise<boolean> {
  const [index, mark] = await Promise.all(
    ['index', MARKER].map((name) => lstat(join(gitDirectoryOf(record), name), { bigint: true }).catch(() => undefined)),
  );
  return !runGitHooks && index !== undefined && mark !== undefined && index.ctimeNs < mark.ctimeNs;
}

async function untilTimesDiffer({ newestMs, isCoarse, entries }: FolderWalk): Promise<void> {
  if (entries.size === 0) return;
  const stepMs = isCoarse ? COARSE_STEP_MS : STEP_MS;
  const sinceMs = Date.now() - newestMs;
  if (sinceMs >= 0 && sinceMs < stepMs) await pause(stepMs - sinceMs);
}
