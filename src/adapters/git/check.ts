/**
 * Searches for everything in a worktree that could be lost.
 *
 * Clean is what every check says so of. A check that fails is a finding too. What git says is checked by a walk of our
 * own, which knows of no settings: it sees every file, and whether it is as it was when the agent began.
 */
import { lstat } from 'node:fs/promises';
import { join } from 'node:path';
import type { WorktreeFinding, WorktreeInspection } from '../../machines/subagent/worktree-findings.ts';
import { worktreeNextAction } from '../../machines/subagent/worktree-next-action.ts';
import type { WorktreeRecord } from '../../machines/subagent/worktree-record.ts';
import { checkFiles } from './files-check.ts';
import { walkFolder } from './folder-walk.ts';
import type { FolderWalk } from './folder-walk.ts';
import { checkGitFolder } from './git-folder-check.ts';
import { checkHistory } from './history-check.ts';
import type { HistoryCheck } from './history-check.ts';
import { RUNTIME_FOLDER, gitDirectoryOf } from './worktree-context.ts';
import type { WorktreeContext } from './worktree-context.ts';
import { usersOf } from './processes-inside.ts';
import type { Baseline } from './record-files.ts';
import { readBytes } from './reflog.ts';
import { bytesOf } from './git-command.ts';
import { isGitFolderOf } from './undo-creation.ts';
import { saidBy } from './worktree-errors.ts';

export interface CheckOptions {
  /** Where its files lie now. Default: where they were made. */
  readonly place?: string | undefined;
  /** It was being removed: files that are gone were seen before. */
  readonly missingIsFine?: boolean | undefined;
  /** Commits that other branches have do not keep it. */
  readonly mergedIsFine?: boolean | undefined;
}

export interface WorktreeCheck {
  readonly inspection: WorktreeInspection;
  readonly files: FolderWalk;
  readonly gitFiles: FolderWalk;
  /** Of its branch; undefined when that is gone, or could not be found out. */
  readonly tip: string | undefined;
}

const NOTHING: FolderWalk = { entries: new Map(), root: undefined, problems: [], isCoarse: false, newestMs: 0 };
const NO_HISTORY: HistoryCheck = { findings: [], unreachable: [] };

export async function checkWorktree(
  context: WorktreeContext,
  record: WorktreeRecord,
  options: CheckOptions = {},
): Promise<WorktreeCheck> {
  const findings: WorktreeFinding[] = [];
  /** What cannot be found out is a finding. */
  const noted = async <Result>(what: string, check: Promise<Result>): Promise<Result | undefined> =>
    check.catch((error: unknown) => {
      findings.push({ kind: 'unknown', text: `${what} could not be found out: ${saidBy(error)}` });
      return undefined;
    });
  const place = options.place ?? record.worktreePath;
  const baseline = await context.records.readBaseline(record.id);
  // A process that had something of it open before it was moved aside could still write; none can open anything there
  // by its path.
  const users = (await noted('who is at work in it', usersOf(place))) ?? [];
  const isRoot = await noted(
    'whether its folder is the one that was made',
    checkRoot(record, place, baseline, findings),
  );
  // Before git is asked: what changes from now on differs from what is seen here.
  const files = isRoot === true ? ((await noted('what lies in it', walkFiles(record, place))) ?? NOTHING) : NOTHING;
  const gitFiles = (await noted("what lies in git's own folder", walkFolder(gitDirectoryOf(record)))) ?? NOTHING;
  findings.push(...files.problems.map((text): WorktreeFinding => ({ kind: 'unknown', text })));
  const folder = await noted("what git's own folder says", checkGitFolder(gitDirectoryOf(record), gitFiles, baseline));
  findings.push(...(folder?.findings ?? []));
  if (isRoot === true) {
    const question = { context, record, place, files, baseline, missingIsFine: options.missingIsFine === true };
    findings.push(...((await noted('what was changed', checkFiles(question, folder?.isIndexAsBefore === true))) ?? []));
  }
  const history =
    (await noted(
      'what was committed',
      checkHistory({ context, record, commits: folder?.commits ?? [], mergedIsFine: options.mergedIsFine === true }),
    )) ?? NO_HISTORY;
  findings.push(...history.findings);
  findings.push(...users.map((text): WorktreeFinding => ({ kind: 'in_use', text })));
  return { inspection: inspectionOf(record, findings, history), files, gitFiles, tip: history.tip };
}

function inspectionOf(
  record: WorktreeRecord,
  findings: readonly WorktreeFinding[],
  history: HistoryCheck,
): WorktreeInspection {
  const head = history.head === 'no commit' ? undefined : history.head;
  const { headBranch, isMerged, unreachable, stash, elsewhere } = history;
  // Where HEAD is back at the start, what was committed is on another branch.
  const made = headBranch === record.branchName && head === record.baseRevision ? elsewhere : undefined;
  const nextAction = worktreeNextAction({ ...record, head, headBranch, isMerged, unreachable, stash, made }, findings);
  return {
    isClean: findings.length === 0,
    findings,
    ...(head === undefined ? {} : { head }),
    ...(nextAction === undefined ? {} : { nextAction }),
  };
}

/** @returns whether there is a folder to be examined */
async function checkRoot(
  record: WorktreeRecord,
  place: string,
  baseline: Baseline | undefined,
  findings: WorktreeFinding[],
): Promise<boolean> {
  const odd = (text: string): void => {
    findings.push({ kind: 'unknown', text });
  };
  const stats = await lstat(place, { bigint: true }).catch(() => undefined);
  if (stats === undefined) odd(`its folder is not at ${place}: it was moved or deleted`);
  else if (!stats.isDirectory()) odd(`what is at ${place} is no folder any more`);
  else if (baseline !== undefined && baseline.root !== `${stats.dev} ${stats.ino}`)
    odd(`the folder at ${place} is not the one that was made`);
  if (!(await isGitFolderOf(record))) odd("git's own folder for it is gone, or belongs to another place");
  if (stats?.isDirectory() !== true) return false;
  const link = await readBytes(join(place, '.git')).catch(() => 'unreadable');
  const isLink = (await lstat(join(place, '.git')).catch(() => undefined))?.isFile() === true;
  if (!isLink || link !== bytesOf(`gitdir: ${gitDirectoryOf(record)}\n`))
    odd('its .git does not lead to the repository that it was made from any more');
  return true;
}

async function walkFiles(record: WorktreeRecord, place: string): Promise<FolderWalk> {
  const own = await runtimeFoldersIn(record, place);
  return walkFolder(place, new Set(own.map((path) => bytesOf(path))));
}

/** Paths from the root of the folders that the runtime itself wrote. Only what really is a folder is one. */
export async function runtimeFoldersIn({ subdirectory }: WorktreeRecord, place: string): Promise<readonly string[]> {
  const candidates = [
    ...new Set([RUNTIME_FOLDER, ...(subdirectory === '' ? [] : [`${subdirectory}/${RUNTIME_FOLDER}`])]),
  ];
  const found = await Promise.all(
    candidates.map(async (path) => (await lstat(join(place, path)).catch(() => undefined))?.isDirectory() === true),
  );
  return candidates.filter((_, index) => found[index] === true);
}
