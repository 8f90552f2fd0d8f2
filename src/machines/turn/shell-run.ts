/** The managed tool `shell_run`: one command in the session's workspace, run to its end. */
import { z } from 'zod';
import type { ToolDefinition } from './tool-definition.ts';

/** An hour. */
const MAX_SHELL_RUN_TIMEOUT_MS = 3_600_000;
export const DEFAULT_SHELL_RUN_TIMEOUT_MS = 600_000;

const shellRunInput = z.strictObject({
  command: z.string().min(1).max(100_000).describe('The command, as a POSIX shell reads it.'),
  timeoutMs: z
    .number()
    .int()
    .min(1)
    .max(MAX_SHELL_RUN_TIMEOUT_MS)
    .optional()
    .describe(`Milliseconds after which the command is stopped. Default ${DEFAULT_SHELL_RUN_TIMEOUT_MS}.`),
});

export type ShellRunInput = Readonly<z.output<typeof shellRunInput>>;

/** What the model gets. An exit code or a signal is a result, not an error. */
export interface ShellRunOutput {
  readonly output: string;
  /** Null when a signal ended it. */
  readonly exitCode: number | null;
  /** Null when it exited by itself. */
  readonly signalCode: string | null;
}

export const shellRunDefinition: ToolDefinition<ShellRunInput> = {
  name: 'shell_run',
  description: 'Runs one shell command in the workspace of the session and returns its output and exit code when it has ended.',
  inputSchema: shellRunInput,
  ownership: 'managed',
  permissionPolicy: 'always_allow',
  readOnly: false,
  destructive: true,
  interruptBehavior: 'cancel',
};
