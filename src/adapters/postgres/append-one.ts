/** The statement that stores one append, with all that goes with it in one transaction. */
import { SESSION_FOLD_VERSION } from '../../machines/session/session-fold.ts';
import type { AppendVerdict } from './append-queue.ts';
import { eventColumns, hintColumns, hintNames } from './appended-record.ts';
import type { AppendedRecord } from './appended-record.ts';
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

export async function askForOne(database: PostgresDatabase, record: AppendedRecord, isAsync: boolean): Promise<readonly AppendVerdict[]> {
  return database.run<AppendVerdict>(statement(database.schema, isAsync && record.companion?.lease === undefined), valuesOf(record));
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
  const { sessionId, key, expectedHead, claimsEpoch, events, hints, settled, companion } = record;
  const [ids, types, versions, , times, data] = eventColumns(events);
  const [, ...hinted] = hintColumns(hints);
  const [, ...named] = hintNames(settled);
  const { lease, at, view } = companion ?? {};
  const kept = view === undefined ? [null, null, null, null] : [SESSION_FOLD_VERSION, view.status, view.parked !== undefined, JSON.stringify(view)];
  const head = expectedHead === undefined ? null : headColumn(expectedHead);
  return [
    ...[sessionId, key ?? null, head, at ?? null, claimsEpoch, events[0]?.epoch ?? null],
    ...[ids, types, versions, times, data],
    ...hinted,
    ...named,
    ...[lease?.act ?? null, lease?.worker ?? null, lease?.token ?? null, ...kept],
  ];
}
