/**
 * Workspace copies of sessions that are copied between a home, where they are folders, and a store that machines share,
 * where they are copies. Each function is called when the session is in the target, before anything of it is due there,
 * and may be called again after it was cut short.
 */
import { beginningOf } from '../../machines/cut-text.ts';
import { RuntimeError, messageOf } from '../../machines/errors.ts';
import { DEFAULT_COPY_LIMITS } from '../../machines/workspace-copy/copy-limits.ts';
import { begunWake, lastHome, mayHaveLost } from '../../machines/workspace-copy/copy-state.ts';
import type { HomeHost, WorkspaceCopyState } from '../../machines/workspace-copy/copy-state.ts';
import type { SessionState } from '../../machines/session/session-state.ts';
import { placeOfSession } from '../session/session-directories.ts';
import type { WorkspaceCopyStore, WorkspaceCopyPiece } from './copy-store.ts';
import type { WorkspaceCopyFolders, TakenWorkspaceCopy } from './copy-folders.ts';
import { fetched } from './copy-transfer.ts';

const GONE = new Set(['AGENT_NOT_FOUND', 'ENVIRONMENT_NOT_FOUND']);

/** What no later try makes good. */
const LASTING = new Set(['WORKSPACE_COPY_TOO_LARGE', 'WORKSPACE_COPY_UNREADABLE']);

/** Pieces that are read again at once, of up to a mebibyte each. */
const MAX_READ_AGAIN = 16;

export interface SendCopy {
  readonly session: SessionState;
  readonly folders: WorkspaceCopyFolders;
  readonly to: WorkspaceCopyStore;
  /** As for `WorkspaceCopies`. */
  readonly boundBecause: (session: SessionState) => Promise<string | undefined>;
  /** Whether the folders of its own hold nothing. */
  readonly isEmpty: boolean;
  readonly signal?: AbortSignal | undefined;
}

/**
 * `none`: there is nothing to send. `sent`: the machine that wakes the session has it. `stays`: others are told that it
 * is bound to this home. `theirs`: a wake in the target has spoken that is as new, so that what lies there counts.
 */
export type SentCopy =
  | { readonly kind: 'none' | 'sent' | 'theirs' }
  | { readonly kind: 'stays'; readonly reason: string };

/**
 * Sends what lies in the home to the copies, and says there that it is at home here. No process may wake the session
 * meanwhile.
 * @throws RuntimeError WORKSPACE_COPY_DAMAGED when the target gives back something else; WORKSPACE_COPY_SUPERSEDED,
 * STORAGE_FAILED; what `boundBecause` throws of files that are there and cannot be read
 */
export async function sendCopy(send: SendCopy): Promise<SentCopy> {
  const { session, folders, to, isEmpty, signal } = send;
  const { sessionId, workspace } = session;
  const epoch = spokenEpoch(session);
  const [host, there] = await Promise.all([folders.host(), to.latest(sessionId)]);
  if (isTheirs(there, { epoch, host })) return { kind: 'theirs' };
  const bound = await boundFor(send);
  if (bound !== undefined && (session.epoch > 0 || !isEmpty || workspace !== undefined))
    return stay(send, { host, reason: bound, there });
  if (isEmpty && there === undefined) return { kind: 'none' };
  const place = placeOfSession(session);
  await folders.recover(place);
  try {
    const taken = await folders.take(place, {
      limits: DEFAULT_COPY_LIMITS,
      signal,
      kept: there?.copy?.manifestId,
      onPieces: (pieces) => keep(pieces, sessionId, to),
    });
    if (taken.manifestId !== there?.copy?.manifestId) await readAgain([...taken.pieces], send);
    signal?.throwIfAborted();
    await say(taken, { send, host, there });
    return { kind: 'sent' };
  } catch (error) {
    if (!RuntimeError.is(error) || !LASTING.has(error.code)) throw error;
    return stay(send, { host, reason: beginningOf(messageOf(error), 900), there });
  }
}

/** What the target gives back is what was sent. */
async function readAgain(hashes: readonly string[], { session: { sessionId }, to, signal }: SendCopy): Promise<void> {
  for (let at = 0; at < hashes.length; at += MAX_READ_AGAIN) {
    signal?.throwIfAborted();
    await fetched(hashes.slice(at, at + MAX_READ_AGAIN), { sessionId, from: to });
  }
}

/** Pieces are there: a reader that finds the word that they are the copy finds all of them. */
async function say(
  taken: TakenWorkspaceCopy,
  {
    send,
    host,
    there,
  }: { readonly send: SendCopy; readonly host: HomeHost; readonly there: WorkspaceCopyState | undefined },
): Promise<void> {
  const { manifestId, files, bytes } = taken;
  const { sessionId } = send.session;
  const epoch = spokenEpoch(send.session);
  const settled = (there?.added ?? []).filter(({ path }) => taken.has(path)).map(({ path }) => path);
  await send.to.record(sessionId, { epoch, host, copy: { epoch, manifestId, files, bytes }, settled });
  await taken.confirm();
}

/** What lies here is what the newest wake left that has begun: one that only claimed an epoch has changed nothing. */
function spokenEpoch(session: SessionState): number {
  return begunWake(session)?.epoch ?? 0;
}

async function stay(
  { session, to }: SendCopy,
  {
    host,
    reason,
    there,
  }: { readonly host: HomeHost; readonly reason: string; readonly there: WorkspaceCopyState | undefined },
): Promise<SentCopy> {
  const { sessionId } = session;
  const epoch = spokenEpoch(session);
  if (there?.epoch !== epoch || there.bound !== reason) await to.record(sessionId, { epoch, host, bound: reason });
  return { kind: 'stays', reason };
}

/**
 * Where the agent or the environment is gone, a folder that the session was given binds it nevertheless. One that
 * cannot be read may say that nothing is to be copied.
 */
async function boundFor({ session, boundBecause }: SendCopy): Promise<string | undefined> {
  const { workspace } = session;
  return boundBecause(session).catch((error: unknown) => {
    if (!RuntimeError.is(error) || !GONE.has(error.code)) throw error;
    return workspace === undefined ? undefined : `it works in ${workspace}, a folder of that machine`;
  });
}

function isTheirs(
  there: WorkspaceCopyState | undefined,
  { epoch, host }: { readonly epoch: number; readonly host: HomeHost },
): boolean {
  if (there === undefined || there.host?.id === host.id) return false;
  return there.host === undefined ? there.epoch >= epoch && there.epoch > 0 : there.epoch >= epoch;
}

async function keep(pieces: readonly WorkspaceCopyPiece[], sessionId: string, to: WorkspaceCopyStore): Promise<void> {
  const there = await to.has(
    sessionId,
    pieces.map(({ hash }) => hash),
  );
  const missing = pieces.filter(({ hash }) => !there.has(hash));
  if (missing.length > 0) await to.put(sessionId, missing);
}

export interface FetchCopy {
  readonly session: SessionState;
  readonly from: WorkspaceCopyStore;
  readonly folders: WorkspaceCopyFolders;
  readonly signal?: AbortSignal | undefined;
}

export interface FetchedCopy {
  /**
   * `none`: nothing is known of it. `here`: what lies here counts already. `laid`: the copy lies here. `left`: there is
   * no copy.
   */
  readonly kind: 'none' | 'here' | 'laid' | 'left';
  /** Machine on which what is newer than any copy may be. */
  readonly newerOn?: string | undefined;
  /** As in `LaidWorkspaceCopy`. */
  readonly setAside?: string | undefined;
}

/**
 * Lays the copy out in the home. What lies there and is in no copy is put aside. No process may wake the session
 * meanwhile.
 * @throws RuntimeError WORKSPACE_COPY_DAMAGED, STORAGE_FAILED
 */
export async function fetchCopy({ session, from, folders, signal }: FetchCopy): Promise<FetchedCopy> {
  const { sessionId, epoch } = session;
  const place = placeOfSession(session);
  const [host, state] = await Promise.all([folders.host(), from.latest(sessionId)]);
  if (state === undefined) return { kind: 'none' };
  const get = (hashes: readonly string[]): Promise<readonly WorkspaceCopyPiece[]> => from.get(sessionId, hashes);
  await folders.recover(place);
  const { copy, added } = state;
  const last = begunWake(session);
  const home = lastHome(state, last);
  const isHere = home?.id === host.id;
  const laid =
    isHere || copy === undefined
      ? undefined
      : await folders.lay(place, { manifestId: copy.manifestId, epoch, signal, get });
  for (const file of added) await folders.place(place, file, get);
  if (isHere) return { kind: 'here' };
  const isOlder =
    mayHaveLost(copy, last) || (copy?.epoch ?? 0) < Math.max(epoch, state.epoch) || state.bound !== undefined;
  return {
    kind: copy !== undefined || added.length > 0 ? 'laid' : state.host === undefined ? 'none' : 'left',
    ...(isOlder && home !== undefined ? { newerOn: home.name } : {}),
    ...(laid?.setAside === undefined ? {} : { setAside: laid.setAside }),
  };
}
