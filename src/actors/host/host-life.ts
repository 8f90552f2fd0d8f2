/**
 * The port that tells whether a process lives, whatever pid namespace, container or network namespace it runs in. What
 * a process writes down for others carries its token; a process that finds that asks whether the process is there
 * still.
 */

export interface HostLife {
  /**
   * Of this process: made with the first use, alive until the process ends or `close`.
   * @returns undefined where none can be had, since the file system takes no sockets: others have to go by the pid then
   */
  token(): Promise<string | undefined>;
  /**
   * Undefined when it cannot be told, as of a process on another machine over a network file system. Nothing may be
   * taken from such a one.
   */
  isAlive(token: string): Promise<boolean | undefined>;
  /** Releases the token: nothing that carries it is this process's any more. Idempotent. */
  close(): Promise<void>;
}
