/**
 * What was committed on the checked-out branch since some work began, and the tree that everything is compared with to
 * see what has changed since.
 */
import type { FolderDifference, FolderCheck } from '../../actors/inspection/folder-changes.ts';
import { beginningOf } from '../../machines/cut-text.ts';
import { shownPath } from './git-command.ts';
import { GitFailure } from './worktree-errors.ts';

export interface CommitsSince
  extends Required<Pick<FolderDifference, 'since'>>, Pick<FolderDifference, 'commits' | 'commitCount'> {
  /** A commit, or the tree without files. */
  readonly base: string;
}

interface SinceQuestion extends Pick<FolderCheck, 'since' | 'begunAt'> {
  readonly head: string;
  /**
   * Those that changed something there are listed, where it is a part of the repository: nothing, or `--` and a folder.
   */
  readonly within: readonly string[];
  /** Its history was cut off somewhere. */
  readonly isShallow: boolean;
  /** When the object was written, in milliseconds since the epoch. Undefined: it has been packed since, or is not there. */
  readonly writtenAt: (id: string) => Promise<number | undefined>;
  /** Runs git and gives what it prints, a character for each byte. */
  readonly run: (command: readonly string[]) => Promise<string>;
}

/** More are counted, and not listed. */
const MAX_COMMITS = 20;
/** As many may have been made in the second in which the work began. */
const MAX_IN_A_SECOND = 20;
const MAX_SUBJECT_CHARACTERS = 1_000;
const MAX_SECONDS = 8.64e12;
/** By the length of the ids of the repository; git has it without its being stored. */
const EMPTY_TREE: Readonly<Record<number, string>> = {
  40: '4b825dc642cb6eb9a060e54bf8d69288fbee4904',
  64: '6ef19b41225c5369f1c104d45d8d85efa9b057b53b14b4b9b939dd74decc5321',
};
/** What a merge brought along is in the merge. */
const OF_BRANCH = ['rev-list', '--first-parent'];

/** Where the history cannot be followed, what is compared with is the newest commit, and nothing is said of others. */
export async function commitsSince(question: SinceQuestion): Promise<CommitsSince> {
  const { head } = question;
  const newest: CommitsSince = { base: head, since: `the newest commit, ${short(head)}` };
  try {
    const begin = await beginOf(question);
    return begin === undefined ? newest : { ...begin, ...(await listed(question, begin.base)) };
  } catch (error) {
    if (!(error instanceof GitFailure) || error.kind !== 'failed') throw error;
    return question.since === undefined ? newest : { base: question.since, since: madeFrom(question.since) };
  }
}

async function beginOf(question: SinceQuestion): Promise<CommitsSince | undefined> {
  const { head, since, begunAt, isShallow, run } = question;
  if (since !== undefined) return { base: since, since: madeFrom(since) };
  if (begunAt === undefined) return undefined;
  const before = await lastBefore(question, begunAt);
  if (before !== '') return { base: before, since: `the last commit before the session began, ${short(before)}` };
  if (!isShallow)
    return {
      base: EMPTY_TREE[head.length] ?? head,
      since: 'an empty folder: nothing was committed before the session began',
    };
  const oldest = (await run([...OF_BRANCH, '--max-parents=0', '--max-count=1', head])).trim();
  return oldest === ''
    ? undefined
    : { base: oldest, since: `the oldest commit that is here, ${short(oldest)}: the history before it was left out` };
}

/** The last commit of the branch that was there. Empty: none was. */
async function lastBefore({ head, writtenAt, run }: SinceQuestion, begunAt: number): Promise<string> {
  const second = Math.floor(begunAt / 1_000);
  const newest = await run([
    ...OF_BRANCH,
    `--max-count=${MAX_IN_A_SECOND}`,
    '--timestamp',
    `--min-age=${second}`,
    head,
  ]);
  for (const line of newest.trim().split('\n')) {
    const [seconds = '', id = ''] = line.split(' ');
    // Commits know the second. One of the same second was there, unless its file says that it was written later.
    if (Number(seconds) < second || ((await writtenAt(id)) ?? -Infinity) <= begunAt) return id;
  }
  return '';
}

async function listed(
  { head, within, run }: SinceQuestion,
  base: string,
): Promise<Pick<FolderDifference, 'commits' | 'commitCount'>> {
  if (base === head) return { commits: [], commitCount: 0 };
  // A tree leads to no commits that could be left out.
  const range = [head, ...(base === EMPTY_TREE[head.length] ? [] : [`^${base}`]), ...within];
  const count = Number((await run([...OF_BRANCH, '--count', ...range])).trim());
  const output = await run([
    ...OF_BRANCH,
    `--max-count=${MAX_COMMITS}`,
    '--encoding=UTF-8',
    '--format=%ct %s',
    ...range,
  ]);
  const commits = [...output.matchAll(/^commit (?<hash>[\da-f]{40,64})\n(?<seconds>\d+) (?<subject>.*)$/gm)].map(
    ({ groups }) => ({
      hash: groups?.['hash'] ?? '',
      subject: beginningOf(shownPath(groups?.['subject'] ?? ''), MAX_SUBJECT_CHARACTERS),
      at: new Date(Math.min(Number(groups?.['seconds']), MAX_SECONDS) * 1_000).toISOString(),
    }),
  );
  return { commits, commitCount: count };
}

function madeFrom(commit: string): string {
  return `the commit that it was made from, ${short(commit)}`;
}

function short(commit: string): string {
  return commit.slice(0, 10);
}
