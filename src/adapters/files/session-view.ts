/**
 * The copy of a session's state that lies beside its log, for lists and for those who fold on from it. It can be made
 * again from the log.
 */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { crc32 } from 'node:zlib';
import * as z from 'zod';
import { SESSION_FOLD_VERSION } from '../../machines/session/session-fold.ts';
import type { SessionState } from '../../machines/session/session-state.ts';
import type { SessionIdentity } from '../../actors/session/event-store.ts';
import type { FileOperations } from './file-operations.ts';
import { VIEW_FILE } from './layout.ts';
import { storedState } from './log-checkpoint.ts';
import type { LogExtent } from './log-index.ts';
import type { LogSegments } from './log-segments.ts';

/** A file takes up so much of a disk at least. */
const PAGE_BYTES = 4_096;

export const VIEW_FORMAT = 'wakechart-session/2';

const count = z.number().int().nonnegative();

const storedView = z.object({
  format: z.literal(VIEW_FORMAT),
  foldVersion: z.literal(SESSION_FOLD_VERSION),
  /** How much of the log is folded into it. */
  log: z.object({
    segment: count,
    offset: count,
    head: count,
    headId: z.string(),
    last: z.object({ segment: count, offset: count, checksum: count }).optional(),
  }),
  /** CRC-32 of `log` and `state` as JSON. */
  crc: count,
  state: storedState,
});

export interface SessionViewPlace {
  readonly identity: SessionIdentity;
  /** Of the session. */
  readonly directory: string;
  readonly segments: LogSegments;
}

export interface SessionViewContent {
  readonly state: SessionState;
  /** How much of the log is folded into it. */
  readonly extent: LogExtent;
}

export async function writeSessionView(
  directory: string,
  { state, extent }: SessionViewContent,
  operations: FileOperations,
): Promise<void> {
  const view = {
    format: VIEW_FORMAT,
    foldVersion: SESSION_FOLD_VERSION,
    log: extent,
    crc: checksum(extent, state),
    state,
  };
  // In its place: a file system may put a file that takes the place of another on the disk at once, and a wake would
  // wait for that.
  await operations.overwriteFile(join(directory, VIEW_FILE), padded(JSON.stringify(view, undefined, 2)));
}

/** One that is a little shorter than the one before it leaves nothing of that. */
function padded(text: string): string {
  const bytes = Buffer.byteLength(text) + 1;
  return `${text}${' '.repeat(Math.ceil(bytes / PAGE_BYTES) * PAGE_BYTES - bytes)}\n`;
}

/**
 * The stored state and how much of the log it stands for, if it is whole. What is wrong with it never matters: the log
 * is there.
 */
export async function readSessionView({
  identity,
  directory,
}: SessionViewPlace): Promise<SessionViewContent | undefined> {
  try {
    const { log, state, crc } = storedView.parse(JSON.parse(await readFile(join(directory, VIEW_FILE), 'utf8')));
    const isOfThisSession = state.sessionId === identity.sessionId && state.agentId === identity.agentId;
    return isOfThisSession && state.head === log.head && crc === checksum(log, state)
      ? { state, extent: log }
      : undefined;
  } catch {
    return undefined;
  }
}

/** The stored state, if it stands for all of the log. */
export async function readCurrentView(place: SessionViewPlace): Promise<SessionState | undefined> {
  const view = await readSessionView(place);
  if (view === undefined) return undefined;
  const { segments } = place;
  const { segment, offset } = view.extent;
  // The next segment is made before anything is written into it, and stays empty if that never happens.
  const isWhole = (await segments.sizeOf(segment)) === offset && ((await segments.sizeOf(segment + 1)) ?? 0) === 0;
  return isWhole ? view.state : undefined;
}

function checksum(extent: LogExtent, state: SessionState): number {
  return crc32(JSON.stringify([extent, state]));
}
