/**
 * The program of one run: started in a group and session of its own, with its process tree on record, and ended with
 * it.
 */
import { spawn } from 'node:child_process';
import type { ChildProcessByStdio } from 'node:child_process';
import { stat } from 'node:fs/promises';
import type { Readable, Writable } from 'node:stream';
import type { ProcessTree, TrackedProcessTree } from '../../actors/task/process-tree.ts';
import { messageOf } from '../../machines/errors.ts';
import { programNotStarted } from '../../machines/run/program-end.ts';
import type { ProgramExit } from '../../machines/run/program-end.ts';
import { within } from '../system/waiting.ts';
import { SettingsRefused } from './dialect.ts';

type Child = ChildProcessByStdio<Writable, Readable, Readable>;

export interface ProgramCommand {
  readonly command: string;
  readonly args: readonly string[];
  /** Absolute. */
  readonly cwd: string;
  /** All that the program gets. */
  readonly environment: Readonly<Record<string, string>>;
}

export interface StartProgramOptions {
  readonly command: ProgramCommand;
  readonly processTree: ProcessTree;
  /** For the record of its process tree. */
  readonly taskId: string;
  readonly signal: AbortSignal;
}

export interface ProgramProcess {
  readonly stdin: Writable;
  readonly stdout: Readable;
  readonly stderr: Readable;
  /** Resolves when the program has ended. What it started may still run. */
  readonly exited: Promise<ProgramExit>;
  /** Resolves when the program has ended, or so many milliseconds of real time are over. */
  endedWithin(durationMs: number): Promise<void>;
  /**
   * Ends the program and all that it started, and resolves when it is proven gone.
   * @throws BackgroundTaskError category `process` naming who is left
   */
  end(options: { readonly graceMs: number }): Promise<void>;
}

/**
 * @throws ProgramNotStarted; SettingsRefused when the working folder cannot be entered; BackgroundTaskError category
 * `storage` when the program cannot be put on record; the reason of `signal` when that aborted
 */
export async function startProgram({
  command: { command, args, cwd, environment },
  processTree,
  taskId,
  signal,
}: StartProgramOptions): Promise<ProgramProcess> {
  await checkFolder(cwd);
  const tree = await processTree.prepare({
    taskId,
    commandPreview: [command, ...args].join(' '),
  });
  try {
    signal.throwIfAborted();
    const launch = tree.launch({ program: command, args, cwd, environment });
    const child: Child = spawn(launch.program, [...launch.args], {
      cwd,
      env: launch.environment,
      detached: true,
      stdio: ['pipe', 'pipe', 'pipe'],
    });
    const { pid } = child;
    if (pid === undefined) throw await failureOf(child);
    return attached(child, pid, tree);
  } catch (error) {
    await tree.end({ graceMs: 0 }).catch(() => undefined);
    if (signal.aborted) throw error;
    throw programNotStarted(error);
  }
}

/** In the turn of the spawn: nothing of the process has been read, and its end has not been told yet. */
function attached(child: Child, pid: number, tree: TrackedProcessTree): ProgramProcess {
  // Without it on record the tree is still found by its mark.
  tree.attach(pid).catch(() => undefined);
  child.on('error', () => undefined);
  const { stdin, stdout, stderr } = child;
  // How it ended says more than that it stopped reading.
  stdin.on('error', () => undefined);
  stdout.on('error', () => undefined);
  const exited = new Promise<ProgramExit>((resolve) => {
    child.once('exit', (code, signal) => resolve({ code: code ?? undefined, signal: signal ?? undefined }));
  });
  const end = async ({ graceMs }: { readonly graceMs: number }): Promise<void> => {
    try {
      await tree.end({ graceMs, includeOutputHolders: child.exitCode !== null && !stdout.readableEnded });
    } finally {
      // Somebody who is in no way related to it may hold the other ends: they are not waited for.
      for (const stream of [stdin, stdout, stderr]) stream.destroy();
    }
  };
  return {
    stdin,
    stdout,
    stderr,
    exited,
    endedWithin: async (durationMs) => void (await within(exited, durationMs)),
    end,
  };
}

async function failureOf(child: Child): Promise<unknown> {
  return new Promise((resolve) => {
    child.once('error', resolve);
  });
}

async function checkFolder(cwd: string): Promise<void> {
  const folder = await stat(cwd).catch((error: unknown) => {
    throw new SettingsRefused(`the working folder ${cwd} cannot be entered: ${messageOf(error)}`, { cause: error });
  });
  if (!folder.isDirectory()) throw new SettingsRefused(`the working folder ${cwd} is no folder`);
}
