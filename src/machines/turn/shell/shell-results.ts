/** What the shell tools answer a model. */
import * as z from 'zod';
import type { OutputPage } from './kept-output.ts';

const shell = z.string();
const cwd = z.string().describe('Absolute, without symbolic links.');

const opened = z
  .literal(true)
  .optional()
  .describe('The shell was opened for this call: nothing of an earlier one is left.');

/** Of a shell that was opened again in place of one before. */
const restoring = {
  restored: z
    .literal(true)
    .optional()
    .describe('The shell was opened again, in its folder and with the variables that were exported in it.'),
  because: z.string().optional().describe('Why it was not there any more.'),
  notRestored: z.array(z.string()).optional().describe('What of the one before is not in it.'),
};

export interface ShellRestoring {
  readonly restored?: true | undefined;
  /** Begins with a code where there is one: SHELL_ENVIRONMENT_CHANGED. */
  readonly because?: string | undefined;
  readonly notRestored?: string[] | undefined;
}

export const shellOpened = z.object({ shell, cwd });

export type ShellOpened = Readonly<z.output<typeof shellOpened>>;

/** A command that has ended, or how far it has come. */
export const shellCommandReply = z.object({
  shell,
  output: z
    .string()
    .describe(
      'What it put out since the last reply, standard output and errors as they came. The middle of a lot is left out, and says so.',
    ),
  exitCode: z.number().int().nullable().describe('Null while it runs, and when a signal ended the shell under it.'),
  cwd: cwd.optional().describe('The folder the shell is in; absent when that folder is not there any more.'),
  running: z.literal(true).optional().describe('It was not over in time and goes on: shell_wait waits for it.'),
  opened,
  ...restoring,
  shellEnded: z.string().optional().describe('The command took the shell with it, and why.'),
  outputBytes: z
    .number()
    .int()
    .optional()
    .describe('Bytes put out in all, where the output leaves some out: shell_read_last_output has them.'),
  leftOut: z.object({ from: z.number().int(), to: z.number().int() }).optional(),
});

export type ShellCommandReply = Readonly<z.output<typeof shellCommandReply>>;

export const shellClosed = z.object({
  shell,
  closed: z.literal(true),
  leftOver: z.string().optional().describe('What ran in it and could not be ended.'),
});

export type ShellClosed = Readonly<z.output<typeof shellClosed>>;

/** One command of the past. Values of variables are never in it. */
export const shellHistoryEntry = z.object({
  command: z.string(),
  startedAt: z.string().describe('ISO-8601.'),
  endedAt: z.string().optional(),
  exitCode: z.number().int().optional(),
  status: z
    .enum(['running', 'exited', 'stopped', 'shell_ended'])
    .describe('stopped: a stop of its call ended it. shell_ended: the shell ended with it, or its process did.'),
});

export type ShellHistoryEntry = Readonly<z.output<typeof shellHistoryEntry>>;

export const shellHistory = z.object({
  shell,
  open: z.boolean(),
  ended: z.string().optional().describe('Why it is not open any more.'),
  cwd: cwd.optional(),
  variables: z.array(z.string()).describe('Names only.'),
  entries: z.array(shellHistoryEntry).describe('Oldest first.'),
  forgotten: z.number().int().optional().describe('Entries that were there and are not kept.'),
});

export interface ShellHistory extends Readonly<Omit<z.output<typeof shellHistory>, 'variables' | 'entries'>> {
  readonly variables: readonly string[];
  readonly entries: readonly ShellHistoryEntry[];
}

export const shellOutputPage = z.object({
  shell,
  output: z.string(),
  offset: z
    .number()
    .int()
    .describe(
      'Where the output begins, in bytes from the beginning; later than asked for when what was there is not kept.',
    ),
  nextOffset: z
    .number()
    .int()
    .optional()
    .describe('Where the next page begins; absent when this one goes to the end of what there is.'),
  totalBytes: z.number().int(),
  lostFrom: z
    .number()
    .int()
    .optional()
    .describe('What was asked for and is not kept any more: from this position up to the offset.'),
  running: z.literal(true).optional(),
});

export interface ShellOutputPage extends OutputPage {
  readonly shell: string;
  readonly running?: true | undefined;
}

export const shellFolder = z.object({ shell, cwd, opened, ...restoring });

export type ShellFolder = Readonly<z.output<typeof shellFolder>>;

export const shellVariable = z.object({ shell, name: z.string(), set: z.boolean(), opened, ...restoring });

export type ShellVariable = Readonly<z.output<typeof shellVariable>>;
