/** How the demo is told: to people in nine short steps, to programs as one document. */
import type { SessionEvent } from '../../machines/session/session-event.ts';
import type { SessionState } from '../../machines/session/session-state.ts';
import type { WakeOutcome } from '../../machines/wake/wake-outcome.ts';
import { FILES } from '../open/chosen-store.ts';
import type { HandedOver } from '../session/event-text.ts';
import { invocation } from '../invocation.ts';
import type { Output } from '../terminal/output.ts';
import type { SessionPlaces } from '../places.ts';
import { counted, durationText, printable, shellQuoted } from '../terminal/text.ts';
import type { DemoAnswer } from './answer.ts';
import type { Commit } from './project.ts';

export interface DemoResult {
  readonly home: string;
  readonly places: SessionPlaces;
  readonly state: SessionState;
  readonly outcome: WakeOutcome;
  readonly events: readonly SessionEvent[];
  readonly commit: Commit;
  /** What was asked for, and what became of it; absent when nothing was. */
  readonly permission: DemoPermission | undefined;
  /** What another agent did for it; absent when nothing was. */
  readonly delegation: DemoDelegation | undefined;
  /** What it learned, and another session found again; absent when nothing was. */
  readonly learned: DemoLearning | undefined;
  /** Whether the environment names a database, which commands about the demo must not take. */
  readonly isFilesGiven: boolean;
  readonly tookMs: number;
}

export interface DemoLearning {
  readonly title: string;
  readonly evaluation: 'pass';
  /** The session that found it. */
  readonly foundIn: string;
}

export interface DemoPermission {
  readonly toolName: string;
  readonly command: string;
  /** Why it was asked about. */
  readonly because: string;
  readonly decision: DemoAnswer['decision'];
  /** How long it is allowed. */
  readonly scope?: Extract<DemoAnswer, { readonly decision: 'allowed' }>['scope'];
}

export interface DemoDelegation {
  readonly agentId: string;
  readonly worktree: HandedOver;
  readonly commit: Commit;
}

/** One command that the agent ran. */
interface DemoCommand {
  readonly command: string;
  readonly exitCode: number | null;
}

export function demoDocument(result: DemoResult): object {
  const { home, places, state, outcome, permission, delegation, learned, commit, tookMs } = result;
  return {
    home,
    ...places,
    sessionId: state.sessionId,
    outcome: outcome.outcome,
    summary: outcome.summary,
    commands: commandsOf(result),
    permission,
    commit,
    delegation,
    learned,
    firedWakes: firedWakesOf(result),
    tookMs: Math.round(tookMs),
    next: nextCommands(result),
  };
}

export async function tellEnd(out: Output, result: DemoResult): Promise<void> {
  await (isAllowed(result) ? tellDone(out, result) : tellRefused(out, result));
  await tellPlaces(out, result);
}

/** The agent asked, and was not allowed to commit: its script knows no other way. */
export function isAllowed({ permission }: Pick<DemoResult, 'permission'>): boolean {
  return permission?.decision === 'allowed';
}

async function tellRefused(out: Output, result: DemoResult): Promise<void> {
  await out.line(stepLine(out, 6, 'What came of it'));
  await out.line(`  ${out.styles.bold('The fix is in the workspace, and not committed.')}`);
  await out.line();
  await out.line(
    `${out.styles.yellow('Ended')} after ${durationText(result.tookMs)}: ${counted(commandsOf(result).length, 'command')} run, none of them without permission.`,
  );
}

async function tellDone(out: Output, result: DemoResult): Promise<void> {
  const { outcome, commit, delegation, learned, tookMs } = result;
  const { styles } = out;
  await out.line(stepLine(out, 9, 'What came of it'));
  await out.line(`  ${styles.bold(printable(outcome.summary))}`);
  await out.line();
  await out.line(
    `${styles.green('Done')} in ${durationText(tookMs)}: ${counted(commandsOf(result).length, 'command')} run, one of them after a person allowed it, commit ${commit.hash} made${delegation === undefined ? '' : `, commit ${delegation.commit.hash} left in a worktree`}, ${counted(firedWakesOf(result).length, 'queued wake')} fired${learned === undefined ? '' : ', 1 learning promoted and found again'}.`,
  );
}

async function tellPlaces(out: Output, result: DemoResult): Promise<void> {
  const { places, delegation } = result;
  const { styles } = out;
  await out.line();
  await out.line(styles.bold('Where to check'));
  await out.line(`  log        ${places.log}`);
  await out.line(`  workspace  ${places.workspace}`);
  if (delegation !== undefined) await out.line(`  worktree   ${delegation.worktree.worktreePath}`);
  await out.line();
  await out.line(styles.bold('What to try next'));
  for (const { does, command } of nextCommands(result)) await out.line(`  ${styles.dim(does)}\n    ${command}`);
}

/** The first line, which says what is to be seen. */
export function titleLine({ styles }: Output): string {
  return `${styles.bold('Wakechart demo:')} an agent session mends a small project, offline and for real`;
}

/** `1 What happens`, with room above. */
export function stepLine({ styles }: Output, number: number, text: string): string {
  return `\n${styles.cyan(String(number))} ${styles.bold(text)}`;
}

function nextCommands({
  home,
  isFilesGiven,
  places,
  delegation,
  permission,
  state: { sessionId },
}: DemoResult): readonly { readonly does: string; readonly command: string }[] {
  const inHome = ['--home', home, ...(isFilesGiven ? ['--store', FILES] : [])];
  const command = (...words: readonly string[]): string =>
    shellQuoted([...invocation(), ...words, '--session', sessionId, ...inHome]);
  return [
    ...(delegation === undefined
      ? []
      : [
          {
            does: `merge what the ${delegation.agentId} left`,
            command: shellQuoted(['git', '-C', places.workspace, 'merge', delegation.worktree.branchName]),
          },
        ]),
    { does: 'see what subagents left', command: shellQuoted([...invocation(), 'worktree', 'list', ...inHome]) },
    { does: 'see everything that happened, event by event', command: command('session', 'events') },
    // What it would do next is what it was not allowed.
    ...(isAllowed({ permission })
      ? [
          { does: 'say something else', command: command('session', 'send', '--message', 'Do they still pass?') },
          { does: 'let it work on that', command: command('wake') },
        ]
      : []),
  ];
}

/** The wakes that came due and were woken, by their reasons. */
function firedWakesOf({ events }: DemoResult): { readonly reason: string }[] {
  const queued = new Map(
    events.flatMap((event) =>
      event.type === 'wake.queued' ? [[event.data.queuedWakeId, event.data.reason] as const] : [],
    ),
  );
  return events.flatMap((event) =>
    event.type === 'wake.started' ? event.data.queuedWakeIds.map((id) => ({ reason: queued.get(id) ?? id })) : [],
  );
}

function commandsOf({ events }: DemoResult): DemoCommand[] {
  const asked = new Map(
    events.flatMap((event) =>
      event.type === 'agent.tool_use' ? [[event.data.callId, event.data.input] as const] : [],
    ),
  );
  return events.flatMap((event) => {
    if (event.type !== 'agent.tool_result') return [];
    const { command } = (asked.get(event.data.callId) ?? {}) as { readonly command?: string };
    const { exitCode = null } = (event.data.output ?? {}) as { readonly exitCode?: number | null };
    return command === undefined ? [] : [{ command, exitCode }];
  });
}
