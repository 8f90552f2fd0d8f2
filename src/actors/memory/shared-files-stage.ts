/**
 * The port to the folder of a workspace in which an agent edits copies of what its sessions share. What lies there is
 * the agent's: nothing of it is believed.
 */
import { canonicalJson } from '../../machines/canonical-json.ts';
import { sha256Hex } from '../sha256.ts';

export interface StagedFile {
  readonly path: string;
  readonly content: Uint8Array;
}

export interface Stage {
  /** The version whose files were staged last, and which those were. Absent when none were. */
  readonly origin?: { readonly version: number; readonly paths: readonly string[] } | undefined;
  /** In the order of their paths. */
  readonly files: readonly StagedFile[];
}

export interface SharedFilesStage {
  /**
   * Puts copies into the stage; what has the same name there is replaced.
   * @param workspaceDirectory absolute
   * @throws RuntimeError STAGE_UNSAFE where a link is in the way; STORAGE_FAILED
   */
  put(workspaceDirectory: string, version: number, files: readonly StagedFile[]): Promise<void>;
  /**
   * What lies there: plain files only, and no links. @throws RuntimeError STAGE_UNSAFE, STAGE_TOO_LARGE, STORAGE_FAILED
   */
  read(workspaceDirectory: string): Promise<Stage>;
}

// Tells one content of a stage from another: what was there when an outcome was evaluated is what may be shared.

/** SHA-256 as 64 hexadecimal digits, over every file and over what was staged before, which says what was taken out. */
export async function stageDigest({ files, origin }: Stage): Promise<string> {
  const contents = await Promise.all(files.map(async ({ path, content }) => [path, await sha256Hex(content)]));
  return sha256Hex(canonicalJson([contents, origin === undefined ? null : origin.paths.toSorted()]));
}
