/**
 * Opening a store: what is asked of the options, of the schema and of the server, and what is said when it is not so.
 */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createSystemClock } from '../../../src/actors/clock/system-clock.ts';
import { checkPostgres, migratePostgres } from '../../../src/adapters/postgres/migrate.ts';
import { MIGRATIONS } from '../../../src/adapters/postgres/migrations/index.ts';
import type { Migration } from '../../../src/adapters/postgres/migrations/migration.ts';
import { PostgresEventStore } from '../../../src/adapters/postgres/postgres-event-store.ts';
import type { PostgresEventStoreOptions } from '../../../src/adapters/postgres/postgres-options.ts';
import { RuntimeError } from '../../../src/machines/errors.ts';
import { IDENTITY, SESSION_ID, creation, messagesOf, numbersTo } from '../../../src/testing/session-fixtures.ts';
import { codeOf } from '../../contracts/event-store.contract.ts';
import { ask } from '../../support/postgres-databases.ts';
import { freshDatabase } from '../../support/postgres-server.ts';
import type { FreshDatabase } from '../../support/postgres-server.ts';

let empty: FreshDatabase;

beforeAll(async () => {
  empty = await freshDatabase();
});

afterAll(async () => empty.drop());

const clock = createSystemClock();

function place(schema: string): { readonly url: string; readonly clock: typeof clock; readonly schema: string } {
  return { url: empty.url, clock, schema };
}

async function refusal(options: Partial<PostgresEventStoreOptions>): Promise<RuntimeError> {
  const error: unknown = await PostgresEventStore.open({ url: empty.url, clock, ...options }).catch(
    (thrown: unknown) => thrown,
  );
  if (RuntimeError.is(error)) return error;
  throw new Error('the store was opened, or failed in words of somebody else', { cause: error });
}

/** A step that a later release might bring. */
function nextStep(serves: number): Migration {
  const version = MIGRATIONS.length + 1;
  return {
    version,
    name: 'later',
    serves,
    statements: (schema) => `ALTER TABLE ${schema}.session ADD COLUMN later text;`,
  };
}

describe('opening a store', () => {
  it.each([
    ['a URL of something else', { url: 'mysql://user:secret-word@host/db' }],
    ['a URL that cannot be read', { url: 'postgres://user:secret/word@@host:x/db' }],
    ['a password that begins with digits and ends the authority', { url: 'postgres://user:7/secret@host/db' }],
    ['no URL at all', { url: '' }],
    ['a schema that would have to be quoted', { schema: 'Wake"chart' }],
    ['a lease shorter than a renewal takes', { leaseMs: 10 }],
    ['a pool without connections', { poolSize: 0 }],
  ])('refuses %s, and repeats no password', async (_name, options) => {
    const error = await refusal(options);
    expect(error.code).toBe('STORE_OPTIONS_INVALID');
    expect(JSON.stringify(error)).not.toContain('secret');
  });

  it('asks for a schema, and for one that is up to date', async () => {
    expect(await refusal({ schema: 'nothing' })).toMatchObject({
      code: 'STORE_SCHEMA_OLD',
      message: expect.stringContaining('found none'),
    });
    await migratePostgres({ ...place('half'), steps: MIGRATIONS.slice(0, 1) });
    expect(await refusal({ schema: 'half' })).toMatchObject({
      code: MIGRATIONS.length > 1 ? 'STORE_SCHEMA_OLD' : 'never',
    });
    await migratePostgres(place('half'));
    const store = await PostgresEventStore.open(place('half'));
    await store.close();
  });

  it('works with a schema of the next release as long as that serves it, and says so when it does not', async () => {
    await migratePostgres({ ...place('newer'), steps: [...MIGRATIONS, nextStep(MIGRATIONS.length)] });
    const store = await PostgresEventStore.open(place('newer'));
    await store.create(IDENTITY, creation());
    expect((await store.append(SESSION_ID, messagesOf(2))).events).toHaveLength(1);
    await store.close();
    await migratePostgres({ ...place('too_new'), steps: [...MIGRATIONS, nextStep(MIGRATIONS.length + 1)] });
    expect(await refusal({ schema: 'too_new' })).toMatchObject({
      code: 'STORE_SCHEMA_NEW',
      hint: expect.stringContaining('Upgrade'),
    });
  });
});

describe('migrating', () => {
  it('takes each step once, however many do it at once, and nothing the second time', async () => {
    const reports = await Promise.all(numbersTo(3).map(() => migratePostgres(place('many'))));
    expect(reports.map(({ applied }) => applied.length).toSorted((one, other) => one - other)).toEqual([
      0,
      0,
      MIGRATIONS.length,
    ]);
    expect(await checkPostgres(place('many'))).toMatchObject({ version: MIGRATIONS.length, wanted: MIGRATIONS.length });
  });

  it('refuses a schema that another build has made, and changes nothing of it', async () => {
    const [first] = MIGRATIONS;
    if (first === undefined) throw new Error('expected a step');
    await migratePostgres({
      ...place('other_build'),
      steps: [{ ...first, statements: (schema) => `CREATE TABLE ${schema}.theirs (id integer);` }],
    });
    expect(await codeOf(migratePostgres(place('other_build')))).toBe('STORE_SCHEMA_CHANGED');
    expect(await checkPostgres(place('other_build'))).toMatchObject({ version: 1 });
  });

  it('knows the steps of 0.1.0 as they were taken, and those of before that differ in a comment', async () => {
    await migratePostgres(place('released'));
    const applied = (): Promise<readonly { readonly checksum: string }[]> =>
      ask(empty.url, 'SELECT checksum FROM released.migration ORDER BY version');
    // A database that has one of these is refused by a version that has another text, be it of a comment.
    expect((await applied()).map(({ checksum }) => checksum.slice(0, 12))).toEqual([
      ...['9a1c0deaf7ec', '594e03eae4de', 'b0526d384128', '743a9460da83', '96788dab2e21', 'f1b488c12c03'],
      '37087831c62a',
    ]);
    for (const { version, formerly } of MIGRATIONS)
      if (formerly !== undefined)
        await ask(empty.url, `UPDATE released.migration SET checksum = '${formerly}' WHERE version = ${version}`);
    await ask(empty.url, 'DELETE FROM released.migration WHERE version = 7; DROP TABLE released.fleet_question');
    expect(await migratePostgres(place('released'))).toEqual({ applied: ['0007-fleet-questions'], version: 7 });
    await ask(empty.url, "INSERT INTO released.migration (version, name, checksum, serves) VALUES (8, 'later', '', 1)");
    await expect(migratePostgres(place('released'))).rejects.toMatchObject({
      code: 'STORE_SCHEMA_NEW',
      message: expect.stringContaining('a newer program has made') as unknown,
    });
  });

  it('leaves nothing of a step that fails', async () => {
    const broken: Migration = {
      version: MIGRATIONS.length + 1,
      name: 'broken',
      serves: 1,
      statements: (schema) => `CREATE TABLE ${schema}.half_made (id integer); SELECT 1 / 0;`,
    };
    expect(await codeOf(migratePostgres({ ...place('broken'), steps: [...MIGRATIONS, broken] }))).toBe(
      'STORAGE_FAILED',
    );
    expect(await checkPostgres(place('broken'))).toMatchObject({ version: 0 });
  });

  it('numbers its steps densely, each named once', () => {
    expect(MIGRATIONS.map(({ version }) => version)).toEqual(numbersTo(MIGRATIONS.length));
    expect(new Set(MIGRATIONS.map(({ name }) => name)).size).toBe(MIGRATIONS.length);
    expect(MIGRATIONS.every(({ serves, version }) => serves >= 1 && serves <= version)).toBe(true);
  });
});

describe('large data', () => {
  it('of an event comes back as it was, beside the table that everybody reads', async () => {
    await migratePostgres(place('large'));
    const store = await PostgresEventStore.open(place('large'));
    await store.create(IDENTITY, creation());
    const [message] = messagesOf(2);
    const long = { ...message, data: { text: 'ö'.repeat(200_000), delivery: 'queue' } };
    await store.append(SESSION_ID, [long]);
    expect((await store.read(SESSION_ID, { from: 2 }))[0]?.data).toEqual(long.data);
    expect(await store.database.run('SELECT count(*)::integer AS blobs FROM "large".blob')).toEqual([{ blobs: 1 }]);
    await store.close();
  });
});
