/** Databases on a server for tests: each is named after the run that made it. */
import { randomBytes } from 'node:crypto';
import { Client, escapeIdentifier } from 'pg';

export interface FreshDatabase {
  readonly url: string;
  /** Whoever is still connected is cut off. */
  drop(): Promise<void>;
}

export interface DatabaseRequest {
  /** Of a user who may make databases. */
  readonly adminUrl: string;
  readonly runId: string;
  /** Who owns it, and who its URL is for. */
  readonly userUrl: string;
  /** A database of the same server to copy, which nobody is connected to. */
  readonly template?: string;
}

export async function makeDatabase({
  adminUrl,
  runId,
  userUrl,
  template = 'template0',
}: DatabaseRequest): Promise<FreshDatabase> {
  const name = `wct_${runId}_${randomBytes(6).toString('hex')}`;
  const owner = decodeURIComponent(new URL(userUrl).username);
  await ask(
    adminUrl,
    `CREATE DATABASE ${name} TEMPLATE ${escapeIdentifier(template)} OWNER ${escapeIdentifier(owner)}`,
  );
  return {
    url: urlOf(userUrl, name),
    drop: async () => void (await ask(adminUrl, `DROP DATABASE IF EXISTS ${name} WITH (FORCE)`)),
  };
}

/** The same server and user, another database. */
export function urlOf(url: string, database: string): string {
  const other = new URL(url);
  other.pathname = `/${encodeURIComponent(database)}`;
  return other.href;
}

export async function dropDatabasesOf(adminUrl: string, runId: string): Promise<void> {
  const found = await ask<{ readonly datname: string }>(
    adminUrl,
    'SELECT datname FROM pg_database WHERE starts_with(datname, $1)',
    [`wct_${runId}_`],
  );
  for (const { datname } of found)
    await ask(adminUrl, `DROP DATABASE IF EXISTS ${escapeIdentifier(datname)} WITH (FORCE)`);
}

/** One statement over a connection of its own. */
export async function ask<Row extends object>(
  url: string,
  statement: string,
  values: readonly unknown[] = [],
): Promise<readonly Row[]> {
  const client = new Client({ connectionString: url });
  client.on('error', () => undefined);
  // A server that goes away is told by the statement that fails.
  client.on('error', () => undefined);
  try {
    await client.connect();
    const { rows } = await client.query<Row>(statement, [...values]);
    return rows;
  } finally {
    await client.end().catch(() => undefined);
  }
}
