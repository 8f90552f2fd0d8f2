/**
 * What processes over one home ask each other about their tasks, and what they answer: each is one JSON object, and is
 * checked by who gets it. A newer version may say more.
 *
 *   {"ask":"list","status":["running"]}          → {"is":"tasks","pid":4711,"tasks":[…],"leftOut":0}
 *   {"ask":"get","task":"task_3"}                → {"is":"task","pid":4711,"task":{…}}
 *   {"ask":"end","task":"task_3","from":200}     → the same, once it has ended, with "rest":{"offset":200,"lines":[…]}
 *   {"ask":"cancel","task":"task_3"}             → the same, once it has ended
 *   {"ask":"log","task":"task_3","offset":200}   → {"is":"page","page":{…},"logPath":"…"}
 *   {"ask":"send","task":"task_3","input":{…}}   → {"is":"done"}
 *   any                                          → {"is":"refused","error":{…}}
 */
import * as z from 'zod';
import type { ErrorRecord } from '../errors.ts';
import { isErrorCategory } from '../errors.ts';
import { taskMachine } from './task-machine.ts';
import type { BackgroundTaskStatus } from './task-machine.ts';
import type { BackgroundTaskInput, BackgroundTaskLogPage, BackgroundTaskState } from './task-state.ts';

const task = z.string().min(1).max(1_000);

const status = z.custom<BackgroundTaskStatus>(
  (value) => typeof value === 'string' && Object.hasOwn(taskMachine.states, value),
);

const question = z.discriminatedUnion('ask', [
  z.object({ ask: z.literal('list'), status: z.array(status).optional() }),
  z.object({ ask: z.literal('get'), task }),
  // From which line on the rest of its log is wanted, where that has no file.
  z.object({ ask: z.literal('end'), task, from: z.number().nonnegative().optional() }),
  z.object({ ask: z.literal('cancel'), task, reason: z.string().optional() }),
  z.object({ ask: z.literal('log'), task, offset: z.number().nonnegative() }),
  // What it says is checked by the manager, as any other input is.
  z.object({ ask: z.literal('send'), task, input: z.custom<BackgroundTaskInput>(isObject) }),
]);

export type TaskQuestion = Readonly<z.output<typeof question>>;

const errorRecord = z.custom<ErrorRecord>(
  (value) =>
    z
      .object({
        name: z.string(),
        code: z.string(),
        category: z.string().refine(isErrorCategory),
        message: z.string(),
        recoverable: z.boolean(),
        hint: z.string().optional(),
      })
      .safeParse(value).success,
);

const shownState = z.object({
  id: z.string(),
  kind: z.enum(['agent', 'process', 'scheduled']),
  label: z.string(),
  status: z.enum(Object.keys(taskMachine.states)),
  mode: z.enum(['foreground', 'background']),
  parentSessionId: z.string(),
  depth: z.number(),
  cwd: z.string(),
  pid: z.number().optional(),
  startedAt: z.string().optional(),
  updatedAt: z.string(),
  completedAt: z.string().optional(),
  logPath: z.string().optional(),
  result: z
    .object({
      taskId: z.string(),
      output: z.string(),
      exitCode: z.number().optional(),
      signalCode: z.string().optional(),
      logPath: z.string().optional(),
    })
    .optional(),
  error: errorRecord.optional(),
});

const taskState = z.custom<BackgroundTaskState>((value) => shownState.safeParse(value).success);

const page = z.custom<BackgroundTaskLogPage>(
  (value) =>
    z
      .object({
        cursor: z.object({ offset: z.number() }).optional(),
        nextCursor: z.object({ offset: z.number() }).optional(),
        lines: z.array(z.string()),
        unfinished: z.array(z.string()).optional(),
      })
      .safeParse(value).success,
);

const answer = z.discriminatedUnion('is', [
  z.object({
    is: z.literal('tasks'),
    pid: z.int().positive(),
    tasks: z.array(taskState),
    /** Tasks that were too many to be listed. */
    leftOut: z.int().nonnegative(),
  }),
  z.object({
    is: z.literal('task'),
    pid: z.int().positive(),
    task: taskState,
    rest: z.object({ offset: z.int().nonnegative(), lines: z.array(z.string()).readonly() }).optional(),
  }),
  z.object({ is: z.literal('page'), page, logPath: z.string().optional() }),
  z.object({ is: z.literal('done') }),
  z.object({ is: z.literal('refused'), error: errorRecord }),
]);

export type TaskAnswer = Readonly<z.output<typeof answer>>;

/** Undefined for what is none of ours. */
export function readTaskQuestion(text: string): TaskQuestion | undefined {
  return read(question, text);
}

/** Undefined for what is none of ours. */
export function readTaskAnswer(text: string): TaskAnswer | undefined {
  return read(answer, text);
}

function read<Schema extends z.ZodType>(schema: Schema, text: string): z.output<Schema> | undefined {
  try {
    return schema.safeParse(JSON.parse(text)).data;
  } catch {
    return undefined;
  }
}

function isObject(value: unknown): boolean {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
