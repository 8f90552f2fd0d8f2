/**
 * A database with Wakechart's schema for tests of what workers share, the connections of several workers to it, and
 * what may go wrong in between.
 */
import { createSystemClock } from '../../src/actors/clock/system-clock.ts';
import { ConnectedDatabase } from '../../src/adapters/postgres/postgres-database.ts';
import type { PostgresDatabase } from '../../src/adapters/postgres/postgres-database.ts';
import { loadDriver } from '../../src/adapters/postgres/postgres-driver.ts';
import { migratedDatabase } from './postgres-server.ts';
import type { FreshDatabase } from './postgres-server.ts';

const TABLES = [
  'schedule_log',
  'schedule_record',
  'schedule_definition',
  'schedule_standing',
  'candidate_standing',
  'policy',
  'job',
  'job_owner',
];

export interface SharedTables {
  readonly url: string;
  /** The connections of two workers. */
  readonly one: PostgresDatabase;
  readonly other: PostgresDatabase;
  /** The connections of another worker. */
  connect(url?: string): Promise<ConnectedDatabase>;
  /** Leaves nothing in what is shared. */
  clear(): Promise<void>;
  drop(): Promise<void>;
}

/** @param place a database of its own, unless one is named */
export async function openSharedTables(place: () => Promise<FreshDatabase> = migratedDatabase): Promise<SharedTables> {
  const { url, drop } = await place();
  const driver = await loadDriver();
  const opened: ConnectedDatabase[] = [];
  const connect = async (to = url): Promise<ConnectedDatabase> => {
    const database = new ConnectedDatabase(driver, {
      url: to,
      clock: createSystemClock(),
      schema: 'wakechart',
      poolSize: 4,
      patienceMs: 20_000,
      callLimitMs: 20_000,
    });
    opened.push(database);
    return database;
  };
  const [one, other] = [await connect(), await connect()];
  // All in one statement, on a connection that is there already.
  const clearing = TABLES.map((table) => `of_${table} AS (DELETE FROM wakechart.${table})`).join(', ');
  return {
    url,
    one,
    other,
    connect,
    clear: async () => void (await one.run(`WITH ${clearing} SELECT`)),
    drop: async () => {
      await Promise.all(opened.map((database) => database.close()));
      await drop();
    },
  };
}

/** The first answer to every statement is lost: it has taken place, nobody knows, and it is run again. */
export function losingAnswers(database: PostgresDatabase): PostgresDatabase {
  return {
    schema: database.schema,
    transaction: (work) => database.transaction(work),
    async run<Row>(statement: string, values?: readonly unknown[]): Promise<readonly Row[]> {
      await database.run(statement, values);
      return database.run<Row>(statement, values);
    },
  };
}
