/**
 * `wakechart store prune`: sessions that are long over go into files, and out of the store once the files were read
 * again. Killed at any point and run again, it goes on: an export that is whole is not written twice, and nothing is
 * deleted without one unless the user says so.
 */
import { createReadStream } from 'node:fs';
import { open, rename, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { createInterface } from 'node:readline';
import type { PruneReport } from '../../actors/session/session-pruning.ts';
import { checkExport } from '../../actors/session/session-transfer.ts';
import { removeCutOffDeletions } from '../../adapters/files/session-folder.ts';
import { storageFailed } from '../../adapters/files/storage-errors.ts';
import { makeFolder, syncFolder } from '../../adapters/system/whole-files.ts';
import type { SessionState } from '../../machines/session/session-state.ts';
import type { CommandContext } from '../context.ts';
import { storeText } from '../context.ts';
import { EXIT_FAILURE, EXIT_SUCCESS } from '../failure.ts';
import { absolutePath } from '../home.ts';
import type { SessionStore } from '../open/stores.ts';
import { withSessions } from '../open/stores.ts';
import { Progress } from '../terminal/progress.ts';
import { tableLines } from '../terminal/table.ts';
import { counted, localTime, printable } from '../terminal/text.ts';
import { usageError } from '../usage.ts';
import { holdsFiles } from './copied-folders.ts';
import { oldTaskLogs, removeTaskLogs } from './task-logs.ts';
import type { OldTaskLogs } from './task-logs.ts';

// Exports of sessions as files: written so that a file under its name is a whole one, and read again to know it.

/** Text that is written at once, in characters. */
const PIECE_CHARACTERS = 256 * 1024;

function exportFile(directory: string, sessionId: string): string {
  return join(directory, `${sessionId}.jsonl`);
}

/** Whether the file holds all of this log. False when there is none. */
async function isWholeExport(
  path: string,
  expected: { readonly sessionId: string; readonly agentId: string; readonly events: number },
): Promise<boolean> {
  try {
    const { sessionId, agentId, events } = await checkExport(
      createInterface({ input: createReadStream(path, 'utf8'), crlfDelay: Infinity }),
    );
    return sessionId === expected.sessionId && agentId === expected.agentId && events === expected.events;
  } catch {
    // It is written anew, which says what is wrong if that is wrong too.
    return false;
  }
}

/** Puts the lines on the disk. @throws RuntimeError STORAGE_FAILED */
async function writeExport(path: string, lines: AsyncIterable<string>): Promise<void> {
  const temporary = `${path}.part`;
  try {
    await writeLines(temporary, lines);
    await rename(temporary, path);
    await syncFolder(dirname(path));
  } catch (error) {
    await rm(temporary, { force: true }).catch(() => undefined);
    throw storageFailed(`write ${path}`, error);
  }
}

async function writeLines(path: string, lines: AsyncIterable<string>): Promise<void> {
  const file = await open(path, 'w', 0o600);
  try {
    let piece = '';
    for await (const line of lines) {
      piece += line;
      if (piece.length < PIECE_CHARACTERS) continue;
      await file.writeFile(piece);
      piece = '';
    }
    await file.writeFile(piece);
    await file.sync();
  } finally {
    await file.close();
  }
}

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
      await tellPlan(pruned, logs, pruning);
      return EXIT_SUCCESS;
    }
    const { pruned, left } = await prunedOf(pruning);
    await removeTaskLogs(logs);
    await tellEnd({ pruned, left }, logs, pruning);
    return left.length === 0 ? EXIT_SUCCESS : EXIT_FAILURE;
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

async function prunedOf(pruning: Pruning): Promise<PruneReport> {
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
    let asked = 0;
    return await opened.sessions.prune({
      ...{ endedForMs: endedBefore, idleForMs: idleBefore, signal },
      keep: async (state) => {
        progress.waitFor(`exports and deletes sessions: ${(asked += 1)}`);
        return sentTo.has(state.sessionId) ? 'a schedule sends to it' : whyKept(state, pruning);
      },
    });
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

/** Why it has to stay; undefined when it is exported, as far as that is wanted. */
async function whyKept(
  { sessionId, agentId, head }: SessionState,
  { context, opened, directory, withFiles }: Pruning,
): Promise<string | undefined> {
  const { sessions, layout } = opened;
  // With the folder of a session goes what is in it, which no export holds.
  if (
    context.store === undefined &&
    withFiles !== true &&
    (await holdsFiles(layout.ownWorkspace({ sessionId, agentId })))
  )
    return 'its workspace holds files; move or remove them first, or say --with-files';
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

async function tellPlan(states: readonly SessionState[], logs: OldTaskLogs, pruning: Pruning): Promise<void> {
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
      wouldRemoveTaskLogs: logs,
    });
  const rows = states.map(({ sessionId, agentId, updatedAt = '', head, status }) => [
    ...[sessionId, agentId, status, localTime(updatedAt), String(head)],
  ]);
  if (rows.length > 0)
    for (const line of tableLines(['SESSION', 'AGENT', 'STATUS', 'SINCE', 'EVENTS'], rows, out)) await out.line(line);
  const exports =
    directory === undefined
      ? 'deleted without an export'
      : `exported to ${directory}, and deleted once the exports were read again`;
  const what = `${counted(states.length, 'session')} in ${storeText(context)} ${states.length === 1 ? 'is' : 'are'} over for long enough`;
  await out.line(states.length === 0 ? `${what}: nothing to do.` : `${what}. With --yes they are ${exports}.`);
  if (logs.paths.length > 0) await out.line(`${logsText(logs)} are old enough. With --yes they are removed.`);
  if (copies.size > 0)
    await out.line(
      `With ${counted(copies.size, 'session')} of them the copy of its folder goes, which no export holds; the folder itself stays on the machine that has it, where \`wakechart doctor\` names it.`,
    );
}

function logsText({ paths, bytes }: OldTaskLogs): string {
  return `${counted(paths.length, 'log file')} of tasks (${Math.ceil(bytes / 1_000)} kB)`;
}

async function tellEnd({ pruned, left }: PruneReport, logs: OldTaskLogs, pruning: Pruning): Promise<void> {
  const { context, directory, opened } = pruning;
  const { out, err, json } = context;
  if (json)
    return out.document({
      store: storeText(context),
      directory,
      pruned: pruned.map(({ sessionId }) => sessionId),
      left,
      removedTaskLogs: logs,
    });
  for (const { sessionId, why } of left)
    await err.line(`${err.styles.yellow('note:')} session ${sessionId} was left: ${printable(why)}`);
  const sessions = counted(pruned.length, 'session');
  await out.line(
    directory === undefined
      ? `${out.styles.green('Deleted')} ${sessions}`
      : `${out.styles.green('Exported and deleted')} ${sessions}; the exports are in ${directory}`,
  );
  if (logs.paths.length > 0) await out.line(`${out.styles.green('Removed')} ${logsText(logs)}`);
  if (opened.workspaceCopies !== undefined && pruned.length > 0)
    await out.line('  Folders of theirs stay on the machines that have them; `wakechart doctor` names them on each.');
}
