/**
 * The program behind an MCP server: started in a group and session of its own, with its process tree on record, and
 * ended with it.
 */
import { spawn } from 'node:child_process';
import type { ChildProcessByStdio } from 'node:child_process';
import { stat } from 'node:fs/promises';
import type { Readable, Writable } from 'node:stream';
import type { ProcessTree, TrackedProcessTree } from '../../actors/task/process-tree.ts';
import { messageOf } from '../../machines/errors.ts';
import { systemCodeOf } from '../system/error-codes.ts';
import { HopelessAttempt } from './server-errors.ts';
import type { StdioSettings } from './server-settings.ts';

type Child = ChildProcessByStdio<Writable, Readable, Readable>;

export interface ServerProcessOptions {
  readonly settings: StdioSettings;
  readonly processTree: ProcessTree;
  /** For the record of its process tree. */
  readonly taskId: string;
  /** Between SIGTERM and SIGKILL, in milliseconds. */
  readonly killGraceMs: number;
  readonly signal: AbortSignal;
}

export interface ServerProcess {
  readonly pid: number;
  readonly stdin: Writable;
  readonly stdout: Readable;
  readonly stderr: Readable;
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
  const { command, args, cwd, environment } = settings;
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
    return attached(child, { pid, tree, killGraceMs });
  } catch (error) {
    await tree.end({ graceMs: 0 }).catch(() => undefined);
    if (signal.aborted || error instanceof HopelessAttempt) throw error;
    throw new HopelessAttempt(`the program ${command} could not be started: ${spawnFailure(error)}`, { cause: error });
  }
}

interface Attachment {
  readonly pid: number;
  readonly tree: TrackedProcessTree;
  readonly killGraceMs: number;
}

/** In the turn of the spawn: nothing of the process has been read, and its end has not been told yet. */
function attached(child: Child, { pid, tree, killGraceMs }: Attachment): ServerProcess {
  // Without it on record the tree is still found by its mark.
  tree.attach(pid).catch(() => undefined);
  child.on('error', () => undefined);
  const exited = new Promise<string>((resolve) => {
    child.once('exit', (code, signalName) =>
      resolve(code === null ? `it was ended by ${String(signalName)}` : `it ended with exit code ${code}`),
    );
  });
  const { stdin, stdout, stderr } = child;
  const end = async ({ lingerMs }: { readonly lingerMs: number }): Promise<void> => {
    await tree.end({ lingerMs, graceMs: killGraceMs });
    // Somebody who is in no way related to it may hold the other ends: they are not waited for.
    for (const stream of [stdin, stdout, stderr]) stream.destroy();
  };
  return { pid, stdin, stdout, stderr, exited, end };
}

async function failureOf(child: Child): Promise<unknown> {
  return new Promise((resolve) => {
    child.once('error', resolve);
  });
}

/** Errors of the system only: others may quote the environment. */
function spawnFailure(error: unknown): string {
  switch (systemCodeOf(error)) {
    case 'ENOENT':
      return 'there is no such program';
    case 'EACCES':
      return 'it may not be executed';
    case 'E2BIG':
      return 'its arguments and its environment are too long for the system';
    case 'EAGAIN':
    case 'EMFILE':
    case 'ENFILE':
    case 'ENOMEM':
      return 'the system has no resources left';
    case undefined:
    default:
      return 'the system refused it';
  }
}

async function checkFolder(cwd: string): Promise<void> {
  const folder = await stat(cwd).catch((error: unknown) => {
    throw new HopelessAttempt(`its working folder ${cwd} cannot be entered: ${messageOf(error)}`, { cause: error });
  });
  if (!folder.isDirectory()) throw new HopelessAttempt(`its working folder ${cwd} is no folder`);
}
