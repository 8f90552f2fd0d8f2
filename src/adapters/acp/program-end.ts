/** How the program of an agent is started, and what is told of it when it ends before it has answered. */
import { stat } from 'node:fs/promises';
import type { ProcessTree } from '../../actors/task/process-tree.ts';
import { messageOf } from '../../machines/errors.ts';
import { ProgramNotStarted, endedProgramFailure, exitText, notStartedFailure } from '../../machines/run/program-end.ts';
import type { ProgramExit } from '../../machines/run/program-end.ts';
import { howToInstall } from '../../machines/run/tried-programs.ts';
import type { TriedProgramName } from '../../machines/run/tried-programs.ts';
import { startProgram } from '../system/tracked-program.ts';
import type { TrackedProgram } from '../system/tracked-program.ts';
import { pause, within } from '../system/waiting.ts';
import type { AgentEnvironment } from './agent-environment.ts';
import type { AcpSettings } from './acp-settings.ts';
import { RunFailed } from './run-failed.ts';

/** After the end of the program, how long its last words may take to arrive: a grandchild may hold its output open. */
const LAST_WORDS_MS = 250;

export interface StartAgentOptions {
  readonly settings: AcpSettings;
  readonly environment: AgentEnvironment;
  readonly processTree: ProcessTree;
  readonly runId: string;
  readonly sessionId: string;
  readonly workspaceDir: string;
  readonly signal: AbortSignal;
}

/** @throws RunFailed, or as `startProgram` */
export async function startAgent({
  settings,
  environment,
  processTree,
  runId,
  sessionId,
  workspaceDir,
  signal,
}: StartAgentOptions): Promise<TrackedProgram> {
  await checkFolder(workspaceDir);
  try {
    const command = {
      program: settings.program,
      args: settings.args,
      cwd: workspaceDir,
      environment: environment.variables,
    };
    return await startProgram({ command, processTree, taskId: `run ${runId}`, sessionId, signal });
  } catch (error) {
    if (!(error instanceof ProgramNotStarted)) throw error;
    const failure = notStartedFailure(error);
    if (error.because !== 'missing') throw new RunFailed(failure, failure.message, error);
    throw new RunFailed(
      'unknown',
      `there is no such program; ${howToInstall(settings.name)}, or set program.command of the provider to where it is. PATH was scanned, the workspace left out`,
      error,
    );
  }
}

async function checkFolder(folder: string): Promise<void> {
  const stats = await stat(folder).catch((error: unknown) => {
    throw new RunFailed('format', `its working folder ${folder} cannot be entered: ${messageOf(error)}`, error);
  });
  if (!stats.isDirectory()) throw new RunFailed('format', `its working folder ${folder} is no folder`);
}

/** Resolves when nothing more comes from the program; undefined when it has closed its output and lives on. */
export async function programEnd({ stdout, stderr, exited }: TrackedProgram): Promise<ProgramExit | undefined> {
  const closed = Promise.all(
    [stdout, stderr].map((stream) => new Promise<void>((resolve) => stream.once('close', resolve))),
  );
  const outputEnded = new Promise<undefined>((resolve) => stdout.once('end', () => resolve(undefined)));
  let bytes = 0;
  stdout.on('data', (chunk: Buffer) => (bytes += chunk.length));
  const quiet = async (): Promise<void> => {
    for (let before = -1; before !== bytes; await pause(LAST_WORDS_MS, { keepsAlive: false })) before = bytes;
  };
  const afterExit = exited.then(async (exit) => {
    await Promise.race([closed, quiet()]);
    return exit;
  });
  const first = await Promise.race([afterExit, outputEnded]);
  const exit = first ?? (await within(exited, LAST_WORDS_MS, { keepsAlive: false }));
  // What came last is on its way through the streams.
  await new Promise<void>((resolve) => setImmediate(resolve));
  return exit;
}

export interface ToldEnd {
  /** Absent: it closed its output and did not end. */
  readonly exit: ProgramExit | undefined;
  /** Redacted. */
  readonly errorOutput: string;
  /** What else is known of what it wrote, as half a sentence. */
  readonly noise: string | undefined;
  /** Whether it has printed something, and none of it was a message. */
  readonly isNotUnderstood: boolean;
  /** Which program it is, of those that were tried. */
  readonly name: TriedProgramName | undefined;
  /** Milliseconds since the epoch. */
  readonly now: number;
}

/** A program that has ended before it answered. */
export function endFailure({ exit, errorOutput, noise, isNotUnderstood, name, now }: ToldEnd): RunFailed {
  const printed = isNotUnderstood ? noise : undefined;
  const failure = endedProgramFailure({ exit, errorOutput, isNotUnderstood, printed, name }, now);
  const words = [
    `${exitText(exit)} before it had answered`,
    ...(errorOutput === '' ? [] : [`its error output ends with: ${errorOutput}`]),
    ...(noise === undefined ? [] : [noise]),
  ];
  return new RunFailed(failure, words.join('; '));
}
