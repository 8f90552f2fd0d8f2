/**
 * Rows that are whole values: only a writer that has seen the revision before it replaces it. Of all that change one at
 * the same time exactly one does, and the others read and decide again. No lock is held between reading and changing.
 *
 * Every change carries an id of its own, which the row remembers for a while. So a change whose answer was lost is
 * recognized as made, by the statement that is run again and by a later read alike.
 */
import { createHash, randomUUID } from 'node:crypto';
import * as z from 'zod';
import { KeyedMutex } from '../../actors/concurrency/mutex.ts';
import { RuntimeError } from '../../machines/errors.ts';
import type { CANDIDATE_HEALTH_TABLE, SCHEDULE_STATE_TABLE } from '../../machines/stored-names.ts';
import { frequent } from './postgres-database.ts';
import type { PostgresDatabase } from './postgres-database.ts';

/** The tables of this shape. */
export type RevisedTable =
  | 'schedule_definition'
  | typeof SCHEDULE_STATE_TABLE
  | typeof CANDIDATE_HEALTH_TABLE
  | 'policy';

export interface RevisedRow {
  readonly key: string;
  /** Counts from 1. */
  readonly revision: number;
  /** Absent when it was removed. */
  readonly body: string | undefined;
}

/** What a change leaves, and what it answers. Without `write` all stays as it is. */
export interface RowChange<Answer> {
  readonly answer: Answer;
  /** `body` undefined: it is removed. */
  readonly write?: { readonly body: string | undefined } | undefined;
}

/** As many as the table takes. */
const REMEMBERED_WRITES = 32;

/**
 * Only another writer's change beats an attempt, so all writers together get on; how many attempts before a caller is
 * told.
 */
const MAX_ATTEMPTS = 512;

/** Longer than what is named by people; short enough for an index. */
const PLAIN_KEY = /^(?!sha256:)[ -~]{1,500}$/;

const rowShape = z.object({
  key: z.string(),
  revision: z.coerce.number().int().positive(),
  body: z.string().nullable(),
  writes: z.array(z.string()),
});

interface KnownRow extends RevisedRow {
  readonly writes: readonly string[];
}

/** A key that a table can hold and index, whatever the name: readable where it can be. */
export function keyOf(name: string): string {
  // As JSON: halves of characters, which UTF-8 cannot hold, stay different from each other.
  return PLAIN_KEY.test(name) ? name : `sha256:${createHash('sha256').update(JSON.stringify(name)).digest('hex')}`;
}

export class RevisedRows {
  readonly #database: PostgresDatabase;
  readonly #table: string;
  readonly #name: RevisedTable;
  /** Changes of one row by one process do not beat each other. */
  readonly #changes = new KeyedMutex();

  constructor(database: PostgresDatabase, table: RevisedTable) {
    this.#database = database;
    this.#table = `${database.schema}.${table}`;
    this.#name = table;
  }

  /** @throws RuntimeError category `storage` */
  async load(name: string): Promise<RevisedRow | undefined> {
    return this.#load(keyOf(name));
  }

  /** Those of these names that are there, in no order. */
  async loadMany(names: readonly string[]): Promise<readonly RevisedRow[]> {
    return this.#select('WHERE key = ANY ($1::text[])', [names.map(keyOf)]);
  }

  /** All that are there, in the order in which they were first stored. */
  async all(): Promise<readonly RevisedRow[]> {
    return this.#select('WHERE body IS NOT NULL ORDER BY position', []);
  }

  /** Replaces the row of exactly this revision; 0 is that of a row that was never there. @returns whether it has */
  async replace(name: string, after: number, body: string | undefined): Promise<boolean> {
    const key = keyOf(name);
    const writeId = randomUUID();
    if (await this.#write(key, after, body, writeId)) return true;
    return (await this.#load(key))?.writes.includes(writeId) === true;
  }

  /**
   * Replaces the row by what `decide` makes of it, exactly once, however many do so at the same time; `decide` may be
   * asked again.
   * @throws RuntimeError STORE_BUSY, category `storage`, and what `decide` throws
   */
  change<Answer>(name: string, decide: (body: string | undefined) => RowChange<Answer>): Promise<Answer> {
    const key = keyOf(name);
    return this.#changes.run(key, () => this.#change(key, decide));
  }

  /** Lets those who read `stamp` know that something has happened to the row, and changes nothing else. */
  async touch(name: string): Promise<void> {
    await this.#database.run(`UPDATE ${this.#table} SET revision = revision + 1 WHERE key = $1`, [keyOf(name)]);
  }

  /** Another one after every change of any row. */
  async stamp(): Promise<string> {
    const [row] = await this.#database.run<{ readonly stamp: unknown }>(
      `SELECT count(*) || ':' || coalesce(sum(revision), 0) AS stamp FROM ${this.#table}`,
    );
    return String(row?.stamp);
  }

  async #change<Answer>(key: string, decide: (body: string | undefined) => RowChange<Answer>): Promise<Answer> {
    const answers = new Map<string, { readonly answer: Answer }>();
    for (let attempt = 0; attempt < MAX_ATTEMPTS; attempt += 1) {
      const row = await this.#load(key);
      // One that seemed to be beaten may have been made all the same.
      const made = row?.writes.map((writeId) => answers.get(writeId)).find((found) => found !== undefined);
      if (made !== undefined) return made.answer;
      const { answer, write } = decide(row?.body);
      if (write === undefined) return answer;
      const writeId = randomUUID();
      answers.set(writeId, { answer });
      if (await this.#write(key, row?.revision ?? 0, write.body, writeId)) return answer;
    }
    throw new RuntimeError(
      'STORE_BUSY',
      `a row of ${this.#name} was changed by others ${MAX_ATTEMPTS} times in a row`,
      { category: 'conflict', hint: 'Try again.', details: { table: this.#name } },
    );
  }

  async #load(key: string): Promise<KnownRow | undefined> {
    const [row] = await this.#select('WHERE key = $1', [key]);
    return row;
  }

  async #select(which: string, values: readonly unknown[]): Promise<readonly KnownRow[]> {
    // Each step of a model reads the health of its candidates.
    const rows = await this.#database.run(
      frequent(`SELECT key, revision, body, writes::text[] AS writes FROM ${this.#table} ${which}`),
      values,
    );
    return rows.map((row) => {
      const { body, ...rest } = rowShape.parse(row);
      return { ...rest, body: body ?? undefined };
    });
  }

  /** Run again after a success whose answer was lost, it changes nothing and answers false. */
  async #write(key: string, after: number, body: string | undefined, writeId: string): Promise<boolean> {
    const rows =
      after === 0
        ? await this.#database.run(
            `INSERT INTO ${this.#table} (key, revision, writes, body) VALUES ($1, 1, ARRAY[$2::uuid], $3) ON CONFLICT DO NOTHING RETURNING 1`,
            [key, writeId, body ?? null],
          )
        : await this.#database.run(
            `UPDATE ${this.#table} SET revision = revision + 1, writes = (ARRAY[$2::uuid] || writes)[1:${REMEMBERED_WRITES}], body = $3, changed_at = clock_timestamp()
              WHERE key = $1 AND revision = $4 RETURNING 1`,
            [key, writeId, body ?? null, after],
          );
    return rows.length > 0;
  }
}
