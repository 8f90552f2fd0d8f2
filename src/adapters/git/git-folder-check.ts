/**
 * What git's own folder for a worktree holds beyond what it was made with: merges and rebases under way, references and
 * modules of its own.
 */
import type { WorktreeFinding } from '../../machines/subagent/worktree-findings.ts';
import { contentsOf, isIndex } from './baseline.ts';
import type { FolderWalk } from './folder-walk.ts';
import { shownPath } from './git-command.ts';
import { MARKER } from './worktree-context.ts';
import type { Baseline } from './record-files.ts';
import { commitsIn } from './reflog.ts';

export interface GitFolderCheck {
  readonly findings: readonly WorktreeFinding[];
  /** Commits that it names anywhere. */
  readonly commits: readonly string[];
  readonly isIndexAsBefore: boolean;
}

/** Change with every use; what they name is searched for among the commits. */
const LIVING: ReadonlySet<string> = new Set([
  'HEAD',
  'index',
  'logs/HEAD',
  'ORIG_HEAD',
  'FETCH_HEAD',
  'COMMIT_EDITMSG',
  'gitdir',
  'AUTO_MERGE',
]);
/** What git, or this runtime, puts there when it makes one. */
const MADE_WITH: ReadonlySet<string> = new Set([
  'commondir',
  'locked',
  'config.worktree',
  'info/sparse-checkout',
  MARKER,
]);
/** Without them nothing that git says of it can be trusted. */
const NEEDED = ['HEAD', 'commondir', 'gitdir', 'index', 'logs/HEAD'];

const OPERATIONS: readonly (readonly [pattern: RegExp, what: string])[] = [
  [/^rebase-(?:merge|apply)\//, 'a rebase, or patches being applied'],
  [/^(?:MERGE_|SQUASH_MSG)/, 'a merge'],
  [/^CHERRY_PICK_HEAD/, 'a cherry-pick'],
  [/^REVERT_HEAD/, 'a revert'],
  [/^REBASE_HEAD/, 'a rebase'],
  [/^sequencer\//, 'a series of cherry-picks or reverts'],
  [/^(?:BISECT_|refs\/bisect\/)/, 'a bisection'],
  [/^refs\//, 'references of its own'],
  [/^logs\//, 'references of its own'],
  [/^NOTES_/, 'a merge of notes'],
  [/\.lock$/, 'a git that has not ended'],
];

export async function checkGitFolder(
  folder: string,
  walk: FolderWalk,
  baseline: Baseline | undefined,
): Promise<GitFolderCheck> {
  const contents = await contentsOf(folder, walk);
  const findings: WorktreeFinding[] = walk.problems.map((problem) => ({
    kind: 'unknown',
    text: `in git's own folder, ${problem}`,
  }));
  for (const name of NEEDED)
    if (contents[name] === undefined)
      findings.push({ kind: 'unknown', text: `git's own folder for it has no ${name}` });
  const modules = Object.keys(contents).filter(
    (path) => path.startsWith('modules/') && baseline?.gitFiles[path] !== contents[path],
  );
  if (modules.length > 0)
    findings.push({ kind: 'submodule', text: 'submodules were set up in it, and may have commits of their own' });
  findings.push(...operationsIn(contents, baseline), ...rewrittenIn(contents, baseline));
  const commits = Object.entries(contents).flatMap(([path, text]) =>
    isIndex(path) || !text.startsWith('=') ? [] : commitsIn(text),
  );
  return {
    findings,
    commits,
    isIndexAsBefore: baseline !== undefined && contents['index'] === baseline.gitFiles['index'],
  };
}

function operationsIn(contents: Readonly<Record<string, string>>, baseline: Baseline | undefined): WorktreeFinding[] {
  const found = new Map<string, string>();
  for (const [path, text] of Object.entries(contents)) {
    if (LIVING.has(path) || isIndex(path) || path.startsWith('modules/')) continue;
    if (baseline === undefined ? MADE_WITH.has(path) : baseline.gitFiles[path] === text) continue;
    const what =
      OPERATIONS.find(([pattern]) => pattern.test(path))?.[1] ??
      `something that git did not make it with (${shownPath(path)})`;
    if (!found.has(what)) found.set(what, path);
  }
  return [...found].map(([what, path]) => ({
    kind: 'operation',
    text: `in git's own folder for it there is ${what}: ${shownPath(path)}`,
  }));
}

/** A history only ever grows; one that does not go on from what it was hides commits. */
function rewrittenIn(contents: Readonly<Record<string, string>>, baseline: Baseline | undefined): WorktreeFinding[] {
  const before = baseline?.gitFiles['logs/HEAD'];
  if (before === undefined || contents['logs/HEAD']?.startsWith(before) === true) return [];
  return [
    {
      kind: 'unknown',
      text: 'the history of its HEAD was rewritten, and may have had commits that nothing names any more',
    },
  ];
}
