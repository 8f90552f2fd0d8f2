/**
 * `shell_run`: runs a command as a process task of the background task manager, so that it is watched, stopped and
 * reaped like any other.
 */
import { beginningOf } from '../../machines/cut-text.ts';
import { RuntimeError, messageOf } from '../../machines/errors.ts';
import type { BackgroundTaskResult } from '../../machines/task/task-state.ts';
import { checkedEnvironmentSettings } from '../../machines/turn/shell/environment.ts';
import type { CommandEnvironmentSettings } from '../../machines/turn/shell/environment.ts';
import { RUN_CAPTURE_BYTES, longOutput } from '../../machines/turn/shell/long-output.ts';
import { DEFAULT_SHELL_RUN_TIMEOUT_MS, shellRunDefinition } from '../../machines/turn/shell-run.ts';
import type { ShellRunInput, ShellRunOutput } from '../../machines/turn/shell-run.ts';
import type { Clock } from '../clock/clock.ts';
import { createSystemClock } from '../clock/system-clock.ts';
import {
  commandIn,
  environmentIn,
  fromWorkspace,
  requireAllowedFolder,
  secretsFor,
} from '../shell/command-workspace.ts';
import type { CommandPlace, WorkspaceHost } from '../shell/command-workspace.ts';
import { waitFor } from '../clock/waiting.ts';
import type { BackgroundTaskManager } from '../task/background-task-manager.ts';
import type { OutputStore } from './output-store.ts';
import type { Tool, ToolContext } from './tool.ts';

/** Characters of a command that name its task. */
const LABEL_CHARACTERS = 80;

/**
 * Longer than a task's own deadline for stopping, after which `wait` settles in any case: the call must not end before
 * its processes.
 */
const STOP_GRACE_MS = 15_000;

export type ShellRunTasks = Pick<BackgroundTaskManager, 'spawn' | 'wait' | 'cancel' | 'close' | 'get'>;

export interface ShellRunOptions {
  /** Default: the system clock. */
  readonly clock?: Clock | undefined;
  /** Without it a command runs in the workspace only, and with the environment that the task manager's runner has. */
  readonly host?: WorkspaceHost | undefined;
  /** What commands get besides the usual variables. */
  readonly environment?: CommandEnvironmentSettings | undefined;
  /** Where the rest of long output goes. Without it the rest is dropped, and the reply says so. */
  readonly keeper?: OutputStore | undefined;
}

/** @throws RuntimeError ENVIRONMENT_INVALID */
export function createShellRunTool(
  tasks: ShellRunTasks,
  options: ShellRunOptions = {},
): Tool<ShellRunInput> & Required<Pick<Tool<ShellRunInput>, 'run' | 'subject'>> {
  const { clock = createSystemClock(), host, keeper } = options;
  const settings = checkedEnvironmentSettings(options.environment);
  return {
    definition: shellRunDefinition,
    stopGraceMs: STOP_GRACE_MS,
    subject: ({ command, cwd }, context) => ({ kind: 'shell', command, cwd: judgedFolder(host, context, cwd) }),
    async run({ command, cwd, secrets, timeoutMs = DEFAULT_SHELL_RUN_TIMEOUT_MS }, context) {
      context.signal.throwIfAborted();
      const folder = folderOf(host, context, cwd);
      requireAllowedFolder(context.subject, folder);
      const variables = {
        ...(host === undefined ? {} : environmentIn(context, host, settings)),
        ...secretsFor(context, secrets),
      };
      const task = await tasks.spawn({
        kind: 'process',
        label: beginningOf(context.environment?.secrets.text(command) ?? command, LABEL_CHARACTERS),
        mode: 'foreground',
        command: commandIn(context, command, folder),
        cwd: folder,
        parentSessionId: context.session.sessionId,
        outputLimitBytes: RUN_CAPTURE_BYTES,
        metadata: { callId: context.callId, limitMs: timeoutMs },
        ...(host === undefined ? {} : { inheritEnv: false }),
        ...(host === undefined && Object.keys(variables).length === 0 ? {} : { env: variables }),
      });
      try {
        return await outputOf(await attend({ tasks, clock, taskId: task.id, timeoutMs, signal: context.signal }), {
          keeper,
          context,
        });
      } finally {
        // The log of the session holds the result; a record kept here would stay for ever.
        await tasks.close(task.id).catch(() => undefined);
      }
    },
  };
}

interface Attendance {
  readonly tasks: ShellRunTasks;
  readonly clock: Clock;
  readonly taskId: string;
  readonly timeoutMs: number;
  readonly signal: AbortSignal;
}

interface Attended {
  readonly result: Partial<BackgroundTaskResult>;
  readonly timedOut: boolean;
}

/**
 * Waits for the end of the task, and brings it about when the time is up or the call is stopped. @throws the task's own
 * error
 */
async function attend({ tasks, clock, taskId, timeoutMs, signal }: Attendance): Promise<Attended> {
  const ended = tasks.wait(taskId);
  const over = ended.then(ignore, ignore);
  const end = await waitFor(over, { clock, timeoutMs, signal });
  if (end === 'over') return { result: await ended, timedOut: false };
  await tasks.cancel(taskId, end === 'aborted' ? messageOf(signal.reason) : `it ran longer than ${timeoutMs} ms`);
  await over;
  if (end === 'aborted') return { result: await ended, timedOut: false };
  const state = tasks.get(taskId);
  const isGone = state?.status === 'cancelled' && state.error?.details?.['leftOver'] === undefined;
  // What could not be ended is more than a matter of time; what ended in the same moment was in time.
  return isGone ? { result: state.result ?? {}, timedOut: true } : { result: await ended, timedOut: false };
}

function ignore(): void {
  // How it ended is asked for afterwards.
}

interface Keeping {
  readonly keeper: OutputStore | undefined;
  readonly context: Pick<ToolContext, 'session' | 'callId' | 'environment'>;
}

async function outputOf({ result, timedOut }: Attended, { keeper, context }: Keeping): Promise<ShellRunOutput> {
  const { shown, long } = longOutput(
    { output: result.output ?? '', metadata: result.metadata },
    (text) => context.environment?.secrets.text(text) ?? text,
  );
  const outputFile = long === undefined ? undefined : await kept(keeper, context, long.kept);
  return {
    output: shown,
    exitCode: result.exitCode ?? null,
    signalCode: result.signalCode ?? null,
    ...(timedOut ? { timedOut: true } : {}),
    ...(long === undefined ? {} : { outputBytes: long.totalBytes }),
    ...(outputFile === undefined ? {} : { outputFile }),
  };
}

/** The command has run, whatever becomes of the rest of its output: where it cannot be kept, no file is named. */
async function kept(
  keeper: OutputStore | undefined,
  { session, callId }: Keeping['context'],
  text: string,
): Promise<string | undefined> {
  return keeper?.keep({ session, callId, text }).catch(() => undefined);
}

/** @throws RuntimeError SHELL_FOLDERS_UNSUPPORTED, and what the host throws */
function folderOf(host: ShellRunOptions['host'], place: CommandPlace, cwd: string | undefined): string {
  // A sandbox has it by its real path.
  if (cwd === undefined)
    return place.environment?.sandbox === undefined || host === undefined
      ? place.workspaceDirectory
      : host.resolveInside(place.workspaceDirectory, '.');
  if (host !== undefined) return host.resolveInside(place.workspaceDirectory, fromWorkspace(place, cwd));
  throw new RuntimeError('SHELL_FOLDERS_UNSUPPORTED', 'commands run in the workspace here, in no other folder', {
    category: 'validation',
    hint: 'Leave cwd out, and begin the command with cd.',
  });
}

/** For rules: one that cannot be entered stays as it was named, and is refused when the call runs. */
function judgedFolder(host: ShellRunOptions['host'], place: CommandPlace, cwd: string | undefined): string {
  try {
    return folderOf(host, place, cwd);
  } catch {
    return cwd ?? place.workspaceDirectory;
  }
}
