/** The statement that stores one append, with all that goes with it in one transaction. */
import { RuntimeError } from '../../machines/errors.ts';
import { SESSION_FOLD_VERSION } from '../../machines/session/session-fold.ts';
import { eventColumns, hintColumns, hintNames } from './appended-record.ts';
import type { AppendedRecord, AppendVerdict } from './appended-record.ts';
import { frequent, losable } from './postgres-database.ts';
import type { PostgresDatabase, Statement } from './postgres-database.ts';

/** Why appends may be lost under durability `os`. */
export const ASKED_FOR = 'the program has asked for it, and every receipt says so';

/** Of an integer. */
const MAX_HEAD = 2_147_483_647;

const COLUMNS = 'verdict, first_seq, events, head, epoch, is_due';

/** Types of the parameters, in order: what arrives as text has to be told what it is. */
const TYPES = [
  'uuid text integer text boolean integer',
  'uuid[] text[] integer[] text[] text[]',
  'text[] text[] text[] text[] smallint[] bigint[]',
  'text[] text[] smallint[] bigint[]',
  'text uuid uuid integer text boolean text',
].flatMap((types) => types.split(' '));

/**
 * Of the events of an append that takes nothing along, in bytes: no more than the table of events takes of one of them.
 */
const MAX_PLAIN_BYTES = 65_536;

/** Something is stored already that there can be once only. */
const UNIQUE_VIOLATION = '23505';

export async function askForOne(
  database: PostgresDatabase,
  record: AppendedRecord,
  isAsync: boolean,
): Promise<readonly AppendVerdict[]> {
  if (takesNothingAlong(record)) {
    const stored = await storedPlainly(database, record, isAsync);
    if (stored !== undefined) return [stored];
  }
  return database.run<AppendVerdict>(
    statement(database.schema, isAsync && record.hook?.lease === undefined),
    valuesOf(record),
  );
}

function takesNothingAlong({ key, hints, settled, hook, bytes }: AppendedRecord): boolean {
  return (
    key === undefined && hints.length === 0 && settled.length === 0 && hook === undefined && bytes <= MAX_PLAIN_BYTES
  );
}

/** Undefined where it is not stored now: it may have been before, and `append_one_1` tells. */
async function storedPlainly(
  database: PostgresDatabase,
  record: AppendedRecord,
  isAsync: boolean,
): Promise<AppendVerdict | undefined> {
  const { sessionId, expectedHead, claimsEpoch, events } = record;
  const [ids, types, versions, , times, data] = eventColumns(events);
  const head = expectedHead === undefined ? null : headColumn(expectedHead);
  const values = [sessionId, head, claimsEpoch, events[0]?.epoch ?? null, ids, types, versions, times, data];
  try {
    const [row] = await database.run<{ readonly head: number | null }>(
      plainStatement(database.schema, isAsync),
      values,
    );
    return typeof row?.head === 'number'
      ? {
          verdict: 'stored',
          first_seq: row.head - events.length + 1,
          events: events.length,
          head: row.head,
          epoch: null,
        }
      : undefined;
  } catch (error) {
    if (RuntimeError.is(error) && error.details?.['systemCode'] === UNIQUE_VIOLATION) return undefined;
    throw error;
  }
}

function plainStatement(schema: string, isAsync: boolean): Statement {
  const call = `${schema}.append_events_1($1, $2, $3, $4, $5, $6, $7, $8, $9)`;
  return frequent(
    isAsync ? losable({ because: ASKED_FOR, columns: 'head', from: `${call} AS head` }) : `SELECT ${call} AS head`,
  );
}

/** What is no head of any log, such as a number that does not fit into the column, is -1: no log ends there either. */
export function headColumn(head: number): number {
  return Number.isInteger(head) && head >= 0 && head <= MAX_HEAD ? head : -1;
}

function statement(schema: string, isAsync: boolean): Statement {
  const from = `${schema}.append_one_1(${TYPES.map((type, index) => `$${index + 1}::${type}`).join(', ')})`;
  return frequent(isAsync ? losable({ because: ASKED_FOR, columns: COLUMNS, from }) : `SELECT ${COLUMNS} FROM ${from}`);
}

function valuesOf(record: AppendedRecord): readonly unknown[] {
  const { sessionId, key, expectedHead, claimsEpoch, events, hints, settled, hook } = record;
  const [ids, types, versions, , times, data] = eventColumns(events);
  const [, ...hinted] = hintColumns(hints);
  const [, ...named] = hintNames(settled);
  const { lease, at, view } = hook ?? {};
  const kept =
    view === undefined
      ? [null, null, null, null]
      : [SESSION_FOLD_VERSION, view.status, view.parked !== undefined, JSON.stringify(view)];
  const head = expectedHead === undefined ? null : headColumn(expectedHead);
  return [
    ...[sessionId, key ?? null, head, at ?? null, claimsEpoch, events[0]?.epoch ?? null],
    ...[ids, types, versions, times, data],
    ...hinted,
    ...named,
    ...[lease?.act ?? null, lease?.worker ?? null, lease?.token ?? null, ...kept],
  ];
}
