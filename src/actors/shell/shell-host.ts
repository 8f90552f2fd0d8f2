/**
 * The ports to what the shell tools need of the system besides tasks, and to what is kept of open shells outside of
 * this process.
 */
import type { HostEnvironment } from '../../machines/turn/shell/environment.ts';
import type { ShellRecord } from '../../machines/turn/shell/shell-record.ts';
import type { SessionIdentity } from '../session/event-store.ts';

/** Where a process is. `gone`: in a folder that was deleted. `unknown`: the system does not tell. */
export type ProcessFolder =
  | { readonly kind: 'known'; readonly path: string }
  | { readonly kind: 'gone' }
  | { readonly kind: 'unknown' };

export interface ShellHost {
  /** The environment of the runtime. What of it commands get is not decided here. */
  environment(): HostEnvironment;
  /** Sends SIGINT to the process group that `processId` leads. One that is gone is no failure. */
  interrupt(processId: number): void;
  /**
   * The folder or file that `path`, seen from `workspace`, is when every symbolic link has been followed: absolute.
   * @throws RuntimeError when it does not exist, or lies outside the workspace
   */
  resolveInside(workspace: string, path: string): string;
  /**
   * Whether `path`, which is absolute and need not exist, lies in `folder` (a real path), or leads through it by
   * symbolic links. Never throws.
   */
  leadsThrough(folder: string, path: string): boolean;
  /**
   * What runs in the sandbox that the process keeps: the program that was started in it, and the group that gets its
   * interrupts, both as the host numbers them. Undefined as long as there is none. Never throws.
   */
  programInside(processId: number): { readonly processId: number; readonly group: number } | undefined;
  /**
   * How many processes a shell has left running beside itself: those that it has started, and in a sandbox of its own
   * all that are in it. Never throws.
   */
  processesBeside(processId: number, options: { readonly isShutIn: boolean }): number;
  /**
   * The folder that a process is in now, by its real path; of one in a sandbox, by the path that it has there. Never
   * throws.
   */
  folderOfProcess(processId: number): ProcessFolder;
}

// The port to what is kept of open shells outside of this process.

/**
 * One record by session and name. They are a cache of what the log and the processes tell: one that is lost or
 * unreadable is none.
 */
export interface ShellRecords {
  /** Undefined where there is none that can be read. Never throws. */
  read(session: SessionIdentity, name: string): ShellRecord | undefined;
  /** Of all shells of a session of which there is a record. Never throws. */
  names(session: SessionIdentity): readonly string[];
  /**
   * Makes nothing for a session that is not there. @throws when it cannot be written; then there is none, or the one
   * before
   */
  write(session: SessionIdentity, name: string, record: ShellRecord): Promise<void>;
  /** Idempotent. */
  remove(session: SessionIdentity, name: string): Promise<void>;
}
