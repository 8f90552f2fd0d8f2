/** The port to work that one process at a time may do, whatever becomes of the others. */
import type { RuntimeError } from '../../machines/errors.ts';

/**
 * Runs `work` while no other caller, in this process or another, runs work under the same path: a file beside what is
 * changed, which is there only meanwhile. One that is killed at it keeps no other out.
 * @param busy makes the error for having waited too long, in milliseconds
 */
export type ExclusiveWork = <Result>(
  path: string,
  work: () => Promise<Result>,
  busy: (waitedMs: number) => RuntimeError,
) => Promise<Result>;
