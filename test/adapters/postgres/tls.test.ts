/** Connections that nobody on the way can read, and errors that tell nobody the password. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { inspect } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createSystemClock } from '../../../src/actors/clock/system-clock.ts';
import { checkPostgres, migratePostgres } from '../../../src/adapters/postgres/migrate.ts';
import { PostgresEventStore } from '../../../src/adapters/postgres/postgres-event-store.ts';
import { ask } from '../../support/postgres-databases.ts';
import { freshDatabase } from '../../support/postgres-server.ts';
import { runInProcess } from '../../cli/in-process.ts';
import { tlsSetup } from './tls-setup.ts';
import type { TlsSetup } from './tls-setup.ts';

let setup: TlsSetup;

beforeAll(async () => {
  setup = await tlsSetup();
  await migratePostgres({ url: setup.server.url(), clock: createSystemClock() });
});

afterAll(() => setup.remove());

const verified = (): Readonly<Record<string, string>> => ({ sslmode: 'verify-full', sslrootcert: setup.authority });

const open = (url: string): Promise<PostgresEventStore> =>
  PostgresEventStore.open({ url, clock: createSystemClock(), patienceMs: 0 });

describe('a store over TLS', () => {
  it.each(['verify-full', 'require'])(
    'speaks it on every connection, the one that listens too, with sslmode=%s',
    async (sslmode) => {
      const store = await open(setup.url({ ...verified(), sslmode }));
      const connections = await store.database.run(
        "SELECT s.ssl FROM pg_stat_activity a JOIN pg_stat_ssl s USING (pid) WHERE a.application_name = 'wakechart'",
      );
      await store.close();
      expect(connections).toEqual([{ ssl: true }, { ssl: true }]);
    },
  );

  it.each([
    ['signed by somebody else', () => setup.url({ ...verified(), sslrootcert: setup.impostor }), /sslrootcert=/],
    ['signed by nobody known', () => setup.url({ sslmode: 'require' }), /sslrootcert=/],
    ['for another name', () => setup.url(verified(), 'localhost'), /certificate/],
  ])('refuses a certificate that is %s, and says what to do', async (_what, url, hint) => {
    await expect(open(url())).rejects.toMatchObject({
      code: 'STORAGE_FAILED',
      hint: expect.stringMatching(hint) as string,
    });
  });

  it.each(['require', 'verify-full', 'prefer'])(
    'never speaks in the clear to a server without it, with sslmode=%s',
    async (sslmode) => {
      const { url, drop } = await freshDatabase();
      const asked = new URL(url);
      asked.searchParams.set('sslmode', sslmode);
      const refused = checkPostgres({ url: asked.href, clock: createSystemClock() });
      await expect(refused).rejects.toMatchObject({
        code: 'STORAGE_FAILED',
        message: expect.stringContaining('does not support SSL') as string,
      });
      await drop();
    },
  );

  it('takes no sslmode that is mistyped', async () => {
    const refused = checkPostgres({
      url: 'postgres://worker@127.0.0.1:1/work?sslmode=mistyped',
      clock: createSystemClock(),
    });
    await expect(refused).rejects.toMatchObject({
      code: 'STORE_OPTIONS_INVALID',
      message: expect.stringContaining('expected sslmode to be one of disable') as string,
    });
  });
});

describe('a failure', () => {
  const SECRET = 'swordfish-0815';

  /** The same with another password, or another of anything. */
  function changed(url: string, change: (url: URL) => void): string {
    const other = new URL(url);
    change(other);
    return other.href;
  }

  const failures: readonly (readonly [string, () => string])[] = [
    ['a wrong password', () => changed(setup.server.url(), (url) => (url.password = SECRET))],
    ['a server that nobody reaches', () => changed(setup.server.url(), (url) => (url.port = '1'))],
    ['a host that is not there', () => changed(setup.server.url(), (url) => (url.hostname = 'nowhere.invalid'))],
    ['a database that is not there', () => setup.server.url('nowhere')],
    ['a certificate of somebody else', () => setup.url({ ...verified(), sslrootcert: setup.impostor })],
    ['a certificate that is not there', () => setup.url({ ...verified(), sslrootcert: '/nowhere/ca.pem' })],
    ['no schema', () => setup.server.url('postgres')],
    ['a URL that is none', () => setup.server.url().replace('@127.0.0.1', '@127.0.0.1:port')],
    ['a password as a parameter', () => changed(setup.server.url(), (url) => url.searchParams.set('password', SECRET))],
  ];

  it.each(failures)('says nothing of the password: %s', async (_what, url) => {
    const secrets = [SECRET, new URL(setup.server.url()).password];
    const failure = await open(url()).catch((error: unknown) => error);
    expect(failure).toMatchObject({ code: expect.any(String) as string, hint: expect.any(String) as string });
    const home = await mkdtemp(join(tmpdir(), 'wakechart-home-'));
    const ended = await runInProcess(['store', 'check', '--home', home, '--store', url()]);
    await rm(home, { recursive: true });
    expect(ended.code).not.toBe(0);
    const told = [
      inspect(failure, { depth: Infinity, showHidden: true }),
      JSON.stringify(failure),
      failure instanceof Error ? failure.stack : '',
      ended.stdout,
      ended.stderr,
    ].join('\n');
    for (const secret of secrets) expect(told).not.toContain(secret);
  });

  it('is not a reason for the server to write the password down', async () => {
    await ask(
      changed(setup.server.url(), (url) => (url.password = SECRET)),
      'SELECT 1',
    ).catch(() => undefined);
    const log = await setup.server.log();
    expect(log).toContain('password authentication failed');
    expect(log).not.toContain(SECRET);
  });
});
