/**
 * The ports to durable workspace copies: the pieces that contents are made of, by hash, and where each workspace is at
 * home. Any shared place can keep the pieces; who keeps the states has to answer one at a time.
 *
 * Pieces are kept session by session: no session can find out by a hash what another one holds, and with a session all
 * of its pieces go.
 */
import type { WorkspaceCopyFile } from '../../machines/workspace-copy/copy-manifest.ts';
import type { WorkspaceCopy, HomeHost, WorkspaceCopyState } from '../../machines/workspace-copy/copy-state.ts';

export interface WorkspaceCopyPiece {
  /** SHA-256 of the bytes, as 64 hexadecimal digits. */
  readonly hash: string;
  readonly bytes: Uint8Array;
}

/**
 * How long a piece that nothing names is left alone after it was put, in milliseconds: a copy that is being made has
 * named nothing yet.
 */
export const WORKSPACE_COPY_GRACE_MS = 86_400_000;

export interface PrunedPieces {
  readonly pieces: number;
  readonly bytes: number;
}

interface WorkspaceCopyPieces {
  /**
   * Of these, those that are there and will be for half of the grace at least, whatever nothing names. What is missing
   * here is put again.
   */
  has(sessionId: string, hashes: readonly string[]): Promise<ReadonlySet<string>>;
  /** Keeps them, durably. One that is there already stays, and counts as new for the grace. */
  put(sessionId: string, pieces: readonly WorkspaceCopyPiece[]): Promise<void>;
  /** Those that are there. */
  get(sessionId: string, hashes: readonly string[]): Promise<readonly WorkspaceCopyPiece[]>;
  /**
   * Removes what is not to be kept and older than the grace. Nothing, unless `epoch` is what was said last of the
   * workspace.
   */
  prune(
    sessionId: string,
    prune: { readonly epoch: number; readonly keep: ReadonlySet<string> },
  ): Promise<PrunedPieces>;
}

export interface WorkspaceCopyRecord {
  /** Of the wake that says so. */
  readonly epoch: number;
  readonly host: HomeHost;
  /** Absent: the copy stays which it was. */
  readonly copy?: WorkspaceCopy | undefined;
  /** Absent: nothing binds it. */
  readonly bound?: string | undefined;
  /** Paths of added files that lie in the copy now. */
  readonly settled?: readonly string[] | undefined;
}

export interface WorkspaceCopyStates {
  latest(sessionId: string): Promise<WorkspaceCopyState | undefined>;
  /**
   * Saying the same again is fine. @throws RuntimeError WORKSPACE_COPY_SUPERSEDED when a later wake has spoken, or one
   * of the same epoch on another machine
   */
  record(sessionId: string, record: WorkspaceCopyRecord): Promise<void>;
  /**
   * Adds a file whose pieces are there, for whichever machine wakes the session next. One of the same path takes the
   * place of the one before.
   */
  add(sessionId: string, file: WorkspaceCopyFile): Promise<void>;
  /**
   * Takes the workspace from the machine that is its home: it may come to any from now on, whatever epoch it was spoken
   * of in last, even one that is in no log since its wake never began. Wakes before that, which another process has
   * taken over, may not speak any more.
   * @param nextEpoch the lowest that a wake can have from now on: the one after the newest in the log
   * @returns whether it was at home anywhere
   */
  release(sessionId: string, nextEpoch: number): Promise<boolean>;
  /** Removes all that is known and kept of the workspace copy. Idempotent. */
  forget(sessionId: string): Promise<void>;
}

/** Of a keeper that does several of these in one step; without them they are done one after the other. */
interface WorkspaceCopySteps {
  /** As `latest`, and says `first` where nothing was said of the workspace before. `isSaid`: it was said. */
  latestOr?(
    sessionId: string,
    first: Pick<WorkspaceCopyRecord, 'epoch' | 'host' | 'bound'>,
  ): Promise<{ readonly state: WorkspaceCopyState | undefined; readonly isSaid: boolean }>;
  /** Puts the pieces and says that they are there: both or neither. @throws RuntimeError WORKSPACE_COPY_SUPERSEDED */
  recordWith?(sessionId: string, record: WorkspaceCopyRecord, pieces: readonly WorkspaceCopyPiece[]): Promise<void>;
}

export interface WorkspaceCopyStore extends WorkspaceCopyPieces, WorkspaceCopyStates, WorkspaceCopySteps {}
