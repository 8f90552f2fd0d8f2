/** What to do with a worktree as it was found, as a sentence with a command that works when it is pasted into a POSIX shell. */
import type { WorktreeFinding, WorktreeFindingKind } from './worktree-findings.ts';

export interface WorktreeWhereabouts {
  readonly id: string;
  /** The checkout in which the work is to arrive. */
  readonly repoRoot: string;
  readonly worktreePath: string;
  readonly branchName: string;
  /** The branch that HEAD names, if it names one; undefined when it is detached or cannot be told. */
  readonly headBranch?: string | undefined;
  /** The commit that HEAD names. */
  readonly head?: string | undefined;
  /** It has commits, and other branches have all of them. */
  readonly isMerged?: boolean | undefined;
  /** Commits that no reference names, newest first. */
  readonly unreachable?: readonly string[] | undefined;
  /** A commit that was made in it and that another branch has. */
  readonly made?: string | undefined;
  /** The first stash entry that is its own, such as `stash@{0}`. */
  readonly stash?: string | undefined;
}

/** `text` as one word of a POSIX shell. */
export function shellWord(text: string): string {
  return /^[\w@%+=:,./-]+$/.test(text) && !text.startsWith('-') ? text : `'${text.replaceAll("'", String.raw`'\''`)}'`;
}

const UNCOMMITTED: ReadonlySet<WorktreeFindingKind> = new Set(['changed', 'staged', 'untracked']);
const COMMITTED: ReadonlySet<WorktreeFindingKind> = new Set(['committed', 'moved_branch']);

/** For one that nobody has worked in yet. */
export function firstNextAction(place: WorktreeWhereabouts): string {
  return `Nothing has been done in it yet. What is committed there comes home with: ${mergeCommand(place)}`;
}

/** For what `findings` say; undefined when they say nothing. */
export function worktreeNextAction(place: WorktreeWhereabouts, findings: readonly WorktreeFinding[]): string | undefined {
  if (findings.length === 0) return undefined;
  const kinds = new Set(findings.map(({ kind }) => kind));
  if (place.isMerged === true && kinds.size === 1 && kinds.has('committed')) return `It is merged already. Remove it: wakechart worktree remove ${shellWord(place.id)}`;
  const has = (wanted: ReadonlySet<WorktreeFindingKind>): boolean => [...kinds].some((kind) => wanted.has(kind));
  const sentences: string[] = [];
  if (kinds.has('in_use')) sentences.push('A process still works in it: end that first.');
  if (kinds.has('operation')) sentences.push(`Look at what was begun there and not ended: ${git(place.worktreePath)} status`);
  if (kinds.has('stashed')) sentences.push(`Take what was stashed back out: ${git(place.worktreePath)} stash pop ${shellWord(place.stash ?? 'stash@{0}')}`);
  if (has(UNCOMMITTED)) sentences.push(`Commit what is there and merge it: ${commitCommand(place)} && ${mergeCommand(place)}`);
  else if (has(COMMITTED)) sentences.push(`Merge what was committed: ${place.made === undefined ? mergeCommand(place) : `${git(place.repoRoot)} merge ${place.made}`}`);
  const lost = place.unreachable?.[0];
  if (kinds.has('unreachable_commit') && lost !== undefined) {
    sentences.push(`Give the commits that no branch has a name: git -C ${shellWord(place.repoRoot)} branch ${shellWord(`${place.branchName}-found`)} ${lost}`);
  }
  if (sentences.length === 0) sentences.push(`Look at it, and take from it what you need: cd ${shellWord(place.worktreePath)}`);
  sentences.push(`When nothing of it is needed any more: wakechart worktree remove ${shellWord(place.id)} --discard`);
  return sentences.join('\n');
}

function git(folder: string): string {
  return `git -C ${shellWord(folder)}`;
}

function commitCommand(place: WorktreeWhereabouts): string {
  return `${git(place.worktreePath)} add -A && ${git(place.worktreePath)} commit -m ${shellWord(`Work of ${place.id}`)}`;
}

/** Of the branch that HEAD is on: an agent may have made one of its own. */
function mergeCommand(place: WorktreeWhereabouts): string {
  if (place.headBranch === place.branchName) return `${git(place.repoRoot)} merge ${shellWord(place.headBranch)}`;
  // By its full name: what an agent called it could be an option.
  if (place.headBranch !== undefined) return `${git(place.repoRoot)} merge ${shellWord(`refs/heads/${place.headBranch}`)}`;
  if (place.head === undefined) return `${git(place.repoRoot)} merge ${shellWord(place.branchName)}`;
  // A commit made now moves a detached HEAD, so it is asked for only when the command runs.
  return `${git(place.repoRoot)} merge "$(${git(place.worktreePath)} rev-parse HEAD)"`;
}
