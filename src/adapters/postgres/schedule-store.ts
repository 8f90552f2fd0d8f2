/**
 * Schedules remembered in PostgreSQL: a log for each, which all workers of all machines add up alike. So appending a
 * claim and reading back whether it holds is an atomic claim of a slot, as it is with files.
 */
import { randomUUID } from 'node:crypto';
import * as z from 'zod';
import type { ScheduleStore } from '../../actors/schedule/schedule-store.ts';
import { EMPTY_HISTORY, SlotLedger, scheduleHistory } from '../../machines/schedule/slot-ledger.ts';
import type { ScheduleHistory } from '../../machines/schedule/slot-ledger.ts';
import { slotRecord, storedRecord } from '../../machines/schedule/slot-record.ts';
import type { ScheduleRecord } from '../../machines/schedule/slot-record.ts';
import type { PostgresDatabase } from './postgres-database.ts';
import { keyOf } from './revised-rows.ts';

interface PostgresScheduleStoreOptions {
  readonly database: PostgresDatabase;
  /**
   * So many records behind what was added up last are added up for good: reading a schedule costs no more than these.
   * Default 128.
   */
  readonly foldEvery?: number | undefined;
}

const DEFAULT_FOLD_EVERY = 128;
const PAGE = 500;

const place = z.coerce.number().int().nonnegative();
const foundShape = z.object({ folded_from: place, folded_history: z.string().nullable(), tail: z.array(z.string()) });
const appendedShape = foundShape.extend({ first_seq: place });
const recordShape = z.object({ seq: place, body: z.string() });

type Found = z.output<typeof foundShape>;

export function createPostgresScheduleStore({
  database,
  foldEvery = DEFAULT_FOLD_EVERY,
}: PostgresScheduleStoreOptions): ScheduleStore {
  return new PostgresScheduleStore(database, foldEvery);
}

class PostgresScheduleStore implements ScheduleStore {
  readonly #database: PostgresDatabase;
  readonly #foldEvery: number;

  constructor(database: PostgresDatabase, foldEvery: number) {
    this.#database = database;
    this.#foldEvery = foldEvery;
  }

  async load(scheduleId: string): Promise<ScheduleHistory> {
    const { schema } = this.#database;
    const rows = await this.#database.run(
      `SELECT l.folded_through AS folded_from, l.folded AS folded_history,
          ARRAY(SELECT r.body FROM ${schema}.schedule_record r WHERE r.schedule = l.schedule AND r.seq > l.folded_through ORDER BY r.seq) AS tail
        FROM ${schema}.schedule_log l WHERE l.schedule = $1`,
      [keyOf(scheduleId)],
    );
    if (rows.length === 0) return EMPTY_HISTORY;
    const found = foundShape.parse(rows[0]);
    const ledger = ledgerOf(found);
    for (const body of found.tail) ledger.ingest(recordIn(body));
    return ledger.history();
  }

  async append(scheduleId: string, records: readonly ScheduleRecord[]): Promise<readonly boolean[]> {
    if (records.length === 0) return [];
    const bodies = records.map((record) => JSON.stringify(record));
    const rows = await this.#database.run(
      `SELECT * FROM ${this.#database.schema}.append_schedule_records_1($1, $2::uuid, $3::text[])`,
      [keyOf(scheduleId), randomUUID(), bodies],
    );
    const found = appendedShape.parse(rows[0]);
    const own = found.first_seq - found.folded_from - 1;
    // The answer came late, and others have added up our records meanwhile: what they made of them is in the log from
    // its beginning.
    if (own < 0) return this.#heldFromTheBeginning(scheduleId, found.first_seq, records.length);
    const ledger = ledgerOf(found);
    const held = found.tail.slice(0, own + records.length).map((body) => ledger.ingest(recordIn(body)));
    if (held.length >= this.#foldEvery) await this.#fold(scheduleId, found.folded_from + held.length, ledger.history());
    return held.slice(own);
  }

  async *records(scheduleId: string): AsyncGenerator<ScheduleRecord> {
    for (let after = 0; ;) {
      const rows = await this.#database.run(
        `SELECT seq, body FROM ${this.#database.schema}.schedule_record WHERE schedule = $1 AND seq > $2 ORDER BY seq LIMIT ${PAGE}`,
        [keyOf(scheduleId), after],
      );
      for (const row of rows) {
        const { seq, body } = recordShape.parse(row);
        after = seq;
        yield recordIn(body);
      }
      if (rows.length < PAGE) return;
    }
  }

  async #heldFromTheBeginning(scheduleId: string, firstSeq: number, count: number): Promise<readonly boolean[]> {
    const ledger = new SlotLedger();
    const held: boolean[] = [];
    let seq = 0;
    for await (const record of this.records(scheduleId)) {
      seq += 1;
      const holds = ledger.ingest(record);
      if (seq >= firstSeq) held.push(holds);
      if (held.length === count) break;
    }
    return held;
  }

  /** Only saves those who come later some work: when it fails, one of them does it. */
  async #fold(scheduleId: string, through: number, history: ScheduleHistory): Promise<void> {
    await this.#database
      .run(
        `UPDATE ${this.#database.schema}.schedule_log SET folded = $2, folded_through = $3 WHERE schedule = $1 AND folded_through < $3`,
        [keyOf(scheduleId), JSON.stringify(history), through],
      )
      .catch(() => undefined);
  }
}

function ledgerOf({ folded_history: folded }: Found): SlotLedger {
  return new SlotLedger(folded === null ? EMPTY_HISTORY : storedRecord(scheduleHistory, folded));
}

function recordIn(body: string): ScheduleRecord {
  return storedRecord(slotRecord, body);
}
