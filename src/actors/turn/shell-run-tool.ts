/** `shell_run`: runs a command as a process task of the background task manager, so that it is watched, stopped and reaped like any other. */
import { messageOf } from '../../machines/errors.ts';
import { DEFAULT_SHELL_RUN_TIMEOUT_MS, shellRunDefinition } from '../../machines/turn/shell-run.ts';
import type { ShellRunInput, ShellRunOutput } from '../../machines/turn/shell-run.ts';
import type { BackgroundTaskManager } from '../task/background-task-manager.ts';
import type { Tool } from './tool.ts';

/** Characters of a command that name its task. */
const LABEL_CHARACTERS = 80;

/** Longer than a task's own deadline for stopping, after which `wait` settles in any case: the call must not end before its processes. */
const STOP_GRACE_MS = 15_000;

export type ShellTasks = Pick<BackgroundTaskManager, 'spawn' | 'wait' | 'cancel' | 'close'>;

export function createShellRunTool(tasks: ShellTasks): Tool<ShellRunInput> {
  return {
    definition: shellRunDefinition,
    stopGraceMs: STOP_GRACE_MS,
    async run({ command, timeoutMs = DEFAULT_SHELL_RUN_TIMEOUT_MS }, { session, callId, workspaceDirectory, signal }) {
      signal.throwIfAborted();
      const task = await tasks.spawn({
        kind: 'process',
        label: command.slice(0, LABEL_CHARACTERS),
        mode: 'foreground',
        command,
        cwd: workspaceDirectory,
        parentSessionId: session.sessionId,
        timeoutMs,
        metadata: { callId },
      });
      const stop = (): void => {
        // Its end is what `wait` tells; a stop that fails shows there too.
        tasks.cancel(task.id, messageOf(signal.reason)).catch(() => undefined);
      };
      signal.addEventListener('abort', stop, { once: true });
      if (signal.aborted) stop();
      try {
        const { output, exitCode, signalCode } = await tasks.wait(task.id);
        return { output, exitCode: exitCode ?? null, signalCode: signalCode ?? null } satisfies ShellRunOutput;
      } finally {
        signal.removeEventListener('abort', stop);
        // The log of the session holds the result; a record kept here would stay for ever.
        await tasks.close(task.id).catch(() => undefined);
      }
    },
  };
}
