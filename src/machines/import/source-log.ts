/** Reads a log line by line: whole records, what of damaged lines can be saved, and a word about everything else. */
import { beginningOf } from '../cut-text.ts';
import { MAX_KEPT_CHARACTERS, MAX_NAMED_DAMAGE } from './import-limits.ts';
import type { Digest } from './imported-ids.ts';
import { asObject, isShallow } from './lenient.ts';
import type { JsonObject } from './lenient.ts';
import type { ReadRecord, RecordReading, SourceIdentity } from './source-fact.ts';

export interface SourceLine {
  /** From 1. */
  readonly number: number;
  /** Without its end. Of a line that is too long, the beginning. */
  readonly text: string;
  /** It has no end: it may not be whole. */
  readonly isLast?: boolean | undefined;
  /** Why it is not whole, or not as it was. */
  readonly trouble?: 'too_long' | 'not_utf8' | undefined;
}

/** A place where a log is not as it should be. `repaired`: nothing of it is lost. */
export interface SourceDamage {
  readonly line: number;
  readonly what: string;
  readonly repaired: boolean;
}

/** What has no place in a session, as it was. */
export interface LeftOver {
  readonly line: number;
  readonly type: string;
  readonly because: string;
  readonly record?: JsonObject | undefined;
  readonly text?: string | undefined;
}

export interface SourceEntry {
  readonly line: number;
  readonly record: JsonObject;
  readonly reading: RecordReading;
}

export class SourceLog {
  readonly #read: ReadRecord;
  readonly #digest: Digest;
  readonly #seen = new Set<string>();
  readonly entries: SourceEntry[] = [];
  readonly leftOver: LeftOver[] = [];
  /** The first of them; `damaged` counts them all. */
  readonly damage: SourceDamage[] = [];
  damaged = 0;
  records = 0;
  repeated = 0;
  identity: SourceIdentity = {};
  /** It is a log of this runtime. */
  isOurs = false;

  constructor(read: ReadRecord, digest: Digest) {
    this.#read = read;
    this.#digest = digest;
  }

  ingest(line: SourceLine): void {
    const { number, text, trouble } = line;
    if (text.trim() === '') return;
    if (trouble === 'too_long')
      return this.#lose(line, 'the line is longer than a record may be', 'a line that is too long');
    const value = parsed(text);
    if (value !== undefined) {
      if (trouble === 'not_utf8') this.#note(number, 'bytes that are no UTF-8 were replaced', true);
      return this.#ingestRecord(value, line);
    }
    this.#ingestDamaged(line);
  }

  /** Says of the whole log what is not as it should be. */
  noteWhole(what: string): void {
    this.#note(0, what, true);
  }

  #ingestDamaged(line: SourceLine): void {
    const { number, text, isLast } = line;
    const saved = savedRecords(text);
    for (const record of saved.records) this.#ingestRecord(record, line);
    if (saved.lost.trim() === '')
      return this.#note(number, 'records without a line end between them were parted', true);
    const what = isLast === true ? 'the last line is only the beginning of a record' : 'the line is no record';
    const rest = { ...line, text: saved.lost };
    this.#lose(
      rest,
      saved.records.length === 0 ? what : `${what}; what follows in it is`,
      isLast === true ? 'a torn end' : 'a damaged line',
    );
  }

  #ingestRecord(value: unknown, line: SourceLine): void {
    this.records += 1;
    const record = asObject(value);
    if (record === undefined || !isShallow(record))
      return this.#lose(
        line,
        record === undefined ? 'the line is JSON, and no object' : 'the record is nested too deeply',
        'no record',
      );
    if (typeof record['crc'] === 'string' && asObject(record['record']) !== undefined) this.isOurs = true;
    const reading = this.#read(record);
    if (this.#isRepeated(record, reading)) {
      this.repeated += 1;
      return;
    }
    this.identity = merged(this.identity, {
      sessionId: textOf(record['sessionId']),
      agentId: textOf(record['agentId']),
      ...reading.identity,
    });
    if (this.identity.createdAtMs === undefined && reading.atMs !== undefined)
      this.identity = { ...this.identity, createdAtMs: reading.atMs };
    this.entries.push({ line: line.number, record, reading });
  }

  /** A person may well say the same twice: only what has an id or a time is known to be one. */
  #isRepeated(record: JsonObject, { id, atMs }: RecordReading): boolean {
    if (id === undefined && atMs === undefined) return false;
    const print = this.#digest(JSON.stringify(record)).slice(0, 16).join('.');
    if (this.#seen.has(print)) return true;
    this.#seen.add(print);
    return false;
  }

  #lose({ number, text }: SourceLine, what: string, type: string): void {
    this.#note(number, what, false);
    this.leftOver.push({ line: number, type, because: what, text: beginningOf(text, MAX_KEPT_CHARACTERS) });
  }

  #note(line: number, what: string, repaired: boolean): void {
    this.damaged += 1;
    if (this.damage.length < MAX_NAMED_DAMAGE) this.damage.push({ line, what, repaired });
  }
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}

/** What was said first counts. */
export function merged(first: SourceIdentity, second: SourceIdentity): SourceIdentity {
  return Object.fromEntries(
    Object.entries({ ...second, ...present(first) }).filter(([, value]) => value !== undefined),
  );
}

function present(identity: SourceIdentity): SourceIdentity {
  return Object.fromEntries(Object.entries(identity).filter(([, value]) => value !== undefined));
}

function textOf(value: unknown): string | undefined {
  return typeof value === 'string' && value !== '' ? value : undefined;
}

interface SavedRecords {
  /** In the order in which they stand. */
  readonly records: readonly JsonObject[];
  /** What is no record. */
  readonly lost: string;
}

/** A record is searched for at so many places at most. */
const MAX_CHECKS = 32;
const MAX_CHARACTERS = 256 * 1024;

/**
 * Saves the whole records of a damaged line: those that follow upon one another without a line end, and one that was
 * appended to the half of another.
 */
function savedRecords(text: string): SavedRecords {
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
