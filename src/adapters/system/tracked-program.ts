/** Programs in a group and session of their own, with their process tree on record, and ended with it. */
import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import type { Readable, Writable } from 'node:stream';
import type {
  EndProcessTreeOptions,
  ProcessLaunch,
  ProcessTree,
  TrackedProcessTree,
} from '../../actors/task/process-tree.ts';
import { programNotStarted } from '../../machines/run/program-end.ts';
import type { ProgramExit } from '../../machines/run/program-end.ts';

export interface StartProgram {
  readonly command: ProcessLaunch;
  readonly processTree: ProcessTree;
  /** For the record of its process tree. */
  readonly taskId: string;
  readonly sessionId?: string | undefined;
  readonly signal: AbortSignal;
}

export interface TrackedProgram<Input extends Writable | undefined = Writable> {
  readonly pid: number;
  readonly stdin: Input;
  readonly stdout: Readable;
  readonly stderr: Readable;
  /** Resolves when the program has ended. What it started may still run. */
  readonly exited: Promise<ProgramExit>;
  /**
   * Ends the program and all that it started, and resolves when it is proven gone. Who holds its output is ended too
   * where that has not come to its end, unless it is asked for otherwise.
   * @throws BackgroundTaskError category `process` naming who is left
   */
  end(options: EndProcessTreeOptions): Promise<void>;
}

/**
 * @throws ProgramNotStarted; BackgroundTaskError category `storage` when it cannot be put on record; the reason of
 * `signal` when that aborted
 */
export function startProgram(options: StartProgram & { readonly hasInput: false }): Promise<TrackedProgram<undefined>>;
export function startProgram(options: StartProgram): Promise<TrackedProgram>;
export async function startProgram({
  command,
  processTree,
  taskId,
  sessionId,
  signal,
  hasInput = true,
}: StartProgram & { readonly hasInput?: boolean }): Promise<TrackedProgram<Writable | undefined>> {
  const tree = await processTree.prepare({
    taskId,
    sessionId,
    commandPreview: [command.program, ...command.args].join(' '),
  });
  try {
    signal.throwIfAborted();
    const { program, args, environment } = tree.launch(command);
    const child = spawn(program, [...args], {
      cwd: command.cwd,
      env: environment,
      detached: true,
      stdio: [hasInput ? 'pipe' : 'ignore', 'pipe', 'pipe'],
    });
    const { pid, stdin, stdout, stderr } = child;
    if (pid === undefined || stdout === null || stderr === null) throw await failureOf(child);
    return attached(child, { pid, tree, stdin: stdin ?? undefined, stdout, stderr });
  } catch (error) {
    await tree.end({ graceMs: 0 }).catch(() => undefined);
    signal.throwIfAborted();
    throw programNotStarted(error);
  }
}

interface Attachment extends Pick<TrackedProgram<Writable | undefined>, 'pid' | 'stdin' | 'stdout' | 'stderr'> {
  readonly tree: TrackedProcessTree;
}

/** In the turn of the spawn: nothing of the process has been read, and its end has not been told yet. */
function attached(child: ChildProcess, { tree, ...program }: Attachment): TrackedProgram<Writable | undefined> {
  const { pid, stdin, stdout, stderr } = program;
  // Without it on record the tree is still found by its mark.
  tree.attach(pid).catch(() => undefined);
  child.on('error', () => undefined);
  // How it ended says more than that it stopped reading.
  for (const stream of [stdin, stdout, stderr]) stream?.on('error', () => undefined);
  const exited = new Promise<ProgramExit>((resolve) => {
    child.once('exit', (code, signal) => resolve({ code: code ?? undefined, signal: signal ?? undefined }));
  });
  const end = async (options: EndProcessTreeOptions): Promise<void> => {
    try {
      await tree.end({ includeOutputHolders: child.exitCode !== null && !stdout.readableEnded, ...options });
    } finally {
      // A process in no way related to it may hold the other ends: they are not waited for.
      for (const stream of [stdin, stdout, stderr]) stream?.destroy();
    }
  };
  return { ...program, exited, end };
}

async function failureOf(child: ChildProcess): Promise<unknown> {
  return new Promise((resolve) => {
    child.once('error', resolve);
  });
}
