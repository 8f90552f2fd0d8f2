/** The managed tools around persistent shells: what a model is told of each, and what it may send. */
import * as z from 'zod';
import type { ToolDefinition } from '../tool-definition.ts';
import { secretVariables } from './environment.ts';
import {
  shellClosed,
  shellCommandReply,
  shellFolder,
  shellHistory,
  shellOpened,
  shellOutputPage,
  shellVariable,
} from './shell-results.ts';
import {
  DEFAULT_OUTPUT_PAGE_BYTES,
  DEFAULT_SHELL_WAIT_MS,
  MAX_COMMAND_CHARACTERS,
  MAX_OUTPUT_PAGE_BYTES,
  MAX_SHELLS_PER_SESSION,
  MAX_SHELL_WAIT_MS,
  SHELL_IDLE_MS,
} from './shell-limits.ts';

/** The shell that is meant when none is named. */
export const MAIN_SHELL = 'main';

const shellName = z
  .string()
  .regex(
    /^[A-Za-z0-9][A-Za-z0-9_.-]{0,63}$/,
    'expected a name of letters, digits, "_", "." and "-", at most 64 characters, such as build',
  );
const shell = shellName.optional().describe(`Which shell. Default "${MAIN_SHELL}".`);

const WITHOUT_NUL = /^[^\0]*$/;
const path = z.string().min(1).max(4096).regex(WITHOUT_NUL, 'expected a path without NUL characters');

/** What `shell_exec` and `shell_run` take for a command. */
export const shellCommand = z
  .string()
  .min(1)
  .max(MAX_COMMAND_CHARACTERS)
  .regex(WITHOUT_NUL, 'expected text without NUL characters')
  .describe('The command, as a POSIX shell reads it.');

const waitMs = z
  .number()
  .int()
  .min(0)
  .max(MAX_SHELL_WAIT_MS)
  .optional()
  .describe(
    `How long to wait for its end, in milliseconds. Default ${DEFAULT_SHELL_WAIT_MS}. When that is over the command goes on.`,
  );

const inputs = {
  open: z.strictObject({
    name: shellName.optional().describe(`What to call it. Default "${MAIN_SHELL}".`),
    cwd: path.optional().describe('The folder to begin in, from the workspace. Default: the workspace.'),
    secrets: secretVariables,
  }),
  exec: z.strictObject({ shell, command: shellCommand, timeoutMs: waitMs }),
  wait: z.strictObject({ shell, timeoutMs: waitMs }),
  one: z.strictObject({ shell }),
  page: z.strictObject({
    shell,
    offset: z
      .number()
      .int()
      .min(0)
      .optional()
      .describe('Where to begin, in bytes from the beginning of the output. Default 0.'),
    limit: z
      .number()
      .int()
      .min(1)
      .max(MAX_OUTPUT_PAGE_BYTES)
      .optional()
      .describe(`Most bytes to read. Default ${DEFAULT_OUTPUT_PAGE_BYTES}.`),
  }),
  folder: z.strictObject({ shell, cwd: path.describe('An existing folder inside the workspace.') }),
  variable: z.strictObject({
    shell,
    name: z
      .string()
      .max(200)
      .regex(
        /^[A-Za-z_][A-Za-z0-9_]*$/,
        'expected the name of a variable: letters, digits and "_", not beginning with a digit',
      ),
    value: z
      .string()
      .max(MAX_COMMAND_CHARACTERS)
      .regex(WITHOUT_NUL, 'expected text without NUL characters')
      .nullable()
      .describe('Null removes the variable.'),
  }),
};

export type ShellOpenInput = Readonly<z.output<typeof inputs.open>>;
export type ShellExecInput = Readonly<z.output<typeof inputs.exec>>;
export type ShellWaitInput = Readonly<z.output<typeof inputs.wait>>;
export type ShellNameInput = Readonly<z.output<typeof inputs.one>>;
export type ShellPageInput = Readonly<z.output<typeof inputs.page>>;
export type ShellSetCwdInput = Readonly<z.output<typeof inputs.folder>>;
export type ShellSetEnvInput = Readonly<z.output<typeof inputs.variable>>;

const managed = {
  ownership: 'managed',
  family: 'shell',
  permissionPolicy: 'always_allow',
  interruptBehavior: 'cancel',
} as const;
const acting = { ...managed, readOnly: false, destructive: false } as const;
const checking = { ...managed, effects: [], readOnly: true, destructive: false, idempotent: true } as const;

export const shellOpenDefinition: ToolDefinition<ShellOpenInput> = {
  ...acting,
  name: 'shell_open',
  description:
    `Opens a POSIX shell that stays open between calls: its folder, variables, functions and background jobs persist. At most ${MAX_SHELLS_PER_SESSION} at once. ` +
    `It is closed after ${SHELL_IDLE_MS / 60_000} minutes without use. When the runtime restarts, it is opened again as soon as it is used, with its folder, history and exported variables, but for secrets that were typed; the reply says so and names what is missing.`,
  inputSchema: inputs.open,
  outputSchema: shellOpened,
  effects: ['runs_processes', 'uses_secrets'],
};

export const shellExecDefinition: ToolDefinition<ShellExecInput> = {
  ...acting,
  name: 'shell_exec',
  description:
    `Runs a command in an open shell and returns its output, its exit code and the folder the shell is in then. Without a shell, "${MAIN_SHELL}" is used and opened if need be. ` +
    'A command that is not over in time goes on: use shell_wait. Its standard input is empty. "exit", "exec" and a failure under "set -e" end the shell.',
  inputSchema: inputs.exec,
  outputSchema: shellCommandReply,
  effects: ['runs_processes', 'reads_files', 'writes_files', 'uses_network'],
  destructive: true,
};

export const shellWaitDefinition: ToolDefinition<ShellWaitInput> = {
  ...checking,
  name: 'shell_wait',
  description:
    'Waits for the command that runs in a shell, and returns what it has put out since the last reply. Running out of time does not end the command; stopping this call does.',
  inputSchema: inputs.wait,
  outputSchema: shellCommandReply,
};

export const shellCloseDefinition: ToolDefinition<ShellNameInput> = {
  ...acting,
  name: 'shell_close',
  description: 'Closes a shell and ends everything that runs in it.',
  inputSchema: inputs.one,
  outputSchema: shellClosed,
  effects: ['runs_processes'],
  idempotent: true,
};

export const shellHistoryDefinition: ToolDefinition<ShellNameInput> = {
  ...checking,
  name: 'shell_history',
  description:
    'Lists the commands of a shell with their exit codes and times, and the names of the variables that were set in it.',
  inputSchema: inputs.one,
  outputSchema: shellHistory,
};

export const shellReadLastOutputDefinition: ToolDefinition<ShellPageInput> = {
  ...checking,
  name: 'shell_read_last_output',
  description:
    "Reads the output of a shell's last command by position, such as the part that a reply left out, and what background jobs have put out since.",
  inputSchema: inputs.page,
  outputSchema: shellOutputPage,
};

export const shellSetCwdDefinition: ToolDefinition<ShellSetCwdInput> = {
  ...acting,
  name: 'shell_set_cwd',
  description: 'Moves a shell to another folder of the workspace.',
  inputSchema: inputs.folder,
  outputSchema: shellFolder,
  effects: ['runs_processes'],
};

export const shellSetEnvDefinition: ToolDefinition<ShellSetEnvInput> = {
  ...acting,
  name: 'shell_set_env',
  description:
    'Sets or removes a variable of a shell for the commands to come. The value does not appear in its history.',
  inputSchema: inputs.variable,
  outputSchema: shellVariable,
  effects: ['runs_processes'],
};
