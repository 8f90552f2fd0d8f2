/** The port to the folders of the host that stand behind the mounts of a session. */
import type { DeclaredMount } from '../../machines/environment/environment-definition.ts';
import type { MountFolders } from '../../machines/environment/mount-table.ts';
import type { SessionIdentity } from '../session/event-store.ts';

export interface MountRequest {
  readonly session: SessionIdentity;
  /** Absolute; it exists. */
  readonly workspaceDirectory: string;
  readonly declared: readonly DeclaredMount[];
  /** What declares them, for errors. */
  readonly environmentId: string;
  /** Whether commands are shut in: then the workspace is checked as declared mounts are. */
  readonly sandbox: 'required' | 'off';
}

export interface MountPlaces {
  /**
   * The folders behind all mounts, every link followed. Those of the runtime's own are made where they are missing.
   * @throws RuntimeError MOUNT_UNAVAILABLE for a source that is missing, no folder, or not to be mounted, naming the
   * environment, and for a workspace or a home that no process can be shut in with; STORAGE_FAILED when a folder cannot
   * be made
   */
  resolve(
    request: MountRequest,
  ): Promise<{ readonly folders: MountFolders; readonly declared: readonly DeclaredMount[] }>;
}
