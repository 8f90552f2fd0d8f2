/** Whether commits could be lost: where HEAD and branch are, what only their histories name, and what was stashed. */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import * as z from 'zod';
import type { WorktreeFinding } from '../../machines/subagent/worktree-findings.ts';
import type { WorktreeRecord } from '../../machines/subagent/worktree-record.ts';
import { namesIn } from '../system/whole-files.ts';
import { bytesOf } from './git-command.ts';
import { headOf, tipOf } from './head.ts';
import type { ReflogEntry } from './reflog.ts';
import { readReflog, stashesSince } from './reflog.ts';
import type { WorktreeContext } from './worktree-context.ts';
import { gitBeside, gitDirectoryOf, MARKER } from './worktree-context.ts';

// Branches that go when the worktrees go which they were made for: what only they have is not safe yet.

const markSchema = z.object({ branchName: z.string().min(1) });

/** Those of all worktrees of its repository, whichever home they belong to, but its own. */
async function passingBranches(
  { records }: WorktreeContext,
  { id, commonDirectory, branchName }: WorktreeRecord,
): Promise<readonly string[]> {
  const others = (await records.list()).records.filter(
    (record) => record.id !== id && record.commonDirectory === commonDirectory,
  );
  const folder = join(commonDirectory, 'worktrees');
  const names = await namesIn(folder);
  const marked = await Promise.all(names.map(async (name) => markedBranch(join(folder, name, MARKER))));
  return [...new Set([...others.map((record) => record.branchName), ...marked.flatMap((name) => name ?? [])])].filter(
    (name) => name !== branchName,
  );
}

/** Undefined where none of ours has said whose it is. */
async function markedBranch(path: string): Promise<string | undefined> {
  try {
    return markSchema.safeParse(JSON.parse(await readFile(path, 'utf8'))).data?.branchName;
  } catch {
    return undefined;
  }
}

/** The HEADs of worktrees are no references that last: its own goes with it. */
const LASTING = ['--single-worktree', '--not'];

/** No person would read more. */
const MAX_COMMITS = 20;

export interface HistoryCheck {
  readonly findings: readonly WorktreeFinding[];
  readonly head?: string | undefined;
  readonly headBranch?: string | undefined;
  /** Of its own branch; undefined when that is gone. */
  readonly tip?: string | undefined;
  /** It has commits, and branches that last have all of them. */
  readonly isMerged?: boolean | undefined;
  readonly unreachable: readonly string[];
  readonly stash?: string | undefined;
  /** The newest commit that was made in it. */
  readonly elsewhere?: string | undefined;
}

export interface HistoryQuestion {
  readonly context: WorktreeContext;
  readonly record: WorktreeRecord;
  /** Named somewhere in git's own folder for it. */
  readonly commits: readonly string[];
  /** Commits that other branches have are nothing that could be lost. */
  readonly mergedIsFine: boolean;
}

export async function checkHistory({ context, record, commits, mergedIsFine }: HistoryQuestion): Promise<HistoryCheck> {
  const [{ head, headBranch }, tip, log, branchLog] = await Promise.all([
    headOf(context, record),
    tipOf(context, record),
    readReflog(join(gitDirectoryOf(record), 'logs', 'HEAD')),
    readReflog(join(record.commonDirectory, 'logs', 'refs', 'heads', ...record.branchName.split('/'))),
  ]);
  const findings: WorktreeFinding[] = [];
  if (headBranch !== record.branchName)
    findings.push({
      kind: 'moved_branch',
      text: headBranch === undefined ? `its HEAD is detached, at ${head}` : `its HEAD is on branch ${headBranch}`,
    });
  if (tip === undefined) findings.push({ kind: 'moved_branch', text: `its branch ${record.branchName} is gone` });
  let passing: Promise<readonly string[]> | undefined;
  const exceptPassing: ExceptPassing = async () =>
    (await (passing ??= passingBranches(context, record))).map((name) => `--exclude=refs/heads/${name}`);
  const { count, isWhole } = await countOwn(context, record, [head, tip], exceptPassing);
  const isMerged = count === 0 && isWhole;
  if (count !== undefined && !(mergedIsFine && isMerged))
    findings.push({ kind: 'committed', text: `it is not at the commit that it was made from: ${wordsOf(count)}` });
  const named = new Set([...commits, ...[...log, ...branchLog].flatMap(({ from, to }) => [from, to])]);
  const unreachable = await unreachableOf(context, record, [...named], exceptPassing);
  if (unreachable.length > 0) {
    findings.push({
      kind: 'unreachable_commit',
      text: `${unreachable.length === MAX_COMMITS ? 'at least ' : ''}${unreachable.length} ${unreachable.length === 1 ? 'commit' : 'commits'} that no branch has which lasts: ${unreachable.slice(0, 3).join(', ')}`,
    });
  }
  const elsewhere = strayCommit(record, log);
  if (!mergedIsFine && findings.length === 0 && elsewhere !== undefined)
    findings.push({ kind: 'committed', text: `commits were made in it that another branch has: ${elsewhere}` });
  const branches = new Set(
    [
      record.branchName,
      ...log.flatMap(
        ({ message }) => /^checkout: moving from (?<from>\S+) to (?<to>\S+)$/.exec(message)?.slice(1) ?? [],
      ),
    ].map((name) => bytesOf(name)),
  );
  const stashes = await stashesSince(record.commonDirectory, record.stashesBefore, branches);
  if (stashes.length > 0)
    findings.push({
      kind: 'stashed',
      text: `${stashes.length} stash ${stashes.length === 1 ? 'entry' : 'entries'} made since: ${stashes.map(({ name }) => name).join(', ')}`,
    });
  return { findings, head, headBranch, tip, isMerged, unreachable, stash: stashes[0]?.name, elsewhere };
}

/** The newest commit that was made in it, wherever it went; undefined when there is none. */
function strayCommit({ baseRevision }: WorktreeRecord, log: readonly ReflogEntry[]): string | undefined {
  return log.findLast(
    ({ to, message }) => to !== baseRevision && /^(?:commit|cherry-pick|revert|rebase|am|merge|pull)\b/.test(message),
  )?.to;
}

/**
 * Names branches of other worktrees to git as none that count. Those may be removed at this moment, counting on this
 * one.
 */
type ExceptPassing = () => Promise<readonly string[]>;

/**
 * How many commits are nowhere else, and whether all of it could be asked about; no count where it is where it began.
 */
async function countOwn(
  context: WorktreeContext,
  record: WorktreeRecord,
  at: readonly (string | undefined)[],
  exceptPassing: ExceptPassing,
): Promise<{ readonly count?: number | undefined; readonly isWhole: boolean }> {
  const moved = [...new Set(at.filter((commit) => commit !== undefined && commit !== record.baseRevision))] as string[];
  if (moved.length === 0) return { isWhole: true };
  const known = moved.filter((commit) => commit !== 'no commit');
  const own = await gitBeside(
    context,
    record,
    [
      'rev-list',
      `--max-count=${MAX_COMMITS}`,
      '--stdin',
      ...LASTING,
      ...(await exceptPassing()),
      `--exclude=refs/heads/${record.branchName}`,
      '--exclude=refs/stash',
      '--all',
    ],
    {
      input: known.map((commit) => `${commit}\n`).join(''),
    },
  );
  return { count: own.split('\n').filter((line) => line !== '').length, isWhole: known.length === moved.length };
}

function wordsOf(count: number): string {
  if (count === 0) return 'other branches have all that it has';
  return `${count === MAX_COMMITS ? 'at least ' : ''}${count} ${count === 1 ? 'commit' : 'commits'} that no other branch has`;
}

/** Of `commits`, with all that lead to them, those that no branch, tag or other reference names which lasts. */
async function unreachableOf(
  context: WorktreeContext,
  record: WorktreeRecord,
  commits: readonly string[],
  exceptPassing: ExceptPassing,
): Promise<readonly string[]> {
  const asked = commits.filter((commit) => commit !== record.baseRevision && !/^0+$/.test(commit));
  if (asked.length === 0) return [];
  const output = await gitBeside(
    context,
    record,
    [
      'rev-list',
      '--ignore-missing',
      `--max-count=${MAX_COMMITS}`,
      '--stdin',
      ...LASTING,
      ...(await exceptPassing()),
      '--all',
    ],
    {
      input: asked.map((commit) => `${commit}\n`).join(''),
    },
  );
  return output.split('\n').filter((line) => line !== '');
}
