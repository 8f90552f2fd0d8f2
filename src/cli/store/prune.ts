/**
 * `wakechart store prune`: sessions that are long over go into files, and out of the store once the files were read
 * again. Killed at any point and run again, it goes on: an export that is whole is not written twice, and nothing is
 * deleted without one unless the user says so.
 */
import { STORED_MEANWHILE } from '../../actors/session/session-pruning.ts';
import type { PruneReport } from '../../actors/session/session-pruning.ts';
import { removeCutOffDeletions } from '../../adapters/files/session-folder.ts';
import { makeFolder } from '../../adapters/system/whole-files.ts';
import type { SessionState } from '../../machines/session/session-state.ts';
import type { CommandContext } from '../context.ts';
import { nextCommand, storeText } from '../context.ts';
import { EXIT_FAILURE, EXIT_SUCCESS } from '../failure.ts';
import { absolutePath } from '../home.ts';
import type { SessionStore } from '../open/stores.ts';
import { withSessions } from '../open/stores.ts';
import { Progress } from '../terminal/progress.ts';
import { tableLines } from '../terminal/table.ts';
import { counted, localTime, printable } from '../terminal/text.ts';
import { usageError } from '../usage.ts';
import { holdsFiles } from './copied-folders.ts';
import { exportFile, isWholeExport, writeExport } from './export-files.ts';
import { oldTaskLogs, removeTaskLogs } from './task-logs.ts';
import type { OldTaskLogs } from './task-logs.ts';

/** As they were typed. Ages in milliseconds. */
export interface PruneOptions {
  readonly endedBefore?: number | undefined;
  readonly idleBefore?: number | undefined;
  readonly taskLogsBefore?: number | undefined;
  /** The folder for exports. */
  readonly exportTo?: string | undefined;
  /** False: none are made. */
  readonly export: boolean;
  readonly withFiles?: true | undefined;
  /** Without it nothing is done. */
  readonly yes?: true | undefined;
}

interface Pruning extends PruneOptions {
  readonly context: CommandContext;
  readonly opened: SessionStore;
  /** Absolute. Undefined: no exports. */
  readonly directory: string | undefined;
}

const NO_LOGS: OldTaskLogs = { paths: [], bytes: 0 };

export async function pruneStore(context: CommandContext, options: PruneOptions): Promise<number> {
  const directory = checkedDirectory(options);
  const { endedBefore: endedForMs, idleBefore: idleForMs, taskLogsBefore } = options;
  return withSessions(context, async (opened) => {
    const pruning: Pruning = { ...options, context, opened, directory };
    const logs =
      taskLogsBefore === undefined ? NO_LOGS : await oldTaskLogs(context.home, opened.clock.now() - taskLogsBefore);
    if (options.yes !== true) {
      const { pruned } = await opened.sessions.prune({ endedForMs, idleForMs, isDryRun: true });
      await tellPlan(await planOf(pruned, pruning), logs, pruning);
      return EXIT_SUCCESS;
    }
    const { pruned, left, hasFailed } = await prunedOf(pruning);
    await removeTaskLogs(logs);
    await tellEnd({ pruned, left }, logs, pruning);
    return hasFailed ? EXIT_FAILURE : EXIT_SUCCESS;
  });
}

/** @throws a usage error where it is not said what is to go, or where to */
function checkedDirectory({
  endedBefore,
  idleBefore,
  taskLogsBefore,
  exportTo,
  export: isExported,
}: PruneOptions): string | undefined {
  const takesSessions = endedBefore !== undefined || idleBefore !== undefined;
  if (!takesSessions && taskLogsBefore === undefined)
    throw usageError(
      'expected --ended-before, --idle-before or --task-logs-before: what is to go',
      'Say for how long it has to have been over: --ended-before 90d',
    );
  if (takesSessions && isExported && exportTo === undefined)
    throw usageError(
      'expected --export-to DIR, or --no-export to delete sessions without an export',
      'An export can be brought back: --export-to ./archive',
    );
  return exportTo === undefined || !isExported ? undefined : absolutePath(exportTo);
}

/** Those whose folder has a copy in the database, which goes with them. */
async function copiesOf(
  states: readonly SessionState[],
  { workspaceCopies }: Pick<SessionStore, 'workspaceCopies'>,
): Promise<ReadonlySet<string>> {
  const found = new Set<string>();
  for (const { sessionId } of workspaceCopies === undefined ? [] : states)
    if ((await workspaceCopies?.latest(sessionId))?.copy !== undefined) found.add(sessionId);
  return found;
}

/** What `--yes` would do, as far as that is known before a session is exported. */
async function planOf(states: readonly SessionState[], pruning: Pruning): Promise<PruneReport> {
  const sentTo = await scheduledSessions(pruning.opened);
  const pruned: SessionState[] = [];
  const left: PruneReport['left'][number][] = [];
  for (const state of states) {
    const why = await whyNeeded(state, sentTo, pruning);
    if (why === undefined) pruned.push(state);
    else left.push({ sessionId: state.sessionId, why });
  }
  return { pruned, left };
}

/** One that is still needed, or goes on, is left as it should be: nothing has failed. */
async function prunedOf(pruning: Pruning): Promise<PruneReport & { readonly hasFailed: boolean }> {
  const { context, opened, directory, endedBefore, idleBefore } = pruning;
  const { signal } = context.interruption;
  // A signal ends it between two sessions.
  const release = context.interruption.guard(() => undefined);
  const progress = new Progress(context.err);
  try {
    if (directory !== undefined) await makeFolder(directory);
    // What a prune that was killed has moved aside.
    if (context.store === undefined) await removeCutOffDeletions(opened.layout);
    const sentTo = await scheduledSessions(opened);
    const needed = new Set<string>();
    let asked = 0;
    const report = await opened.sessions.prune({
      ...{ endedForMs: endedBefore, idleForMs: idleBefore, signal },
      keep: async (state) => {
        progress.waitFor(`exports and deletes sessions: ${(asked += 1)}`);
        const why = await whyNeeded(state, sentTo, pruning);
        if (why === undefined) return whyNotExported(state, pruning);
        needed.add(state.sessionId);
        return why;
      },
    });
    const isFailure = ({ sessionId, why }: PruneReport['left'][number]): boolean =>
      !needed.has(sessionId) && why !== STORED_MEANWHILE;
    return { ...report, hasFailed: report.left.some(isFailure) };
  } finally {
    progress.stop();
    release();
  }
}

async function scheduledSessions({ schedules }: SessionStore): Promise<ReadonlySet<string>> {
  const listings = await schedules.definitions.list();
  return new Set(
    listings.flatMap((listing) =>
      'definition' in listing && listing.definition.target.kind === 'session'
        ? [listing.definition.target.sessionId]
        : [],
    ),
  );
}

/** Why it has to stay, whatever becomes of its export. */
async function whyNeeded(
  { sessionId, agentId }: SessionState,
  sentTo: ReadonlySet<string>,
  { context, opened, withFiles }: Pruning,
): Promise<string | undefined> {
  if (sentTo.has(sessionId)) return 'a schedule sends to it';
  // With the folder of a session goes what is in it, which no export holds.
  return context.store === undefined &&
    withFiles !== true &&
    (await holdsFiles(opened.layout.ownWorkspace({ sessionId, agentId })))
    ? 'its workspace holds files; move or remove them first, or say --with-files'
    : undefined;
}

/** Undefined when it is exported, as far as that is wanted. */
async function whyNotExported(
  { sessionId, agentId, head }: SessionState,
  { opened: { sessions }, directory }: Pruning,
): Promise<string | undefined> {
  if (directory === undefined) return undefined;
  const path = exportFile(directory, sessionId);
  if (await isWholeExport(path, { sessionId, agentId, events: head })) return undefined;
  await writeExport(path, sessions.export(sessionId));
  return (await isWholeExport(path, { sessionId, agentId, events: head }))
    ? undefined
    : `its export ${path} was read again and is not the whole log of it`;
}

function factsOf({ sessionId, agentId, updatedAt, head, status }: SessionState): object {
  return { sessionId, agentId, status, endedAt: updatedAt, events: head };
}

async function tellPlan({ pruned: states, left }: PruneReport, logs: OldTaskLogs, pruning: Pruning): Promise<void> {
  const { context, opened, directory } = pruning;
  const { out, json } = context;
  const copies = await copiesOf(states, opened);
  if (json)
    return out.document({
      store: storeText(context),
      wouldPrune: states.map((state) => ({
        ...factsOf(state),
        ...(copies.has(state.sessionId) ? { hasCopyOfFolder: true } : {}),
      })),
      wouldLeave: left,
      wouldRemoveTaskLogs: logs,
    });
  const rows = states.map(({ sessionId, agentId, updatedAt = '', head, status }) => [
    ...[sessionId, agentId, status, localTime(updatedAt), String(head)],
  ]);
  if (rows.length > 0)
    for (const line of tableLines(['SESSION', 'AGENT', 'STATUS', 'SINCE', 'EVENTS'], rows, out)) await out.line(line);
  await tellLeft(left, 'would be left', context);
  const exports =
    directory === undefined
      ? 'deleted without an export'
      : `exported to ${directory}, and deleted once the exports were read again`;
  const what = `${counted(states.length, 'session')} in ${storeText(context)} ${states.length === 1 ? 'is' : 'are'} over for long enough`;
  await out.line(states.length === 0 ? `${what}: nothing to do.` : `${what}. With --yes they are ${exports}.`);
  if (logs.paths.length > 0) await out.line(`${logsText(logs)} are old enough. With --yes they are removed.`);
  if (copies.size > 0)
    await out.line(
      `With ${counted(copies.size, 'session')} of them the copy of its folder goes, which no export holds; the folder itself stays on the machine that has it, where \`${nextCommand(context, 'doctor')}\` names it.`,
    );
}

function logsText({ paths, bytes }: OldTaskLogs): string {
  return `${counted(paths.length, 'log file')} of tasks (${Math.ceil(bytes / 1_000)} kB)`;
}

async function tellLeft(left: PruneReport['left'], verb: string, { err }: CommandContext): Promise<void> {
  for (const { sessionId, why } of left)
    await err.line(`${err.styles.yellow('note:')} session ${sessionId} ${verb}: ${printable(why)}`);
}

async function tellEnd({ pruned, left }: PruneReport, logs: OldTaskLogs, pruning: Pruning): Promise<void> {
  const { context, directory, opened } = pruning;
  const { out, json } = context;
  if (json)
    return out.document({
      store: storeText(context),
      directory,
      pruned: pruned.map(({ sessionId }) => sessionId),
      left,
      removedTaskLogs: logs,
    });
  await tellLeft(left, 'was left', context);
  const sessions = counted(pruned.length, 'session');
  await out.line(
    directory === undefined
      ? `${out.styles.green('Deleted')} ${sessions}`
      : `${out.styles.green('Exported and deleted')} ${sessions}; the exports are in ${directory}`,
  );
  if (logs.paths.length > 0) await out.line(`${out.styles.green('Removed')} ${logsText(logs)}`);
  if (opened.workspaceCopies !== undefined && pruned.length > 0)
    await out.line(
      `  Folders of theirs stay on the machines that have them; \`${nextCommand(context, 'doctor')}\` names them on each.`,
    );
}
