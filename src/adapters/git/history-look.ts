/** Whether commits could be lost: where HEAD and branch are, what only their histories name, and what was stashed. */
import { join } from 'node:path';
import type { WorktreeFinding } from '../../machines/subagent/worktree-findings.ts';
import type { WorktreeRecord } from '../../machines/subagent/worktree-record.ts';
import { bytesOf } from './git-command.ts';
import { gitBeside, gitDirectoryOf } from './house.ts';
import type { WorktreeHouse } from './house.ts';
import { readReflog, stashesSince } from './reflog.ts';
import type { ReflogEntry } from './reflog.ts';
import { headOf, tipOf } from './head.ts';

/** The HEADs of worktrees are no references that last: its own goes with it. */
const LASTING = ['--single-worktree', '--not'];

/** More would not be read by anybody. */
const MAX_COMMITS = 20;

export interface HistoryLook {
  readonly findings: readonly WorktreeFinding[];
  readonly head?: string | undefined;
  readonly headBranch?: string | undefined;
  /** Of its own branch; undefined when that is gone. */
  readonly tip?: string | undefined;
  readonly unreachable: readonly string[];
  readonly stash?: string | undefined;
  /** The newest commit that was made in it. */
  readonly elsewhere?: string | undefined;
}

export interface HistoryQuestion {
  readonly house: WorktreeHouse;
  readonly record: WorktreeRecord;
  /** Named somewhere in git's own folder for it. */
  readonly commits: readonly string[];
  /** Commits that other branches have are nothing that could be lost. */
  readonly mergedIsFine: boolean;
}

export async function lookAtHistory({ house, record, commits, mergedIsFine }: HistoryQuestion): Promise<HistoryLook> {
  const [{ head, headBranch }, tip, log, branchLog] = await Promise.all([
    headOf(house, record),
    tipOf(house, record),
    readReflog(join(gitDirectoryOf(record), 'logs', 'HEAD')),
    readReflog(join(record.commonDirectory, 'logs', 'refs', 'heads', ...record.branchName.split('/'))),
  ]);
  const findings: WorktreeFinding[] = [];
  if (headBranch !== record.branchName) findings.push({ kind: 'moved_branch', text: headBranch === undefined ? `its HEAD is detached, at ${head}` : `its HEAD is on branch ${headBranch}` });
  if (tip === undefined) findings.push({ kind: 'moved_branch', text: `its branch ${record.branchName} is gone` });
  findings.push(...(await committed(house, record, [head, tip], mergedIsFine)));
  const named = new Set([...commits, ...[...log, ...branchLog].flatMap(({ from, to }) => [from, to])]);
  const unreachable = await unreachableOf(house, record, [...named]);
  if (unreachable.length > 0) {
    findings.push({ kind: 'unreachable_commit', text: `${unreachable.length === MAX_COMMITS ? 'at least ' : ''}${unreachable.length} commits that no branch has: ${unreachable.slice(0, 3).join(', ')}` });
  }
  const elsewhere = strayCommit(record, log);
  if (!mergedIsFine && findings.length === 0 && elsewhere !== undefined) findings.push({ kind: 'committed', text: `commits were made in it that another branch has: ${elsewhere}` });
  const branches = new Set([record.branchName, ...log.flatMap(({ message }) => /^checkout: moving from (?<from>\S+) to (?<to>\S+)$/.exec(message)?.slice(1) ?? [])].map((name) => bytesOf(name)));
  const stashes = await stashesSince(record.commonDirectory, record.stashesBefore, branches);
  if (stashes.length > 0) findings.push({ kind: 'stashed', text: `${stashes.length} stash ${stashes.length === 1 ? 'entry' : 'entries'} made since: ${stashes.map(({ name }) => name).join(', ')}` });
  return { findings, head, headBranch, tip, unreachable, stash: stashes[0]?.name, elsewhere };
}

/** The newest commit that was made in it, wherever it went; undefined when there is none. */
function strayCommit({ baseRevision }: WorktreeRecord, log: readonly ReflogEntry[]): string | undefined {
  return log.findLast(({ to, message }) => to !== baseRevision && /^(?:commit|cherry-pick|revert|rebase|am|merge|pull)\b/.test(message))?.to;
}

async function committed(house: WorktreeHouse, record: WorktreeRecord, at: readonly (string | undefined)[], mergedIsFine: boolean): Promise<WorktreeFinding[]> {
  const moved = [...new Set(at.filter((commit) => commit !== undefined && commit !== record.baseRevision))] as string[];
  if (moved.length === 0) return [];
  const known = moved.filter((commit) => commit !== 'no commit');
  const own = await gitBeside(house, record, ['rev-list', `--max-count=${MAX_COMMITS}`, '--stdin', ...LASTING, `--exclude=refs/heads/${record.branchName}`, '--exclude=refs/stash', '--all'], {
    input: known.map((commit) => `${commit}\n`).join(''),
  });
  const count = own.split('\n').filter((line) => line !== '').length;
  if (mergedIsFine && count === 0 && known.length === moved.length) return [];
  const what = count === 0 ? 'other branches have all that it has' : `${count === MAX_COMMITS ? 'at least ' : ''}${count} ${count === 1 ? 'commit' : 'commits'} that no other branch has`;
  return [{ kind: 'committed', text: `it is not at the commit that it was made from: ${what}` }];
}

/** Of `commits`, with all that lead to them, those that no branch, tag or other reference names. */
async function unreachableOf(house: WorktreeHouse, record: WorktreeRecord, commits: readonly string[]): Promise<readonly string[]> {
  const asked = commits.filter((commit) => commit !== record.baseRevision && !/^0+$/.test(commit));
  if (asked.length === 0) return [];
  const output = await gitBeside(house, record, ['rev-list', '--ignore-missing', `--max-count=${MAX_COMMITS}`, '--stdin', ...LASTING, '--all'], {
    input: asked.map((commit) => `${commit}\n`).join(''),
  });
  return output.split('\n').filter((line) => line !== '');
}
