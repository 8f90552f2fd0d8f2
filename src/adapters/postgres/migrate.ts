/**
 * Brings a schema up to date, and says whether one fits this program. Steps are numbered and only go forward; all that
 * are missing are one transaction under an advisory lock, so that two who migrate at once do it once. It runs beside
 * workers: a step says how old a program it still serves.
 */
import { createHash } from 'node:crypto';
import { RuntimeError } from '../../machines/errors.ts';
import { MIGRATIONS } from './migrations/index.ts';
import type { Migration } from './migrations/migration.ts';
import { COMMITS_WAIT, ConnectedDatabase } from './postgres-database.ts';
import type { PostgresDatabase } from './postgres-database.ts';
import { loadDriver } from './postgres-driver.ts';
import { checkPlace, quoted } from './postgres-options.ts';
import type { PlaceSettings, PostgresPlace } from './postgres-options.ts';
import { shownUrl } from './postgres-url.ts';

/** The oldest PostgreSQL that is supported. */
export const OLDEST_SERVER = 150_000;

/** A step that rewrites a large table takes long. */
const MIGRATION_LIMIT_MS = 3_600_000;

export interface MigrationReport {
  /** Names of the steps that were taken now, in order. */
  readonly applied: readonly string[];
  /** Of the schema afterwards. */
  readonly version: number;
}

export interface SchemaState {
  /** 0 when there is none. */
  readonly version: number;
  /** The version that this program wants. */
  readonly wanted: number;
  /** The oldest version that programs may know who work with it. */
  readonly serves: number;
  /** As PostgreSQL numbers itself: 150018 is 15.18. */
  readonly server: number;
  /** Whether this user's commits wait for the server's disk. */
  readonly isSynced: boolean;
}

interface AppliedRow {
  readonly version: number;
  readonly name: string;
  readonly checksum: string;
  readonly serves: number;
}

/** @throws RuntimeError STORE_SCHEMA_CHANGED, STORE_SCHEMA_NEW, STORE_SERVER_OLD, STORAGE_FAILED */
export async function migratePostgres(
  options: PostgresPlace & { readonly steps?: readonly Migration[] },
): Promise<MigrationReport> {
  const { steps = MIGRATIONS, ...where } = options;
  const place = checkPlace(where);
  return withDatabase(place, async (database) => {
    await assertServer(database, place);
    const applied: string[] = [];
    await database.transaction(async (run) => {
      await lock(run, place);
      await makeLedger(run, database.schema);
      const known = await ledger(run, database.schema);
      assertSame(known, steps);
      for (const step of steps.slice(known.length)) {
        await run(step.statements(database.schema));
        await run(
          `INSERT INTO ${database.schema}.migration (version, name, checksum, serves) VALUES ($1, $2, $3, $4)`,
          [step.version, step.name, checksumOf(step), step.serves],
        );
        applied.push(`${String(step.version).padStart(4, '0')}-${step.name}`);
      }
    });
    return { applied, version: steps.at(-1)?.version ?? 0 };
  });
}

/** What there is, without changing it. @throws RuntimeError STORAGE_FAILED */
export async function checkPostgres(options: PostgresPlace): Promise<SchemaState> {
  const place = checkPlace(options);
  return withDatabase(place, (database) =>
    schemaState(database).catch((error: unknown) => unreached(place.url, error)),
  );
}

export interface WantedStore extends Pick<PlaceSettings, 'url' | 'schema'> {
  readonly durability: 'disk' | 'os';
}

/** @throws RuntimeError STORE_SCHEMA_OLD, STORE_SCHEMA_NEW, STORE_SERVER_OLD, STORE_NOT_SYNCED */
export async function assertSchema(
  database: PostgresDatabase,
  { url, schema, durability }: WantedStore,
): Promise<void> {
  const { version, wanted, serves, server, isSynced } = await schemaState(database).catch((error: unknown) =>
    unreached(url, error),
  );
  if (server < OLDEST_SERVER) throw serverOld(server, url);
  if (version < wanted) {
    throw new RuntimeError(
      'STORE_SCHEMA_OLD',
      `expected version ${wanted} of the schema "${schema}" in ${shownUrl(url)}, found ${version === 0 ? 'none' : `version ${version}`}`,
      {
        category: 'validation',
        hint: 'Run `wakechart store migrate --store URL` as the owner of the schema; programs of the version before go on meanwhile.',
        details: { version, wanted },
      },
    );
  }
  if (serves > wanted) throw schemaNew(version, wanted);
  if (!isSynced && durability === 'disk') throw notSynced(url);
}

async function withDatabase<Value>(
  place: PlaceSettings,
  work: (database: PostgresDatabase) => Promise<Value>,
): Promise<Value> {
  const database = new ConnectedDatabase(await loadDriver(), {
    ...place,
    poolSize: 1,
    patienceMs: 0,
    callLimitMs: MIGRATION_LIMIT_MS,
  });
  try {
    return await work(database);
  } finally {
    await database.close();
  }
}

interface StateRow {
  readonly server: string;
  readonly is_there: boolean;
  readonly is_synced: boolean;
}

async function schemaState(database: PostgresDatabase): Promise<SchemaState> {
  const { schema } = database;
  const run: PostgresDatabase['run'] = (statement, values) => database.run(statement, values);
  const [row] = await run<StateRow>(
    `SELECT current_setting('server_version_num') AS server, to_regclass($1) IS NOT NULL AS is_there, ${COMMITS_WAIT} AS is_synced`,
    [`${schema}.migration`],
  );
  const known = row?.is_there === true ? await ledger(run, schema) : [];
  return {
    version: known.length,
    wanted: MIGRATIONS.length,
    serves: Math.max(0, ...known.map(({ serves }) => serves)),
    server: Number(row?.server ?? 0),
    isSynced: row?.is_synced === true,
  };
}

async function lock(run: PostgresDatabase['run'], { schema }: PlaceSettings): Promise<void> {
  await run('SELECT pg_advisory_xact_lock(hashtextextended($1, 0))', [`wakechart migration of ${schema}`]);
}

async function makeLedger(run: PostgresDatabase['run'], schema: string): Promise<void> {
  // Asked first: an owner of the schema may not be allowed to make one.
  const [row] = await run<{ readonly is_there: boolean }>('SELECT to_regnamespace($1) IS NOT NULL AS is_there', [
    schema,
  ]);
  if (row?.is_there !== true) await run(`CREATE SCHEMA ${schema}`);
  await run(ledgerStatement(schema));
}

/** @param schema quoted for use in statements */
export function ledgerStatement(schema: string): string {
  return `CREATE TABLE IF NOT EXISTS ${schema}.migration (
    version integer PRIMARY KEY, name text NOT NULL, checksum text NOT NULL, serves integer NOT NULL, applied_at timestamptz NOT NULL DEFAULT clock_timestamp())`;
}

async function ledger(run: PostgresDatabase['run'], schema: string): Promise<readonly AppliedRow[]> {
  return run<AppliedRow>(`SELECT version, name, checksum, serves FROM ${schema}.migration ORDER BY version`);
}

/** What was applied has to be the beginning of what we know, unless it goes further. */
function assertSame(known: readonly AppliedRow[], steps: readonly Migration[]): void {
  if (known.length > steps.length)
    throw schemaNew(known.length, steps.length, 'which a newer program has made: only that one migrates it');
  for (const [index, { version, name, checksum }] of known.entries()) {
    const step = steps[index];
    if (step?.version === version && (checksumOf(step) === checksum || step.formerly === checksum)) continue;
    throw new RuntimeError(
      'STORE_SCHEMA_CHANGED',
      `expected step ${version} (${name}) of the schema as it was released, found another one applied`,
      {
        category: 'conflict',
        hint: 'The schema was made by another build. Compare the table "migration" with that build before you change anything.',
        details: { version, name },
      },
    );
  }
}

function checksumOf(step: Migration): string {
  return createHash('sha256')
    .update(`${step.version} ${step.name}\n${step.statements(quoted('s'))}`)
    .digest('hex');
}

async function assertServer(database: PostgresDatabase, { url }: PlaceSettings): Promise<void> {
  const { server } = await schemaState(database).catch((error: unknown) => unreached(url, error));
  if (server < OLDEST_SERVER) throw serverOld(server, url);
}

/** The first that is asked of a database: what goes wrong is wrong with how it is reached. */
function unreached(url: string, error: unknown): never {
  if (!RuntimeError.is(error) || error.code !== 'STORAGE_FAILED') throw error;
  const { message, hint, details } = error;
  const { username } = new URL(url);
  throw new RuntimeError(
    'STORAGE_FAILED',
    `could not connect to ${shownUrl(url)}${username === '' ? '' : ` as ${username}`}: ${message.replace(/^could not [^:]*: /, '')}`,
    { category: 'storage', hint, details, cause: error },
  );
}

function serverOld(server: number, url: string): RuntimeError {
  return new RuntimeError(
    'STORE_SERVER_OLD',
    `expected PostgreSQL 15 or newer at ${shownUrl(url)}, found ${Math.trunc(server / 10_000)}`,
    { category: 'validation', hint: 'Upgrade the server.', details: { server } },
  );
}

function notSynced(url: string): RuntimeError {
  return new RuntimeError(
    'STORE_NOT_SYNCED',
    `expected synchronous_commit to be on for this user at ${shownUrl(url)}, found it off: what was acknowledged would be lost when the server crashes`,
    {
      category: 'validation',
      hint: 'Let an administrator run: ALTER ROLE NAME SET synchronous_commit = on. Or open the store with the durability "os", whose receipts say what they are worth.',
    },
  );
}

function schemaNew(version: number, wanted: number, what = 'which serves no program this old'): RuntimeError {
  return new RuntimeError(
    'STORE_SCHEMA_NEW',
    `expected version ${wanted} of the schema, found version ${version}, ${what}`,
    {
      category: 'validation',
      hint: 'Upgrade Wakechart on this machine.',
      details: { version, wanted },
    },
  );
}
