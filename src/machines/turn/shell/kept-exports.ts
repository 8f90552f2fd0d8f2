/**
 * Which of a shell's exported variables are kept for the shell that takes its place, and in words why others are not.
 */
import * as z from 'zod';
import { looksLikeSecret } from '../../agent/agent-warnings.ts';
import { beginningOf } from '../../cut-text.ts';
import type { ExportedVariables } from './export-report.ts';
import { MAX_EXPORT_CHARACTERS, MAX_EXPORTS, MAX_EXPORTS_CHARACTERS, MAX_NOT_KEPT } from './shell-limits.ts';

const exportedVariable = z.strictObject({
  name: z
    .string()
    .regex(/^[A-Za-z_][A-Za-z0-9_]*$/)
    .max(200),
  /** Null: it is not set any more. */
  value: z
    .string()
    .max(MAX_EXPORT_CHARACTERS)
    .regex(/^[^\0]*$/)
    .nullable(),
});

export const keptExports = z.strictObject({
  variables: z.array(exportedVariable).max(MAX_EXPORTS).readonly(),
  /** One sentence each, with names and never a value. */
  notKept: z
    .array(z.string().min(1).max(500))
    .max(MAX_NOT_KEPT + 1)
    .readonly(),
});

export type KeptExports = Readonly<z.output<typeof keptExports>>;

export interface ExportsToKeep {
  /** Undefined where the shell did not say. */
  readonly now: ExportedVariables | undefined;
  /** When it was opened. */
  readonly opening: ExportedVariables;
  /** What calls have set in it, which is found again in the log. */
  readonly given: ExportedVariables;
  /** Names of those that are put in by reference. */
  readonly secrets: ReadonlySet<string>;
  /** Without secrets. */
  readonly redacted: (text: string) => string;
}

/** What each shell has of its own. */
const OWN = new Set(['PWD', 'OLDPWD', 'SHLVL', '_', 'PPID', 'LINENO', 'OPTIND']);

const UNKNOWN: KeptExports = {
  variables: [],
  notKept: ['variables that commands have exported: the shell does not say which there are, or they are too long'],
};

export function exportsToKeep({ now, ...before }: ExportsToKeep): KeptExports {
  if (now === undefined) return UNKNOWN;
  const { opening, given, secrets } = before;
  const isOurs = (name: string): boolean => !OWN.has(name) && !secrets.has(name);
  const gone = [...new Set([...opening.keys(), ...given.keys()])].filter((name) => isOurs(name) && !now.has(name));
  const changed = [...now].filter(([name, value]) => isOurs(name) && (given.get(name) ?? opening.get(name)) !== value);
  const book = new Book();
  for (const name of gone) book.add(name, null);
  for (const [name, value] of changed) {
    const problem = problemOf(name, value, before);
    if (problem === undefined) book.add(name, value);
    else book.leave(name, problem);
  }
  return book.kept();
}

/** An address that holds a login, such as of a database. */
const WITH_PASSWORD = /:\/\/[^\s/@]*:[^\s/@]+@/;

/** Undefined for one that may be kept. */
function problemOf(name: string, value: string, { redacted }: Pick<ExportsToKeep, 'redacted'>): string | undefined {
  if (looksLikeSecret(name, value) || WITH_PASSWORD.test(value))
    return 'it looks like a key or a password, and those are kept nowhere';
  if (redacted(value) !== value || value.includes('[redacted ')) return 'a secret is in its value';
  if (value.includes('\ufffd')) return 'its value is not text';
  return value.length > MAX_EXPORT_CHARACTERS
    ? `its value is longer than ${MAX_EXPORT_CHARACTERS} characters`
    : undefined;
}

class Book {
  readonly #variables: { readonly name: string; readonly value: string | null }[] = [];
  readonly #left: string[] = [];
  #characters = 0;
  #leftWithoutWord = 0;

  add(name: string, value: string | null): void {
    const characters = name.length + (value?.length ?? 0);
    if (name.length > 200) return this.leave(`${beginningOf(name, 50)}…`, 'its name is too long');
    if (this.#variables.length >= MAX_EXPORTS) return this.leave(name, `more than ${MAX_EXPORTS} are not kept`);
    if (this.#characters + characters > MAX_EXPORTS_CHARACTERS)
      return this.leave(name, `more than ${MAX_EXPORTS_CHARACTERS} characters in all are not kept`);
    this.#characters += characters;
    this.#variables.push({ name, value });
  }

  leave(name: string, why: string): void {
    if (this.#left.length < MAX_NOT_KEPT) this.#left.push(beginningOf(`the exported variable ${name}: ${why}`, 500));
    else this.#leftWithoutWord += 1;
  }

  kept(): KeptExports {
    const more = this.#leftWithoutWord === 0 ? [] : [`${this.#leftWithoutWord} more exported variables`];
    return { variables: this.#variables, notKept: [...this.#left, ...more] };
  }
}
