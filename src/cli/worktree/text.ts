/** Worktrees in the words of the command line. */
import type { KeptWorktree } from '../../actors/subagent/worktree-adapter.ts';
import type { WorktreeFinding } from '../../machines/subagent/worktree-findings.ts';
import { nextCommand } from '../context.ts';
import type { CommandContext } from '../context.ts';
import type { Output } from '../terminal/output.ts';
import { fieldLines } from '../terminal/table.ts';
import { counted, durationText, localTime, oneLine, printable } from '../terminal/text.ts';

/** As much of a revision as people compare. */
const REVISION_CHARACTERS = 12;
/** Paths of one finding that are shown. */
const PATHS_SHOWN = 5;

/** Where values stand: behind the longest name, which is "session". */
const UNDER_VALUES = ' '.repeat(11);

/** What is known of a worktree, and what was found in it when it was checked last; `undefined` when it was not. */
export interface WorktreeText {
  readonly worktree: KeptWorktree;
  readonly findings: readonly WorktreeFinding[] | undefined;
  /** Printable. */
  readonly nextAction: string | undefined;
}

export function worktreeLines(
  { worktree, findings, nextAction }: WorktreeText,
  out: Pick<Output, 'styles'>,
  nowMs: number,
): string[] {
  const { id, jobId, key, branchName, baseRevision, repoRoot, worktreePath, parentStatus, createdAt } = worktree;
  const from = baseRevision === undefined ? '' : `, from ${baseRevision.slice(0, REVISION_CHARACTERS)}`;
  const fields = fieldLines(
    [
      ['job', `${printable(jobId)}, ${ageText(createdAt, nowMs)}`],
      ['session', sessionText(key)],
      ['path', printable(worktreePath)],
      ['branch', `${printable(branchName)}${from} in ${printable(repoRoot)}`],
      ['lacks', parentStatus === undefined ? undefined : oneLine(parentStatus)],
      ['holds', holdsText(findings)],
      ['next', nextAction],
    ],
    out,
  );
  return [
    `${out.styles.bold(printable(id))}  ${statusText(worktree)}`,
    ...fields.map((line) => `  ${line.replaceAll('\n', `\n${UNDER_VALUES}`)}`),
  ];
}

/** Whose work is in it: of an agent that was called, the session stands behind that of its caller. */
function sessionText(key: string | undefined): string | undefined {
  const [first, second] = (key ?? '').split('/');
  if (first === undefined || first === '') return undefined;
  return second === undefined ? printable(first) : `${printable(second)}, which works for ${printable(first)}`;
}

/** The state of the worktree, and whose turn it is. */
function statusText({ status, isOwned }: Pick<KeptWorktree, 'status' | 'isOwned'>): string {
  if (isOwned && status !== 'preserved') return `${status}: a job is at it`;
  return status === 'preserved' ? 'preserved: it waits for a person' : `${status}: the process that made it is gone`;
}

/** One line for each thing that could be lost. */
export function findingLines(findings: readonly WorktreeFinding[]): string[] {
  return findings.map(({ text, paths = [] }) => {
    const named = paths.filter((path) => !text.includes(path));
    const more = named.length > PATHS_SHOWN ? ` and ${named.length - PATHS_SHOWN} more` : '';
    return `${oneLine(text)}${
      named.length === 0
        ? ''
        : `: ${named
            .slice(0, PATHS_SHOWN)
            .map((path) => oneLine(path))
            .join(', ')}${more}`
    }`;
  });
}

/** What to do next, with commands of ours that also find the home that was named in this one. */
export function nextActionText(context: CommandContext, nextAction: string, id: string): string {
  return printable(nextAction).replaceAll(
    `wakechart worktree remove ${id}`,
    nextCommand(context, 'worktree', 'remove', id),
  );
}

function holdsText(findings: readonly WorktreeFinding[] | undefined): string {
  if (findings === undefined) return 'not checked yet';
  return findings.length === 0 ? 'nothing that would be lost' : findingLines(findings).join('\n');
}

/** `3 min 20 s ago`; days from two days on. */
function ageText(createdAt: string, nowMs: number): string {
  const ageMs = nowMs - Date.parse(createdAt);
  if (Number.isNaN(ageMs)) return localTime(createdAt);
  const days = Math.floor(ageMs / 86_400_000);
  return days >= 2 ? `${counted(days, 'day')} ago` : `${durationText(ageMs)} ago`;
}
