/** The PostgreSQL that tests get is a real one, apart from that of other tests, and gone when they are. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { Client } from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { isListening } from '../../support/listening.ts';
import { hasPgBouncer, pgBouncer } from '../../support/postgres-bouncer.ts';
import { DatabaseCopies } from '../../support/postgres-copies.ts';
import { ask } from '../../support/postgres-databases.ts';
import type { FreshDatabase } from '../../support/postgres-databases.ts';
import { KEEPER } from '../../support/postgres-keeping.ts';
import { unreliableProxy } from '../../support/postgres-proxy.ts';
import { cutConnections, freshDatabase, migratedDatabase, ownServer } from '../../support/postgres-server.ts';
import type { PostgresServer } from '../../support/postgres-server.ts';

async function connected(url: string): Promise<Client> {
  const client = new Client({ connectionString: url });
  client.on('error', () => undefined);
  await client.connect();
  return client;
}

/** Where the query has to fail because its connection is gone. */
const GONE = /terminat|not queryable|ECONNRESET/;

describe('the databases of tests', () => {
  let one: FreshDatabase;
  beforeAll(async () => void (one = await freshDatabase()));
  afterAll(() => one.drop());

  it('that are copied begin as they are, one copy after the other, whoever was still at work there', async () => {
    const database = await migratedDatabase();
    const copies = new DatabaseCopies(database.url);
    const newWorker = 'INSERT INTO wakechart.worker (id, owner, alive_until) VALUES (gen_random_uuid(), $1, now())';
    const sequences = 'SELECT sequencename, last_value FROM pg_sequences ORDER BY sequencename';
    await ask(database.url, newWorker, ['kept']);
    try {
      const first = await copies.take();
      await ask(first.url, newWorker, ['added']);
      await ask(first.url, `SELECT nextval(format('%I.%I', schemaname, sequencename)) FROM pg_sequences`);
      const atWork = await connected(first.url);
      await atWork.query(`BEGIN; UPDATE wakechart.worker SET owner = 'changed'`);
      await first.drop();
      const second = await copies.take();
      expect(second.url).toBe(first.url);
      await expect(atWork.query('COMMIT')).rejects.toThrow(GONE);
      expect(await ask(second.url, 'SELECT owner FROM wakechart.worker')).toEqual([{ owner: 'kept' }]);
      expect(await ask(second.url, sequences)).toEqual(await ask(database.url, sequences));
    } finally {
      await copies.remove();
      await database.drop();
    }
  });

  it('are apart, and gone when they are dropped', async () => {
    const other = await freshDatabase();
    await ask(one.url, 'CREATE TABLE only_here ()');
    await expect(ask(other.url, 'SELECT * FROM only_here')).rejects.toThrow(/does not exist/);
    await other.drop();
    await expect(ask(other.url, 'SELECT 1')).rejects.toThrow(/does not exist/);
  });

  it('can cut off whoever is connected', async () => {
    const client = await connected(one.url);
    expect(await cutConnections(one.url)).toBe(1);
    await expect(client.query('SELECT 1')).rejects.toThrow(GONE);
    await client.end().catch(() => undefined);
  });

  it.skipIf(!hasPgBouncer)("can be reached by way of PgBouncer, in which no session is anybody's own", async () => {
    const bouncer = await pgBouncer({ to: one.url, poolSize: 1 });
    const [first, second] = await Promise.all([connected(bouncer.url), connected(bouncer.url)]);
    const pidOf = async (client: Client): Promise<unknown> =>
      (await client.query<{ readonly pid: number }>('SELECT pg_backend_pid() AS pid')).rows[0]?.pid;
    expect(await pidOf(first)).toBe(await pidOf(second));
    await Promise.all([first.end(), second.end()]);
    await bouncer.stop();
    await expect(ask(bouncer.url, 'SELECT 1')).rejects.toThrow(/ECONNREFUSED/);
  });
});

describe('a network that cannot be trusted', () => {
  it('loses the answer of a statement that was done', async () => {
    const database = await freshDatabase();
    const proxy = await unreliableProxy({ to: database.url });
    const client = await connected(proxy.url);
    await client.query('CREATE TABLE done (number int)');
    proxy.loseAnswerOf(2);
    await client.query('INSERT INTO done VALUES (1)');
    await expect(client.query('INSERT INTO done VALUES (2)')).rejects.toThrow(GONE);
    expect(await ask(database.url, 'SELECT number FROM done')).toHaveLength(2);
    await proxy.stop();
    await database.drop();
  });

  it('cuts what is there, and refuses what comes', async () => {
    const database = await freshDatabase();
    const proxy = await unreliableProxy({ to: database.url });
    const client = await connected(proxy.url);
    proxy.cut();
    await expect(client.query('SELECT 1')).rejects.toThrow(GONE);
    proxy.refuse(true);
    await expect(ask(proxy.url, 'SELECT 1')).rejects.toThrow(GONE);
    proxy.refuse(false);
    expect(await ask(proxy.url, 'SELECT 1 AS one')).toEqual([{ one: 1 }]);
    await proxy.stop();
    await database.drop();
  });
});

describe("a server of a test's own", () => {
  let server: PostgresServer;
  beforeAll(async () => void (server = await ownServer({ settings: { max_connections: '20' } })));
  afterAll(() => server.remove());

  it('keeps what it has when it is stopped, crashes or is killed, and is started again', async () => {
    await ask(server.url(), 'CREATE TABLE kept AS SELECT 1 AS number');
    for (const end of [() => server.stop(), () => server.stop('immediate'), () => server.kill()]) {
      await end();
      expect(await isListening({ port: server.place.port })).toBe(false);
      await server.start();
      expect(await ask(server.url(), 'SELECT number FROM kept')).toEqual([{ number: 1 }]);
    }
  });

  it('is gone with all its files when it is removed', async () => {
    await server.remove();
    expect(existsSync(server.place.folder)).toBe(false);
    expect(await isListening({ port: server.place.port })).toBe(false);
  });
});

describe('a program that is kept for a process', () => {
  it('ends with it, however that ended, and its files are gone', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'kept-'));
    const watched = spawn('sleep', ['600']);
    const job = {
      watched: [{ pid: watched.pid, folder }],
      program: 'sleep',
      words: ['600'],
      endSignal: 'SIGTERM',
      folder,
    };
    const keeping = spawn(process.execPath, [KEEPER, JSON.stringify(job)]);
    const end = once(keeping, 'close');
    while (!existsSync(join(folder, 'keeper.pid'))) await wait(10);
    watched.kill('SIGKILL');
    await end;
    expect(existsSync(folder)).toBe(false);
  });
});
