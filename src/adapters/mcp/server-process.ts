/** The program behind an MCP server. */
import { stat } from 'node:fs/promises';
import type { ProcessTree } from '../../actors/task/process-tree.ts';
import { messageOf } from '../../machines/errors.ts';
import { ProgramNotStarted, exitText } from '../../machines/run/program-end.ts';
import { startProgram } from '../system/tracked-program.ts';
import type { TrackedProgram } from '../system/tracked-program.ts';
import { HopelessAttempt } from './server-errors.ts';
import type { StdioSettings } from './server-settings.ts';

export interface ServerProcessOptions {
  readonly settings: StdioSettings;
  readonly processTree: ProcessTree;
  /** For the record of its process tree. */
  readonly taskId: string;
  /** Between SIGTERM and SIGKILL, in milliseconds. */
  readonly killGraceMs: number;
  readonly signal: AbortSignal;
}

export interface ServerProcess extends Pick<TrackedProgram, 'pid' | 'stdin' | 'stdout' | 'stderr'> {
  /** Resolves with how the program ended, in words, when it has. What it started may still run. */
  readonly exited: Promise<string>;
  /**
   * Ends the program and all that it started, and resolves when it is proven gone. `lingerMs`: how long they may take
   * by themselves.
   * @throws BackgroundTaskError category `process` naming who is left
   */
  end(options: { readonly lingerMs: number }): Promise<void>;
}

/**
 * @throws HopelessAttempt when the program cannot be started; BackgroundTaskError category `storage` when it cannot be
 * put on record
 */
export async function startServerProcess({
  settings,
  processTree,
  taskId,
  killGraceMs,
  signal,
}: ServerProcessOptions): Promise<ServerProcess> {
  const { command: program, args, cwd, environment } = settings;
  await checkFolder(cwd);
  const command = { program, args, cwd, environment };
  const started = await startProgram({ command, processTree, taskId, signal }).catch((error: unknown) => {
    if (!(error instanceof ProgramNotStarted)) throw error;
    throw new HopelessAttempt(`the program ${program} could not be started: ${error.message}`, { cause: error.cause });
  });
  return {
    ...started,
    exited: started.exited.then(exitText),
    // A process that holds its output is no reason to scan the whole system.
    end: ({ lingerMs }) => started.end({ lingerMs, graceMs: killGraceMs, includeOutputHolders: false }),
  };
}

async function checkFolder(cwd: string): Promise<void> {
  const folder = await stat(cwd).catch((error: unknown) => {
    throw new HopelessAttempt(`its working folder ${cwd} cannot be entered: ${messageOf(error)}`, { cause: error });
  });
  if (!folder.isDirectory()) throw new HopelessAttempt(`its working folder ${cwd} is no folder`);
}
