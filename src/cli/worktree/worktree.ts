/** `wakechart worktree list | show | adopt | remove`. */
import type { KeptWorktree, WorktreeStore } from '../../actors/subagent/worktree-adapter.ts';
import { RuntimeError } from '../../machines/errors.ts';
import type { WorktreeFinding, WorktreeInspection } from '../../machines/subagent/worktree-findings.ts';
import type { CommandContext } from '../context.ts';
import { nextCommand, textAsTyped } from '../context.ts';
import { EXIT_SUCCESS } from '../failure.ts';
import type { Output } from '../terminal/output.ts';
import { fieldLines } from '../terminal/table.ts';
import { counted, durationText, localTime, oneLine, printable, shellQuoted } from '../terminal/text.ts';
import { checkedWorktreeName, withWorktrees } from './worktrees.ts';

// Worktrees in the words of the command line.

/** As much of a revision as people compare. */
const REVISION_CHARACTERS = 12;
/** Paths of one finding that are shown. */
const PATHS_SHOWN = 5;

/** Where values stand: behind the longest name, which is "session". */
const UNDER_VALUES = ' '.repeat(11);

/** What is known of a worktree, and what was found in it when it was checked last; `undefined` when it was not. */
interface WorktreeText {
  readonly worktree: KeptWorktree;
  readonly findings: readonly WorktreeFinding[] | undefined;
  /** Printable. */
  readonly nextAction: string | undefined;
}

function worktreeLines(
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
function findingLines(findings: readonly WorktreeFinding[]): string[] {
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

/** It was checked, and the record says what there was. */
const CHECKED: ReadonlySet<KeptWorktree['status']> = new Set(['preserved', 'removing']);

export async function listWorktrees(context: CommandContext): Promise<number> {
  const { out, json, home } = context;
  const worktrees = await withWorktrees(context, (keeper) => keeper.list());
  if (json) await out.document({ worktrees });
  else if (worktrees.length === 0)
    await out.line(`No worktrees in ${home}: no job works in one, and none left work behind.`);
  else {
    for (const worktree of worktrees) {
      const isKnown = CHECKED.has(worktree.status);
      const nextAction = isKnown
        ? nextOf(context, worktree)
        : `Examine it: ${nextCommand(context, 'worktree', 'show', worktree.id)}`;
      await out.line(
        `${worktreeLines({ worktree, findings: isKnown ? worktree.findings : undefined, nextAction }, out, Date.now()).join('\n')}\n`,
      );
    }
    await out.line(
      `${counted(worktrees.length, 'worktree')}. To examine one as it is now: ${nextCommand(context, 'worktree', 'show', 'NAME')}`,
    );
  }
  return EXIT_SUCCESS;
}

export async function showWorktree(context: CommandContext, name: string): Promise<number> {
  const { out, json } = context;
  const asked = checkedWorktreeName(name);
  await withWorktrees(context, async (keeper) => {
    const worktree = await keeper.find(asked);
    const { isClean, findings, head, nextAction } = await keeper.inspect(worktree);
    const next = nextAction ?? worktree.nextAction;
    if (json)
      return out.document({
        ...worktree,
        isClean,
        findings,
        ...(head === undefined ? {} : { head }),
        ...(next === undefined ? {} : { nextAction: next }),
      });
    for (const line of worktreeLines(
      { worktree, findings, nextAction: isClean ? undefined : nextOf(context, worktree, nextAction) },
      out,
      Date.now(),
    ))
      await out.line(line);
    if (!worktree.isOwned) for (const line of choices(context, worktree, isClean)) await out.line(line);
  });
  return EXIT_SUCCESS;
}

function nextOf(context: CommandContext, { nextAction: known }: KeptWorktree, nextAction = known): string | undefined {
  return nextAction === undefined ? undefined : textAsTyped(context, printable(nextAction));
}

/** What can be done with it besides what its next action says. */
function choices(context: CommandContext, { id }: KeptWorktree, isClean: boolean): string[] {
  return [
    '',
    isClean
      ? `Remove it: ${nextCommand(context, 'worktree', 'remove', id)}`
      : `Take it over: ${nextCommand(context, 'worktree', 'adopt', id)}`,
  ];
}

export interface AdoptWorktreeCommand {
  readonly name: string;
  /** The person knows that its owner does not run any more. */
  readonly ownerIsGone: boolean;
}

export async function adoptWorktree(
  context: CommandContext,
  { name, ownerIsGone }: AdoptWorktreeCommand,
): Promise<number> {
  const { out, json } = context;
  const asked = checkedWorktreeName(name);
  const worktree = await withWorktrees(context, (keeper) => keeper.adopt(asked, { ownerIsGone }));
  const { id, worktreePath, branchName, repoRoot } = worktree;
  const removal = shellQuoted(['git', '-C', repoRoot, 'worktree', 'remove', worktreePath]);
  if (json) await out.document({ adopted: worktree, next: removal });
  else {
    await out.line(
      `${out.styles.green('Adopted')} ${printable(id)}: it is yours now, with the branch ${printable(branchName)}, and nothing here touches it any more.`,
    );
    await out.line(`  path  ${printable(worktreePath)}`);
    await out.line(`When you are done with it: ${printable(removal)}`);
  }
  return EXIT_SUCCESS;
}

export interface RemoveWorktreeOptions extends AdoptWorktreeCommand {
  /** What is in it may be lost. */
  readonly discard: boolean;
}

export async function removeWorktree(
  context: CommandContext,
  { name, discard, ownerIsGone }: RemoveWorktreeOptions,
): Promise<number> {
  const { out, json } = context;
  const asked = checkedWorktreeName(name);
  const { worktree, lost, head } = await withWorktrees(context, async (keeper) =>
    removed(keeper, { context, name: asked, discard, ownerIsGone }),
  );
  const rescue = rescueCommand(worktree, lost, head);
  if (json) await out.document({ removed: worktree, lost, ...(rescue === undefined ? {} : { rescue }) });
  else {
    await out.line(
      `${out.styles.green('Removed')} ${printable(worktree.id)} and its branch ${printable(worktree.branchName)}.${lost.length === 0 ? ' Nothing was lost.' : ' With it went:'}`,
    );
    for (const line of findingLines(lost)) await out.line(`  ${out.styles.yellow('-')} ${line}`);
    if (rescue !== undefined) await out.line(`Its commits can be had back until git tidies up: ${printable(rescue)}`);
  }
  return EXIT_SUCCESS;
}

interface Removal extends RemoveWorktreeOptions {
  readonly context: CommandContext;
}

interface Removed {
  readonly worktree: KeptWorktree;
  readonly lost: readonly WorktreeFinding[];
  /** The commit that it was at. */
  readonly head?: string | undefined;
}

/**
 * Checks first: afterwards it is unknown what was in it. Whether it holds work is for its keeper to say, who refuses
 * then.
 */
async function removed(keeper: WorktreeStore, { context, name, discard, ownerIsGone }: Removal): Promise<Removed> {
  const found = await keeper.find(name);
  const inspection = await keeper.inspect(found);
  try {
    return { worktree: await keeper.discard(found.id, { ownerIsGone }), lost: [] };
  } catch (error) {
    if (!RuntimeError.is(error) || error.code !== 'WORKTREE_NOT_CLEAN') throw error;
    if (!discard) throw notClean(found, inspection, { context, cause: error });
  }
  return {
    worktree: await keeper.discard(found.id, { discard: true, ownerIsGone }),
    lost: inspection.findings,
    head: inspection.head,
  };
}

function notClean(
  worktree: KeptWorktree,
  { findings, nextAction }: WorktreeInspection,
  { context, cause }: { readonly context: CommandContext; readonly cause: RuntimeError },
): RuntimeError {
  const { id } = worktree;
  const next = nextOf(context, worktree, nextAction) ?? '';
  const giveUp = `${nextCommand(context, 'worktree', 'remove', id)} --discard`;
  return new RuntimeError(
    'WORKTREE_NOT_CLEAN',
    `expected ${id} to hold nothing that would be lost; it holds ${findingLines(findings).join('; ')}`,
    {
      category: 'conflict',
      details: { id, findings },
      cause,
      hint: next.includes(giveUp) ? next : `${next}\nTo lose it: ${giveUp}`.trim(),
    },
  );
}

/** The commits of a branch that is gone are still in the repository for a while. */
function rescueCommand(
  { repoRoot, branchName }: KeptWorktree,
  lost: readonly WorktreeFinding[],
  head: string | undefined,
): string | undefined {
  const hadCommits = lost.some(({ kind }) => kind === 'committed' || kind === 'unreachable_commit');
  return head === undefined || !hadCommits
    ? undefined
    : shellQuoted(['git', '-C', repoRoot, 'branch', branchName, head]);
}
