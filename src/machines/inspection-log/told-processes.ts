/** The processes of a session as one program tells them to another, and why it did not end one. */
import * as z from 'zod';
import { isErrorCategory } from '../errors.ts';
import type { ErrorCategory } from '../errors.ts';

const text = z.string();
const number = z.number().nonnegative();
const isCategory = (value: unknown): boolean => typeof value === 'string' && isErrorCategory(value);

const toldProcess = z.object({
  pid: z.int().positive(),
  parentPid: z.int().nonnegative().optional(),
  title: text,
  state: z.enum(['running', 'gone', 'unknown']),
  host: z.enum(['this', 'other', 'dead']),
  startedAt: text.optional(),
  lastActivityAt: text.optional(),
  output: z.array(text).optional(),
  limitMs: number.optional(),
  processorMs: number.optional(),
  residentBytes: number.optional(),
  isSuspended: z.literal(true).optional(),
  taskId: text.optional(),
  commandLine: text.optional(),
});

const toldProcesses = z.union([
  z.object({ processes: z.array(toldProcess) }),
  z.object({
    refused: z.object({ code: text, category: z.custom<ErrorCategory>(isCategory), message: text, hint: text }),
  }),
]);

export type ToldProcesses = z.output<typeof toldProcesses>;

/** Undefined: it is none, from a program of another version or none of ours. */
export function readToldProcesses(answer: string): ToldProcesses | undefined {
  try {
    return toldProcesses.safeParse(JSON.parse(answer)).data;
  } catch {
    return undefined;
  }
}
