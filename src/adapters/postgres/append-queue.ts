/**
 * Stores appends in batches: what arrives while every connection is busy goes into the next statement together, which
 * is one sync of the server's disk for all of it. An append that meets an idle store goes at once. Those of one session
 * keep their order.
 */
import { RuntimeError } from '../../machines/errors.ts';
import { ASKED_FOR, askForOne, headColumn } from './append-one.ts';
import { eventColumns, hintColumns, hintNames } from './appended-record.ts';
import type { AppendedRecord, AppendVerdict } from './appended-record.ts';
import { losable } from './postgres-database.ts';
import type { LosableStatement, PostgresDatabase } from './postgres-database.ts';
import { databaseFailed } from './postgres-errors.ts';

/** Bounds of one batch: appends, and bytes of their events. One that is larger goes alone. */
const MAX_BATCH_RECORDS = 128;
const MAX_BATCH_BYTES = 8 * 1024 * 1024;

interface Waiting {
  readonly record: AppendedRecord;
  readonly resolve: (verdict: AppendVerdict) => void;
  readonly reject: (error: unknown) => void;
}

export interface AppendQueueOptions {
  readonly database: PostgresDatabase;
  /** Whether the server may answer before it has synced. */
  readonly isAsync: boolean;
  /** Batches that are on their way at once. */
  readonly maxInFlight: number;
}

export class AppendQueue {
  readonly #options: AppendQueueOptions;
  readonly #busy = new Set<string>();
  #waiting: Waiting[] = [];
  #inFlight = 0;
  #idle: (() => void)[] = [];

  constructor(options: AppendQueueOptions) {
    this.#options = options;
  }

  append(record: AppendedRecord): Promise<AppendVerdict> {
    return new Promise((resolve, reject) => {
      this.#waiting.push({ record, resolve, reject });
      this.#sendNext();
    });
  }

  /** Resolves when nothing waits and nothing is on its way. */
  async settled(): Promise<void> {
    while (this.#inFlight > 0 || this.#waiting.length > 0)
      await new Promise<void>((resolve) => this.#idle.push(resolve));
  }

  #sendNext(): void {
    while (this.#inFlight < this.#options.maxInFlight) {
      const batch = this.#takeBatch();
      if (batch.length === 0) return;
      this.#inFlight += 1;
      for (const { record } of batch) this.#busy.add(record.sessionId);
      void this.#send(batch).finally(() => {
        this.#inFlight -= 1;
        for (const { record } of batch) this.#busy.delete(record.sessionId);
        this.#sendNext();
        if (this.#inFlight === 0) for (const resolve of this.#idle.splice(0)) resolve();
      });
    }
  }

  /** The first that may go: a session whose append is on its way waits, and so does everything of it. */
  #takeBatch(): Waiting[] {
    const batch: Waiting[] = [];
    const left: Waiting[] = [];
    const passed = new Set<string>();
    let bytes = 0;
    for (const each of this.#waiting) {
      const { record } = each;
      // One that takes something along goes alone.
      const isApart = record.hook !== undefined || batch[0]?.record.hook !== undefined;
      const isFull =
        batch.length >= MAX_BATCH_RECORDS || (batch.length > 0 && (isApart || bytes + record.bytes > MAX_BATCH_BYTES));
      // What stands behind one that is left is left too: nothing of a session overtakes.
      if (isFull || this.#busy.has(record.sessionId) || passed.has(record.sessionId)) {
        left.push(each);
        passed.add(record.sessionId);
      } else {
        batch.push(each);
        bytes += record.bytes;
      }
    }
    this.#waiting = left;
    return batch;
  }

  async #send(batch: readonly Waiting[]): Promise<void> {
    try {
      const verdicts = await this.#ask(batch.map(({ record }) => record));
      for (const [index, { resolve, reject }] of batch.entries()) {
        const verdict = verdicts[index];
        if (verdict === undefined)
          reject(databaseFailed('append', new Error(`${verdicts.length} answers to ${batch.length} appends`)));
        else resolve(verdict);
      }
    } catch (error) {
      await this.#refused(batch, error);
    }
  }

  /** What one of them did must not hurt those beside it. What the medium did concerns all. */
  async #refused(batch: readonly Waiting[], error: unknown): Promise<void> {
    const isOfOne = batch.length > 1 && RuntimeError.is(error) && isOfOneRecord(error.details?.['systemCode']);
    if (isOfOne) for (const each of batch) await this.#send([each]);
    else for (const { reject } of batch) reject(error);
  }

  async #ask(records: readonly AppendedRecord[]): Promise<readonly AppendVerdict[]> {
    const { database, isAsync } = this.#options;
    const [only] = records;
    if (only !== undefined && records.length === 1 && isOfOneSession(only)) return askForOne(database, only, isAsync);
    const part = <Value>(read: (record: AppendedRecord) => Value): Value[] => records.map(read);
    const values = [
      // How programs of step 1 said what `losable` says.
      false,
      part(({ sessionId }) => sessionId),
      part(({ key }) => key ?? null),
      part(({ expectedHead }) => (expectedHead === undefined ? null : headColumn(expectedHead))),
      part(({ claimsEpoch }) => claimsEpoch),
      part(({ events }) => events.length),
      part(({ hints }) => hints.length),
      part(({ settled }) => settled.length),
      ...eventColumns(records.flatMap(({ events }) => events)),
      ...hintColumns(records.flatMap(({ hints }) => hints)),
      ...hintNames(records.flatMap(({ settled }) => settled)),
    ];
    return database.run<AppendVerdict>(appendStatement(database.schema, isAsync), values);
  }
}

/** Hints may be of other sessions. */
function isOfOneSession({ sessionId, hints, settled }: AppendedRecord): boolean {
  return [...hints, ...settled].every((hint) => hint.sessionId === sessionId);
}

/**
 * What is wrong with the data of one, such as a character that the database's encoding has not. Classes of SQLSTATE: 22
 * data, 23 constraints, 54 limits.
 */
function isOfOneRecord(systemCode: unknown): boolean {
  return typeof systemCode === 'string' && /^(22|23|54)/.test(systemCode);
}

/** Types of the parameters, in order: what arrives as text has to be told what it is. */
const APPEND_TYPES =
  'boolean uuid[] text[] integer[] boolean[] integer[] integer[] integer[] uuid[] text[] integer[] integer[] text[] text[] uuid[] text[] text[] text[] text[] smallint[] bigint[] uuid[] text[] text[] smallint[] bigint[]'.split(
    ' ',
  );

function appendStatement(schema: string, isAsync: boolean): string | LosableStatement {
  const columns = 'verdict, first_seq, events, head, epoch';
  const from = `${schema}.append_1(${APPEND_TYPES.map((type, index) => `$${index + 1}::${type}`).join(', ')})`;
  return isAsync ? losable({ because: ASKED_FOR, columns, from }) : `SELECT ${columns} FROM ${from}`;
}
