/**
 * The port to the workspace copies that lie on this machine. Everything is done under the right to wake the session, by
 * one process at a time.
 */
import type { WorkspaceCopyFile, WorkspaceCopyMeasure } from '../../machines/workspace-copy/copy-manifest.ts';
import type { WorkspaceCopyLimits } from '../../machines/workspace-copy/copy-limits.ts';
import type { HomeHost } from '../../machines/workspace-copy/copy-state.ts';
import type { SessionPlace } from '../session/session-directories.ts';
import type { WorkspaceCopyPiece } from './copy-store.ts';

export interface TakeWorkspaceCopy {
  /** The manifest that all pieces of are known to be kept: what has not changed since it was taken is not given out. */
  readonly kept?: string | undefined;
  readonly limits: WorkspaceCopyLimits;
  /** Takes pieces, a few at a time. The next ones come when it has resolved. */
  readonly onPieces: (pieces: readonly WorkspaceCopyPiece[]) => Promise<void>;
  readonly signal?: AbortSignal | undefined;
}

export interface TakenWorkspaceCopy extends WorkspaceCopyMeasure {
  readonly manifestId: string;
  /** Of the whole copy, those of the manifest included. */
  readonly pieces: ReadonlySet<string>;
  /** Paths of its files. */
  readonly has: (path: string) => boolean;
  /** Files that were read, since they were not as they were before. */
  readonly read: number;
  /** What no copy can hold, such as sockets, by path. */
  readonly skipped: readonly string[];
  /** It is the copy now, and that is on record: the next one begins from it, and what lies here is in a copy. */
  confirm(): Promise<void>;
}

export interface LayWorkspaceCopy {
  readonly manifestId: string;
  /** Of the wake that it is laid out for: names what is put aside. */
  readonly epoch: number;
  /**
   * The newest wake that has begun: what wakes after it have put aside is not told yet. Absent: only what is put aside
   * now is told.
   */
  readonly toldThrough?: number | undefined;
  /** @throws whatever keeps it from having one of them */
  readonly get: (hashes: readonly string[]) => Promise<readonly WorkspaceCopyPiece[]>;
  readonly signal?: AbortSignal | undefined;
}

export interface LaidWorkspaceCopy extends WorkspaceCopyMeasure {
  /** Bytes that had to be fetched. */
  readonly fetchedBytes: number;
  /**
   * Absolute path of what lay here before and was in no copy, where there was such: put aside now, or by a wake that
   * came to nothing.
   */
  readonly setAside?: string | undefined;
}

export interface WorkspaceCopyFolders {
  /** This home: made up once, and kept in it. */
  host(): Promise<HomeHost>;
  /**
   * Ends what a process has left half done that died while it laid out a workspace copy: afterwards the old one lies
   * there, or the new one.
   */
  recover(place: SessionPlace): Promise<void>;
  /** Whether the folder that the session was given is there. */
  hasGivenFolder(folder: string): Promise<boolean>;
  /**
   * Reads the workspace copy as it is now and gives out the pieces it is made of. Links are not followed.
   * @throws RuntimeError WORKSPACE_COPY_TOO_LARGE; WORKSPACE_COPY_UNREADABLE; whatever `onPieces` throws
   */
  take(place: SessionPlace, take: TakeWorkspaceCopy): Promise<TakenWorkspaceCopy>;
  /**
   * Puts the workspace copy of that manifest where the one here lies, at once and whole. What lies here and is the same
   * is not fetched.
   * @throws RuntimeError WORKSPACE_COPY_DAMAGED; STORAGE_FAILED. The one here stays then
   */
  lay(place: SessionPlace, lay: LayWorkspaceCopy): Promise<LaidWorkspaceCopy>;
  /** Puts one file into the workspace copy, unless one of its size is there. */
  place(place: SessionPlace, file: WorkspaceCopyFile, get: LayWorkspaceCopy['get']): Promise<void>;
  /** One file of the copy with its pieces. */
  readFile(
    place: SessionPlace,
    path: string,
  ): Promise<{ readonly file: WorkspaceCopyFile; readonly pieces: readonly WorkspaceCopyPiece[] }>;
}
