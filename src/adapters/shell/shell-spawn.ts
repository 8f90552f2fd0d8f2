/** Starts a command in a shell, in a process group and session of its own. */
import { spawn } from 'node:child_process';
import { constants } from 'node:fs';
import { access, stat } from 'node:fs/promises';
import { Readable } from 'node:stream';
import type { Writable } from 'node:stream';
import { BackgroundTaskError } from '../../machines/task/task-error.ts';
import { messageOf } from '../../machines/errors.ts';
import type { ProcessLaunch } from '../../actors/task/process-tree.ts';
import { systemCodeOf } from '../system/error-codes.ts';
import { closeDescriptor, closePipe, takeNamedPipes } from './named-pipes.ts';
import type { NamedPipe } from './named-pipes.ts';
import { pipeSource, streamSource } from './output-source.ts';
import type { OutputSource } from './output-source.ts';

/** In an existing folder: see `checkWorkingFolder`. */
export interface ShellCommand extends ProcessLaunch {
  /** As the user named it. */
  readonly shell: string;
  /** `none`: the command reads an end of input at once. */
  readonly input: 'pipe' | 'none';
}

/** How a process ended: exactly one of the two. */
export interface ProcessExit {
  readonly exitCode?: number | undefined;
  readonly signalCode?: string | undefined;
}

export interface ShellProcess {
  readonly pid: number;
  readonly stdin: Writable | undefined;
  readonly stdout: OutputSource;
  readonly stderr: OutputSource;
  /** Resolves when the shell itself has ended; its pipes may still be open. */
  readonly exited: Promise<ProcessExit>;
}

/** Real pipes for the output of a command. */
export interface OutputPipes {
  readonly stdout: NamedPipe;
  readonly stderr: NamedPipe;
}

/** Undefined where there are none: then Node's own take their place. */
export async function takeOutputPipes(): Promise<OutputPipes | undefined> {
  const [stdout, stderr] = (await takeNamedPipes(2)) ?? [];
  return stdout === undefined || stderr === undefined ? undefined : { stdout, stderr };
}

/**
 * Starts the command. The process runs when this returns, and its pipes carry data from the next turn of the event loop
 * on.
 * @returns a promise of the reason when it could not be started; the pipes are closed then
 */
export function startShell(
  request: ShellCommand,
  pipes: OutputPipes | undefined,
): ShellProcess | Promise<BackgroundTaskError> {
  const { program, args, shell, cwd, environment, input } = request;
  try {
    const child = spawn(program, [...args], {
      cwd,
      env: { ...environment },
      stdio: [input === 'none' ? 'ignore' : 'pipe', pipes?.stdout.writeEnd ?? 'pipe', pipes?.stderr.writeEnd ?? 'pipe'],
      // The tree is the caller's to end, and must not depend on this process ending well.
      detached: true,
      windowsHide: true,
    });
    const failed = new Promise<BackgroundTaskError>((resolve) => {
      child.on('error', (error) => resolve(spawnError(error, shell)));
    });
    const { pid } = child;
    if (pid === undefined) {
      closeAll(pipes);
      return failed;
    }
    const exited = new Promise<ProcessExit>((resolve) => {
      child.once('exit', (exitCode, signalCode) =>
        resolve(exitCode === null ? { signalCode: signalCode ?? undefined } : { exitCode }),
      );
    });
    return {
      pid,
      exited,
      stdin: child.stdin ?? undefined,
      ...(pipes === undefined ? ownStreams(child) : hostEnds(pipes)),
    };
  } catch (error) {
    closeAll(pipes);
    return Promise.resolve(spawnError(error, shell));
  }
}

type Outputs = Pick<ShellProcess, 'stdout' | 'stderr'>;

/**
 * The host's ends of the pipes. The command has the others, which end when it and all its descendants have closed them.
 */
function hostEnds({ stdout, stderr }: OutputPipes): Outputs {
  closeDescriptor(stdout.writeEnd);
  closeDescriptor(stderr.writeEnd);
  return { stdout: pipeSource(stdout.readEnd), stderr: pipeSource(stderr.readEnd) };
}

function ownStreams({
  stdout,
  stderr,
}: {
  readonly stdout: Readable | null;
  readonly stderr: Readable | null;
}): Outputs {
  return { stdout: streamSource(stdout ?? Readable.from([])), stderr: streamSource(stderr ?? Readable.from([])) };
}

function closeAll(pipes: OutputPipes | undefined): void {
  if (pipes === undefined) return;
  closePipe(pipes.stdout);
  closePipe(pipes.stderr);
}

/** A bad working folder fails a spawn with the same code as a missing shell: only a check tells them apart. */
export async function checkWorkingFolder(cwd: string): Promise<void> {
  try {
    if (!(await stat(cwd)).isDirectory()) {
      throw processError(
        `the working folder ${cwd} is no folder`,
        'TASK_CWD_INVALID',
        'Pass the folder that the command is to run in as cwd.',
      );
    }
    await access(cwd, constants.X_OK);
  } catch (error) {
    if (error instanceof BackgroundTaskError) throw error;
    throw processError(
      `the working folder ${cwd} cannot be entered: ${messageOf(error)}`,
      'TASK_CWD_INVALID',
      'Create it, or pass an existing folder as cwd.',
      error,
    );
  }
}

function spawnError(error: unknown, shell: string): BackgroundTaskError {
  const failed = `the shell ${shell} could not be started`;
  const code = systemCodeOf(error);
  switch (code) {
    case 'ENOENT':
      return processError(
        `${failed}: there is no such program`,
        'TASK_SHELL_MISSING',
        `Install ${shell}, or name another shell in the request.`,
        error,
      );
    case 'EACCES':
      return processError(
        `${failed}: it may not be executed`,
        'TASK_SHELL_MISSING',
        'Name a shell that is an executable file.',
        error,
      );
    case 'E2BIG':
      return processError(
        `${failed}: the command and its environment are too long for the system`,
        'TASK_COMMAND_TOO_LONG',
        'Put the command into a script file, or pass large data through stdin.',
        error,
      );
    case 'EAGAIN':
    case 'EMFILE':
    case 'ENFILE':
    case 'ENOMEM':
      return processError(
        `${failed}: the system has no resources left (${code})`,
        'TASK_SPAWN_RESOURCES',
        'Run fewer tasks at once, or raise the limits on processes and open files.',
        error,
      );
    case undefined:
    default:
      return processError(
        `${failed}: ${messageOf(error)}`,
        'TASK_SPAWN_FAILED',
        'The command, the environment and the paths must be text without NUL characters.',
        error,
      );
  }
}

function processError(message: string, code: string, hint: string, cause?: unknown): BackgroundTaskError {
  return new BackgroundTaskError('process', message, { code, hint, cause });
}
