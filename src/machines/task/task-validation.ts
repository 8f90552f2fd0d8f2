/**
 * Reads what callers of the task manager pass in; what does not fit becomes a task error that names each wrong place.
 */
import type * as z from 'zod';
import { describeIssues } from '../validate.ts';
import { BackgroundTaskError } from './task-error.ts';

/** @param subject what is being read, as the error names it. @throws BackgroundTaskError category `validation` */
export function parsedOrRefused<Schema extends z.ZodType>(
  schema: Schema,
  value: unknown,
  subject: { readonly what: string; readonly code: string },
): z.output<Schema> {
  const parsed = schema.safeParse(value);
  if (parsed.success) return parsed.data;
  const issues = describeIssues(parsed.error, schema);
  throw new BackgroundTaskError('validation', `invalid ${subject.what}: ${issues.join('; ')}`, {
    code: subject.code,
    details: { issues },
  });
}
