/**
 * What may be handed to a running task, and where a reader of its log stands: schemas, and the errors of what does not
 * fit them.
 */
import * as z from 'zod';
import { taskMachine } from './task-machine.ts';
import { parsedOrRefused } from './task-validation.ts';
import type { BackgroundTaskInput, BackgroundTaskLogCursor } from './task-state.ts';

const inputSchema = z
  .strictObject({
    prompt: z.string().optional(),
    stdin: z.string().optional(),
    end: z.boolean().optional(),
    permission: z.strictObject({ requestId: z.string().min(1), allowed: z.boolean() }).optional(),
  })
  .refine((input) => input.prompt !== undefined || input.stdin !== undefined || input.permission !== undefined, {
    message: 'one of prompt, stdin and permission is needed',
  });

/** Any number at all, Infinity and NaN included: the page clamps it. */
const cursorSchema = z.object({ offset: z.custom<number>((value) => typeof value === 'number', 'expected a number') });

const eventFilterSchema = z.strictObject({
  taskId: z.string().optional(),
  kind: z.enum(['agent', 'process', 'scheduled']).optional(),
  parentSessionId: z.string().optional(),
  parentTaskId: z.string().optional(),
  types: z.array(z.string().startsWith('background_task_')).readonly().optional(),
});

const statuses = z.enum(Object.keys(taskMachine.states));

const filterSchema = z.strictObject({
  kind: z.enum(['agent', 'process', 'scheduled']).optional(),
  status: z.union([statuses, z.array(statuses).readonly()]).optional(),
  mode: z.enum(['foreground', 'background']).optional(),
  parentSessionId: z.string().optional(),
  parentTaskId: z.string().optional(),
});

/** @throws BackgroundTaskError category `validation` */
export function checkFilter(filter: unknown): void {
  parsedOrRefused(filterSchema, filter, { what: 'task filter', code: 'TASK_FILTER_INVALID' });
}

/** @throws BackgroundTaskError category `validation` */
export function checkedInput(input: BackgroundTaskInput): BackgroundTaskInput {
  return parsedOrRefused(inputSchema, input, { what: 'task input', code: 'TASK_INPUT_INVALID' });
}

/** @throws BackgroundTaskError category `validation` */
export function checkedEventFilter<Filter>(filter: Filter): Filter {
  parsedOrRefused(eventFilterSchema, filter, { what: 'event filter', code: 'TASK_EVENT_FILTER_INVALID' });
  return filter;
}

/**
 * Any number is a cursor: one out of range is clamped by the page. @throws BackgroundTaskError category `validation`
 */
export function checkedCursor(cursor: BackgroundTaskLogCursor | undefined): BackgroundTaskLogCursor | undefined {
  return cursor === undefined
    ? undefined
    : parsedOrRefused(cursorSchema, cursor, {
        what: 'log cursor, which is { offset: number }',
        code: 'TASK_LOG_CURSOR',
      });
}
