/**
 * What lies in a worktree that its commit does not hold: changed, staged, hidden, untracked and ignored files, and
 * repositories of their own.
 */
import { createHash } from 'node:crypto';
import { readlink } from 'node:fs/promises';
import { Buffer } from 'node:buffer';
import type { WorktreeFinding, WorktreeFindingKind } from '../../machines/subagent/worktree-findings.ts';
import type { WorktreeRecord } from '../../machines/subagent/worktree-record.ts';
import type { FolderWalk, WalkedEntry } from './folder-walk.ts';
import { bytesOf, shownPath } from './git-command.ts';
import { headOf } from './head.ts';
import type { WorktreeContext } from './worktree-context.ts';
import type { Baseline } from './record-files.ts';
import { gitIn } from './private-git.ts';
import { parseIndex, parseStatus } from './status-output.ts';
import type { IndexEntry } from './status-output.ts';
import { GitFailure } from './worktree-errors.ts';

const SHOWN_PATHS = 5;
const SUBMODULE = '160000';
const LINK = '120000';

export interface FilesQuestion {
  readonly context: WorktreeContext;
  readonly record: WorktreeRecord;
  readonly place: string;
  readonly files: FolderWalk;
  readonly baseline: Baseline | undefined;
  /** It is being removed: files that are gone were seen before. */
  readonly missingIsFine: boolean;
}

/** @param isIndexAsBefore git's index is the one that the agent was given */
export async function checkFiles(
  question: FilesQuestion,
  isIndexAsBefore: boolean,
): Promise<readonly WorktreeFinding[]> {
  const { files, baseline } = question;
  if (isIndexAsBefore && baseline !== undefined && isAsBefore(files, baseline)) return [];
  const { context, record, place } = question;
  const { head } = await headOf(context, record);
  const [index, status] = await Promise.all([
    gitIn(context, record, ['ls-files', '-v', '--stage', '-z'], { place }),
    gitIn(
      context,
      record,
      ['status', '--porcelain=v2', '-z', '--untracked-files=no', '--ignore-submodules=dirty', '--no-renames'],
      { place, ...(isCommit(head) ? { head } : {}) },
    ),
  ]);
  const entries = parseIndex(index);
  return [
    ...changesIn(question, status),
    ...(await hiddenIn(question, entries)),
    ...(await strangersIn(question, entries)),
  ];
}

/** What is none leaves the commit that it was made from to be compared with: where HEAD is, is told elsewhere. */
function isCommit(head: string): boolean {
  return /^(?:[\da-f]{40}|[\da-f]{64})$/.test(head);
}

function isAsBefore(files: FolderWalk, { files: before }: Baseline): boolean {
  let count = 0;
  for (const [path, { kind, signature }] of files.entries) {
    if (kind === 'folder') continue;
    if (before[path] !== signature) return false;
    count += 1;
  }
  return count === Object.keys(before).length;
}

function changesIn({ files, baseline, missingIsFine }: FilesQuestion, status: string): WorktreeFinding[] {
  const staged: string[] = [];
  const changed: string[] = [];
  const inConflict: string[] = [];
  for (const { path, line, staged: inIndex, changed: inFile } of parseStatus(status)) {
    const signature = files.entries.get(path)?.signature;
    const isSameFile = signature !== undefined && baseline?.files[path] === signature;
    if (isSameFile && baseline?.changed[path] === line) continue;
    if (inIndex === 'U') inConflict.push(path);
    if (inIndex !== '.') staged.push(path);
    // Filters do not run here, so git may take a file for changed that it has just written itself.
    if (inFile !== '.' && !isSameFile && !(missingIsFine && inFile === 'D')) changed.push(path);
  }
  // No person has decided what they are to be: to commit them would commit the marks of the conflict.
  return [
    ...findingOf('operation', 'in conflict', inConflict),
    ...findingOf('staged', 'staged', staged),
    ...findingOf('changed', 'changed', changed),
  ];
}

/** Git was told not to check some files; those are compared here. */
async function hiddenIn(question: FilesQuestion, entries: readonly IndexEntry[]): Promise<WorktreeFinding[]> {
  const { files, baseline, missingIsFine } = question;
  const changed: string[] = [];
  const unsure: IndexEntry[] = [];
  for (const entry of entries) {
    if (entry.hidden === 'no' || entry.mode === SUBMODULE) continue;
    const seen = files.entries.get(entry.path);
    if (seen === undefined) {
      if (entry.hidden === 'assumed' && !missingIsFine) changed.push(entry.path);
    } else if (baseline?.files[entry.path] !== seen.signature) {
      if (isAlike(entry, seen) && !entry.path.includes('\n')) unsure.push(entry);
      else changed.push(entry.path);
    }
  }
  const ids = await contentIds(question, unsure);
  changed.push(...unsure.flatMap(({ path, objectId }, index) => (ids[index] === objectId ? [] : [path])));
  return findingOf('hidden_change', 'changed where git was told not to check', changed);
}

/** Whether it is the same kind of thing, with the same right to run. */
function isAlike({ mode }: IndexEntry, { kind, signature }: WalkedEntry): boolean {
  if (mode === LINK) return kind === 'link';
  const isProgram = (Number(signature.split(' ').at(-1)) & 0o100) !== 0;
  return kind === 'file' && isProgram === (mode === '100755');
}

/** What each would be called if it were added to the repository. */
async function contentIds(
  { context, record, place }: FilesQuestion,
  entries: readonly IndexEntry[],
): Promise<readonly string[]> {
  const ordinary = entries.filter(({ mode }) => mode !== LINK);
  const input = ordinary.map(({ path }) => `${path}\n`).join('');
  const output =
    ordinary.length === 0 ? '' : await gitIn(context, record, ['hash-object', '--stdin-paths'], { place, input });
  const ids = new Map(output.split('\n').map((id, index) => [ordinary[index]?.path, id]));
  return Promise.all(
    entries.map(async (entry) => (entry.mode === LINK ? linkId(place, entry) : (ids.get(entry.path) ?? ''))),
  );
}

async function linkId(place: string, { path, objectId }: IndexEntry): Promise<string> {
  const target = await readlink(Buffer.from(`${bytesOf(place)}/${path}`, 'latin1'), { encoding: 'buffer' });
  const hash = createHash(objectId.length === 64 ? 'sha256' : 'sha1');
  return hash.update(`blob ${target.length}\0`).update(target).digest('hex');
}

/** Files that the index does not name, and that were not there, or not like this, when the agent began. */
async function strangersIn(question: FilesQuestion, entries: readonly IndexEntry[]): Promise<WorktreeFinding[]> {
  const { files, baseline } = question;
  const known = new Set(entries.flatMap(({ mode, path }) => (mode === SUBMODULE ? [] : [path])));
  const submodules = new Set(entries.flatMap(({ mode, path }) => (mode === SUBMODULE ? [path] : [])));
  const groups = new Map<WorktreeFindingKind, string[]>([
    ['submodule', []],
    ['nested_repository', []],
    ['untracked', []],
  ]);
  for (const [path, { kind, signature }] of files.entries) {
    if (path === '.git' || kind === 'folder' || known.has(path) || baseline?.files[path] === signature) continue;
    const group = isBelow(path, submodules)
      ? 'submodule'
      : path.split('/').includes('.git')
        ? 'nested_repository'
        : 'untracked';
    groups.get(group)?.push(path);
  }
  const loose = groups.get('untracked') ?? [];
  const ignored = await ignoredOf(question, loose);
  return [
    ...findingOf('submodule', 'in a submodule', groups.get('submodule') ?? []),
    ...findingOf('nested_repository', 'of a repository inside it', groups.get('nested_repository') ?? []),
    ...findingOf(
      'untracked',
      'untracked',
      loose.filter((path) => !ignored.has(path)),
    ),
    ...findingOf(
      'ignored',
      'new or changed though ignored by git',
      loose.filter((path) => ignored.has(path)),
    ),
  ];
}

function isBelow(path: string, folders: ReadonlySet<string>): boolean {
  if (folders.size === 0) return false;
  for (let end = path.length; end > 0; end = path.lastIndexOf('/', end - 1))
    if (folders.has(path.slice(0, end))) return true;
  return false;
}

/** Only tells two kinds of finding apart: where git cannot say, they count as untracked. */
async function ignoredOf(
  { context, record, place }: FilesQuestion,
  paths: readonly string[],
): Promise<ReadonlySet<string>> {
  if (paths.length === 0) return new Set();
  try {
    const output = await gitIn(context, record, ['check-ignore', '-z', '--stdin'], {
      place,
      input: paths.map((path) => `${path}\0`).join(''),
    });
    return new Set(output.split('\0'));
  } catch (error) {
    if (error instanceof GitFailure) return new Set();
    throw error;
  }
}

/** None for no paths. */
function findingOf(kind: WorktreeFindingKind, what: string, paths: readonly string[]): WorktreeFinding[] {
  if (paths.length === 0) return [];
  // They were seen in the order in which the disk answered.
  const shown = [...paths]
    .sort()
    .slice(0, SHOWN_PATHS)
    .map((path) => shownPath(path));
  const rest = paths.length - shown.length;
  const names = shown.map((path) => JSON.stringify(path)).join(', ');
  return [
    {
      kind,
      text: `${paths.length} ${paths.length === 1 ? 'file' : 'files'} ${what}: ${names}${rest > 0 ? ` and ${rest} more` : ''}`,
      paths: shown,
    },
  ];
}
