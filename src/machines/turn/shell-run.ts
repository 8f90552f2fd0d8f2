/** The managed tool `shell_run`: one command in the session's workspace, run to its end in a shell of its own. */
import { z } from 'zod';
import { shellCommand } from './shell/shell-definitions.ts';
import type { ToolDefinition } from './tool-definition.ts';

/** An hour. */
const MAX_SHELL_RUN_TIMEOUT_MS = 3_600_000;
export const DEFAULT_SHELL_RUN_TIMEOUT_MS = 600_000;

const shellRunInput = z.strictObject({
  command: shellCommand,
  cwd: z
    .string()
    .min(1)
    .max(4096)
    .regex(/^[^\0]*$/, 'expected a path without NUL characters')
    .optional()
    .describe('The folder to run it in, from the workspace and inside it. Default: the workspace.'),
  timeoutMs: z
    .number()
    .int()
    .min(1)
    .max(MAX_SHELL_RUN_TIMEOUT_MS)
    .optional()
    .describe(`Milliseconds after which the command is ended. Default ${DEFAULT_SHELL_RUN_TIMEOUT_MS}.`),
});

export type ShellRunInput = Readonly<z.output<typeof shellRunInput>>;

/** What the model gets. An exit code, a signal or the end of its time is a result, not an error. */
export interface ShellRunOutput {
  /** Standard output and errors as they came. The middle of a lot is left out, and says so. */
  readonly output: string;
  /** Null when a signal ended it. */
  readonly exitCode: number | null;
  /** Null when it exited by itself. */
  readonly signalCode: string | null;
  /** It was ended because its time was up; `output` is what it had put out until then. */
  readonly timedOut?: true | undefined;
  /** Bytes put out in all, where `output` leaves some out. */
  readonly outputBytes?: number | undefined;
  /** The file that has more of the output than `output`, from the workspace. */
  readonly outputFile?: string | undefined;
}

export const shellRunDefinition: ToolDefinition<ShellRunInput> = {
  name: 'shell_run',
  description: 'Runs one shell command in the workspace of the session and returns its output and exit code when it has ended, together with everything it started.',
  inputSchema: shellRunInput,
  ownership: 'managed',
  permissionPolicy: 'always_allow',
  effects: ['runs_processes', 'reads_files', 'writes_files', 'uses_network'],
  readOnly: false,
  destructive: true,
  interruptBehavior: 'cancel',
};
