/** The shape of the classifier's tables: which fact, with which value, means which kind of failure. */
import type { RunFailureKind } from './run-failure.ts';

/**
 * What kind of fact was found. `own`: the code and the category of a RuntimeError of ours. `flag`: a field that says
 * how a program ended. `name`: of an error class. `system`: the code of a call of the system that failed in this
 * process, in lower case. `code`: a word by which a provider, a library or the system names the failure, in lower case.
 * `status`: of HTTP. `rpc`: a number of JSON-RPC. `exit`, `signal`: of a program. `stated_status`: a status of HTTP
 * that only a text tells.
 */
export type FactSource =
  | 'own'
  | 'flag'
  | 'name'
  | 'system'
  | 'code'
  | 'status'
  | 'rpc'
  | 'exit'
  | 'signal'
  | 'stated_status';

export interface FailureRow {
  readonly kind: RunFailureKind;
  /** A fact that many failures share may be made more precise by a text, but only to these kinds. */
  readonly yieldsTo: readonly RunFailureKind[];
}

export interface FailureTable {
  /** Before the value in the name of a rule: `status 429`. */
  readonly called: string;
  readonly source: FactSource;
  readonly rows: ReadonlyMap<string, FailureRow>;
}

export type FailureRows = readonly (readonly [string, FailureRow])[];

/** One row for each value. */
export function rows(
  kind: RunFailureKind,
  values: readonly string[],
  yieldsTo: readonly RunFailureKind[] = [],
): FailureRows {
  return values.map((value) => [value, { kind, yieldsTo }]);
}

/** A value that is given twice would hide a row: it is a defect of the table. */
export function table(called: string, source: FactSource, ...parts: readonly FailureRows[]): FailureTable {
  return { called, source, rows: new Map(parts.flat()) };
}

/**
 * Providers write the same word as `RESOURCE_EXHAUSTED`, `resource-exhausted` and
 * `com.vendor#ResourceExhausted:http://...`.
 */
export function codeWord(text: string): string {
  const bare = text.slice(text.lastIndexOf('#') + 1).split(':', 1)[0] ?? '';
  return bare
    .trim()
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '_');
}
