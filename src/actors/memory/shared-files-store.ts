/** The port to what all sessions of an agent share: files, and every version that they ever had. */
import { RuntimeError } from '../../machines/errors.ts';
import type { SharedFile, SharedFilesVersion } from '../../machines/memory/shared-files-version.ts';
import type { PromotionPermit } from '../outcome/promotion-gate.ts';

/** The newest version; 0 where there is none yet. */
export interface SharedFilesHead {
  readonly version: number;
  readonly files: readonly SharedFile[];
}

interface SharedFileChange {
  readonly path: string;
  /** Null: the file is taken out. A text is kept as UTF-8. */
  readonly content: Uint8Array | string | null;
}

export interface SharedFilesEdit {
  readonly agentId: string;
  readonly changes: readonly SharedFileChange[];
  /** Of the head that the changes were made for. */
  readonly expectedVersion: number;
  readonly why: string;
}

export interface SharedFilesRestore extends Omit<SharedFilesEdit, 'changes'> {
  readonly version: number;
}

export interface SharedFilesResult {
  /** The head now. */
  readonly version: number;
  /** False when everything was so already: then there is no new version. */
  readonly isNew: boolean;
  readonly changed: readonly string[];
}

/**
 * Versions are immutable and numbered from 1 on. What people have edited by hand is a version of theirs before anything
 * else is checked or changed: nothing of it is overwritten or lost. Every method rejects with AGENT_ID_INVALID for a
 * name that no agent can have, with SHARED_FILES_DAMAGED where what was kept cannot be read, with
 * SHARED_FILES_TOO_LARGE where people put in more than is kept, and with STORAGE_FAILED where the medium refuses.
 */
export interface SharedFilesStore {
  head(agentId: string): Promise<SharedFilesHead>;
  /** The files of a version; of the head where none is named. @throws RuntimeError SHARED_FILES_VERSION_NOT_FOUND */
  list(agentId: string, version?: number): Promise<readonly SharedFile[]>;
  /**
   * Undefined when the version has no such file. @throws RuntimeError SHARED_FILES_VERSION_NOT_FOUND,
   * SHARED_FILES_PATH_INVALID
   */
  read(agentId: string, path: string, version?: number): Promise<Uint8Array | undefined>;
  /** The newest first. `before`: only older ones. */
  versions(
    agentId: string,
    page?: { readonly before?: number | undefined; readonly limit?: number | undefined },
  ): Promise<readonly SharedFilesVersion[]>;
  /**
   * All of the changes, or none. Of two that expect the same version one wins.
   * @throws RuntimeError PROMOTION_REFUSED without a permit of the gate; SHARED_FILES_CONFLICT naming both versions;
   * SHARED_FILES_CHANGE_INVALID
   */
  promote(permit: PromotionPermit, edit: SharedFilesEdit): Promise<SharedFilesResult>;
  /** A new version with the files of an old one. @throws RuntimeError as `promote`, and SHARED_FILES_VERSION_NOT_FOUND */
  restore(permit: PromotionPermit, restore: SharedFilesRestore): Promise<SharedFilesResult>;
  /** What a person asked for, who may edit the files by hand just as well: for command lines, never for tools. */
  readonly people: {
    edit(edit: SharedFilesEdit): Promise<SharedFilesResult>;
    restore(restore: SharedFilesRestore): Promise<SharedFilesResult>;
  };
}

export const DEFAULT_VERSIONS_LISTED = 20;
export const MAX_VERSIONS_LISTED = 200;

export function sharedFilesConflict(
  agentId: string,
  { expected, head }: { readonly expected: number; readonly head: number },
): RuntimeError {
  return new RuntimeError(
    'SHARED_FILES_CONFLICT',
    `expected version ${expected} of the shared files of agent ${agentId}, they are at version ${head}; nothing was changed`,
    {
      category: 'conflict',
      hint: `${conflictHint(agentId, expected, head)} Then try again with version ${head}.`,
      details: { agentId, expectedVersion: expected, version: head },
    },
  );
}

/** The command line as it can be typed: a difference needs two versions that are there. */
function conflictHint(agentId: string, expected: number, head: number): string {
  if (head === 0) return 'Nothing is shared yet.';
  if (expected < 1 || expected > head)
    return `Check what is shared (resources_compare, or wakechart resources list --agent ${agentId}).`;
  return `Check what has changed since (resources_compare, or wakechart resources diff --agent ${agentId} --at ${head} --against ${expected}).`;
}

export function versionNotFound(agentId: string, version: number, head: number): RuntimeError {
  return new RuntimeError(
    'SHARED_FILES_VERSION_NOT_FOUND',
    `there is no version ${version} of the shared files of agent ${agentId}`,
    {
      category: 'not_found',
      hint: head === 0 ? 'Nothing was shared yet.' : `They are numbered from 1 to ${head}.`,
      details: { agentId, version, head },
    },
  );
}
