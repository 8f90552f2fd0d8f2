/**
 * What may stand behind the "?" of a database's URL, on the command line and in a program; and what is said of a server
 * that is not reached.
 */
import { describe, expect, it } from 'vitest';
import { createSystemClock } from '../../../src/actors/clock/system-clock.ts';
import { chosenStore } from '../../../src/cli/open/chosen-store.ts';
import { PostgresEventStore } from '../../../src/adapters/postgres/postgres-event-store.ts';
import { databaseFailed } from '../../../src/adapters/postgres/postgres-errors.ts';
import { emptyStores } from './empty-stores.ts';

const { database } = emptyStores();

const chosen = (given: string): ReturnType<typeof chosenStore> => chosenStore({ given, environment: {} });

describe('words of a URL', () => {
  it('say the schema and how many connections', async () => {
    expect(await chosen('postgres://me@db/work?schema=team_a&pool_size=2&sslmode=verify-full')).toMatchObject({
      url: 'postgres://me@db/work?sslmode=verify-full',
      schema: 'team_a',
      poolSize: 2,
      word: 'URL',
      shown: 'postgres://db/work?schema=team_a',
    });
    expect(await chosen('postgres://me@db/work?pool_size=2')).toMatchObject({
      word: 'postgres://me@db/work?pool_size=2',
      poolSize: 2,
    });
  });

  it.each(['poolsize=3', 'shcema=zzz', 'sslmode=yes', 'pool_size=0', 'pool_size=many'])(
    'are refused when they mean nothing: %s',
    async (word) => {
      await expect(chosen(`postgres://me:geheim@db/work?${word}`)).rejects.toThrow(/^expected (?!.*geheim)/);
    },
  );

  it('are listed when one is not known, which is not repeated when it may be a password', async () => {
    await expect(chosen('postgres://me@db/work?poolsize=3')).rejects.toThrow(
      /\(poolsize\)\. Known are schema, pool_size, .*sslmode/,
    );
    await expect(chosen('postgres://me@db/work?geh3im!=')).rejects.toThrow(/^(?!.*geh3im)/);
  });

  it('are refused in a program too', async () => {
    const url = `${database().url}?poolsize=3`;
    await expect(PostgresEventStore.open({ url, clock: createSystemClock() })).rejects.toMatchObject({
      code: 'STORE_OPTIONS_INVALID',
      hint: expect.stringContaining('poolSize') as string,
    });
  });

  it('leave one connection enough', async () => {
    const store = await PostgresEventStore.open({ url: database().url, clock: createSystemClock(), poolSize: 1 });
    expect(await Promise.all([store.list(), store.list(), store.activations.due({ nowMs: 0, limit: 1 })])).toHaveLength(
      3,
    );
    await store.close();
  });
});

describe('what goes wrong', () => {
  it('is told in words of people', () => {
    expect(databaseFailed('run claim_due_1', new Error('gone')).message).toBe('could not claim what is due: gone');
    expect(databaseFailed("run SELECT current_setting('server_version_n", new Error('gone')).message).toBe(
      'could not ask the database: gone',
    );
    expect(databaseFailed('complete a transaction', new Error('gone')).message).toBe(
      'could not complete a transaction: gone',
    );
    expect(
      databaseFailed(
        'run append_1',
        Object.assign(new Error('remaining connection slots are reserved'), { code: '53300' }),
      ).hint,
    ).toMatch(/max_connections.*pool_size.*PgBouncer/);
    expect(
      databaseFailed('run append_1', new Error('SASL: SCRAM-SERVER-FIRST-MESSAGE: client password must be a string')),
    ).toMatchObject({
      message: 'could not append to a session: the server asks for a password, and none was given',
      hint: expect.stringContaining('PGPASSWORD') as string,
    });
  });

  it('says where, and as whom, when a database is not reached', async () => {
    const open = PostgresEventStore.open({
      url: 'postgres://me:geheim@127.0.0.1:1/work',
      clock: createSystemClock(),
      patienceMs: 0,
    });
    await expect(open).rejects.toThrow(
      /^could not connect to postgres:\/\/127\.0\.0\.1:1\/work as me: connect ECONNREFUSED/,
    );
  });
});
