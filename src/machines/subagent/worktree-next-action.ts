/**
 * What to do with a worktree as it was found, as a sentence with a command that works when it is pasted into a POSIX
 * shell.
 */
import type { WorktreeFinding, WorktreeFindingKind } from './worktree-findings.ts';

export interface WorktreePlaces {
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

/** For one that no agent has worked in yet. */
export function firstNextAction(place: WorktreePlaces): string {
  return `Nothing has been done in it yet. What is committed there comes home with: ${mergeCommand(place)}`;
}

/** For what `findings` say; undefined when they say nothing. */
export function worktreeNextAction(place: WorktreePlaces, findings: readonly WorktreeFinding[]): string | undefined {
  if (findings.length === 0) return undefined;
  const kinds = new Set(findings.map(({ kind }) => kind));
  if (place.isMerged === true && kinds.size === 1 && kinds.has('committed'))
    return `It is merged already. Remove it: wakechart worktree remove ${shellWord(place.id)}`;
  const sentences = [...beforeWork(place, kinds, findings), ...bringHome(place, kinds)];
  const lost = place.unreachable?.[0];
  if (kinds.has('unreachable_commit') && lost !== undefined) {
    sentences.push(
      `Give the commits that no branch has a name: git -C ${shellWord(place.repoRoot)} branch ${shellWord(`${place.branchName}-found`)} ${lost}`,
    );
  }
  if (sentences.length === 0)
    sentences.push(`Check it, and take from it what you need: cd ${shellWord(place.worktreePath)}`);
  const remove = `wakechart worktree remove ${shellWord(place.id)}`;
  return [...sentences, `Then remove it: ${remove}`, `If what is left in it is not needed: ${remove} --discard`].join(
    '\n',
  );
}

/**
 * What has to be checked first: what would be carried along wrongly, or left behind, if everything there was simply
 * committed.
 */
function beforeWork(
  place: WorktreePlaces,
  kinds: ReadonlySet<WorktreeFindingKind>,
  findings: readonly WorktreeFinding[],
): string[] {
  const folder = git(place.worktreePath);
  const pathsOf = (kind: WorktreeFindingKind): string => {
    const paths = findings.flatMap((finding) => (finding.kind === kind ? (finding.paths ?? []) : []));
    return paths.length === 0
      ? ''
      : ` (${paths.slice(0, SHOWN_PATHS).join(', ')}${paths.length > SHOWN_PATHS ? ', …' : ''})`;
  };
  const sentences: string[] = [];
  if (kinds.has('in_use')) sentences.push('A process still works in it: end that first.');
  // Before any command that would run them.
  if (holdsForeignSettings(kinds))
    sentences.push(
      'Run no git in it before you have checked the repositories that lie in it: "status", "add" and "diff" run programs that those name.',
    );
  if (kinds.has('operation'))
    sentences.push(
      `Something was begun there and not ended. Go on with it or give it up as git says, before anything is committed: ${folder} status`,
    );
  if (kinds.has('nested_repository'))
    sentences.push(
      `A repository of its own lies in it${pathsOf('nested_repository')}: move that out first. To commit its folder would keep a pointer to it and nothing of what is in it.`,
    );
  if (kinds.has('submodule'))
    sentences.push(`A submodule holds what was put there${pathsOf('submodule')}: move that out first.`);
  if (kinds.has('ignored'))
    sentences.push(`Copy out what git ignores and you want to keep${pathsOf('ignored')}: no commit takes it along.`);
  if (kinds.has('stashed'))
    sentences.push(`Take what was stashed back out: ${folder} stash pop ${shellWord(place.stash ?? 'stash@{0}')}`);
  return sentences;
}

/** Whether repositories lie in it whose settings are not those of the repository that it belongs to. */
function holdsForeignSettings(kinds: ReadonlySet<WorktreeFindingKind>): boolean {
  return kinds.has('nested_repository') || kinds.has('submodule');
}

/** Paths that a sentence names. */
const SHOWN_PATHS = 5;

/** The commands that bring the work into the repository. There is none while a pasted one would do harm. */
function bringHome(place: WorktreePlaces, kinds: ReadonlySet<WorktreeFindingKind>): string[] {
  const has = (wanted: ReadonlySet<WorktreeFindingKind>): boolean => [...kinds].some((kind) => wanted.has(kind));
  if (kinds.has('operation') || (holdsForeignSettings(kinds) && has(UNCOMMITTED))) return [];
  if (has(UNCOMMITTED)) return [`Commit what is there and merge it: ${commitCommand(place)} && ${mergeCommand(place)}`];
  if (!has(COMMITTED)) return [];
  return [
    `Merge what was committed: ${place.made === undefined ? mergeCommand(place) : `${git(place.repoRoot)} merge ${place.made}`}`,
  ];
}

function git(folder: string): string {
  return `git -C ${shellWord(folder)}`;
}

function commitCommand(place: WorktreePlaces): string {
  return `${git(place.worktreePath)} add -A && ${git(place.worktreePath)} commit -m ${shellWord(`Work of ${place.id}`)}`;
}

/** Of the branch that HEAD is on: an agent may have made one of its own. */
function mergeCommand(place: WorktreePlaces): string {
  if (place.headBranch === place.branchName) return `${git(place.repoRoot)} merge ${shellWord(place.headBranch)}`;
  // By its full name: what an agent called it could be an option.
  if (place.headBranch !== undefined)
    return `${git(place.repoRoot)} merge ${shellWord(`refs/heads/${place.headBranch}`)}`;
  if (place.head === undefined) return `${git(place.repoRoot)} merge ${shellWord(place.branchName)}`;
  // A commit made now moves a detached HEAD, so it is asked for only when the command runs.
  return `${git(place.repoRoot)} merge "$(${git(place.worktreePath)} rev-parse HEAD)"`;
}
