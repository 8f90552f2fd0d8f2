/**
 * `wakechart store prune`: sessions that were terminated long ago go into files, and out of the store once the files
 * were read again. Killed at any point and run again, it goes on: an export that is whole is not written twice, and
 * nothing is deleted without one.
 */
import { createReadStream } from 'node:fs';
import { open, rename, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { createInterface } from 'node:readline';
import { isoTimeOf } from '../../actors/clock/iso-time.ts';
import { checkExport } from '../../actors/session/session-transfer.ts';
import { storageFailed } from '../../adapters/files/storage-errors.ts';
import { makeFolder, syncFolder } from '../../adapters/system/whole-files.ts';
import { messageOf } from '../../machines/errors.ts';
import { activationsOf } from '../../machines/session/session-activations.ts';
import type { SessionState } from '../../machines/session/session-state.ts';
import type { CommandContext } from '../context.ts';
import { storeText } from '../context.ts';
import { EXIT_FAILURE, EXIT_SUCCESS } from '../failure.ts';
import { absolutePath } from '../home.ts';
import type { SessionStore } from '../open/stores.ts';
import { withSessions } from '../open/stores.ts';
import { Progress } from '../terminal/progress.ts';
import { tableLines } from '../terminal/table.ts';
import { counted, durationText, localTime, printable } from '../terminal/text.ts';
import { holdsFiles } from './copied-folders.ts';

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

export interface PruneOptions {
  /** How long ago a session has to have ended, in milliseconds. */
  readonly ageMs: number;
  readonly directory: string;
  /** Without it nothing is done. */
  readonly isMeant: boolean;
}

interface Left {
  readonly sessionId: string;
  readonly why: string;
}

export async function pruneStore(
  context: CommandContext,
  { ageMs, directory: named, isMeant }: PruneOptions,
): Promise<number> {
  const { out, json } = context;
  const directory = absolutePath(named);
  return withSessions(context, async (opened) => {
    const before = isoTimeOf(opened.clock.now() - ageMs);
    const states = (await opened.sessions.list({ status: 'terminated' })).filter((state) => isOver(state, before));
    if (!isMeant) {
      const copies = await copiesOf(states, opened);
      if (json)
        await out.document({
          store: storeText(context),
          before,
          wouldPrune: states.map((state) => ({
            ...factsOf(state),
            ...(copies.has(state.sessionId) ? { hasCopyOfFolder: true } : {}),
          })),
        });
      else await tellPlan(context, states, { ageMs, directory, copies: copies.size });
      return EXIT_SUCCESS;
    }
    const { pruned, left } = await prunedOf(states, { context, opened, directory });
    if (json) await out.document({ store: storeText(context), before, directory, pruned, left });
    else await tellEnd(context, { pruned, left, directory, isShared: opened.workspaceCopies !== undefined });
    return left.length === 0 ? EXIT_SUCCESS : EXIT_FAILURE;
  });
}

/** One that owes its parent something has work left. */
function isOver(state: SessionState, before: string): boolean {
  return state.updatedAt !== undefined && state.updatedAt < before && activationsOf(state).length === 0;
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

interface Pruning {
  readonly context: CommandContext;
  readonly opened: SessionStore;
  readonly directory: string;
}

async function prunedOf(
  states: readonly SessionState[],
  pruning: Pruning,
): Promise<{ readonly pruned: readonly string[]; readonly left: readonly Left[] }> {
  const { context, directory } = pruning;
  const { signal } = context.interruption;
  // A signal ends it between two sessions.
  const release = context.interruption.guard(() => undefined);
  const progress = new Progress(context.err);
  const pruned: string[] = [];
  const left: Left[] = [];
  try {
    await makeFolder(directory);
    for (const state of states) {
      if (signal.aborted) break;
      progress.waitFor(`exported and deleted ${pruned.length} of ${counted(states.length, 'session')}`);
      const why = await prune(state, pruning).catch((error: unknown) => messageOf(error));
      if (why === undefined) pruned.push(state.sessionId);
      else left.push({ sessionId: state.sessionId, why });
    }
  } finally {
    progress.stop();
    release();
  }
  return { pruned, left };
}

/** Why it was left; undefined when it is gone. */
async function prune(
  { sessionId, agentId, head }: SessionState,
  { context, opened, directory }: Pruning,
): Promise<string | undefined> {
  const { sessions, store, layout } = opened;
  // With the folder of a session goes what is in it, which no export holds.
  if (context.store === undefined && (await holdsFiles(layout.ownWorkspace({ sessionId, agentId }))))
    return 'its workspace holds files; move or remove them first';
  const path = exportFile(directory, sessionId);
  if (!(await isWholeExport(path, { sessionId, agentId, events: head }))) {
    await writeExport(path, sessions.export(sessionId));
    if (!(await isWholeExport(path, { sessionId, agentId, events: head })))
      return `its export ${path} was read again and is not the whole log of it`;
  }
  if ((await store.head(sessionId)) !== head) return 'something was stored for it meanwhile';
  await sessions.delete(sessionId);
  return undefined;
}

function factsOf({ sessionId, agentId, updatedAt, head }: SessionState): object {
  return { sessionId, agentId, endedAt: updatedAt, events: head };
}

async function tellPlan(
  context: CommandContext,
  states: readonly SessionState[],
  { ageMs, directory, copies }: Pick<PruneOptions, 'ageMs' | 'directory'> & { readonly copies: number },
): Promise<void> {
  const { out } = context;
  const rows = states.map(({ sessionId, agentId, updatedAt = '', head }) => [
    sessionId,
    agentId,
    localTime(updatedAt),
    String(head),
  ]);
  if (rows.length > 0)
    for (const line of tableLines(['SESSION', 'AGENT', 'ENDED', 'EVENTS'], rows, out)) await out.line(line);
  const what = `${counted(states.length, 'session')} in ${storeText(context)} ended at least ${durationText(ageMs)} ago`;
  await out.line(
    states.length === 0
      ? `${what}: nothing to do.`
      : `${what}. With --yes they are exported to ${directory}, and deleted once the exports were read again.`,
  );
  if (copies > 0)
    await out.line(
      `With ${counted(copies, 'session')} of them the copy of its folder goes, which no export holds; the folder itself stays on the machine that has it, where \`wakechart doctor\` names it.`,
    );
}

async function tellEnd(
  { out, err }: CommandContext,
  {
    pruned,
    left,
    directory,
    isShared,
  }: {
    readonly pruned: readonly string[];
    readonly left: readonly Left[];
    readonly directory: string;
    readonly isShared: boolean;
  },
): Promise<void> {
  for (const { sessionId, why } of left)
    await err.line(`${err.styles.yellow('note:')} session ${sessionId} was left: ${printable(why)}`);
  await out.line(
    `${out.styles.green('Exported and deleted')} ${counted(pruned.length, 'session')}; the exports are in ${directory}`,
  );
  if (isShared && pruned.length > 0)
    await out.line('  Folders of theirs stay on the machines that have them; `wakechart doctor` names them on each.');
}
