/**
 * Turns what comes from outside into typed data, or into an error that says where it is wrong and what was expected.
 */
import type * as z from 'zod';
import { RuntimeError, messageOf } from './errors.ts';
import { meantKeyAt } from './known-keys.ts';

/** More than a few complaints do not help. */
const MAX_COMPLAINTS = 5;

export interface Subject {
  /** What is being read, as the error names it: "message", "script demo.json". */
  readonly what: string;
  readonly code: string;
  readonly hint?: string | undefined;
}

/** `value` as `schema` reads it. @throws RuntimeError category `validation` naming each wrong place. */
export function parseOrThrow<Schema extends z.ZodType>(
  schema: Schema,
  value: unknown,
  subject: Subject,
): z.output<Schema> {
  const parsed = readWith(schema, value, subject);
  if (parsed.success) return parsed.data;
  const complaints = describeIssues(parsed.error, schema);
  throw new RuntimeError(subject.code, `${subject.what} is not valid: ${complaints.join('; ')}`, {
    category: 'validation',
    hint: subject.hint,
    details: { issues: complaints },
  });
}

/** Schemas recurse: a value that is nested deeper than the stack is no crash but a value that is not valid. */
function readWith<Schema extends z.ZodType>(
  schema: Schema,
  value: unknown,
  { what, code }: Subject,
): z.ZodSafeParseResult<z.output<Schema>> {
  try {
    return schema.safeParse(value);
  } catch (cause) {
    throw new RuntimeError(code, `${what} is not valid: it cannot be read to its end (${messageOf(cause)})`, {
      category: 'validation',
      hint: 'Nest it less deeply.',
      cause,
    });
  }
}

/** An object with fields, not a list. */
export function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/**
 * One line per issue: the path, what was expected and what came. @param schema what was expected: of an unknown key it
 * tells which was probably meant
 */
export function describeIssues(error: z.ZodError, schema?: z.ZodType): string[] {
  const lines = error.issues.flatMap((issue) => describeIssue(issue, schema));
  const shown = lines.slice(0, MAX_COMPLAINTS);
  return lines.length > shown.length ? [...shown, `and ${lines.length - shown.length} more`] : shown;
}

function describeIssue(issue: z.core.$ZodIssue, schema: z.ZodType | undefined): string[] {
  const message = `${issue.message}${meantText(issue, schema)}`
    .replace(/^Invalid (input|string|option): /, '')
    .replace(/^must match pattern .*$/, 'has the wrong form');
  return [issue.path.length === 0 ? message : `${pathOf(issue.path)}: ${message}`];
}

/** Where one key is unknown, and another is near. */
function meantText(issue: z.core.$ZodIssue, schema: z.ZodType | undefined): string {
  const [key, ...others] = issue.code === 'unrecognized_keys' ? issue.keys : [];
  if (key === undefined || others.length > 0 || schema === undefined || issue.message.includes('did you mean'))
    return '';
  const meant = meantKeyAt(schema, [...issue.path, key]);
  return meant === undefined ? '' : ` (did you mean "${meant}"?)`;
}

/** `steps[2].toolCalls[0].name` */
export function pathOf(path: readonly PropertyKey[]): string {
  return path.reduce<string>(
    (text, key) => (typeof key === 'number' ? `${text}[${key}]` : text === '' ? String(key) : `${text}.${String(key)}`),
    '',
  );
}
