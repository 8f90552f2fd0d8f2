/** The port to a sandbox: how a command is shut in with what its session may see. */
import type { Mount } from '../../machines/environment/mount-table.ts';

export interface SandboxScope {
  readonly sessionId: string;
  readonly mounts: readonly Mount[];
  readonly network: 'open' | 'disabled';
  /** The session's own folder in the home, where it has one: what lies in it besides the mounts is not seen. */
  readonly workspaceDirectory: string;
  /** What one file of a command may hold, in bytes; a little more where it is very little. Default: no bound. */
  readonly maxFileBytes?: number | undefined;
}

export type SandboxAvailability =
  | { readonly kind: 'available'; readonly version: string }
  /** `reason` and `hint`: sentences for people; the hint says what to install or to allow. */
  | { readonly kind: 'missing'; readonly reason: string; readonly hint: string };

export interface SandboxedProgram {
  readonly command: string;
  readonly args: readonly string[];
}

/** The sandbox of one session. */
export interface CommandSandbox {
  readonly kind: 'bubblewrap';
  /**
   * A command line for `/bin/sh -c` that runs `command` by `/bin/sh` in the sandbox, in `cwd` (a real path in a mount).
   * It gets the environment that the line itself is run with. No value of that is in the line, and ending the line's
   * process ends everything in the sandbox.
   */
  wrapCommand(command: string, cwd: string): string;
  /** The same for a program with its arguments, which no shell reads. */
  wrapProgram(program: SandboxedProgram, cwd: string): SandboxedProgram;
}

export interface Sandboxes {
  /** Whether commands can be shut in here. Checked once; the answer stays for the life of the process. */
  availability(): Promise<SandboxAvailability>;
  /** @throws RuntimeError SANDBOX_UNAVAILABLE saying what to install */
  open(scope: SandboxScope): Promise<CommandSandbox>;
}
