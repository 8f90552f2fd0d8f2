/**
 * What is wrong with a frontmatter, place by place: of the forms that a value may have, the one that was probably meant
 * is judged.
 */
import type * as z from 'zod';
import { closestName } from '../closest-name.ts';
import { beginningOf } from '../cut-text.ts';
import { keysAt } from '../known-keys.ts';

// For an unknown key: the one that was probably meant, or all that there are.

/** What follows the complaint about the key at the end of `path`; empty where the schema tells nothing. */
function meantKey(schema: z.ZodType, path: readonly PropertyKey[]): string {
  const { keys, isOneForm } = keysAt(schema, path.slice(0, -1));
  const meant = closestName(String(path.at(-1)), keys);
  if (meant !== undefined) return `; did you mean "${meant}"?`;
  return isOneForm && keys.length > 0 ? `; expected one of ${keys.join(', ')}` : '';
}

export interface FrontmatterIssue {
  /** The keys that lead there; that of an unknown key too. */
  readonly path: readonly PropertyKey[];
  readonly message: string;
}

/** A form that asks for another kind of value altogether is not what was meant. */
const OTHER_KIND = 100;

/** @param schema what was expected: an unknown key is named with the one that was probably meant */
export function frontmatterIssues(error: z.ZodError, schema: z.ZodType): FrontmatterIssue[] {
  return error.issues.flatMap((issue) => placed(issue, [], schema));
}

function placed(issue: z.core.$ZodIssue, before: readonly PropertyKey[], schema: z.ZodType): FrontmatterIssue[] {
  const path = [...before, ...issue.path];
  if (issue.code === 'invalid_key') return issue.issues.map((each) => ({ path, message: plain(each) }));
  if (issue.code === 'unrecognized_keys') return issue.keys.map((key) => unknownKey([...path, key], schema));
  const meant = issue.code === 'invalid_union' ? nearest(issue.errors) : undefined;
  return meant === undefined ? [{ path, message: plain(issue) }] : meant.flatMap((each) => placed(each, path, schema));
}

function unknownKey(path: readonly PropertyKey[], schema: z.ZodType): FrontmatterIssue {
  return { path, message: `unknown key${meantKey(schema, path)}` };
}

/** The first of the forms with the least wrong. */
function nearest(forms: readonly (readonly z.core.$ZodIssue[])[]): readonly z.core.$ZodIssue[] | undefined {
  let best: readonly z.core.$ZodIssue[] | undefined;
  for (const form of forms)
    if (form.length > 0 && (best === undefined || distanceOf(form) < distanceOf(best))) best = form;
  return best;
}

function distanceOf(issues: readonly z.core.$ZodIssue[]): number {
  return issues.reduce((sum, issue) => {
    if (issue.code === 'unrecognized_keys') return sum + issue.keys.length;
    return sum + (issue.path.length === 0 && issue.code !== 'custom' ? OTHER_KIND : 1);
  }, 0);
}

/** What was expected and, where the caller asked for it (`reportInput`), what came instead of a choice or a number. */
function plain(issue: z.core.$ZodIssue): string {
  const message = issue.message.replace(/^(?:Invalid (?:input|string|option)|Too (?:small|big)): /, '');
  return isChoice(issue) && 'input' in issue ? `${message}, received ${shown(issue.input)}` : message;
}

/** Anything else may be a text of any length, or a secret one. */
function isChoice({ code, ...issue }: z.core.$ZodIssue): boolean {
  return (
    code === 'invalid_value' ||
    ((code === 'too_small' || code === 'too_big') &&
      'origin' in issue &&
      (issue.origin === 'number' || issue.origin === 'int'))
  );
}

const MAX_SHOWN_CHARACTERS = 80;

function shown(value: unknown): string {
  if (value === undefined || value === null) return 'nothing';
  if (typeof value === 'function' || typeof value === 'symbol' || typeof value === 'bigint') return `a ${typeof value}`;
  return typeof value === 'object'
    ? Array.isArray(value)
      ? 'a list'
      : 'keys with values'
    : beginningOf(JSON.stringify(value), MAX_SHOWN_CHARACTERS);
}
