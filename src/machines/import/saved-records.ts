/**
 * Saves the whole records of a damaged line: those that follow upon one another without a line end, and one that was
 * appended to the half of another.
 */
import type { JsonObject } from './lenient.ts';
import { asObject } from './lenient.ts';

export interface SavedRecords {
  /** In the order in which they stand. */
  readonly records: readonly JsonObject[];
  /** What is no record. */
  readonly lost: string;
}

/** A record is searched for at so many places at most. */
const MAX_CHECKS = 32;
const MAX_CHARACTERS = 256 * 1024;

export function savedRecords(text: string): SavedRecords {
  if (text.length > MAX_CHARACTERS) return { records: [], lost: text };
  const records: JsonObject[] = [];
  let rest = text;
  let checks = MAX_CHECKS;
  // From behind: what was appended last is whole.
  for (let found = lastRecord(rest, checks); found !== undefined; found = lastRecord(rest, checks)) {
    records.unshift(found.record);
    rest = rest.slice(0, found.at);
    checks -= found.checks;
  }
  return { records, lost: rest };
}

interface Found {
  readonly record: JsonObject;
  readonly at: number;
  readonly checks: number;
}

/** The longest end of `text` that is a record. */
function lastRecord(text: string, maxChecks: number): Found | undefined {
  if (!/\}\s*$/.test(text)) return undefined;
  let at = -1;
  for (let checks = 1; checks <= maxChecks; checks += 1) {
    at = text.indexOf('{"', at + 1);
    if (at === -1) return undefined;
    const record = recordIn(text.slice(at));
    if (record !== undefined) return { record, at, checks };
  }
  return undefined;
}

/** Records say what they are; an object within one that is lost need not. */
function recordIn(text: string): JsonObject | undefined {
  try {
    const record = asObject(JSON.parse(text));
    return record !== undefined && (typeof record['type'] === 'string' || typeof record['id'] === 'string')
      ? record
      : undefined;
  } catch {
    return undefined;
  }
}
