/**
 * Runs process tasks: a command in a POSIX shell, its whole process tree owned from before the start until it is proven
 * gone.
 */
import * as z from 'zod';
import type { Clock } from '../../actors/clock/clock.ts';
import type { ByteRedaction } from '../../actors/environment/session-secrets.ts';
import type { ProcessTree, TrackedProcessTree } from '../../actors/task/process-tree.ts';
import type { BackgroundTaskRunner, BackgroundTaskStart } from '../../actors/task/task-runner.ts';
import { messageOf } from '../../machines/errors.ts';
import { DEFAULT_LOG_RING_BYTES } from '../../machines/task/log-ring.ts';
import { DEFAULT_OUTPUT_LIMIT_BYTES } from '../../machines/task/output-capture.ts';
import { BackgroundTaskError } from '../../machines/task/task-error.ts';
import type { ProcessTaskRequest } from '../../machines/task/task-request.ts';
import { DEFAULT_KILL_GRACE_MS } from '../../machines/task/task-settings.ts';
import { MIN_DISK_LOG_BYTES } from './disk-log.ts';
import { ShellInput } from './shell-input.ts';
import { ShellOutput } from './shell-output.ts';
import type { OnShellOutput } from './shell-output.ts';
import { checkWorkingFolder, startShell, takeOutputPipes } from './shell-spawn.ts';
import type { ShellProcess } from './shell-spawn.ts';
import { ShellTask } from './shell-task.ts';
import { TaskLog } from './task-log.ts';

const bytes = z.number().nonnegative();
const durationMs = z.number().nonnegative();

const settingsSchema = z.object({
  killGraceMs: durationMs.default(DEFAULT_KILL_GRACE_MS),
  lingerMs: durationMs.default(250),
  outputLimitBytes: bytes.default(DEFAULT_OUTPUT_LIMIT_BYTES),
  logLimitBytes: bytes.default(DEFAULT_LOG_RING_BYTES),
  logFileLimitBytes: z.number().min(MIN_DISK_LOG_BYTES).default(67_108_864),
  inputLimitBytes: bytes.default(67_108_864),
  defaultShell: z.string().min(1).default('/bin/sh'),
  logDirectory: z.string().min(1).optional(),
});
type Settings = z.output<typeof settingsSchema>;

export interface ManagedShellProcessRunnerOptions {
  readonly processTree: ProcessTree;
  readonly clock: Clock;
  /** Where each task's log file goes. Default: no files. */
  readonly logDirectory?: string | undefined;
  /** Between SIGTERM and SIGKILL. Default 2000. */
  readonly killGraceMs?: number | undefined;
  /** How long descendants may outlive a command that ended by itself before they are ended. Default 250. */
  readonly lingerMs?: number | undefined;
  /** Most bytes of output in a result, unless the request says otherwise. Default 30,000. */
  readonly outputLimitBytes?: number | undefined;
  /**
   * Most memory for a task's log; 512 KiB at least where there is a log file, whose lines wait there. Default 1 MiB.
   */
  readonly logLimitBytes?: number | undefined;
  /** Most disk space for a task's log, 8 MiB at least. Default 64 MiB. */
  readonly logFileLimitBytes?: number | undefined;
  /** Most bytes of input that may wait for a process which does not read. Default 64 MiB. */
  readonly inputLimitBytes?: number | undefined;
  /** Shell of requests that name none. Default `/bin/sh`. */
  readonly defaultShell?: string | undefined;
  /**
   * What commands inherit; a request's own variables are added to it. Default: the environment of this process, without
   * the URL of its store.
   */
  readonly environment?: (() => Readonly<Record<string, string | undefined>>) | undefined;
  readonly onOutput?: OnShellOutput | undefined;
  /**
   * Takes secrets out of what a command puts out, before it is logged, captured or told: asked once for each stream of
   * a task. Where it throws the command is not run.
   */
  readonly redactionOf?: ((request: ProcessTaskRequest) => ByteRedaction | undefined) | undefined;
}

/**
 * The runner of process tasks.
 *
 * Input: `request.stdin` is written at the start and closes the input. Without it the input of a background task stays
 * open for `send`; that of a foreground task is empty, since nothing could end the wait of a command that reads it.
 * Results: an exit code or a signal is a result, also after `cancel`. `result` rejects with category `timeout` after
 * `timeoutMs`, and with `process` when the command ended by itself and what it left running cannot be ended.
 * @throws BackgroundTaskError category `validation` for bad options
 */
export function createManagedShellProcessRunner(
  options: ManagedShellProcessRunnerOptions,
): BackgroundTaskRunner<ProcessTaskRequest> {
  const { processTree, clock, environment = environmentForCommands, onOutput, redactionOf, ...given } = options;
  const parsed = settingsSchema.safeParse(given);
  if (!parsed.success) {
    throw new BackgroundTaskError('validation', `invalid shell runner options: ${z.prettifyError(parsed.error)}`, {
      code: 'TASK_OPTIONS_INVALID',
    });
  }
  const runner = { processTree, clock, environment, onOutput, redactionOf, settings: parsed.data };
  return { kind: 'process', start: (start) => startTask(runner, start) };
}

/** The URL of a store opens every session of every machine. */
function environmentForCommands(): Readonly<Record<string, string | undefined>> {
  const { WAKECHART_STORE: _ours, ...rest } = process.env;
  return rest;
}

interface Runner {
  readonly processTree: ProcessTree;
  readonly clock: Clock;
  readonly environment: () => Readonly<Record<string, string | undefined>>;
  readonly onOutput: OnShellOutput | undefined;
  readonly redactionOf: ManagedShellProcessRunnerOptions['redactionOf'];
  readonly settings: Settings;
}

/** A caller that ends the task itself when its time is up says so for people who watch. */
function limitIn(metadata: ProcessTaskRequest['metadata']): number | undefined {
  const limitMs = metadata?.['limitMs'];
  return typeof limitMs === 'number' && limitMs >= 0 ? limitMs : undefined;
}

async function startTask(
  runner: Runner,
  { taskId, request, emit }: BackgroundTaskStart<ProcessTaskRequest>,
): Promise<ShellTask> {
  await checkWorkingFolder(request.cwd);
  const tree = await runner.processTree.prepare({
    taskId,
    sessionId: request.parentSessionId,
    limitMs: request.timeoutMs ?? limitIn(request.metadata),
    hasLogFile: runner.settings.logDirectory !== undefined,
    commandPreview: request.command,
  });
  const shell = request.shell ?? runner.settings.defaultShell;
  const environment = { ...(request.inheritEnv === false ? {} : runner.environment()), ...request.env };
  const command = {
    ...tree.launch({ program: shell, args: ['-c', request.command], cwd: request.cwd, environment }),
    shell,
    input: request.stdin === undefined && request.mode === 'foreground' ? 'none' : 'pipe',
  } as const;
  const started = startShell(command, await takeOutputPipes());
  if (started instanceof Promise) {
    const error = await started;
    await tree.end({ graceMs: 0 });
    throw error;
  }
  return attachTask(runner, { taskId, request, emit, tree, process: started });
}

interface StartedShell extends Pick<BackgroundTaskStart<ProcessTaskRequest>, 'taskId' | 'request' | 'emit'> {
  readonly tree: TrackedProcessTree;
  readonly process: ShellProcess;
}

/** Connects everything before the process can say a word: until the first await nothing of it has been read. */
async function attachTask(
  { settings, clock, onOutput, redactionOf }: Runner,
  { taskId, request, emit, tree, process }: StartedShell,
): Promise<ShellTask> {
  const attached = tree.attach(process.pid);
  const log = new TaskLog({
    taskId,
    memoryLimitBytes: settings.logLimitBytes,
    hasFile: settings.logDirectory !== undefined,
  });
  const input = new ShellInput({ taskId, stream: process.stdin, limitBytes: settings.inputLimitBytes });
  const { stdout, stderr } = process;
  const activity = { type: 'background_task_activity', taskId } as const;
  const limitBytes = request.outputLimitBytes ?? settings.outputLimitBytes;
  const redaction = redactionOf === undefined ? undefined : (): ByteRedaction | undefined => redactionOf(request);
  const output = new ShellOutput({
    taskId,
    stdout,
    stderr,
    log,
    onOutput,
    limitBytes,
    redaction,
    onActivity: () => emit(activity),
  });
  if (request.stdin !== undefined)
    input.write(request.stdin, { end: true }).catch((error: unknown) => log.system(messageOf(error)));
  const { killGraceMs, lingerMs, logDirectory, logFileLimitBytes } = settings;
  const task = new ShellTask({
    taskId,
    process,
    tree,
    log,
    input,
    output,
    clock,
    killGraceMs,
    lingerMs,
    timeoutMs: request.timeoutMs ?? 0,
  });
  await Promise.all([
    attached.catch((error: unknown) => log.system(messageOf(error))),
    logDirectory === undefined
      ? undefined
      : log.openFile({ directory: logDirectory, limitBytes: logFileLimitBytes, unique: tree.tag }),
  ]);
  return task;
}
