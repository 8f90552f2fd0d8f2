/**
 * A program of a run, the agent or a command of its terminals: in a group and session of its own, its process tree on
 * record, ended with it.
 */
import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import type { Readable, Writable } from 'node:stream';
import type { ProcessTree, TrackedProcessTree } from '../../actors/task/process-tree.ts';
import { programNotStarted } from '../../machines/run/program-end.ts';
import type { ProgramExit } from '../../machines/run/program-end.ts';

export interface ProgramCommand {
  readonly program: string;
  readonly args: readonly string[];
  /** Absolute. */
  readonly cwd: string;
  /** All that the program gets. */
  readonly environment: Readonly<Record<string, string>>;
  /** Whether anybody writes to it. */
  readonly hasInput: boolean;
}

export interface StartProgramOptions {
  readonly command: ProgramCommand;
  readonly processTree: ProcessTree;
  /** For the record of its process tree. */
  readonly taskId: string;
  readonly signal: AbortSignal;
}

export interface RunningProgram {
  /** Absent for one without input. */
  readonly stdin: Writable | undefined;
  readonly stdout: Readable;
  readonly stderr: Readable;
  /** Resolves when the program has ended. What it started may still run. */
  readonly exited: Promise<ProgramExit>;
  /**
   * Ends the program and all that it started, and resolves when it is proven gone.
   * @throws BackgroundTaskError category `process` naming who is left
   */
  end(options: { readonly lingerMs?: number; readonly graceMs: number }): Promise<void>;
}

/**
 * @throws ProgramNotStarted; BackgroundTaskError category `storage` when it cannot be put on record; the reason of
 * `signal` when that aborted
 */
export async function startProgram({
  command,
  processTree,
  taskId,
  signal,
}: StartProgramOptions): Promise<RunningProgram> {
  const { program, args, cwd, environment, hasInput } = command;
  const tree = await processTree.prepare({
    taskId,
    commandPreview: [program, ...args].join(' '),
  });
  try {
    signal.throwIfAborted();
    const launch = tree.launch({ program, args, cwd, environment });
    const child = spawn(launch.program, [...launch.args], {
      cwd,
      env: launch.environment,
      detached: true,
      stdio: [hasInput ? 'pipe' : 'ignore', 'pipe', 'pipe'],
    });
    const { pid, stdin, stdout, stderr } = child;
    if (pid === undefined || stdout === null || stderr === null) throw await failureOf(child);
    return attached(child, { pid, tree, stdin, stdout, stderr });
  } catch (error) {
    await tree.end({ graceMs: 0 }).catch(() => undefined);
    if (signal.aborted) throw error;
    throw programNotStarted(error);
  }
}

interface Attachment {
  readonly pid: number;
  readonly tree: TrackedProcessTree;
  readonly stdin: Writable | null;
  readonly stdout: Readable;
  readonly stderr: Readable;
}

/** In the turn of the spawn: nothing of the process has been read, and its end has not been told yet. */
function attached(child: ChildProcess, { pid, tree, stdin, stdout, stderr }: Attachment): RunningProgram {
  // Without it on record the tree is still found by its mark.
  tree.attach(pid).catch(() => undefined);
  child.on('error', () => undefined);
  // How it ended says more than that it stopped reading.
  for (const stream of [stdin, stdout, stderr]) stream?.on('error', () => undefined);
  const exited = new Promise<ProgramExit>((resolve) => {
    child.once('exit', (code, signal) => resolve({ code: code ?? undefined, signal: signal ?? undefined }));
  });
  const end = async ({
    lingerMs = 0,
    graceMs,
  }: {
    readonly lingerMs?: number;
    readonly graceMs: number;
  }): Promise<void> => {
    try {
      await tree.end({ lingerMs, graceMs, includeOutputHolders: child.exitCode !== null && !stdout.readableEnded });
    } finally {
      // Somebody who is in no way related to it may hold the other ends: they are not waited for.
      for (const stream of [stdin, stdout, stderr]) stream?.destroy();
    }
  };
  return { stdin: stdin ?? undefined, stdout, stderr, exited, end };
}

async function failureOf(child: ChildProcess): Promise<unknown> {
  return new Promise((resolve) => {
    child.once('error', resolve);
  });
}
