/** The port to what the shell tools need of the system besides tasks. */
import type { HostEnvironment } from '../../machines/turn/shell/environment.ts';

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
}
