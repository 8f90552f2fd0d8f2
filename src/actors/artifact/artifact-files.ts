/** The port to the files in which a session's facts are laid out for its agent. */
import type { Artifact } from '../../machines/artifact/artifact.ts';

export interface ArtifactPlace {
  /** Absolute; it exists. */
  readonly workspaceDirectory: string;
  /** The session, where others may work in the same folder: then its files are in a folder of its own. */
  readonly sessionId?: string | undefined;
}

export interface ArtifactFiles {
  /**
   * Makes the files be there as they are given, each one whole. Those that are there like that already are left alone;
   * those that were changed or deleted are put right.
   * @returns the names of those that were written @throws RuntimeError when one cannot be; the others are there all the
   * same
   */
  layOut(place: ArtifactPlace, artifacts: readonly Artifact[]): Promise<readonly string[]>;
}
