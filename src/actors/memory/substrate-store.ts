/** The port to what all sessions of an agent share: files, and every version that they ever had. */
import { RuntimeError } from '../../machines/errors.ts';
import type { SubstrateFile, SubstrateVersion } from '../../machines/memory/substrate-version.ts';
import type { PromotionPermit } from '../outcome/promotion-gate.ts';

/** The newest version; 0 where there is none yet. */
export interface SubstrateHead {
  readonly version: number;
  readonly files: readonly SubstrateFile[];
}

export interface SubstrateChange {
  readonly path: string;
  /** Null: the file is taken out. A text is kept as UTF-8. */
  readonly content: Uint8Array | string | null;
}

export interface SubstrateEdit {
  readonly agentId: string;
  readonly changes: readonly SubstrateChange[];
  /** Of the head that the changes were made for. */
  readonly expectedVersion: number;
  readonly why: string;
}

export interface SubstrateRestore extends Omit<SubstrateEdit, 'changes'> {
  readonly version: number;
}

export interface SubstrateResult {
  /** The head now. */
  readonly version: number;
  /** False when everything was so already: then there is no new version. */
  readonly isNew: boolean;
  readonly changed: readonly string[];
}

/**
 * Versions are immutable and numbered from 1 on. What people have edited by hand is a version of theirs before anything
 * else is looked at or changed: nothing of it is overwritten or lost. Every method rejects with AGENT_ID_INVALID for a
 * name that no agent can have, with SUBSTRATE_DAMAGED where what was kept cannot be read, with SUBSTRATE_TOO_LARGE
 * where people put in more than is kept, and with STORAGE_FAILED where the medium refuses.
 */
export interface SubstrateStore {
  head(agentId: string): Promise<SubstrateHead>;
  /** The files of a version; of the head where none is named. @throws RuntimeError SUBSTRATE_VERSION_NOT_FOUND */
  list(agentId: string, version?: number): Promise<readonly SubstrateFile[]>;
  /**
   * Undefined when the version has no such file. @throws RuntimeError SUBSTRATE_VERSION_NOT_FOUND,
   * SUBSTRATE_PATH_INVALID
   */
  read(agentId: string, path: string, version?: number): Promise<Uint8Array | undefined>;
  /** The newest first. `before`: only older ones. */
  versions(
    agentId: string,
    page?: { readonly before?: number | undefined; readonly limit?: number | undefined },
  ): Promise<readonly SubstrateVersion[]>;
  /**
   * All of the changes, or none. Of two that expect the same version one wins.
   * @throws RuntimeError PROMOTION_REFUSED without a permit of the gate; SUBSTRATE_CONFLICT naming both versions;
   * SUBSTRATE_CHANGE_INVALID
   */
  promote(permit: PromotionPermit, edit: SubstrateEdit): Promise<SubstrateResult>;
  /** A new version with the files of an old one. @throws RuntimeError as `promote`, and SUBSTRATE_VERSION_NOT_FOUND */
  restore(permit: PromotionPermit, restore: SubstrateRestore): Promise<SubstrateResult>;
  /** What a person asked for, who may edit the files by hand just as well: for command lines, never for tools. */
  readonly people: {
    edit(edit: SubstrateEdit): Promise<SubstrateResult>;
    restore(restore: SubstrateRestore): Promise<SubstrateResult>;
  };
}

export const DEFAULT_VERSIONS_LISTED = 20;
export const MAX_VERSIONS_LISTED = 200;

export function substrateConflict(
  agentId: string,
  { expected, head }: { readonly expected: number; readonly head: number },
): RuntimeError {
  return new RuntimeError(
    'SUBSTRATE_CONFLICT',
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
    return `Look at what is shared (resources_compare, or wakechart resources list --agent ${agentId}).`;
  return `Look at what has changed since (resources_compare, or wakechart resources diff --agent ${agentId} --at ${head} --against ${expected}).`;
}

export function versionNotFound(agentId: string, version: number, head: number): RuntimeError {
  return new RuntimeError(
    'SUBSTRATE_VERSION_NOT_FOUND',
    `there is no version ${version} of the shared files of agent ${agentId}`,
    {
      category: 'not_found',
      hint: head === 0 ? 'Nothing was shared yet.' : `They are numbered from 1 to ${head}.`,
      details: { agentId, version, head },
    },
  );
}
