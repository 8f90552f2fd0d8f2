/** The managed tool `shell_run`: one command in the session's workspace, run to its end in a shell of its own. */
import * as z from 'zod';
import { hostPath } from '../text-schemas.ts';
import { shellCommand } from './shell/shell-definitions.ts';
import { secretVariables } from './shell/environment.ts';
import type { ToolDefinition } from './tool-definition.ts';

/** An hour. */
const MAX_SHELL_RUN_TIMEOUT_MS = 3_600_000;
export const DEFAULT_SHELL_RUN_TIMEOUT_MS = 600_000;

const shellRunInput = z.strictObject({
  command: shellCommand,
  cwd: hostPath
    .optional()
    .describe('The folder to run it in, from the workspace and inside it. Default: the workspace.'),
  secrets: secretVariables,
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
const shellRunOutput = z.object({
  output: z.string().describe('Standard output and errors as they came. The middle of a lot is left out, and says so.'),
  exitCode: z
    .number()
    .int()
    .nullable()
    .describe('Null when a signal ended it; in a sandbox that is 128 plus the number of the signal.'),
  signalCode: z.string().nullable().describe('Null when it exited by itself.'),
  timedOut: z
    .literal(true)
    .optional()
    .describe('It was ended because its time was up; the output is what it had put out until then.'),
  outputBytes: z.number().int().optional().describe('Bytes put out in all, where the output leaves some out.'),
  outputFile: z.string().optional().describe('The file that has more of the output, from the workspace.'),
});

export type ShellRunOutput = Readonly<z.output<typeof shellRunOutput>>;

export const shellRunDefinition: ToolDefinition<ShellRunInput> = {
  name: 'shell_run',
  description:
    'Runs one shell command in the workspace of the session and returns its output and exit code when it has ended, together with everything it started.',
  inputSchema: shellRunInput,
  outputSchema: shellRunOutput,
  ownership: 'managed',
  family: 'shell',
  permissionPolicy: 'always_allow',
  effects: ['runs_processes', 'reads_files', 'writes_files', 'uses_network', 'uses_secrets'],
  readOnly: false,
  destructive: true,
  interruptBehavior: 'cancel',
};
