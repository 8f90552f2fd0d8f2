/**
 * The ports to files that hold what a tool put out beyond what a model is given as text, where the agent can read them.
 */
import type { SessionPlace } from '../session/session-directories.ts';

export interface KeptOutput {
  readonly session: SessionPlace;
  readonly callId: string;
  readonly text: string;
}

/** An image, a sound or another file that a tool put out. */
export interface KeptBytes {
  readonly session: SessionPlace;
  readonly callId: string;
  readonly bytes: Uint8Array;
  /** What the name of the file ends in, without the dot: 1 to 8 of `a-z0-9`. Anything else counts as `bin`. */
  readonly extension: string;
}

export interface OutputStore {
  /**
   * Keeps the text. Resolves with the path of the file from the session's workspace. @throws RuntimeError
   * STORAGE_FAILED
   */
  keep(output: KeptOutput): Promise<string>;
}

export interface OutputFileStore {
  /**
   * Keeps the bytes as they are. Resolves with the path of the file from the session's workspace: the same for the same
   * bytes of a call, another for any others. @throws RuntimeError OUTPUT_TOO_LARGE, STORAGE_FAILED
   */
  keepBytes(file: KeptBytes): Promise<string>;
}
