/**
 * Copies of a database that begin as it is now, one after the other: who is done with one leaves it to the next, for
 * whom its rows are put back. That takes the server a tenth of what a database takes, which it makes file by file.
 */
import { Client } from 'pg';
import { ask } from './postgres-databases.ts';
import type { FreshDatabase } from './postgres-databases.ts';
import { copyOfDatabase } from './postgres-server.ts';

const TABLES = `SELECT oid::regclass::text AS name, relname AS word FROM pg_class
  WHERE relnamespace = 'wakechart'::regnamespace AND relkind IN ('r', 'p') AND NOT relispartition
  ORDER BY EXISTS (SELECT FROM pg_constraint WHERE conrelid = pg_class.oid AND contype = 'f')`;

const SEQUENCES = `SELECT format('%I.%I', schemaname, sequencename)::regclass AS name, start_value, last_value
  FROM pg_sequences WHERE schemaname = 'wakechart'`;

const OTHERS = `SELECT pid FROM pg_stat_activity
  WHERE datname = current_database() AND pid <> pg_backend_pid() AND backend_type = 'client backend'`;

/** What every table and every sequence has. */
const KEEP = `CREATE SCHEMA kept;
DO $$ DECLARE each record; BEGIN
  FOR each IN ${TABLES} LOOP EXECUTE format('CREATE TABLE kept.%I AS TABLE %s', each.word, each.name); END LOOP;
  CREATE TABLE kept." sequences" AS ${SEQUENCES};
END $$`;

/** First those end who were at work there: what they have asked for must not happen afterwards. */
const PUT_BACK = `DO $$ DECLARE each record; BEGIN
  LOOP
    FOR each IN ${OTHERS} LOOP PERFORM pg_terminate_backend(each.pid, 1000); END LOOP;
    EXIT WHEN NOT FOUND;
    PERFORM pg_stat_clear_snapshot();
  END LOOP;
  FOR each IN ${TABLES} LOOP EXECUTE format('DELETE FROM %s', each.name); END LOOP;
  FOR each IN ${TABLES} LOOP
    EXECUTE format('INSERT INTO %s OVERRIDING SYSTEM VALUE TABLE kept.%I', each.name, each.word);
  END LOOP;
  PERFORM setval(name, coalesce(last_value, start_value), last_value IS NOT NULL) FROM kept." sequences";
END $$`;

/** By the URL of a copy: who keeps it is connected to it all the time. */
const clients = new Map<string, Client>();

/** One statement, over a connection that is there or one of its own. */
export async function askCopy(url: string, statement: string, values: readonly unknown[]): Promise<void> {
  const client = clients.get(url);
  await (client === undefined ? ask(url, statement, values) : client.query(statement, [...values]));
}

interface Copy extends FreshDatabase {
  readonly client: Client;
}

export class DatabaseCopies {
  readonly #url: string;
  readonly #all: Copy[] = [];
  readonly #free: Copy[] = [];

  /** @param url of a database that stays as it is, and that nobody is connected to */
  constructor(url: string) {
    this.#url = url;
  }

  /** To drop it is to leave it to the next. */
  async take(): Promise<FreshDatabase> {
    const free = this.#free.pop();
    await free?.client.query(PUT_BACK);
    const copy = free ?? (await this.#make());
    return { url: copy.url, drop: async () => void this.#free.push(copy) };
  }

  async #make(): Promise<Copy> {
    const database = await copyOfDatabase(this.#url);
    const client = new Client({ connectionString: database.url });
    clients.set(database.url, client);
    this.#all.push({ ...database, client });
    await client.connect();
    await client.query(KEEP);
    return { ...database, client };
  }

  async remove(): Promise<void> {
    for (const { url, client, drop } of this.#all.splice(0)) {
      clients.delete(url);
      await client.end();
      await drop();
    }
  }
}
